// Accumulator: an exact sum that users add to, merge, store as bytes and round. A Superaccumulator (src/exact/) holds the value; the
// embedded engine adds whole vectors; exact/encoding.ts makes the bytes.
import { checkBytes, checkLength, checkNumber, checkVector, checkWord, ROUNDINGS } from "../arrays/checks.ts";
import { ShapeError } from "../arrays/errors.ts";
import type { Format, Real, Rounding } from "../arrays/types.ts";
import { embeddedVectors } from "../engines/embeddedVectors.ts";
import { decodeSum, encodeSum } from "../exact/encoding.ts";
import { Superaccumulator } from "../exact/superaccumulator.ts";
import { onlyNegativeZeros } from "../routines/level1.ts";

/**
 * An exact running sum: add in any order, merge from anywhere, round once.
 * @example
 * const left = new Accumulator().add(Float64Array.of(1e100, 1));
 * const right = new Accumulator().add(-1e100).addProduct(0.1, 0.1);
 * left.merge(Accumulator.fromBytes(right.toBytes())).value(); // 1.01
 */
export class Accumulator {
  private sum = new Superaccumulator();
  private empty = true; // no terms so far, or only -0

  /** @internal From the sum that an engine has accumulated. */
  static of(sum: Superaccumulator, empty: boolean): Accumulator {
    const accumulator = new Accumulator();
    accumulator.sum = sum;
    accumulator.empty = empty;
    return accumulator;
  }

  /** Add a number, or all numbers of a vector. */
  add(x: number | Real): this {
    if (typeof x === "number") {
      this.sum.add(x);
      this.empty &&= Object.is(x, -0);
      return this;
    }
    checkVector("Accumulator.add", "x", x, "a number, ");
    embeddedVectors().accumulate("sum", x, x, this.sum, true);
    this.empty &&= onlyNegativeZeros(x);
    return this;
  }

  /** Add a product, or the dot product of two vectors of equal length; their precisions may differ. A zero product counts as +0. */
  addProduct(x: number, y: number): this;
  addProduct(x: Real, y: Real): this;
  addProduct(x: number | Real, y: number | Real): this {
    if (typeof x === "number") {
      checkNumber("Accumulator.addProduct", "y", y as number);
      this.sum.addProduct(x, y as number);
      this.empty = false;
      return this;
    }
    checkVector("Accumulator.addProduct", "x", x, "a number, ");
    checkVector("Accumulator.addProduct", "y", y as Real);
    checkLength("Accumulator.addProduct", x, y as Real);
    embeddedVectors().accumulate("dot", x, y as Real, this.sum, true);
    this.empty &&= x.length === 0;
    return this;
  }

  /** Add another accumulator, which is not changed. */
  merge(other: Accumulator): this {
    if (!(other instanceof Accumulator)) throw new ShapeError("Accumulator.merge: other is not an Accumulator");
    this.sum.merge(other.sum);
    this.empty &&= other.empty;
    return this;
  }

  /** The sum, rounded once. */
  value(round: Rounding = "nearest", format: Format = "binary64"): number {
    checkWord("Accumulator.value", "round", round, ROUNDINGS);
    checkWord("Accumulator.value", "format", format, ["binary64", "binary32"]);
    return this.empty ? -0 : this.sum.round(round, format);
  }

  /** The sum as bytes. Equal sums have equal bytes, however they were reached. */
  toBytes(): Uint8Array<ArrayBuffer> {
    return encodeSum(this.sum, this.empty);
  }

  /** The accumulator that toBytes() wrote. Throws a FormatError if the bytes are damaged or are not an accumulator. */
  static fromBytes(bytes: Uint8Array): Accumulator {
    checkBytes("Accumulator.fromBytes", bytes);
    const { sum, empty } = decodeSum("Accumulator.fromBytes", bytes);
    return Accumulator.of(sum, empty);
  }
}
