import type { Routine } from "../dense/steps.ts";
import { newVector } from "../dense/vectors.ts";
import type { Wait } from "../engines/device.ts";
import { exponentOf, significand } from "../exact/superaccumulator.ts";

// Whether a matrix is singular, exactly: elimination modulo primes. Entries are m * 2^e with integers m, and 2 has an inverse
// modulo any odd prime, so a matrix of such numbers has an image there. A determinant that is not 0 modulo one prime is not
// 0: that is a proof. One that is 0 modulo all three of the primes below is taken for 0. Were it not, then times a power of two
// it would be an integer that happens to be a multiple of all three: for a matrix that knows nothing of them the chance of each
// is about 2^-22, together 2^-66. (It can be made so on purpose: the diagonal matrix of the three primes is called singular.)

// The largest three primes below 2^22: a product is below 2^44, and 2^9 of them can be added before a remainder is taken.
const PRIMES = [4194301, 4194287, 4194277];
const BETWEEN_REMAINDERS = 511;

// An engine that answers later lets others have their turn between two blocks of columns.
const pause: Wait = { now() {}, later: () => new Promise((resolve) => setTimeout(resolve, 0)) };

// Columns that are reduced together: each of those before them is then read from memory once for all. (n = 1000: half the time.)
const BLOCK = 16;

/** The first column that is a linear combination of the columns before it, or -1. The matrix is n by n, row by row. */
export function* dependentColumn(routine: string, matrix: Float64Array, n: number): Routine<number> {
  let column = -1;
  for (const prime of PRIMES) {
    // A column that depends on others does so modulo any prime: of several answers the last column is nearest to the truth.
    const found = yield* dependentModulo(prime, routine, matrix, n);
    if (found < 0) return -1;
    column = Math.max(column, found);
  }
  return column;
}

// Columns are reduced one after another by those before them; one of which nothing is left depends on them. Column k, once
// reduced, has zeros above row k, rows having been swapped, and a 1 in row k.
function* dependentModulo(p: number, routine: string, matrix: Float64Array, n: number): Routine<number> {
  const all = newVector(routine, matrix, n * n);
  const columns = Array.from({ length: n }, (_, j) => all.subarray(j * n, (j + 1) * n));
  const order = Int32Array.from({ length: n }, (_, i) => i); // which row of A is row i now
  const image = imageModulo(p);
  for (let from = 0; from < n; from += BLOCK) {
    const block = columns.slice(from, from + BLOCK);
    for (let i = 0; i < n; i++) {
      const row = (order[i] as number) * n + from;
      for (const [c, column] of block.entries()) column[i] = image(matrix[row + c] as number);
    }
    for (let k = 0; k < from; k++) reduceBy(columns[k] as Float64Array, k, block, p);
    for (const [c, column] of block.entries()) {
      const j = from + c;
      takeRemainders(column, j, p);
      const row = column.findIndex((v, i) => i >= j && v !== 0);
      if (row < 0) return j;
      if (row !== j) for (const each of [order, ...columns.slice(0, from + BLOCK)]) swap(each, j, row);
      const inverse = inverseModulo(column[j] as number, p);
      for (let i = j; i < n; i++) column[i] = ((column[i] as number) * inverse) % p;
      reduceBy(column, j, block.slice(c + 1), p);
    }
    yield () => pause;
  }
  return -1;
}

function swap(x: Float64Array | Int32Array, i: number, j: number): void {
  [x[i], x[j]] = [x[j] as number, x[i] as number];
}

// Take from each column what makes its entry k a multiple of p.
function reduceBy(by: Float64Array, k: number, columns: readonly Float64Array[], p: number): void {
  for (const column of columns) {
    const factor = p - ((column[k] as number) % p); // so that nothing is negative
    if (factor !== p) for (let i = k + 1; i < by.length; i++) column[i] = (column[i] as number) + factor * (by[i] as number);
    if (k % BETWEEN_REMAINDERS === BETWEEN_REMAINDERS - 1) takeRemainders(column, k + 1, p);
  }
}

function takeRemainders(column: Float64Array, from: number, p: number): void {
  for (let i = from; i < column.length; i++) column[i] = (column[i] as number) % p;
}

// m * 2^e modulo p, with the powers of two in a table: e is from -1074 to 971.
function imageModulo(p: number): (x: number) => number {
  const powers = new Float64Array(2046);
  for (let e = 0, power = powerModulo((p + 1) / 2, 1074, p); e < powers.length; e++, power = (2 * power) % p) powers[e] = power;
  return (x) => {
    const m = significand(x) % p;
    return m === 0 ? 0 : ((m < 0 ? m + p : m) * (powers[exponentOf(x) + 1074] as number)) % p;
  };
}

function powerModulo(base: number, exponent: number, p: number): number {
  let [result, square] = [1, base];
  for (let e = exponent; e > 0; e = Math.floor(e / 2)) {
    if (e % 2 === 1) result = (result * square) % p;
    square = (square * square) % p;
  }
  return result;
}

// By Fermat's little theorem.
const inverseModulo = (x: number, p: number): number => powerModulo(x, p - 2, p);
