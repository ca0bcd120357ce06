// Exact sums as bytes, for Accumulator and Moments. Equal sums have equal bytes on every machine; bytes that are damaged, or that
// encodeSum() does not write, are refused.
import { FormatError } from "../arrays/errors.ts";
import { Superaccumulator } from "./superaccumulator.ts";

// The bytes of a sum, little-endian:
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
const CHECKSUM = 4;
const STATES = ["empty", "finite", "+Inf", "-Inf", "NaN"] as const;

/** A sum as bytes; `empty` if it has no terms, or only -0. */
export function encodeSum(sum: Superaccumulator, empty: boolean): Uint8Array<ArrayBuffer> {
  const special = empty ? 0 : sum.special();
  const state = empty ? 0 : special === undefined ? 1 : special > 0 ? 2 : special < 0 ? 3 : 4;
  const { negative, first, digits } = state === 1 ? sum.magnitude() : { negative: false, first: 0, digits: [] };
  const bytes = new Uint8Array(HEADER + 4 * digits.length + CHECKSUM);
  const view = new DataView(bytes.buffer);
  bytes[0] = VERSION;
  bytes[1] = state;
  view.setUint16(2, digits.length, true);
  view.setUint16(4, first, true);
  bytes[6] = negative ? 1 : 0;
  for (const [i, digit] of digits.entries()) view.setUint32(HEADER + 4 * i, digit, true);
  return seal(bytes);
}

/** The sum that encodeSum() wrote; throws a FormatError in the name of `routine`. */
export function decodeSum(routine: string, bytes: Uint8Array): { sum: Superaccumulator; empty: boolean } {
  const fail = (what: string): never => {
    throw new FormatError(`${routine}: ${what}`);
  };
  const view = checkSeal(routine, bytes, VERSION, HEADER);
  const count = view.getUint16(2, true);
  const expected = HEADER + 4 * count + CHECKSUM;
  if (bytes.length !== expected) fail(`${bytes.length} bytes, expected ${expected} for ${count} digits`);
  const digits = Array.from({ length: count }, (_, i) => view.getUint32(HEADER + 4 * i, true));
  const sum = new Superaccumulator();
  const state = STATES[bytes[1] as number] ?? fail(`state ${bytes[1]}, expected 0 to 4`);
  if (state === "finite") {
    const first = view.getUint16(4, true);
    if (!sum.addMagnitude(bytes[6] === 1, first, digits)) fail(`${count} digits from ${first} on, more than there are`);
  } else if (state !== "empty") {
    sum.add(state === "NaN" ? Number.NaN : state === "+Inf" ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY);
  }
  const empty = state === "empty";
  // Every sum has one encoding: encodeSum() did not write bytes that it does not reproduce.
  if (!sameBytes(encodeSum(sum, empty), bytes)) fail("not in canonical form");
  return { sum, empty };
}

/** Writes the checksum of all bytes but the last four into these. */
export function seal(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  new DataView(bytes.buffer).setUint32(bytes.length - CHECKSUM, crc32(bytes.subarray(0, -CHECKSUM)), true);
  return bytes;
}

/** Checks length, checksum and version of bytes that begin with a header of this length. Returns a view of them. */
export function checkSeal(routine: string, bytes: Uint8Array, version: number, header: number): DataView {
  const fail = (what: string): never => {
    throw new FormatError(`${routine}: ${what}`);
  };
  if (bytes.length < header + CHECKSUM) fail(`${bytes.length} bytes, expected at least ${header + CHECKSUM}`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getUint32(bytes.length - CHECKSUM, true) !== crc32(bytes.subarray(0, -CHECKSUM)))
    fail("the checksum does not match, the bytes are damaged");
  if (bytes[0] !== version) fail(`version ${bytes[0]}, expected ${version}`);
  return view;
}

/** Whether two arrays have the same bytes. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
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
