// Triangular solves on a device, with exact sums and optional refinement. Called by the engine; follows the triangular paper.
import { type StridedMatrix, type StridedOperand, zeroOnDiagonal } from "../../../arrays/matrix.ts";
import { isOnHost, type Operand } from "../../../arrays/operands.ts";
import type { Device, DeviceBuffer, DeviceMatrix, KernelArgument, Work } from "../../device.ts";
import type { Scope } from "../../deviceScope.ts";
import type { ExactStage, Substitution } from "../../kernels.ts";
import { realOf } from "../device/numbers.ts";
import { ACCUMULATOR } from "../exact/layout.ts";
import { certificate, expansion, superaccumulator } from "../exact/sources.ts";
import { stageDefines } from "../exact/stages.ts";
import { trsvBy as solveBySource, trsv as solveSource, trsvResidual, trsvRows, trsvState, trsvSteps } from "./sources.ts";
import { FAILED, SINGULAR, STATE_WORDS } from "./trsvState.ts";

/** How the work of a solve is divided. No bit depends on it. All are powers of two. */
export interface TrsvTuning {
  readonly block: number; // rows of a work-group
  readonly slots: number; // work-items per row, at most `block`
  readonly depth: number; // by rows: columns of a work-item whose entries are loaded together
  readonly spins: number; // looks at an unknown after which a wait is abandoned
}

/**
 * The tuning for a device. A block is a warp on NVIDIA, or less if local memory is small. On an H200, n = 4096, ns per unknown by rows
 * and by columns: 104 and 110 with 4 slots; 126 and 110 with 8 slots, 113 by rows with depth 2; 140 and 133 with blocks of 64 and two
 * rows per lane.
 */
export function trsvTuning(device: Device): TrsvTuning {
  const gpu = device.type === "gpu";
  const tuning = { block: 32, slots: gpu ? 4 : 8, depth: 1, spins: gpu ? 1 << 20 : 1 << 28 };
  while (localBytes(tuning) > device.localBytes && tuning.block > tuning.slots) tuning.block /= 2;
  return tuning;
}

// The local memory of trsv.cl: two triangles, a filter per work-item, five vectors, the superaccumulator, and a few words.
function localBytes({ block, slots }: TrsvTuning): number {
  return 8 * (block * (block + 1) + 3 * block * slots + 5 * block + ACCUMULATOR) + 64;
}

const ZERO = new Int32Array(1);
const SMALL_GROUP = 64;

// A row by one of the papers' stages: its work-items, and the superaccumulators that they share.
const ROW_GROUP = 128;
const STRIDE = 8;

type Defines = Readonly<Record<string, string | number>>;

// The unknowns, in the order of substitution as binary64 numbers, and in the caller's order and format.
interface Unknowns {
  readonly published: DeviceBuffer;
  readonly x: DeviceBuffer;
}

// A residual r, and the solution d for it.
interface Correction {
  readonly r: DeviceBuffer;
  readonly d: Unknowns;
}

// A triangular system in the order of substitution, in which every triangle is lower.
class TriangularSystem {
  readonly n: number;
  private readonly state: DeviceBuffer; // see trsvState.ts
  private readonly found: DeviceBuffer;
  private readonly defines: Defines;
  private readonly kind: Defines; // how quotients are rounded

  constructor(
    private readonly scope: Scope,
    private readonly tuning: TrsvTuning,
    private readonly A: DeviceMatrix,
    private readonly how: Substitution,
    private readonly width: number,
    private readonly columns: number, // of the matrix of right-hand sides
    private unchecked: boolean, // whether the first solve must look for zeros on the diagonal, and throw
    private readonly stage?: ExactStage, // for all sums of rows
  ) {
    this.n = A.rows;
    this.state = scope.scratch(4 * STATE_WORDS);
    this.found = scope.scratch(4);
    const { unit, rounding } = how;
    this.defines = {
      REAL: realOf(width),
      BLOCK: tuning.block,
      SLOTS: tuning.slots,
      DEPTH: tuning.depth,
      BY_ROWS: A.colStride === 1 ? 1 : 0,
    };
    this.kind = {
      KIND: rounding === "corrected" ? "CORRECTED" : rounding === "paper" && !unit ? "PAPER" : "SINGLE",
    };
  }

