// What a plan keeps of its triangle, in memory of the plan: the pattern, reordered by levels or as it is, and the tasks of levr and
// levc. The last part of the set-up phase of sparse triangular solves; called by plan.ts.
import type { DeviceBuffer, Work } from "../../device.ts";
import type { Scope } from "../../deviceScope.ts";
import type { DeviceLevels } from "./levels.ts";
import { prefixSums } from "./scan.ts";
import type { SetupKernels } from "./setupKernels.ts";
import type { DevicePattern, StoredRows } from "./triangle.ts";
import { SETUP_WORDS } from "./words.ts";

/** Rows or columns in this order, with positions in it as indices, in memory of `to`. */
export function reorder(setup: SetupKernels, pattern: DevicePattern | StoredRows, order: DeviceBuffer, to: Scope): DevicePattern {
  const { n } = setup.triangle;
  const { begins, index, entries } = pattern;
  const [known, source, more] = "source" in pattern ? [begins, pattern.source, {}] : [pattern.lengths, index, setup.fromA];
  const positions = setup.scope.scratch(4 * n);
  const moved = { begins: to.scratch(4 * (n + 1)), index: to.scratch(4 * entries), source: to.scratch(4 * entries) };
  setup.forEach("orderLines", n + 1, [n, order, known, positions, moved.begins], more);
  prefixSums(setup, moved.begins, n + 1);
  const args = [n, setup.before, order, positions, begins, index, source, moved.begins, moved.index, moved.source];
  setup.forEach("moveLines", n, args, more);
  return { ...moved, entries };
}

/** A copy of the pattern in memory of `to`. */
export function copyPattern({ device }: SetupKernels, { begins, index, source, entries }: DevicePattern, to: Scope): DevicePattern {
  const copy = (from: DeviceBuffer): DeviceBuffer => {
    const buffer = to.scratch(from.bytes);
    device.copy(from, buffer, from.bytes);
    return buffer;
  };
  return { begins: copy(begins), index: copy(index), source: copy(source), entries };
}

/** Tasks of up to `size` rows or columns of one level, in memory of `to`. */
export function* tasksOf(
  setup: SetupKernels,
  { count, starts }: DeviceLevels,
  size: number,
  to: Scope,
): Work<{ list: DeviceBuffer; count: number }> {
  const tasks = setup.scope.scratch(4 * (count + 1));
  setup.forEach("countTasks", count + 1, [count, size, starts, tasks]);
  prefixSums(setup, tasks, count + 1);
  const words = setup.scope.scratch(4 * SETUP_WORDS);
  setup.device.copy(tasks, words, 4, 4 * count);
  const [total] = yield* setup.readWords(words);
  const list = to.scratch(12 * (total as number));
  setup.forEach("fillTasks", count, [count, size, starts, tasks, list]);
  return { list, count: total as number };
}
