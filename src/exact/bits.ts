// Binary64 and binary32 numbers as bits, through two views of the same bytes. There is no arithmetic here, so infinities, NaN and
// subnormals need no special care.

const f64 = new Float64Array(1);
const u32 = new Uint32Array(f64.buffer);
const f32 = new Float32Array(1);
const i32 = new Int32Array(f32.buffer);
f64[0] = 1;
const HIGH = u32[1] === 0 ? 0 : 1; // the index of the word that holds the exponent on this machine
const LOW = 1 - HIGH;

/** The sign, the exponent field and the top 20 bits of the significand. */
export function highWord(x: number): number {
  f64[0] = x;
  return u32[HIGH] as number;
}

/** The last 32 bits of the significand of the number last passed to highWord. */
export function lowWord(): number {
  return u32[LOW] as number;
}

/** The binary64 number with these two words. */
export function fromWords(high: number, low: number): number {
  u32[HIGH] = high;
  u32[LOW] = low;
  return f64[0] as number;
}

/** 2^k, for k from -1074 to 1023. */
export function powerOfTwo(k: number): number {
  return k >= -1022 ? fromWords((k + 1023) << 20, 0) : fromWords(k >= -1042 ? 1 << (k + 1042) : 0, k < -1042 ? 1 << (k + 1074) : 0);
}

/** The next binary64 number towards +Inf, for any finite x. */
export function nextUp(x: number): number {
  if (x === 0) return Number.MIN_VALUE;
  return step(x, x > 0 ? 1 : -1);
}

/** The next binary64 number towards -Inf, for any finite x. */
export function nextDown(x: number): number {
  return -nextUp(-x);
}

// One step away from zero (1) or towards it (-1).
function step(x: number, by: 1 | -1): number {
  const high = highWord(x);
  const low = lowWord();
  if (by === 1) return low === 0xffffffff ? fromWords(high + 1, 0) : fromWords(high, low + 1);
  return low === 0 ? fromWords(high - 1, 0xffffffff) : fromWords(high, low - 1);
}

/** The binary32 number one step away from zero (1) or towards it (-1); x is not zero when by is -1. */
export function stepSingle(x: number, by: 1 | -1): number {
  f32[0] = x;
  (i32[0] as number) += by;
  return f32[0] as number;
}

/** Store the one NaN that SPEC.md allows in an array. JavaScript does not specify the bits of `x[i] = NaN`. */
export function storeNaN(x: Float64Array | Float32Array, i: number): void {
  if (x.BYTES_PER_ELEMENT === 4) {
    new Uint32Array(x.buffer, x.byteOffset + 4 * i, 1)[0] = 0x7fc00000;
  } else {
    const words = new Uint32Array(x.buffer, x.byteOffset + 8 * i, 2);
    words[HIGH] = 0x7ff80000;
    words[LOW] = 0;
  }
}
