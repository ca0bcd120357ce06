// The entries of a triangle of A, counted and compressed on the device: the first part of the set-up phase of sparse triangular solves.
// A line is what A stores contiguously: a row of the triangle, or a column.
import type { DeviceBuffer, Work } from "../../device.ts";
import { prefixSums } from "./scan.ts";
import type { SetupKernels } from "./setupKernels.ts";
import { sort } from "./sort.ts";
import { ENTRIES, LONGEST, SINGULAR } from "./words.ts";

/** The pattern of a triangle on the device, without the diagonal, compressed by rows or by columns. `source` has the positions in A. */
export interface DevicePattern {
  readonly begins: DeviceBuffer;
  readonly index: DeviceBuffer;
  readonly source: DeviceBuffer;
  readonly entries: number;
}

/** For each line of A: its entries within the triangle, their range in A, and the position of the diagonal. `words` has the totals. */
export interface LineCounts {
  readonly lengths: DeviceBuffer;
  readonly firsts: DeviceBuffer;
  readonly ends: DeviceBuffer;
  readonly diagonalAt: DeviceBuffer;
  readonly words: DeviceBuffer;
}

export interface Totals {
  readonly entries: number;
  /** The entries of the longest line. */
  readonly longest: number;
  /** The first unknown whose diagonal entry is missing or zero; n if there is none. */
  readonly singular: number;
  /** All words, including those of other kernels. */
  readonly words: Int32Array;
}

/** Rows of a triangle as A stores them, possibly with entries outside the triangle between its own. */
export interface StoredRows {
  readonly begins: DeviceBuffer;
  readonly ends: DeviceBuffer;
  readonly index: DeviceBuffer;
  readonly lengths: DeviceBuffer;
  readonly entries: number;
}

/** Start to count the lines; readTotals() waits for it. `lengths` has room for one more. */
export function countLines(setup: SetupKernels, values: DeviceBuffer): LineCounts {
  const { n, unit } = setup.triangle;
  const [lengths, firsts, ends, diagonalAt] = [n + 1, n, n, n].map((count) => setup.scope.scratch(4 * count)) as [
    DeviceBuffer,
    DeviceBuffer,
    DeviceBuffer,
    DeviceBuffer,
  ];
  const words = setup.newWords();
  const { begins, index } = setup.stored;
  const args = [n, setup.before, Number(unit), begins, index, values, lengths, firsts, ends, diagonalAt, words];
  setup.forEach("countLines", n + 1, args);
  return { lengths, firsts, ends, diagonalAt, words };
}

export function* readTotals(setup: SetupKernels, counts: LineCounts): Work<Totals> {
  const words = yield* setup.readWords(counts.words);
  const singular = setup.triangle.n - (words[SINGULAR] as number);
  return { entries: words[ENTRIES] as number, longest: words[LONGEST] as number, singular, words };
}

/** The rows of the triangle, if A is stored by its rows. */
export function storedRows(setup: SetupKernels, { firsts, ends, lengths }: LineCounts, entries: number): StoredRows {
  return { begins: firsts, ends, index: setup.stored.index, lengths, entries };
}

/** The first unknown whose diagonal entry is missing or zero; n if there is none. */
export function* firstSingular(setup: SetupKernels, diagonalAt: DeviceBuffer, values: DeviceBuffer): Work<number> {
  const { n } = setup.triangle;
  const words = setup.newWords();
  setup.forEach("checkDiagonal", n, [n, diagonalAt, values, words]);
  return n - ((yield* setup.readWords(words))[SINGULAR] as number);
}

/** The pattern along the lines of A, or across them, with ascending indices. The lengths are overwritten. */
export function compress(setup: SetupKernels, { lengths }: LineCounts, entries: number, across: boolean): DevicePattern {
  const { scope, stored } = setup;
  const { n } = setup.triangle;
  const [index, source] = [scope.scratch(4 * entries), scope.scratch(4 * entries)];
  const line = across ? scope.scratch(4 * entries) : index;
  prefixSums(setup, lengths, n + 1);
  const args = [n, setup.before, stored.begins, stored.index, lengths, index, line, source];
  setup.forEach("fillLines", n, args, across ? { WITH_LINE: 1 } : {});
  if (!across) return { begins: lengths, index, source, entries };
  const begins = countKeys(setup, index, entries, n + 1);
  prefixSums(setup, begins, n + 1);
  const [, sorted, sources] = sort(setup, entries, n, [index, line, source]) as [DeviceBuffer, DeviceBuffer, DeviceBuffer];
  return { begins, index: sorted, source: sources, entries };
}

/** How often each number below `bound` occurs among the keys. */
export function countKeys(setup: SetupKernels, keys: DeviceBuffer, count: number, bound: number): DeviceBuffer {
  const lengths = setup.scope.scratch(4 * bound);
  setup.device.fill(lengths, new Int32Array(1));
  if (count > 0) setup.forEach("countKeys", count, [count, keys, lengths]);
  return lengths;
}

/** The columns of a pattern by rows, in any order within a column: the unknowns that wait for each one. */
export function columnsOf(setup: SetupKernels, rows: DevicePattern): Pick<DevicePattern, "begins" | "index"> {
  const { scope, device } = setup;
  const { n } = setup.triangle;
  const begins = countKeys(setup, rows.index, rows.entries, n + 1);
  prefixSums(setup, begins, n + 1);
  const next = scope.scratch(4 * (n + 1));
  device.copy(begins, next, 4 * (n + 1));
  const index = scope.scratch(4 * rows.entries);
  setup.forEach("scatter", n, [n, rows.begins, rows.index, next, index]);
  return { begins, index };
}
