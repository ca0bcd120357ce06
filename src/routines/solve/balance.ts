// Scaling by an assignment, for matrices whose entries are so unlike that the largest ones of rows and columns do not show which
// pivots matter. Called by correct.ts where ordinary scaling leaves factors without a proof.
import { exponent } from "./powers.ts";

/**
 * Powers of two for the rows and columns of a matrix: with them no entry is 2 or more, and one in each row and column, no two of
 * them in one line, is 1 or more: an assignment of the largest product (Duff and Koster, 2001), by shortest augmenting paths. Where
 * exponents are far apart this finds the order of size in which elimination works; the largest entries of rows and columns do not
 * show it. Undefined if there is no such assignment: then the matrix is singular. Takes n^3 operations at the most.
 */
export function assignmentPowers(data: Float64Array, n: number): { rows: Int32Array; cols: Int32Array } | undefined {
  const cost = new Float64Array(n * n).fill(Number.POSITIVE_INFINITY);
  for (let e = 0; e < n * n; e++) {
    const size = Math.abs(data[e] as number);
    if (size > 0) cost[e] = -exponent(size);
  }
  // Potentials u and v with u_i + v_j <= cost_ij, and equality where row i and column j are matched. Row and column n are none.
  const [u, v] = [new Float64Array(n + 1), new Float64Array(n + 1)];
  const rowOf = new Int32Array(n + 1).fill(n);
  const before = new Int32Array(n + 1);
  for (let i = 0; i < n; i++) {
    rowOf[n] = i;
    const least = new Float64Array(n).fill(Number.POSITIVE_INFINITY);
    const used = new Uint8Array(n + 1);
    let column = n;
    do {
      used[column] = 1;
      const row = rowOf[column] as number;
      let [next, delta] = [-1, Number.POSITIVE_INFINITY];
      for (let j = 0; j < n; j++) {
        if (used[j] === 1) continue;
        const slack = (cost[row * n + j] as number) - (u[row] as number) - (v[j] as number);
        if (slack < (least[j] as number)) {
          least[j] = slack;
          before[j] = column;
        }
        if ((least[j] as number) < delta) {
          delta = least[j] as number;
          next = j;
        }
      }
      if (next < 0) return undefined;
      for (let j = 0; j <= n; j++) {
        if (used[j] === 1) {
          u[rowOf[j] as number] = (u[rowOf[j] as number] as number) + delta;
          v[j] = (v[j] as number) - delta;
        } else if (j < n) {
          least[j] = (least[j] as number) - delta;
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
