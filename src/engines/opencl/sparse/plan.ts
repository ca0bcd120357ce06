import { zeroOnDiagonal } from "../../../arrays/matrix.ts";
import { isOnHost, type Operand } from "../../../arrays/operands.ts";
import { checkDiagonal, isTriangleOnHost, missingOnDiagonal, type TriangleSource } from "../../../arrays/triangle.ts";
import type { Device, DeviceBuffer, Work } from "../../device.ts";
import type { PlanOptions, Schedule, SparsePlan } from "../../kernels.ts";
import type { Routine } from "../../steps.ts";
import { inScope, Scope } from "../device/scope.ts";
import { type DeviceLines, type DeviceNumbers, type FoundLevels, SparseSetup, type StoredRows } from "./setup.ts";
import { type DeviceSystem, solveSystem, WorkSets } from "./solve.ts";
import { setupTuning, type Tuning, tuningFor } from "./tuning.ts";

// Plans for sparse triangular solves on the device. The matrix stays there: one that is there already needs no trip to the host.

/** A plan on the device; what it is made of is for measurements. */
export interface DevicePlan extends SparsePlan {
  readonly system: DeviceSystem;
  readonly sets: WorkSets;
  readonly tuning: Tuning;
}

/** A plan; see Kernels.plan. `tuned` is for measurements. */
export function* plan(
  device: Device,
  triangle: TriangleSource,
  exact: boolean,
  options: PlanOptions,
  tuned: Partial<Tuning> = {},
): Work<DevicePlan> {
  const keeper = new Scope(device, "sptrsv");
  try {
    return yield* inScope(device, "sptrsv", function* (scope) {
      const made = yield* analyse(scope, keeper, triangle, exact, options, tuned);
      yield device.finish();
      return made;
    });
  } catch (error) {
    keeper.free();
    throw error;
  }
}

interface Choice {
  readonly schedule: Schedule;
  readonly reason: string;
}

// Solves after which an order by levels has paid: finding it takes a few times as long as a solve.
const SOLVES = 4;

function choose({ schedule = "auto", expectedSolves }: PlanOptions): Choice {
  if (schedule !== "auto") return { schedule, reason: "asked for" };
  if (expectedSolves !== undefined && expectedSolves < SOLVES)
    return { schedule: "gsf", reason: `${expectedSolves} expected solves do not pay for levels, ${SOLVES} would` };
  return { schedule: "slfr", reason: "rows by levels, each waits for the unknowns it needs" };
}

function* analyse(
  scope: Scope,
  keeper: Scope,
  triangle: TriangleSource,
  exact: boolean,
  options: PlanOptions,
  tuned: Partial<Tuning>,
): Work<DevicePlan> {
  const { device } = scope;
  const { A, n, upper, byRows, unit } = triangle;
  const choice = choose(options);
  const { schedule } = choice;
  const values = scope.vector(A.values);
  const setup = new SparseSetup(scope, triangle, tuned.limit);
  // In exact mode a column only signals, and that is the unknown itself: lines are always rows.
  const columns = !exact && (schedule === "levc" || schedule === "slfc");
  const isOrdered = schedule !== "serial" && schedule !== "gsf";
  const finding = setupTuning(device, tuned);
  const counting = setup.counting(values);
  // Levels of rows that are those of A are found before anything is known of them on the host.
  const direct = isOrdered && byRows && !columns && finding.finder === "rows";
  const early = direct ? setup.findLevels(setup.rowsOf(counting, 0), counting.words, finding) : undefined;
  const { entries, longest, singular, found } = yield* setup.counted(counting);
  yield* refuseSingular("sptrsv", setup, singular, counting.at);
  const tuning = tuningFor(device, schedule, { n, entries, longest, exact }, tuned);
  const shared = { device, n, upper, unit, exact, columns, width: A.values.BYTES_PER_ELEMENT };
  const at = keeper.scratch(4 * n);
  device.copy(counting.at, at, 4 * n);
  if (!isOrdered) {
    const lines = setup.copied(setup.lines(counting, entries, !byRows), keeper);
    const system = { ...shared, lines, order: undefined, starts: undefined, levels: 0, tasks: undefined, waits: undefined, at };
    return made(keeper, triangle, choice, system, tuning, values);
  }
  let levels: FoundLevels = { levels: early ?? counting.at, count: early ? setup.levelsFound(found) : 0 };
  let lines: DeviceLines | StoredRows = setup.rowsOf(counting, entries);
  if (levels.count === 0) {
    const sorted = setup.lines(counting, entries, columns === byRows);
    lines = sorted;
    const how = direct ? { ...finding, finder: "kahn" as const } : finding;
    levels = yield* columns ? setup.levelsOfColumns(sorted, how) : setup.levelsOfRows(sorted, how);
  }
  if (n === 0) levels = { ...levels, count: 0 };
  const sorted = setup.inOrder(levels);
  const order = keeper.scratch(4 * n);
  device.copy(sorted.order, order, 4 * n);
  const starts = keeper.scratch(4 * (levels.count + 1));
  device.copy(sorted.starts, starts, 4 * (levels.count + 1));
  const moved = setup.moved(lines, order, keeper);
  const tasks = schedule === "levr" || schedule === "levc" ? yield* setup.tasks(sorted, tuning.group, keeper) : undefined;
  const waits = columns ? keeper.scratch(4 * n) : undefined;
  if (waits) device.copy(setup.countsOf(moved.index, moved.entries, n), waits, 4 * n);
  const system = { ...shared, lines: moved, order, starts, levels: levels.count, tasks, waits, at };
  return made(keeper, triangle, choice, system, tuning, values);
}

