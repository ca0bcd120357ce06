// Plans for sparse triangular solves on the device: the analysis of the triangle, which is done there, and the methods of a plan. Called
// by the engine; follows the sparse paper. A matrix that is already on the device is not copied to the host.
import { zeroOnDiagonal } from "../../../arrays/matrix.ts";
import { isOnHost, type Operand } from "../../../arrays/operands.ts";
import { checkDiagonal, isTriangleOnHost, missingOnDiagonal, type TriangleSource } from "../../../arrays/triangle.ts";
import type { Device, DeviceBuffer, Work } from "../../device.ts";
import { inScope, Scope } from "../../deviceScope.ts";
import { MIN_SOLVES, type PlanOptions, type Schedule, type SparsePlan } from "../../kernels.ts";
import type { Routine } from "../../steps.ts";
import { type FoundLevels, levelsFound, levelsOfColumns, levelsOfRows, orderByLevels, startLevels } from "./levels.ts";
import { copyPattern, reorder, tasksOf } from "./reorder.ts";
import { SetupKernels } from "./setupKernels.ts";
import { type DeviceSystem, solveSystem, solveSystemColumns, WorkSets } from "./solve.ts";
import { compress, countKeys, countLines, type DevicePattern, firstSingular, readTotals, type StoredRows, storedRows } from "./triangle.ts";
import { setupTuning, type Tuning, tuningFor } from "./tuning.ts";
import { type DeviceNumbers, gatherNumbers } from "./values.ts";

/** A plan; see Kernels.plan. `given` overrides parts of the tuning. */
export function* plan(
  device: Device,
  triangle: TriangleSource,
  exact: boolean,
  options: PlanOptions,
  given: Partial<Tuning> = {},
): Work<SparsePlan> {
  const planScope = new Scope(device, "sptrsv");
  try {
    return yield* inScope(device, "sptrsv", function* (scope) {
      const plan = yield* analyse(scope, planScope, triangle, exact, options, given);
      yield device.finish();
      return plan;
    });
  } catch (error) {
    planScope.free();
    throw error;
  }
}

interface Choice {
  readonly schedule: Schedule;
  readonly reason: string;
}

function choose({ schedule = "auto", expectedSolves }: PlanOptions): Choice {
  if (schedule !== "auto") return { schedule, reason: "asked for" };
  if (expectedSolves !== undefined && expectedSolves < MIN_SOLVES)
    return { schedule: "gsf", reason: `${expectedSolves} expected solves do not pay for levels, ${MIN_SOLVES} would` };
  return { schedule: "slfr", reason: "rows by levels, each waits for the unknowns it needs" };
}

function* analyse(
  scope: Scope,
  planScope: Scope,
  triangle: TriangleSource,
  exact: boolean,
  options: PlanOptions,
  given: Partial<Tuning>,
): Work<SparsePlan> {
  const { device } = scope;
  const { A, n, upper, byRows, unit } = triangle;
  const choice = choose(options);
  const { schedule } = choice;
  const values = scope.vector(A.values);
  const setup = new SetupKernels(scope, triangle, given.limit);
  // In exact mode a column only signals that its unknown is known, and the unknown itself is the signal: the pattern is always by rows.
  const byColumns = !exact && (schedule === "levc" || schedule === "slfc");
  const isOrdered = schedule !== "serial" && schedule !== "gsf";
  const finding = setupTuning(device, given);
  const counts = countLines(setup, values);
  // If the rows are those of A, the search for levels starts before the host knows the counts.
  const isDirect = isOrdered && byRows && !byColumns && finding.finder === "rows";
  const early = isDirect ? startLevels(setup, storedRows(setup, counts, 0), counts.words, finding) : undefined;
  const { entries, longest, singular, words } = yield* readTotals(setup, counts);
  yield* refuseSingular("sptrsv", device, n, singular, counts.diagonalAt);
  const tuning = tuningFor(device, schedule, { n, entries, longest, exact }, given);
  const diagonalAt = planScope.scratch(4 * n);
  device.copy(counts.diagonalAt, diagonalAt, 4 * n);
  const shared = { device, n, upper, unit, exact, byColumns, width: A.values.BYTES_PER_ELEMENT, diagonalAt };
  if (!isOrdered) {
    const pattern = copyPattern(setup, compress(setup, counts, entries, !byRows), planScope);
    const analysis = { ...shared, pattern, order: undefined, starts: undefined, levels: 0, tasks: undefined, waits: undefined };
    return newPlan(planScope, triangle, choice, analysis, tuning, values);
  }
  let found: FoundLevels = { levels: early ?? counts.diagonalAt, count: early ? levelsFound(words) : 0 };
  let pattern: DevicePattern | StoredRows = storedRows(setup, counts, entries);
  if (found.count === 0) {
    const compressed = compress(setup, counts, entries, byColumns === byRows);
    pattern = compressed;
    const how = isDirect ? { ...finding, finder: "kahn" as const } : finding;
    found = yield* byColumns ? levelsOfColumns(setup, compressed, how) : levelsOfRows(setup, compressed, how);
  }
  if (n === 0) found = { ...found, count: 0 };
  const levels = orderByLevels(setup, found);
  const order = planScope.scratch(4 * n);
  device.copy(levels.order, order, 4 * n);
  const starts = planScope.scratch(4 * (levels.count + 1));
  device.copy(levels.starts, starts, 4 * (levels.count + 1));
  const moved = reorder(setup, pattern, order, planScope);
  const tasks = schedule === "levr" || schedule === "levc" ? yield* tasksOf(setup, levels, tuning.group, planScope) : undefined;
  const waits = byColumns ? planScope.scratch(4 * n) : undefined;
  if (waits) device.copy(countKeys(setup, moved.index, moved.entries, n), waits, 4 * n);
  const analysis = { ...shared, pattern: moved, order, starts, levels: levels.count, tasks, waits };
  return newPlan(planScope, triangle, choice, analysis, tuning, values);
}

