// Moments: count, sum and sum of squares of numbers that arrive one by one or in vectors, exact, with the mean and the variance at any
// time. Users merge moments and store them as bytes, as with Accumulator.
import { checkBytes, checkVector, checkWord } from "../arrays/checks.ts";
import { FormatError, HalfulpError, ShapeError } from "../arrays/errors.ts";
import type { Format, Real } from "../arrays/types.ts";
import { embeddedVectors } from "../engines/embeddedVectors.ts";
import { checkSeal, decodeSum, encodeSum, sameBytes, seal } from "../exact/encoding.ts";
import { roundCovariance, roundMean } from "../exact/statistics.ts";
import { Superaccumulator } from "../exact/superaccumulator.ts";
import { checkDdof } from "../routines/statistics.ts";

// The bytes of moments, little-endian:
//   0  version, 1
//   1  0, three times
//   4  the length of the encoded sum (32 bits)
//   8  the count (64 bits)
//   16 the sum, then the sum of squares, as exact/encoding.ts writes them
//   then a CRC-32 of everything before.
const VERSION = 1;
const HEADER = 16;

/**
 * Running mean and variance: exact count, sum and sum of squares. Add in any order, merge from anywhere, round once.
 * @example
 * const moments = new Moments().add(Float64Array.of(1, 2, 4)).merge(new Moments().add(5));
 * moments.count; // 4
 * moments.mean(); // 3
 * moments.variance(); // 3.3333333333333335
 */
export class Moments {
  private n = 0;
  private readonly sum = new Superaccumulator();
  private readonly squares = new Superaccumulator();

  /** How many numbers have been added. */
  get count(): number {
    return this.n;
  }

  /** Add a number, or all numbers of a vector. */
  add(x: number | Real): this {
    if (typeof x === "number") {
      this.grow(1);
      this.sum.add(x);
      this.squares.addProduct(x, x);
      return this;
    }
    checkVector("Moments.add", "x", x, "a number, ");
    this.grow(x.length);
    embeddedVectors().accumulate("sum", x, x, this.sum, true);
    embeddedVectors().accumulate("dot", x, x, this.squares, true);
    return this;
  }

  /** Add other moments, which are not changed. */
  merge(other: Moments): this {
    if (!(other instanceof Moments)) throw new ShapeError("Moments.merge: other is not Moments");
    this.grow(other.n);
    this.sum.merge(other.sum);
    this.squares.merge(other.squares);
    return this;
  }

  private grow(by: number): void {
    if (!Number.isSafeInteger(this.n + by))
      throw new HalfulpError("Moments: the count has left its range, expected less than 2^53 numbers");
    this.n += by;
  }

  /** The mean, rounded once; NaN if there are no numbers. */
  mean(format: Format = "binary64"): number {
    checkWord("Moments.mean", "format", format, ["binary64", "binary32"]);
    return roundMean(this.sum, this.n, format);
  }

  /** The variance, rounded once; NaN unless there are more than `ddof` numbers, all finite. */
  variance(ddof = 1, format: Format = "binary64"): number {
    checkDdof("Moments.variance", ddof);
    checkWord("Moments.variance", "format", format, ["binary64", "binary32"]);
    return roundCovariance(this.n, this.sum, this.sum, this.squares, ddof, format);
  }

  /** The moments as bytes. Equal moments have equal bytes, however they were reached. */
  toBytes(): Uint8Array<ArrayBuffer> {
    const sum = encodeSum(this.sum, false);
    const squares = encodeSum(this.squares, false);
    const bytes = new Uint8Array(HEADER + sum.length + squares.length + 4);
    const view = new DataView(bytes.buffer);
    bytes[0] = VERSION;
    view.setUint32(4, sum.length, true);
    view.setBigUint64(8, BigInt(this.n), true);
    bytes.set(sum, HEADER);
    bytes.set(squares, HEADER + sum.length);
    return seal(bytes);
  }

  /** The moments that toBytes() wrote. Throws a FormatError if the bytes are damaged or are not moments. */
  static fromBytes(bytes: Uint8Array): Moments {
    const name = "Moments.fromBytes";
    checkBytes(name, bytes);
    const view = checkSeal(name, bytes, VERSION, HEADER);
    const count = view.getBigUint64(8, true);
    const end = HEADER + view.getUint32(4, true);
    if (count > Number.MAX_SAFE_INTEGER || end > bytes.length - 4) throw new FormatError(`${name}: not in canonical form`);
    const result = new Moments();
    result.n = Number(count);
    result.sum.merge(decodeSum(name, bytes.subarray(HEADER, end)).sum);
    result.squares.merge(decodeSum(name, bytes.subarray(end, -4)).sum);
    if (!result.isPossible() || !sameBytes(result.toBytes(), bytes)) throw new FormatError(`${name}: not in canonical form`);
    return result;
  }

  // Whether there are numbers with these sums: none have sums of zero; of finite ones, n times the sum of squares is at least the square
  // of the sum; of others, the sum of squares is +Inf, or NaN if the sum is NaN too.
  private isPossible(): boolean {
    const { n, sum, squares } = this;
    const [s, q] = [sum.special(), squares.special()];
    if (s !== undefined || q !== undefined) return n > 0 && s !== undefined && q !== undefined && (q > 0 || (q !== q && s !== s));
    if (n === 0) return sum.sign() === 0 && squares.sign() === 0;
    return !(roundCovariance(n, sum, sum, squares, 0, "binary64") < 0);
  }
}
