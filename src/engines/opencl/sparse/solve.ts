// Launches a sparse triangular solve by the schedule of its plan, and reads the solution. Called by plan.ts; follows the sparse paper.
import { separate } from "../../../arrays/columns.ts";
import type { StridedMatrix, StridedOperand } from "../../../arrays/matrix.ts";
import { isOnHost, type Operand } from "../../../arrays/operands.ts";
import type { Real } from "../../../arrays/types.ts";
import { newVector, part } from "../../../arrays/vectors.ts";
import type { Device, DeviceBuffer, Kernel, KernelArgument, Work } from "../../device.ts";
import { bufferOf } from "../../deviceArray.ts";
import { keepMatrix } from "../../deviceMemory.ts";
import { inScope } from "../../deviceScope.ts";
import { levelsOfRows, orderByLevels } from "./levels.ts";
import { realDefines, SetupKernels } from "./setupKernels.ts";
import { exactSolveSources, solveSources } from "./sources.ts";
import type { DevicePattern } from "./triangle.ts";
import type { Tuning } from "./tuning.ts";
import type { DeviceNumbers } from "./values.ts";
import { FAILED, SOLVE_WORDS } from "./words.ts";

/** A triangular system on the device: rows in natural order, rows in the order of their levels, or columns in that order. */
export interface DeviceSystem {
  readonly device: Device;
  readonly n: number;
  readonly upper: boolean;
  readonly unit: boolean;
  readonly exact: boolean;
  readonly byColumns: boolean;
  readonly width: number; // bytes of a number
  readonly pattern: DevicePattern;
  readonly numbers: DeviceNumbers;
  /** By levels: the unknown of each row or column, and where levels begin. */
  readonly order: DeviceBuffer | undefined;
  readonly starts: DeviceBuffer | undefined;
  readonly levels: number;
  /** The tasks of levr and levc. */
  readonly tasks: { readonly list: DeviceBuffer; readonly count: number } | undefined;
  /** By columns: the number of unknowns that each one waits for. */
  readonly waits: DeviceBuffer | undefined;
}

/** The memory of one solve. */
export interface WorkSet {
  readonly known: DeviceBuffer;
  readonly words: DeviceBuffer;
  readonly counts: DeviceBuffer;
  readonly rightHandSide: DeviceBuffer;
  /** The solution, followed by the words. */
  readonly solution: DeviceBuffer;
}

/** The work sets of a plan: as many as solves were ever pending at the same time. */
export class WorkSets {
  private readonly idle: WorkSet[] = [];
  private readonly all: WorkSet[] = [];
  readonly bytes: number;
  /** Whether a wait was abandoned on this device. */
  failed = false;
  /** How often values were replaced, and how many of these updates came before a solve that has finished. */
  updates = 0;
  finishedUpdates = 0;

  constructor(
    private readonly device: Device,
    private readonly n: number,
    private readonly width: number,
    private readonly byColumns: boolean,
  ) {
    this.bytes = Object.values(this.add()).reduce((sum, { bytes }) => sum + bytes, 0);
  }

  private add(): WorkSet {
    const allocated: DeviceBuffer[] = [];
    const allocate = (bytes: number): DeviceBuffer => {
      const buffer = this.device.allocate("sptrsv", bytes);
      allocated.push(buffer);
      return buffer;
    };
    try {
      const size = this.n * this.width;
      const counts = allocate(this.byColumns ? 4 * this.n : 0);
      const [known, words] = [allocate(size), allocate(4 * SOLVE_WORDS)];
      const set = { known, words, counts, rightHandSide: allocate(size), solution: allocate(size + 4 * SOLVE_WORDS) };
      this.all.push(set);
      this.idle.push(set);
      return set;
    } catch (error) {
      for (const buffer of allocated) buffer.free();
      throw error;
    }
  }

  /** When no solve is pending: whether all commands that use memory of the plan have finished. */
  get isIdle(): boolean {
    return this.finishedUpdates === this.updates;
  }

  acquire(): WorkSet {
    if (this.idle.length === 0) this.add();
    return this.idle.pop() as WorkSet;
  }

  release(set: WorkSet): void {
    this.idle.push(set);
  }

  free(): void {
    for (const set of this.all.splice(0)) for (const buffer of Object.values(set)) this.isIdle ? buffer.recycle() : buffer.free();
  }
}