// Throws for the unknown l if its diagonal entry is missing or zero; l = n: all are fine.
function* refuseSingular(routine: string, device: Device, n: number, l: number, diagonalAt: DeviceBuffer): Work<void> {
  if (l >= n) return;
  const position = new Int32Array(1);
  yield device.read(diagonalAt, position, 4 * l);
  throw (position[0] as number) < 0 ? missingOnDiagonal(routine, l) : zeroOnDiagonal(routine, "A", l);
}

// What does not change with the values. `diagonalAt` has the positions of the diagonal in A.
type Analysis = Omit<DeviceSystem, "numbers"> & { readonly diagonalAt: DeviceBuffer };

function newPlan(
  planScope: Scope,
  triangle: TriangleSource,
  { schedule, reason }: Choice,
  analysis: Analysis,
  tuning: Tuning,
  values: DeviceBuffer,
): SparsePlan {
  const { device, n, width, pattern } = analysis;
  const sets = new WorkSets(device, n, width, analysis.byColumns);
  const bytes = analysisBytes(analysis) + (pattern.entries + n) * width + 8 * n + sets.bytes;
  const planWith = (numbers: Numbers): SparsePlan => {
    const system: DeviceSystem = { ...analysis, numbers };
    return {
      n,
      schedule,
      reason,
      levels: () => analysis.levels,
      bytes,
      solve: (b: Operand, x: Operand): Routine<void> => solveSystem(system, sets, tuning, b, x),
      solveColumns: (B, X): Routine<void> => solveSystemColumns(system, sets, tuning, B, X),
      *withValues(from, inUse) {
        const next = inUse ? newNumbers(analysis) : numbers;
        sets.updates++;
        try {
          yield* updateNumbers("TriangularPlan.update", triangle, analysis, from, next);
        } catch (error) {
          if (inUse) next.scope.free();
          throw error;
        }
        return inUse ? { plan: planWith(next), replaced: { free: () => numbers.scope.free() } } : { plan: this };
      },
      free() {
        for (const scope of [planScope, numbers.scope]) sets.isIdle ? scope.recycle() : scope.free();
        sets.free();
      },
    };
  };
  const numbers = newNumbers(analysis);
  try {
    const setup = new SetupKernels(new Scope(device, "sptrsv"), triangle);
    gatherNumbers(setup, pattern, analysis.order, analysis.diagonalAt, values, numbers);
    return planWith(numbers);
  } catch (error) {
    numbers.scope.free();
    sets.free();
    throw error;
  }
}

function analysisBytes({ n, pattern: { begins, index, source }, order, starts, tasks, waits }: Analysis): number {
  const all = [begins, index, source, order, starts, tasks?.list, waits];
  return all.reduce((sum, buffer) => sum + (buffer?.bytes ?? 0), 4 * n);
}

// The values of a plan, in memory of their own.
interface Numbers extends DeviceNumbers {
  readonly scope: Scope;
}

function newNumbers({ device, n, width, pattern, unit }: Analysis): Numbers {
  const scope = new Scope(device, "sptrsv");
  const rows = unit ? 0 : n;
  try {
    const [values, diagonal] = [scope.scratch(pattern.entries * width), scope.scratch(rows * width)];
    return { scope, values, diagonal, reciprocals: scope.scratch(rows * 8), significantBits: scope.scratch(4) };
  } catch (error) {
    scope.free();
    throw error;
  }
}

// New values, unless the diagonal has a zero. This waits for the device if the host cannot check the diagonal.
function* updateNumbers(routine: string, triangle: TriangleSource, analysis: Analysis, from: Operand, to: Numbers): Work<void> {
  const { device, n, pattern, order, diagonalAt } = analysis;
  const isChecked = isOnHost(from) && isTriangleOnHost(triangle);
  if (isChecked && !triangle.unit) checkDiagonal(routine, { ...triangle, A: { ...triangle.A, values: from } });
  const scope = new Scope(device, routine);
  try {
    const setup = new SetupKernels(scope, triangle);
    const values = scope.vector(from);
    if (!isChecked && !triangle.unit)
      yield* refuseSingular(routine, device, n, yield* firstSingular(setup, diagonalAt, values), diagonalAt);
    gatherNumbers(setup, pattern, order, diagonalAt, values, to);
  } finally {
    scope.free(); // OpenCL holds the memory until the commands that use it have finished
  }
}
