import { checkCount } from "../arrays/checks.ts";
import { ShapeError } from "../arrays/errors.ts";
import { Random } from "../arrays/random.ts";
import { ascending, MAX, prefixSums } from "../arrays/sparse.ts";
import type { Sparse } from "../arrays/types.ts";
import { newIntegers, newVector } from "../arrays/vectors.ts";
import { nonzero } from "./illConditionedDot.ts";

/**
 * A square matrix of order n with the pattern of a web: a full diagonal and, to make `entries` in all, links that are
 * distributed by power laws over the rows, of which few are enormous and most have one link or none, and over the columns, of
 * which few are popular. Which they are is random. By rows, ascending. The diagonal is from 1 to 2 and the other entries of a row
 * add up to at most 1/2 in magnitude: a solution with either triangle is at most twice the right-hand side. Made of integers and
 * square roots: every JavaScript engine makes the same matrix from a seed.
 */
export function powerLaw(n: number, entries: number, seed: number): Sparse {
  checkCount("powerLaw", "n", n, 0);
  checkCount("powerLaw", "entries", entries, n);
  checkCount("powerLaw", "seed", seed, 0);
  const most = Math.min(n * n, MAX);
  if (entries > most)
    throw new ShapeError(
      `powerLaw: entries is ${entries}, expected at most ${most} (${most === n * n ? "all of the matrix" : "indices have 32 bits"})`,
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
 * Where the rows begin if the row of rank 1, 2, 3... has a number of links proportional to rank^(-5/8): a power law with the
 * exponent 2.6, about that of the links that go out of pages. A million rows with two links each on the average have one row with
 * 4,400, ten with a thousand or more, and 58 in a hundred have one or none. Longest rows first, each gets its share of what is left,
 * rounded up, but no more than fit in: that is the average of the rows left or more, and what remains fits into the others.
 */
function rowPointers(n: number, links: number, random: Random): Int32Array {
  const shares = new Float64Array(n + 1); // of this rank and all after it
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
 * Fill `columns` with i and others, distinct and ascending. The rank of a column is n u^3 for a uniform u, so that the column of
 * rank r is drawn in proportion to r^(-2/3): a power law with the exponent 2.5 for the links that come in. As long as no more
 * than half of the columns are in, one in five draws at least is new, for the less popular half has 1 - (1/2)^(1/3) = 0.2 of all
 * draws. For longer rows it is drawn, uniformly, which columns are not in.
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