/** x := the solution for b. */
export function* solveSystem(system: DeviceSystem, sets: WorkSets, tuning: Tuning, b: Operand, x: Operand): Work<void> {
  const { device } = system;
  const set = sets.acquire();
  try {
    const rightHandSide = isOnHost(b) ? set.rightHandSide : bufferOf(b);
    if (isOnHost(b)) device.write(rightHandSide, b);
    const solution = isOnHost(x) ? set.solution : bufferOf(x);
    const { updates } = sets;
    let { failed } = sets;
    if (!failed) {
      launch(system, tuning, set, rightHandSide, solution);
      failed = (yield* fetchSolution(system, set, solution, x))[FAILED] !== 0;
    }
    if (failed) {
      sets.failed = true;
      yield* solveByLevels(system, tuning, set, rightHandSide, solution);
      yield* fetchSolution(system, set, solution, x);
    }
    sets.finishedUpdates = Math.max(sets.finishedUpdates, updates);
  } finally {
    sets.release(set);
  }
}

/**
 * X := the solutions for the columns of B. They are solved one after another on the device, and read at once. If a wait was abandoned,
 * all are solved again, one at a time.
 */
export function* solveSystemColumns(system: DeviceSystem, sets: WorkSets, tuning: Tuning, B: StridedOperand, X: StridedMatrix): Work<void> {
  const { device, n, width } = system;
  const { rows, cols } = B;
  const transposed = { ...B, rows: cols, cols: rows, rowStride: B.colStride, colStride: B.rowStride };
  const columns = keepMatrix(device, "TriangularPlan.solve", transposed, true); // each without gaps
  try {
    const solutions = newVector("TriangularPlan.solve", X.data, rows * cols);
    if (sets.failed || !(yield* solveTogether(system, sets, tuning, bufferOf(columns.value.data), solutions)))
      for (let j = 0; j < cols; j++) {
        const b = newVector("TriangularPlan.solve", X.data, n);
        yield device.read(bufferOf(columns.value.data), b, j * n * width);
        yield* solveSystem(system, sets, tuning, b, part(solutions, j * n, n));
      }
    for (let j = 0; j < cols; j++) separate(solutions, j * n, 1, X, j);
  } finally {
    columns.free();
  }
}

// False if a wait was abandoned.
function* solveTogether(system: DeviceSystem, sets: WorkSets, tuning: Tuning, columns: DeviceBuffer, solutions: Real): Work<boolean> {
  const { device, n, width } = system;
  const set = sets.acquire();
  try {
    return yield* inScope(device, "TriangularPlan.solve", function* (scope): Work<boolean> {
      const count = solutions.length / n;
      const all = scope.scratch(count * n * width);
      const words = scope.scratch(count * 4 * SOLVE_WORDS);
      const { updates } = sets;
      for (let j = 0; j < count; j++) {
        device.copy(columns, set.rightHandSide, n * width, j * n * width);
        launch(system, tuning, set, set.rightHandSide, set.solution);
        device.copy(set.solution, all, n * width, 0, j * n * width);
        device.copy(set.words, words, 4 * SOLVE_WORDS, 0, j * 4 * SOLVE_WORDS);
      }
      const found = new Int32Array(count * SOLVE_WORDS);
      yield device.read(words, found);
      yield device.read(all, solutions);
      sets.finishedUpdates = Math.max(sets.finishedUpdates, updates);
      return !found.some((word, at) => at % SOLVE_WORDS === FAILED && word !== 0);
    });
  } finally {
    sets.release(set);
  }
}

// Wait for the solution. x is written unless a wait was abandoned. Returns the words.
function* fetchSolution({ device, n, width }: DeviceSystem, set: WorkSet, solution: DeviceBuffer, x: Operand): Work<Int32Array> {
  const words = new Int32Array(SOLVE_WORDS);
  if (solution !== set.solution) {
    yield device.read(set.words, words);
    return words;
  }
  device.copy(set.words, solution, 4 * SOLVE_WORDS, 0, n * width);
  const bytes = new Uint8Array(n * width + 4 * SOLVE_WORDS);
  yield device.read(solution, bytes);
  words.set(new Int32Array(bytes.buffer.slice(n * width)));
  if (words[FAILED] === 0 && isOnHost(x)) x.set(width === 8 ? new Float64Array(bytes.buffer, 0, n) : new Float32Array(bytes.buffer, 0, n));
  return words;
}

function kernelOf(system: DeviceSystem, { window, skip, together }: Tuning, name: string): Kernel {
  const { device, upper, unit, exact, order, width } = system;
  const defines = {
    ...realDefines(width),
    KIND: Number(unit),
    WINDOW: window,
    SKIP: skip,
    UPPER: Number(upper && !order),
    ...(order ? { BY_LEVELS: 1 } : {}),
    ...(exact ? { EXACT: 1, SPACE_IS_PRIVATE: 1 } : {}),
    ...(together ? { TOGETHER: 1 } : {}),
  };
  return device.kernel(name, exact ? exactSolveSources : solveSources, defines);
}

