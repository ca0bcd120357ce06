// The moduli of products by residues, how many of them a product needs, and the numbers that kernels need for each. Used by the engines
// that multiply on matrix engines or on dot products of bytes: opencl/dense/residues.ts and webgpu/dense/gemmResidues.ts. After Ozaki,
// Uchino and Imamura's second scheme.

// Pairwise coprime and at most 256, so that residues fit in 8 bits, in descending order.
const MODULI = [256, 255, 253, 251, 247, 241, 239, 233, 229, 227, 223, 217, 211, 199, 197, 193, 191, 181, 179, 173, 167, 163];

/** Bits of the pieces that an integer is cut into before it is reduced. Four of them have 84. */
export const PIECE_BITS = 21;
const PIECES = 4;
/** The most bits of an integer. */
export const MAX_BITS = PIECES * PIECE_BITS;

// 32-bit words of a cofactor in the table.
const MAX_LIMBS = 6;
/** 32-bit words of integers below the product of this many moduli: of 20 it is below 2^156. */
export const limbsOf = (count: number): number => (count <= 20 ? 5 : MAX_LIMBS);

/** Words of a record of the table: see recordOf. */
export const RECORD = 20;
/** Where the parts of a record begin. */
export const RECIPROCAL = 1;
export const OFFSET = 2;
export const WEIGHTS = 3;
export const INVERSE = 11;
export const COFACTOR = 12;

/** The longest sum whose terms, products of two residues of at most 128, stay within 2^30 in magnitude. */
export const MAX_TERMS = 2 ** 16;

const productOf = (count: number): bigint => MODULI.slice(0, count).reduce((product, m) => product * BigInt(m), 1n);

/** floor(log2) of the product of the first `count` moduli. */
const capacities = Array.from({ length: MODULI.length + 1 }, (_, count) => productOf(count).toString(2).length - 1);

/** How many moduli have a product of at least 2^bits; undefined if all together have less. */
export function moduliFor(bits: number): number | undefined {
  const count = capacities.findIndex((capacity) => capacity >= bits);
  return count < 0 ? undefined : Math.max(1, count);
}

/** The bits below the product of the first `count` moduli. */
export const capacityOf = (count: number): number => capacities[count] as number;

/** Bits of the integers on both sides, and how many moduli their products need. */
export interface Precision {
  readonly left: number;
  readonly right: number;
  readonly moduli: number;
}

const MAX_WIDTH = 2200; // binary64 numbers span 2098 bits; more stands for a number that is not finite

/**
 * The precision for lines whose integers have these widths, of which `wanted` bits are to be kept, and more if the moduli have room.
 * Undefined if no number of moduli is enough.
 */
export function precisionFor(leftWidth: number, rightWidth: number, terms: number, wanted: number): Precision | undefined {
  const bitsOfTerms = Math.ceil(Math.log2(Math.max(1, terms))) + 2;
  let [left, right] = [leftWidth, rightWidth].map((width) => Math.min(width, wanted)) as [number, number];
  const moduli = moduliFor(left + right + bitsOfTerms);
  if (moduli === undefined || terms > MAX_TERMS || Math.max(leftWidth, rightWidth) > MAX_WIDTH) return undefined;
  for (let spare = capacityOf(moduli) - left - right - bitsOfTerms; spare > 0; spare--) {
    if (left < Math.min(leftWidth, MAX_BITS) && (left <= right || right >= rightWidth)) left++;
    else if (right < Math.min(rightWidth, MAX_BITS)) right++;
  }
  return { left, right, moduli };
}

const tables = new Map<number, Int32Array>();

/** A record for each of the first `count` moduli, and one more, whose cofactor is their product. */
export function tableOf(count: number): Int32Array {
  let table = tables.get(count);
  if (!table) {
    table = new Int32Array((count + 1) * RECORD);
    const product = productOf(count);
    for (let l = 0; l < count; l++) writeRecord(table.subarray(l * RECORD), MODULI[l] as number, product);
    writeLimbs(table.subarray(count * RECORD + COFACTOR), product);
    tables.set(count, table);
  }
  return table;
}

// For a modulus m with cofactor Q = product / m and I = Q^-1 mod m: m; floor(2^32 / m); the least multiple of m from 2^30 on; the
// weights of the pieces on the left, 2^(21 i) mod m, and on the right, where they are multiplied by I; 1 / m as a float; Q. With I in the
// right factor, the residue y of a product is already the coefficient of Q in the Chinese remainder theorem: the product is the sum of
// y Q over the moduli, minus a multiple of the product of all.
function writeRecord(record: Int32Array, m: number, product: bigint): void {
  const modulus = BigInt(m);
  const cofactor = product / modulus;
  const inverse = inverseOf(cofactor % modulus, modulus);
  record[0] = m;
  record[RECIPROCAL] = Math.floor(2 ** 32 / m);
  record[OFFSET] = m * Math.ceil(2 ** 30 / m);
  for (let i = 0; i < PIECES; i++) {
    const weight = 2n ** BigInt(PIECE_BITS * i);
    record[WEIGHTS + i] = residueOf(weight, modulus);
    record[WEIGHTS + PIECES + i] = residueOf(weight * inverse, modulus);
  }
  new Float32Array(record.buffer, record.byteOffset, RECORD)[INVERSE] = 1 / m;
  writeLimbs(record.subarray(COFACTOR), cofactor);
}

// Between -128 and 127.
function residueOf(x: bigint, m: bigint): number {
  const r = Number(x % m);
  return r > 127 ? r - Number(m) : r;
}

function inverseOf(x: bigint, m: bigint): bigint {
  for (let y = 1n; y < m; y++) if ((x * y) % m === 1n) return y;
  return 0n; // of one modulus alone, with cofactor 1, never reached: 1 * 1 = 1
}

function writeLimbs(to: Int32Array, x: bigint): void {
  for (let i = 0; i < MAX_LIMBS; i++) to[i] = Number(BigInt.asIntN(32, x >> BigInt(32 * i)));
}
