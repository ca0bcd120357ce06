// The levels of a triangle, found on the device: by rows that wait for each other, or by Kahn's algorithm on columns. Part of the set-up
// phase of sparse triangular solves (see the sparse paper); called by plan.ts, solve.ts and study.ts.
import type { DeviceBuffer, Work } from "../../device.ts";
import type { SetupKernels } from "./setupKernels.ts";
import { sort } from "./sort.ts";
import { columnsOf, countKeys, type DevicePattern, type StoredRows } from "./triangle.ts";
import type { SetupTuning } from "./tuning.ts";
import { FAILED, HIGHEST, TAIL } from "./words.ts";

/** The level of every unknown, and the number of levels. */
export interface FoundLevels {
  readonly levels: DeviceBuffer;
  readonly count: number;
}

/** Unknowns in the order of their levels: those of level m are order[starts[m]] to order[starts[m + 1] - 1], ascending. */
export interface DeviceLevels {
  readonly count: number;
  readonly starts: DeviceBuffer;
  readonly order: DeviceBuffer;
}

/** Start to find the level of every unknown by rows. levelsFound() has the result when `words` have been read. */
export function startLevels(
  setup: SetupKernels,
  rows: DevicePattern | StoredRows,
  words: DeviceBuffer,
  { setupGroups, setupGroup }: SetupTuning,
): DeviceBuffer {
  const { n, upper } = setup.triangle;
  const levels = setup.scope.scratch(4 * n);
  setup.device.fill(levels, Int32Array.of(-1));
  const [ends, more] = "ends" in rows ? [rows.ends, setup.fromA] : [rows.begins, {}];
  const args = [n, Number(upper), setup.limit, rows.begins, ends, rows.index, levels, words];
  setup.device.launch(setup.kernel("levelsByRows", more), [setupGroups], [Math.min(setupGroup, setup.group)], args);
  return levels;
}

/** The number of levels, or 0 if a wait was abandoned. */
export function levelsFound(words: Int32Array): number {
  return words[FAILED] ? 0 : (words[HIGHEST] as number) + 1;
}

/** The levels of rows. If waits by rows are abandoned, by Kahn's algorithm. */
export function* levelsOfRows(setup: SetupKernels, rows: DevicePattern, tuning: SetupTuning): Work<FoundLevels> {
  const { n } = setup.triangle;
  if (tuning.finder === "kahn")
    return yield* kahn(setup, columnsOf(setup, rows), tuning, () => {
      const queue = newQueue(setup, setup.scope.scratch(4 * n));
      setup.forEach("kahnBegin", n, [n, rows.begins, queue.counts, queue.slots, queue.levels, queue.words]);
      return queue;
    });
  const words = setup.newWords();
  const levels = startLevels(setup, rows, words, tuning);
  const count = levelsFound(yield* setup.readWords(words));
  return count > 0 ? { levels, count } : yield* levelsOfRows(setup, rows, { ...tuning, finder: "kahn" });
}

/** The levels of columns, by Kahn's algorithm. */
export function* levelsOfColumns(setup: SetupKernels, columns: DevicePattern, tuning: SetupTuning): Work<FoundLevels> {
  const { n } = setup.triangle;
  return yield* kahn(setup, columns, tuning, () => {
    const queue = newQueue(setup, countKeys(setup, columns.index, columns.entries, n));
    setup.forEach("kahnBeginCounted", n, [n, queue.counts, queue.slots, queue.levels, queue.words]);
    return queue;
  });
}

type Columns = Pick<DevicePattern, "begins" | "index">;

// For each unknown the number of others that it still waits for, and its level so far; and the queue of those that wait for none.
interface Queue {
  readonly counts: DeviceBuffer;
  readonly levels: DeviceBuffer;
  readonly slots: DeviceBuffer;
  readonly words: DeviceBuffer;
}

function newQueue(setup: SetupKernels, counts: DeviceBuffer): Queue {
  const { n } = setup.triangle;
  const slots = setup.scope.scratch(4 * n);
  setup.device.fill(slots, Int32Array.of(-1));
  return { counts, levels: setup.scope.scratch(4 * n), slots, words: setup.newWords() };
}

function* kahn(setup: SetupKernels, columns: Columns, { setupGroups, setupGroup }: SetupTuning, begin: () => Queue): Work<FoundLevels> {
  const { counts, slots, levels, words } = begin();
  const args = [setup.triangle.n, setup.limit, columns.begins, columns.index, counts, slots, levels, words];
  setup.device.launch(setup.kernel("kahn"), [setupGroups], [Math.min(setupGroup, setup.group)], args);
  const found = yield* setup.readWords(words);
  if (!found[FAILED]) return { levels, count: (found[HIGHEST] as number) + 1 };
  return yield* kahnByLevels(setup, columns, begin());
}

// For devices whose work-groups do not run side by side: one launch per level, whose size the host must read first.
function* kahnByLevels(setup: SetupKernels, { begins, index }: Columns, { counts, slots, levels, words }: Queue): Work<FoundLevels> {
  const { n } = setup.triangle;
  let count = 0;
  for (let from = 0; from < n; count++) {
    const to = (yield* setup.readWords(words))[TAIL] as number;
    setup.forEach("kahnLevel", to - from, [from, to, begins, index, counts, slots, levels, words]);
    from = to;
  }
  return { levels, count };
}

/** The unknowns in the order of their levels. */
export function orderByLevels(setup: SetupKernels, { levels, count }: FoundLevels): DeviceLevels {
  const { n } = setup.triangle;
  const starts = setup.scope.scratch(4 * (count + 1));
  const [keys, order] = sort(setup, n, count, [levels]) as [DeviceBuffer, DeviceBuffer];
  setup.forEach("findStarts", n + 1, [n, count, keys, starts]);
  return { count, starts, order };
}
