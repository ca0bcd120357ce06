// Scale factors from a maximum-product matching of rows to columns, for matrices whose entries differ so much in size that the largest
// entries of rows and columns do not show which pivots matter. correct.ts uses them if factors have no proof with ordinary scaling.
import type { Routine } from "../../engines/steps.ts";
import { type HeldRows, shareRows } from "./held.ts";
import { exponent } from "./powers.ts";

const NO_ENTRY = -(2 ** 15);

/** The exponents of all entries of a matrix, from the rows that each process holds; NO_ENTRY for zeros. */
export function* entryExponents({ rows, data }: HeldRows, n: number): Routine<Int16Array> {
  const width = Math.ceil(n / 4); // numbers per row: four exponents travel as one number
  const own = new Float64Array(rows.length * width);
  const exponents = new Int16Array(own.buffer);
  for (let i = 0; i < rows.length; i++)
    for (let j = 0; j < n; j++) {
      const size = Math.abs(data[i * n + j] as number);
      exponents[4 * i * width + j] = size > 0 ? exponent(size) : NO_ENTRY;
    }
  const all = yield* shareRows({ rows, data: own }, n, width);
  return new Int16Array(all.buffer, all.byteOffset, 4 * n * width);
}

/**
 * Scale exponents for the rows and columns of a matrix with these entryExponents(). Scaled by them, all entries are below 2, and those of a perfect matching, one in each
 * row and column, are 1 or more: the matching with the largest product (Duff and Koster, 2001), by shortest augmenting paths. If
 * exponents are far apart, it shows the order of size in which elimination proceeds. Undefined if there is no perfect matching: then the
 * matrix is singular. Takes at most n^3 operations.
 */
export function matchingExponents(exponents: Int16Array, n: number): { rows: Int32Array; cols: Int32Array } | undefined {
  const width = 4 * Math.ceil(n / 4);
  const cost = (i: number, j: number): number => {
    const exponent = exponents[i * width + j] as number;
    return exponent === NO_ENTRY ? Number.POSITIVE_INFINITY : -exponent;
  };
  // Potentials u and v with u_i + v_j <= cost_ij, and equality if row i and column j are matched. Index n means no row or column.
  const [u, v] = [new Float64Array(n + 1), new Float64Array(n + 1)];
  const rowOf = new Int32Array(n + 1).fill(n);
  const before = new Int32Array(n + 1);
  for (let i = 0; i < n; i++) {
    rowOf[n] = i;
    const minSlack = new Float64Array(n).fill(Number.POSITIVE_INFINITY);
    const used = new Uint8Array(n + 1);
    let column = n;
    do {
      used[column] = 1;
      const row = rowOf[column] as number;
      let [next, delta] = [-1, Number.POSITIVE_INFINITY];
      for (let j = 0; j < n; j++) {
        if (used[j] === 1) continue;
        const slack = cost(row, j) - (u[row] as number) - (v[j] as number);
        if (slack < (minSlack[j] as number)) {
          minSlack[j] = slack;
          before[j] = column;
        }
        if ((minSlack[j] as number) < delta) {
          delta = minSlack[j] as number;
          next = j;
        }
      }
      if (next < 0) return undefined;
      for (let j = 0; j <= n; j++) {
        if (used[j] === 1) {
          u[rowOf[j] as number] = (u[rowOf[j] as number] as number) + delta;
          v[j] = (v[j] as number) - delta;
        } else if (j < n) {
          minSlack[j] = (minSlack[j] as number) - delta;
        }
      }
      column = next;
    } while (rowOf[column] !== n);
    while (column !== n) {
      const from = before[column] as number;
      rowOf[column] = rowOf[from] as number;
      column = from;
    }
  }
  return { rows: Int32Array.from(u.subarray(0, n)), cols: Int32Array.from(v.subarray(0, n)) };
}
