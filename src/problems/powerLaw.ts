// powerLaw: a matrix like the web graphs in the sparse paper.
import { checkCount } from "../arrays/checks.ts";
import { ShapeError } from "../arrays/errors.ts";
import { Random } from "../arrays/random.ts";
import { ascending, MAX, prefixSums } from "../arrays/sparse.ts";
import type { Sparse } from "../arrays/types.ts";
import { newIntegers, newVector } from "../arrays/vectors.ts";
import { nonzero } from "./illConditionedDot.ts";

/**
 * A square matrix of order n with the pattern of a web graph: a full diagonal and, for `entries` in total, links distributed by power
 * laws over the rows (a few are enormous, most have at most one link) and over the columns (a few are popular), in random order. By
 * rows, columns ascending. Diagonal entries are between 1 and 2, and the magnitudes of the others add up to at most 1/2 per row, so a
 * solution with either triangle is at most twice the right-hand side. Uses only integers and square roots: every JavaScript engine
 * generates the same matrix from a seed.
 * @example
 * powerLaw(1000, 5000, 1).rows; // 1000
 */
export function powerLaw(n: number, entries: number, seed: number): Sparse {
  checkCount("powerLaw", "n", n, 0);
  checkCount("powerLaw", "entries", entries, n);
  checkCount("powerLaw", "seed", seed, 0);
  const max = Math.min(n * n, MAX);
  if (entries > max)
    throw new ShapeError(
      `powerLaw: entries is ${entries}, expected at most ${max} (${max === n * n ? "a full matrix" : "indices have 32 bits"})`,
    );
  const random = new Random(seed);
  const pointers = rowPointers(n, entries - n, random);
  const indices = newIntegers("powerLaw", entries);
  const values = newVector("powerLaw", new Float64Array(0), entries);
  const byPopularity = permutation(n, random);
  const seen = newIntegers("powerLaw", n); // 1 + the last row that drew this column
  for (let i = 0; i < n; i++) {
    const from = pointers[i] as number;
    const end = pointers[i + 1] as number;
    drawColumns(i, indices.subarray(from, end), byPopularity, seen, random);
    const links = end - from - 1;
    for (let p = from; p < end; p++) values[p] = indices[p] === i ? 1 + Math.abs(random.signed()) : nonzero(random) / (2 * links);
  }
  return ascending("powerLaw", { format: "csr", rows: n, cols: n, pointers, indices, values });
}

/**
 * Row pointers such that the row of rank 1, 2, 3... has a number of links proportional to rank^(-5/8): a power law with exponent 2.6,
 * about that of outgoing links of web pages. Of a million rows with two links on average, one has 4,400, ten have a thousand or more,
 * and 58 in a hundred have at most one. Longest rows first, each gets its share of the remaining links, rounded up, but no more than
 * fit: that is at least the average of the remaining rows, so the rest fits into the others.
 */
function rowPointers(n: number, links: number, random: Random): Int32Array {
  const shares = new Float64Array(n + 1); // the sum of the shares from this rank on
  const share = (rank: number): number => 1 / (Math.sqrt(rank) * Math.sqrt(Math.sqrt(Math.sqrt(rank))));
  for (let rank = n; rank > 0; rank--) shares[rank - 1] = (shares[rank] as number) + share(rank);
  const pointers = newIntegers("powerLaw", n + 1);
  const byLength = permutation(n, random);
  let left = links;
  for (let rank = 1; rank <= n; rank++) {
    const fair = Math.ceil((left * share(rank)) / (shares[rank - 1] as number));
    const length = Math.min(fair, n - 1, left);
    pointers[(byLength[rank - 1] as number) + 1] = 1 + length;
    left -= length;
  }
  return prefixSums(pointers);
}

/**
 * Fills `columns` with i and other columns, distinct and ascending. The rank of a column is n u^3 for a uniform u, so the column of
 * rank r is drawn in proportion to r^(-2/3): a power law with exponent 2.5 for incoming links. Up to half of the columns, at least one
 * draw in five is new, since the less popular half gets 1 - (1/2)^(1/3) = 0.2 of all draws. For longer rows, the columns to leave out
 * are drawn instead, uniformly.
 */
function drawColumns(i: number, columns: Int32Array, byPopularity: Int32Array, seen: Int32Array, random: Random): void {
  const n = seen.length;
  seen[i] = i + 1;
  const unseen = (draw: () => number): number => {
    for (;;) {
      const j = draw();
      if (seen[j] === i + 1) continue;
      seen[j] = i + 1;
      return j;
    }
  };
  if (columns.length <= n / 2) {
    const popular = (): number => {
      const u = random.word() / 2 ** 32;
      return byPopularity[Math.floor(n * u * u * u)] as number;
    };
    columns[0] = i;
    for (let count = 1; count < columns.length; count++) columns[count] = unseen(popular);
    columns.sort();
  } else {
    for (let count = columns.length; count < n; count++) unseen(() => random.below(n));
    for (let j = 0, count = 0; j < n; j++) if (seen[j] !== i + 1 || j === i) columns[count++] = j;
  }
}

function permutation(n: number, random: Random): Int32Array {
  const order = newIntegers("powerLaw", n);
  for (let i = 0; i < n; i++) {
    const j = random.below(i + 1);
    order[i] = order[j] as number;
    order[j] = i;
  }
  return order;
}
