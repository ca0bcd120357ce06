import { isOnHost, type Operand } from "../../../arrays/operands.ts";
import type { Device, DeviceBuffer, Kernel, KernelArgument, Work } from "../../device.ts";
import { bufferOf } from "../../deviceArray.ts";
import { inScope } from "../device/scope.ts";
import { certificate, superaccumulator } from "../exact/sources.ts";
import { type DeviceLines, type DeviceNumbers, defining, SparseSetup } from "./setup.ts";
import { row as sparseRow, solve as sparseSolve, waiting } from "./sources.generated.ts";
import type { Tuning } from "./tuning.ts";

/** A triangular system on the device. Lines are rows in the natural order, or in one by levels, or columns in such an order. */
export interface DeviceSystem {
  readonly device: Device;
  readonly n: number;
  readonly upper: boolean;
  readonly unit: boolean;
  readonly exact: boolean;
  readonly columns: boolean;
  readonly width: number; // bytes of a number
  readonly lines: DeviceLines;
  readonly numbers: DeviceNumbers;
  /** The unknown of each line where they are by levels, and where levels begin. */
  readonly order: DeviceBuffer | undefined;
  readonly starts: DeviceBuffer | undefined;
  readonly levels: number;
  /** The tasks of levr and levc. */
  readonly tasks: { readonly list: DeviceBuffer; readonly count: number } | undefined;
  /** How many unknowns each one waits for, where lines are columns. */
  readonly waits: DeviceBuffer | undefined;
}

const WORDS = 4;
const FAILED = 2;

/** What one solve works in. */
export interface WorkSet {
  readonly known: DeviceBuffer;
  readonly words: DeviceBuffer;
  readonly counts: DeviceBuffer;
  readonly right: DeviceBuffer;
  /** The solution, and behind it the words. */
  readonly left: DeviceBuffer;
}

/** The work sets of a plan: as many as solves were ever pending at a time. */
export class WorkSets {
  private readonly idle: WorkSet[] = [];
  private readonly all: WorkSet[] = [];
  readonly bytes: number;
  /** Whether waiting was given up on this device. */
  failed = false;
  /** How often values were replaced, and how many of those replacements a solve that is through came after. */
  updates = 0;
  through = 0;

  constructor(
    private readonly device: Device,
    private readonly n: number,
    private readonly width: number,
    private readonly columns: boolean,
  ) {
    this.bytes = Object.values(this.add()).reduce((sum, { bytes }) => sum + bytes, 0);
  }

  private add(): WorkSet {
    const taken: DeviceBuffer[] = [];
    const some = (bytes: number): DeviceBuffer => {
      taken.push(this.device.allocate("sptrsv", bytes));
      return taken.at(-1) as DeviceBuffer;
    };
    try {
      const size = this.n * this.width;
      const counts = some(this.columns ? 4 * this.n : 0);
      const set = { known: some(size), words: some(4 * WORDS), counts, right: some(size), left: some(size + 4 * WORDS) };
      this.all.push(set);
      this.idle.push(set);
      return set;
    } catch (error) {
      for (const buffer of taken) buffer.free();
      throw error;
    }
  }

  /** Whether all commands that use memory of the plan are through, when no solve is pending. */
  get isQuiet(): boolean {
    return this.through === this.updates;
  }

  take(): WorkSet {
    if (this.idle.length === 0) this.add();
    return this.idle.pop() as WorkSet;
  }

  giveBack(set: WorkSet): void {
    this.idle.push(set);
  }

  free(): void {
    for (const set of this.all.splice(0)) for (const buffer of Object.values(set)) this.isQuiet ? buffer.recycle() : buffer.free();
  }
}

/** x := the solution for b. */
export function* solveSystem(system: DeviceSystem, sets: WorkSets, tuning: Tuning, b: Operand, x: Operand): Work<void> {
  const { device } = system;
  const set = sets.take();
  try {
    const right = isOnHost(b) ? set.right : bufferOf(b);
    if (isOnHost(b)) device.write(right, b);
    const left = isOnHost(x) ? set.left : bufferOf(x);
    const { updates } = sets;
    const gaveUp = sets.failed || (yield* launched(system, tuning, set, right, left, x))[FAILED] !== 0;
    if (gaveUp) {
      sets.failed = true;
      yield* byLevels(system, tuning, set, right, left);
      yield* fetched(system, set, left, x);
    }
    sets.through = Math.max(sets.through, updates);
  } finally {
    sets.giveBack(set);
  }
}

function* launched(
  system: DeviceSystem,
  tuning: Tuning,
  set: WorkSet,
  right: DeviceBuffer,
  left: DeviceBuffer,
  x: Operand,
): Work<Int32Array> {
  launch(system, tuning, set, right, left);
  return yield* fetched(system, set, left, x);
}

/** Wait for the solution; x is written unless waiting was given up. Returns the words. */
function* fetched({ device, n, width }: DeviceSystem, { words, left: own }: WorkSet, left: DeviceBuffer, x: Operand): Work<Int32Array> {
  const found = new Int32Array(WORDS);
  if (left !== own) {
    yield device.read(words, found);
    return found;
  }
  device.copy(words, left, 4 * WORDS, 0, n * width);
  const bytes = new Uint8Array(n * width + 4 * WORDS);
  yield device.read(left, bytes);
  found.set(new Int32Array(bytes.buffer.slice(n * width)));
  if (found[FAILED] === 0 && isOnHost(x)) x.set(width === 8 ? new Float64Array(bytes.buffer, 0, n) : new Float32Array(bytes.buffer, 0, n));
  return found;
}

