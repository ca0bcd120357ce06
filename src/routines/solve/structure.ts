// What the patterns of A and b imply for the solution: components that are zero (stage 2 of correct.ts), and the equations that determine
// a component (for ties, in exact.ts). This is the block triangular structure of A, up to permutations.

import type { Routine } from "../../engines/steps.ts";
import { type HeldRows, shareRows } from "./held.ts";

/** Which entries of an n by n matrix are not zero, one bit for each. Every process has the pattern of the whole matrix. */
export class Pattern {
  /** Words of 32 bits per row. */
  private readonly words: number;

  private constructor(
    readonly n: number,
    private readonly bits: Uint32Array,
  ) {
    this.words = wordsFor(n);
  }

  /** The pattern of a matrix, from the rows that each process holds. */
  static *of({ rows, data }: HeldRows, n: number): Routine<Pattern> {
    const words = wordsFor(n);
    // Pairs of words travel as numbers: shareRows() copies bits.
    const own = new Float64Array((rows.length * words) / 2);
    const bits = new Uint32Array(own.buffer);
    for (let i = 0; i < rows.length; i++)
      for (let j = 0; j < n; j++) {
        const at = i * words + (j >>> 5);
        if (data[i * n + j] !== 0) bits[at] = (bits[at] as number) | (1 << (j & 31));
      }
    const all = yield* shareRows({ rows, data: own }, n, words / 2);
    return new Pattern(n, new Uint32Array(all.buffer, all.byteOffset, n * words));
  }

  has(i: number, j: number): boolean {
    return ((this.bits[i * this.words + (j >>> 5)] as number) & (1 << (j & 31))) !== 0;
  }
}

// An even number of words.
const wordsFor = (n: number): number => 2 * Math.ceil(n / 64);

/**
 * Which components of the solution of A x = b, for a regular A, are zero because of the patterns of A and b.
 *
 * A regular matrix has a perfect matching: an order of its rows in which the diagonal has no zero. Row k of that order gives x_k from
 * b_k and the x_j with a_kj != 0. Starting from the rows with b_k != 0, mark every k whose row has a marked j. Let Z be the set of those
 * never marked. The rows of Z have b = 0 and no entry outside Z, so A_ZZ x_Z = 0. A_ZZ is regular because A is, so x_Z = 0.
 */
export function structuralZeros(pattern: Pattern, matching: Int32Array, b: Float64Array): Uint8Array {
  const { n } = pattern;
  const isZero = new Uint8Array(n).fill(1);
  const queue = new Int32Array(n);
  let [head, tail] = [0, 0];
  const mark = (k: number): void => {
    if (isZero[k] === 0) return;
    isZero[k] = 0;
    queue[tail++] = k;
  };
  for (let i = 0; i < n; i++) if (b[i] !== 0) mark(matching[i] as number);
  while (head < tail && tail < n) {
    const j = queue[head++] as number;
    for (let i = 0; i < n; i++) if (pattern.has(i, j)) mark(matching[i] as number);
  }
  return isZero;
}

/**
 * The rows of A that determine component j of the solution: the row matched with j as above, the rows of the unknowns that occur in it,
 * and so on. These rows have no entries in other columns, so they form a system of their own, regular because A is.
 */
export function determiningRows(pattern: Pattern, matching: Int32Array, j: number): Int32Array {
  const { n } = pattern;
  const rowOf = new Int32Array(n);
  for (let i = 0; i < n; i++) rowOf[matching[i] as number] = i;
  const isVisited = new Uint8Array(n);
  const rows = new Int32Array(n);
  let count = 0;
  const visit = (column: number): void => {
    if (isVisited[column] === 1) return;
    isVisited[column] = 1;
    rows[count++] = rowOf[column] as number;
  };
  visit(j);
  for (let head = 0; head < count; head++) {
    const row = rows[head] as number;
    for (let k = 0; k < n; k++) if (pattern.has(row, k)) visit(k);
  }
  return rows.slice(0, count);
}

/** The column matched with each row, by augmenting paths; undefined if there is no perfect matching, and A is singular. */
export function perfectMatching(pattern: Pattern): Int32Array | undefined {
  const { n } = pattern;
  const columnOf = new Int32Array(n).fill(-1);
  const rowOf = new Int32Array(n).fill(-1);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      if (rowOf[j] !== -1 || !pattern.has(i, j)) continue;
      columnOf[i] = j;
      rowOf[j] = i;
      break;
    }
  }
  const seen = new Int32Array(n).fill(-1); // the last search that reached a column
  const next = new Int32Array(n); // the column at which the search continues in a row
  const path = new Int32Array(n + 1); // rows
  for (let start = 0; start < n; start++) {
    if (columnOf[start] !== -1) continue;
    let depth = 0;
    path[0] = start;
    next[start] = 0;
    for (;;) {
      const i = path[depth] as number;
      let j = next[i] as number;
      while (j < n && (seen[j] === start || !pattern.has(i, j))) j++;
      next[i] = j + 1;
      if (j === n) {
        if (depth-- === 0) return undefined;
        continue;
      }
      seen[j] = start;
      const owner = rowOf[j] as number;
      if (owner !== -1) {
        path[++depth] = owner;
        next[owner] = 0;
        continue;
      }
      // Every row of the path takes the column that it reached last.
      for (let d = depth, column = j; d >= 0; d--) {
        const row = path[d] as number;
        const before = columnOf[row] as number;
        columnOf[row] = column;
        rowOf[column] = row;
        column = before;
      }
      break;
    }
  }
  return columnOf;
}