  /** From now on, right-hand sides and solutions are columns of a matrix: their first element, and the step to the next. */
  useColumn(start: number, step: number): void {
    this.column = { start, step };
  }
  private column = { start: 0, step: 1 };

  // Launch a kernel whose work-groups have blocks of rows.
  private launch(name: string, source: string, rows: number, args: readonly KernelArgument[], more: Defines = {}): void {
    const { block, slots, spins } = this.tuning;
    const kernel = this.scope.device.kernel(name, [certificate, superaccumulator, trsvState, trsvRows, source], {
      ...this.defines,
      ...more,
    });
    this.scope.device.launch(
      kernel,
      [Math.ceil(rows / block)],
      [block * slots],
      [...args, this.how.unit ? 1 : 0, spins, { localBytes: 8 * ACCUMULATOR }],
    );
  }

  // Solve for the unknowns from..to, given those before them.
  private launchSolve(from: number, to: number, args: readonly KernelArgument[]): void {
    const { device } = this.scope;
    const { stage, defines, kind } = this;
    if (stage === undefined) {
      this.launch("trsv", solveSource, to - from, args, kind);
      return;
    }
    const kernel = device.kernel("trsvBy", [certificate, superaccumulator, expansion, trsvState, solveBySource], {
      REAL: defines.REAL as string,
      REAL_X: defines.REAL as string,
      REAL_Y: defines.REAL as string,
      OP: "DOT",
      ...stageDefines(stage),
      STRIDE,
      ...kind,
    });
    const group = Math.min(ROW_GROUP, kernel.maxGroupSize);
    const pool = { localBytes: 8 * ACCUMULATOR * STRIDE };
    device.launch(kernel, [to - from], [group], [...args, this.how.unit ? 1 : 0, this.tuning.spins, pool]);
  }

  // Launch a kernel with one work-item per element.
  private forEach(name: string, count: number, args: readonly KernelArgument[]): void {
    const kernel = this.scope.device.kernel(name, [certificate, trsvState, trsvSteps], { REAL: this.defines.REAL as string });
    this.scope.device.launch(kernel, [Math.ceil(count / SMALL_GROUP)], [SMALL_GROUP], args);
  }

  // The position of entry (from, from) in the order of substitution, and the signed strides.
  private origin(from = 0): BigInt64Array {
    const { offset, rowStride, colStride } = this.A;
    const sign = this.how.upper ? -1 : 1;
    return BigInt64Array.of(
      BigInt(offset + this.element(from) * (rowStride + colStride)),
      BigInt(sign * rowStride),
      BigInt(sign * colStride),
      0n,
    );
  }

  private element(k: number): number {
    return this.how.upper ? this.n - 1 - k : k;
  }

  // The position of unknown `from` in a vector, and the step to the next.
  private order(from = 0): [number, number] {
    const { start, step } = this.column;
    return [start + this.element(from) * step, this.how.upper ? -step : step];
  }

  unknowns(x?: DeviceBuffer): Unknowns {
    return { published: this.scope.scratch(8 * this.n), x: x ?? this.vector() };
  }

  private vector(): DeviceBuffer {
    return this.scope.scratch(this.width * this.n * this.columns);
  }

  /** Memory for a refinement. */
  newCorrection(): Correction {
    return { r: this.vector(), d: this.unknowns() };
  }

  // Rows of a work-group.
  private get block(): number {
    return this.stage === undefined ? this.tuning.block : 1;
  }

  /** Solve for the unknowns from..to of x, given those before them, in the system that begins with unknown `first`. */
  *solve(b: DeviceBuffer, x: Unknowns, from: number, to: number, first = 0): Work<void> {
    const checks = this.start(b, x, from, to, first);
    if (to - from <= this.block && !checks) return; // a single group does not wait
    const state = new Int32Array(STATE_WORDS);
    yield this.scope.device.read(this.state, state);
    if (this.hasFailed(state)) this.startByBlocks(b, x, from, to, first);
  }