function kernelOf(system: DeviceSystem, { window, skip }: Tuning, name: string): Kernel {
  const { device, upper, unit, exact, order, width } = system;
  const defines = {
    ...defining(width),
    KIND: Number(unit),
    WINDOW: window,
    SKIP: skip,
    UPPER: Number(upper && !order),
    ...(order ? { BY_LEVELS: 1 } : {}),
    ...(exact ? { EXACT: 1, SPACE_IS_PRIVATE: 1 } : {}),
  };
  return device.kernel(name, [certificate, ...(exact ? [superaccumulator] : []), sparseRow, waiting, sparseSolve], defines);
}

// `order` says which unknown each line has, and for a single level which lines there are.
function argumentsOf(
  { lines, numbers, order = lines.begins }: Pick<DeviceSystem, "lines" | "numbers" | "order">,
  set: WorkSet,
  right: DeviceBuffer,
  left: DeviceBuffer,
): KernelArgument[] {
  const { values, diagonal, reciprocals, significantBits } = numbers;
  return [lines.begins, lines.index, values, diagonal, reciprocals, significantBits, order, right, left, set.known, set.words];
}

const FILTER = 32; // bytes
const PREPARED = 256;
// Work-items that go through narrow levels.
const NARROW = 512;

function prepare(system: DeviceSystem, tuning: Tuning, { known, words, counts }: WorkSet, right: DeviceBuffer): void {
  const { device, n, order, waits } = system;
  const size = Math.min(PREPARED, device.maxGroupSize);
  const groups = [Math.ceil(Math.max(n, WORDS) / size)];
  if (waits && order)
    device.launch(kernelOf(system, tuning, "prepareColumns"), groups, [size], [n, order, right, waits, known, counts, words]);
  else device.launch(kernelOf(system, tuning, "prepare"), groups, [size], [n, known, words]);
}

/** Start the solve, by its schedule. */
export function launch(system: DeviceSystem, tuning: Tuning, set: WorkSet, right: DeviceBuffer, left: DeviceBuffer): void {
  const { device, n, tasks, columns, starts, levels, order, width, exact } = system;
  const { group, limit, blockRows, long } = tuning;
  const args = argumentsOf(system, set, right, left);
  prepare(system, tuning, set, right);
  const start = (name: string, more: readonly KernelArgument[], tickets = tasks ? tasks.count : Math.ceil(n / group)): void => {
    const kernel = kernelOf(system, tuning, name);
    const groups = tuning.one ? 1 : Math.max(1, Math.min(tuning.groups, tickets));
    device.launch(kernel, [groups], [Math.min(group, kernel.maxGroupSize)], more);
  };
  if (tasks && starts && !columns && n <= tuning.narrow * levels) {
    const kernel = kernelOf(system, tuning, "solveNarrow");
    device.launch(kernel, [1], [Math.min(NARROW, kernel.maxGroupSize)], [levels, starts, ...args]);
  } else if (tasks) start(columns ? "solveColumnLevels" : "solveLevels", [tasks.count, limit, tasks.list, ...args]);
  else if (columns) start("solveColumns", [n, limit, ...args, set.counts]);
  else if (long && exact) start("solveLongRows", [n, limit, ...args, { localBytes: group * FILTER }], n);
  else if (order || blockRows === 0) start("solveRows", [n, limit, ...args]);
  else
    start("solveRowBlocks", [n, blockRows, limit, ...args, { localBytes: group * blockRows * width }], Math.ceil(n / (group * blockRows)));
}

// Where work-groups do not make progress side by side: a launch for each level, which waits for nothing.
function* byLevels(system: DeviceSystem, tuning: Tuning, set: WorkSet, right: DeviceBuffer, left: DeviceBuffer): Work<void> {
  const { device, columns } = system;
  yield* inScope(device, "sptrsv", function* (scope): Work<void> {
    const { n, upper, unit, lines } = system;
    let { levels: count, starts, order } = system;
    if (!starts || !order) {
      const { width } = system;
      const values = width === 8 ? new Float64Array(0) : new Float32Array(0);
      const pattern = { format: "csr", rows: n, cols: n, pointers: new Int32Array(0), indices: new Int32Array(0), values } as const;
      const setup = new SparseSetup(scope, { A: pattern, n, upper, byRows: true, unit }, tuning.limit);
      ({ count, starts, order } = setup.inOrder(yield* setup.levelsOfRows(lines, { ...tuning, finder: "rows" })));
    }
    const at = new Int32Array(count + 1);
    yield device.read(starts, at);
    const args = argumentsOf({ ...system, order }, set, right, left);
    prepare(system, tuning, set, right);
    const kernel = kernelOf(system, tuning, columns ? "solveColumnLevel" : "solveLevel");
    const size = Math.min(PREPARED, kernel.maxGroupSize);
    for (let m = 0; m < count; m++) {
      const [from, to] = [at[m] as number, at[m + 1] as number];
      device.launch(kernel, [Math.ceil((to - from) / size)], [size], [from, to, ...args]);
    }
    yield device.finish();
  });
}
