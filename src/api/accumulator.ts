// Accumulator: an exact sum that users add to, merge, store as bytes and round. A Superaccumulator (src/exact/) holds the value; the
// embedded engine adds whole vectors.
import { checkLength, checkNumber, checkVector, checkWord, ROUNDINGS, typedArrayTag } from "../arrays/checks.ts";
import { FormatError, ShapeError } from "../arrays/errors.ts";
import type { Format, Real, Rounding } from "../arrays/types.ts";
import { embeddedVectors } from "../engines/embeddedVectors.ts";
import { Superaccumulator } from "../exact/superaccumulator.ts";
import { onlyNegativeZeros } from "../routines/level1.ts";

// The bytes of an accumulator, little-endian:
//   0  version, 1
//   1  state: 0 empty or only -0, 1 finite, 2 +Inf, 3 -Inf, 4 NaN
//   2  the number n of digits (16 bits), 0 unless finite
//   4  the index of the first digit (16 bits), worth 2^(32 index - 3296)
//   6  0, or 1 for a negative sum
//   7  0
//   8  n digits of 32 bits, the magnitude, neither the first nor the last of them 0
//   then a CRC-32 of everything before.
// The magnitude has only one such form, so equal sums have equal bytes.
const VERSION = 1;
const HEADER = 8;
const STATES = ["empty", "finite", "+Inf", "-Inf", "NaN"] as const;

/** An exact running sum: add in any order, merge from anywhere, round once. */
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
    const special = this.empty ? 0 : this.sum.special();
    const state = this.empty ? 0 : special === undefined ? 1 : special > 0 ? 2 : special < 0 ? 3 : 4;
    const { negative, first, digits } = state === 1 ? this.sum.magnitude() : { negative: false, first: 0, digits: [] };
    const bytes = new Uint8Array(HEADER + 4 * digits.length + 4);
    const view = new DataView(bytes.buffer);
    bytes[0] = VERSION;
    bytes[1] = state;
    view.setUint16(2, digits.length, true);
    view.setUint16(4, first, true);
    bytes[6] = negative ? 1 : 0;
    for (const [i, digit] of digits.entries()) view.setUint32(HEADER + 4 * i, digit, true);
    view.setUint32(bytes.length - 4, crc32(bytes.subarray(0, -4)), true);
    return bytes;
  }

  /** The accumulator that toBytes() wrote. Throws a FormatError if the bytes are damaged or are not an accumulator. */
  static fromBytes(bytes: Uint8Array): Accumulator {
    if (typedArrayTag(bytes) !== "Uint8Array") throw new ShapeError("Accumulator.fromBytes: bytes is not a Uint8Array");
    const fail = (what: string): never => {
      throw new FormatError(`Accumulator.fromBytes: ${what}`);
    };
    if (bytes.length < HEADER + 4) fail(`${bytes.length} bytes, expected at least ${HEADER + 4}`);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (view.getUint32(bytes.length - 4, true) !== crc32(bytes.subarray(0, -4))) fail("the checksum does not match, the bytes are damaged");
    if (bytes[0] !== VERSION) fail(`version ${bytes[0]}, expected ${VERSION}`);
    const count = view.getUint16(2, true);
    if (bytes.length !== HEADER + 4 * count + 4) fail(`${bytes.length} bytes, expected ${HEADER + 4 * count + 4} for ${count} digits`);
    const digits = Array.from({ length: count }, (_, i) => view.getUint32(HEADER + 4 * i, true));
    const result = new Accumulator();
    const state = STATES[bytes[1] as number] ?? fail(`state ${bytes[1]}, expected 0 to 4`);
    if (state === "finite") {
      const first = view.getUint16(4, true);
      if (!result.sum.addMagnitude(bytes[6] === 1, first, digits)) fail(`${count} digits from ${first} on, more than there are`);
    } else if (state !== "empty") {
      result.sum.add(state === "NaN" ? Number.NaN : state === "+Inf" ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY);
    }
    result.empty = state === "empty";
    // Every sum has one encoding: toBytes() did not write bytes that it does not reproduce.
    if (!sameBytes(result.toBytes(), bytes)) fail("not in canonical form");
    return result;
  }
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

// CRC-32 as in zlib. It detects every burst of errors of up to 32 bits.
function crc32(bytes: Uint8Array): number {
  let crc = -1;
  for (const byte of bytes) {
    crc ^= byte;
    for (let k = 0; k < 8; k++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}