  /** The same for all unknowns of `count` columns, one after another on the device; useColumn(j) selects column j. */
  *solveColumns(b: DeviceBuffer, x: Unknowns, count: number, useColumn: (j: number) => void): Work<void> {
    const { device } = this.scope;
    const states = this.scope.scratch(4 * STATE_WORDS * count);
    for (let j = 0; j < count; j++) {
      useColumn(j);
      this.start(b, x, 0, this.n, 0);
      device.copy(this.state, states, 4 * STATE_WORDS, 0, 4 * STATE_WORDS * j);
    }
    const found = new Int32Array(STATE_WORDS * count);
    yield device.read(states, found);
    for (let j = 0; j < count; j++) {
      if (!this.hasFailed(found.subarray(STATE_WORDS * j))) continue;
      useColumn(j);
      this.startByBlocks(b, x, 0, this.n, 0);
    }
  }

  // Throws if the diagonal has a zero. True if a wait was abandoned.
  private hasFailed(state: Int32Array): boolean {
    const zero = state[SINGULAR] as number;
    if (zero > 0) throw zeroOnDiagonal(this.scope.routine, "T", this.A.rows - zero);
    return state[FAILED] !== 0;
  }

  // Launch the solve. Returns whether it looks for zeros on the diagonal, as the first one may have to.
  private start(b: DeviceBuffer, x: Unknowns, from: number, to: number, first: number): boolean {
    const { device } = this.scope;
    device.fill(this.state, ZERO);
    const { offset, rowStride, colStride, rows } = this.A;
    const checked = this.unchecked ? rows : 0;
    const diagonal = BigInt64Array.of(BigInt(offset), BigInt(rowStride), BigInt(colStride), 0n);
    this.forEach("trsvOpen", Math.max(to - from, checked), [
      x.published,
      from - first,
      to - first,
      this.A.buffer,
      diagonal,
      checked,
      this.state,
    ]);
    this.launchRows(b, x, from, to, first);
    this.unchecked = false;
    return checked > 0;
  }

  // Work-groups did not run side by side: launch one after another.
  private startByBlocks(b: DeviceBuffer, x: Unknowns, from: number, to: number, first: number): void {
    for (let begin = from; begin < to; begin += this.block) {
      this.scope.device.fill(this.state, ZERO);
      this.launchRows(b, x, begin, Math.min(begin + this.block, to), first);
    }
  }

  private launchRows(b: DeviceBuffer, { published, x }: Unknowns, begin: number, end: number, first: number): void {
    const args = [this.A.buffer, this.origin(first), b, x, published, this.state, begin - first, end - first, ...this.order(first)];
    this.launchSolve(begin, end, args);
  }

  /** r := RN(b - T x), entries from..to. */
  residual(b: DeviceBuffer, { published }: Unknowns, r: DeviceBuffer, from: number, to: number): void {
    this.launch("trsvResidual", trsvResidual, to - from, [this.A.buffer, this.origin(), b, r, published, from, to, ...this.order()]);
  }

  /** Whether the unknowns from..to are finite. */
  *areFinite({ published }: Unknowns, from: number, to: number): Work<boolean> {
    const { device } = this.scope;
    device.fill(this.found, ZERO);
    this.forEach("trsvFinite", to - from, [published, from, to, this.found]);
    const flag = new Int32Array(1);
    yield device.read(this.found, flag);
    return flag[0] === 0;
  }

  /** x := RN(x + d), entries from..to. d begins with entry `from`. */
  add({ published, x }: Unknowns, d: Unknowns, from: number, to: number): void {
    this.forEach("trsvAdd", to - from, [published, d.published, x, from, to, ...this.order()]);
  }
}

/** x := the solution of T x = b by substitution. */
export function trsv(
  scope: Scope,
  T: StridedOperand,
  b: Operand,
  x: Operand,
  how: Substitution,
  tuning = trsvTuning(scope.device),
): Work<void> {
  return solveBy(scope, undefined, T, b, x, how, tuning);
}