function* refuseSingular(routine: string, { triangle, scope }: SparseSetup, l: number, at: DeviceBuffer): Work<void> {
  if (l >= triangle.n) return;
  const place = new Int32Array(1);
  yield scope.device.read(at, place, 4 * l);
  throw (place[0] as number) < 0 ? missingOnDiagonal(routine, l) : zeroOnDiagonal(routine, "A", l);
}

type Pattern = Omit<DeviceSystem, "numbers"> & { readonly at: DeviceBuffer };

function made(
  keeper: Scope,
  triangle: TriangleSource,
  { schedule, reason }: Choice,
  pattern: Pattern,
  tuning: Tuning,
  values: DeviceBuffer,
): DevicePlan {
  const { device, n, width, lines } = pattern;
  const sets = new WorkSets(device, n, width, pattern.columns);
  const bytes = keptBytes(pattern) + (lines.entries + n) * width + 8 * n + sets.bytes;
  const withMemory = (numbers: Numbers): DevicePlan => {
    const system: DeviceSystem = { ...pattern, numbers };
    return {
      system,
      sets,
      tuning,
      n,
      schedule,
      reason,
      levels: () => pattern.levels,
      bytes,
      solve: (b: Operand, x: Operand): Routine<void> => solveSystem(system, sets, tuning, b, x),
      *withValues(from, inUse) {
        const next = inUse ? newNumbers(pattern) : numbers;
        sets.updates++;
        try {
          yield* takeNumbers("TriangularPlan.update", triangle, pattern, from, next);
        } catch (error) {
          if (inUse) next.scope.free();
          throw error;
        }
        return inUse ? { plan: withMemory(next), replaced: { free: () => numbers.scope.free() } } : { plan: this };
      },
      free() {
        for (const scope of [keeper, numbers.scope]) sets.isQuiet ? scope.recycle() : scope.free();
        sets.free();
      },
    };
  };
  const numbers = newNumbers(pattern);
  try {
    new SparseSetup(new Scope(device, "sptrsv"), triangle).takeNumbers(lines, pattern.order, pattern.at, values, numbers);
    return withMemory(numbers);
  } catch (error) {
    numbers.scope.free();
    sets.free();
    throw error;
  }
}

function keptBytes({ n, lines: { begins, index, source }, order, starts, tasks, waits }: Pattern): number {
  const all = [begins, index, source, order, starts, tasks?.list, waits];
  return all.reduce((sum, buffer) => sum + (buffer?.bytes ?? 0), 4 * n);
}

// What changes with the values of a plan.
interface Numbers extends DeviceNumbers {
  readonly scope: Scope;
}

function newNumbers({ device, n, width, lines, unit }: Pattern): Numbers {
  const scope = new Scope(device, "sptrsv");
  const rows = unit ? 0 : n;
  try {
    const [values, diagonal] = [scope.scratch(lines.entries * width), scope.scratch(rows * width)];
    return { scope, values, diagonal, reciprocals: scope.scratch(rows * 8), significantBits: scope.scratch(4) };
  } catch (error) {
    scope.free();
    throw error;
  }
}

// New values, unless the diagonal has a zero. Where only the device can tell, this waits for its answer.
function* takeNumbers(routine: string, triangle: TriangleSource, pattern: Pattern, from: Operand, to: Numbers): Work<void> {
  const isChecked = isOnHost(from) && isTriangleOnHost(triangle);
  if (isChecked && !triangle.unit) checkDiagonal(routine, { ...triangle, A: { ...triangle.A, values: from } });
  const scope = new Scope(pattern.device, routine);
  try {
    const setup = new SparseSetup(scope, triangle);
    const values = scope.vector(from);
    if (!isChecked && !triangle.unit) yield* refuseSingular(routine, setup, yield* setup.firstSingular(pattern.at, values), pattern.at);
    setup.takeNumbers(pattern.lines, pattern.order, pattern.at, values, to);
  } finally {
    scope.free(); // OpenCL holds the memory until commands that were given are through
  }
}