// `order` has the unknown of each row or column; for the launch of a single level in natural order, the rows.
function argumentsOf(
  { pattern, numbers, order = pattern.begins }: Pick<DeviceSystem, "pattern" | "numbers" | "order">,
  { known, words }: WorkSet,
  rightHandSide: DeviceBuffer,
  solution: DeviceBuffer,
): KernelArgument[] {
  const { values, diagonal, reciprocals, significantBits } = numbers;
  return [pattern.begins, pattern.index, values, diagonal, reciprocals, significantBits, order, rightHandSide, solution, known, words];
}

const FILTER = 32; // bytes
// Work-items in a work-group: of simple kernels, and for narrow levels.
const SIMPLE_GROUP = 256;
const NARROW_GROUP = 512;

function prepare(system: DeviceSystem, tuning: Tuning, { known, words, counts }: WorkSet, rightHandSide: DeviceBuffer): void {
  const { device, n, order, waits } = system;
  const size = Math.min(SIMPLE_GROUP, device.maxGroupSize);
  const groups = [Math.ceil(Math.max(n, SOLVE_WORDS) / size)];
  if (waits && order)
    device.launch(kernelOf(system, tuning, "prepareColumns"), groups, [size], [n, order, rightHandSide, waits, known, counts, words]);
  else device.launch(kernelOf(system, tuning, "prepare"), groups, [size], [n, known, words]);
}

/** Start the solve, by its schedule. */
function launch(system: DeviceSystem, tuning: Tuning, set: WorkSet, rightHandSide: DeviceBuffer, solution: DeviceBuffer): void {
  const { device, n, tasks, byColumns, starts, levels, order, width, exact } = system;
  const { group, limit, blockRows, long } = tuning;
  const args = argumentsOf(system, set, rightHandSide, solution);
  prepare(system, tuning, set, rightHandSide);
  const start = (name: string, more: readonly KernelArgument[], tickets = tasks ? tasks.count : Math.ceil(n / group)): void => {
    const kernel = kernelOf(system, tuning, name);
    const groups = tuning.one ? 1 : Math.max(1, Math.min(tuning.groups, tickets));
    device.launch(kernel, [groups], [Math.min(group, kernel.maxGroupSize)], more);
  };
  if (tasks && starts && !byColumns && n <= tuning.narrow * levels) {
    const kernel = kernelOf(system, tuning, "solveNarrow");
    device.launch(kernel, [1], [Math.min(NARROW_GROUP, kernel.maxGroupSize)], [levels, starts, ...args]);
  } else if (tasks) start(byColumns ? "solveColumnLevels" : "solveLevels", [tasks.count, limit, tasks.list, ...args]);
  else if (byColumns) start("solveColumns", [n, limit, ...args, set.counts]);
  else if (long && exact) start("solveLongRows", [n, limit, ...args, { localBytes: group * FILTER }], n);
  else if (order || blockRows === 0) start("solveRows", [n, limit, ...args]);
  else
    start("solveRowBlocks", [n, blockRows, limit, ...args, { localBytes: group * blockRows * width }], Math.ceil(n / (group * blockRows)));
}

// For devices whose work-groups do not run side by side: one launch per level, without waits.
function* solveByLevels(
  system: DeviceSystem,
  tuning: Tuning,
  set: WorkSet,
  rightHandSide: DeviceBuffer,
  solution: DeviceBuffer,
): Work<void> {
  const { device, byColumns } = system;
  yield* inScope(device, "sptrsv", function* (scope): Work<void> {
    const { n, upper, unit, pattern } = system;
    let { levels: count, starts, order } = system;
    if (!starts || !order) {
      const { width } = system;
      const values = width === 8 ? new Float64Array(0) : new Float32Array(0);
      const A = { format: "csr", rows: n, cols: n, pointers: new Int32Array(0), indices: new Int32Array(0), values } as const;
      const setup = new SetupKernels(scope, { A, n, upper, byRows: true, unit }, tuning.limit);
      ({ count, starts, order } = orderByLevels(setup, yield* levelsOfRows(setup, pattern, { ...tuning, finder: "rows" })));
    }
    const at = new Int32Array(count + 1);
    yield device.read(starts, at);
    const args = argumentsOf({ ...system, order }, set, rightHandSide, solution);
    prepare(system, tuning, set, rightHandSide);
    const kernel = kernelOf(system, tuning, byColumns ? "solveColumnLevel" : "solveLevel");
    const size = Math.min(SIMPLE_GROUP, kernel.maxGroupSize);
    for (let m = 0; m < count; m++) {
      const [from, to] = [at[m] as number, at[m + 1] as number];
      device.launch(kernel, [Math.ceil((to - from) / size)], [size], [from, to, ...args]);
    }
    yield device.finish();
  });
}