/** The same, with the sums of all rows by one of the papers' stages. */
export function trsvBy(scope: Scope, stage: ExactStage, T: StridedOperand, b: Operand, x: Operand, how: Substitution): Work<void> {
  return solveBy(scope, stage, T, b, x, how, trsvTuning(scope.device));
}

/** X := the solutions for the columns of B, which are solved one after another on the device. */
export function* trsm(
  scope: Scope,
  T: StridedOperand,
  B: StridedOperand,
  X: StridedMatrix,
  how: Substitution,
  tuning = trsvTuning(scope.device),
): Work<void> {
  const right = scope.matrix(B); // compact, as X is
  const unchecked = !isOnHost(T.data) && !how.unit;
  const system = new TriangularSystem(scope, tuning, scope.matrix(T), how, T.data.BYTES_PER_ELEMENT, B.cols, unchecked);
  const solution = system.unknowns(scope.result(X.data));
  const useColumn = (j: number): void => system.useColumn(right.offset + j * right.colStride, right.rowStride);
  if (how.refine + how.refineBlocks === 0) yield* system.solveColumns(right.buffer, solution, B.cols, useColumn);
  else {
    const work = workFor(system, how);
    for (let j = 0; j < B.cols; j++) {
      useColumn(j);
      yield* solveAndRefine(system, how, right.buffer, solution, work);
    }
  }
  yield* scope.store(solution.x, X.data);
}

function* solveBy(
  scope: Scope,
  stage: ExactStage | undefined,
  T: StridedOperand,
  b: Operand,
  x: Operand,
  how: Substitution,
  tuning: TrsvTuning,
): Work<void> {
  const unchecked = !isOnHost(T.data) && !how.unit;
  const system = new TriangularSystem(scope, tuning, scope.matrix(T), how, T.data.BYTES_PER_ELEMENT, 1, unchecked, stage);
  const right = scope.vector(b);
  const solution = system.unknowns(scope.result(x));
  yield* solveAndRefine(system, how, right, solution, workFor(system, how));
  yield* scope.store(solution.x, x);
}

// Memory for the refinement of blocks, and for that of the whole system.
interface RefinementWork {
  readonly blocks: Correction | undefined;
  readonly whole: Correction | undefined;
}

function workFor(system: TriangularSystem, how: Substitution): RefinementWork {
  return {
    blocks: how.refineBlocks > 0 ? system.newCorrection() : undefined,
    whole: how.refine > 0 ? system.newCorrection() : undefined,
  };
}

function* solveAndRefine(
  system: TriangularSystem,
  how: Substitution,
  b: DeviceBuffer,
  x: Unknowns,
  { blocks, whole }: RefinementWork,
): Work<void> {
  yield* substitute(system, how, b, x, blocks);
  if (!whole) return;
  const again = (r: DeviceBuffer, d: Unknowns) => substitute(system, how, r, d, blocks);
  yield* refine(system, how.refine, whole, b, x, 0, system.n, again);
}

// Block by block if each block is refined as soon as it is solved, else all at once.
function* substitute(
  system: TriangularSystem,
  how: Substitution,
  b: DeviceBuffer,
  x: Unknowns,
  blocks: Correction | undefined,
): Work<void> {
  const { n } = system;
  const size = blocks ? how.blockSize || n : n;
  for (let from = 0; from < n; from += size) {
    const to = Math.min(from + size, n);
    yield* system.solve(b, x, from, to);
    if (blocks) yield* refine(system, how.refineBlocks, blocks, b, x, from, to, (r, d) => system.solve(r, d, from, to, from));
  }
}

// At most `steps` times, while the unknowns from..to are finite: compute their residual, solve for it, and add the solution.
function* refine(
  system: TriangularSystem,
  steps: number,
  { r, d }: Correction,
  b: DeviceBuffer,
  x: Unknowns,
  from: number,
  to: number,
  solution: (r: DeviceBuffer, d: Unknowns) => Work<void>,
): Work<void> {
  for (let step = 0; step < steps && (yield* system.areFinite(x, from, to)); step++) {
    system.residual(b, x, r, from, to);
    yield* solution(r, d);
    system.add(x, d, from, to);
  }
}
