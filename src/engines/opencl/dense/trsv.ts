import { type StridedOperand, zeroOnDiagonal } from "../../../arrays/matrix.ts";
import { isOnHost, type Operand } from "../../../arrays/operands.ts";
import type { Device, DeviceBuffer, KernelArgument, Work } from "../../device.ts";
import type { ExactStage, Substitution } from "../../kernels.ts";
import { realOf } from "../device/numbers.ts";
import type { DeviceMatrix, Scope } from "../device/scope.ts";
import { ACCUMULATOR } from "../exact/layout.ts";
import { certificate, expansion, superaccumulator } from "../exact/sources.ts";
import { trsvBy as oneStage, trsv as solveSource, trsvResidual, trsvRows, trsvState, trsvSteps } from "./sources.generated.ts";

/** How the work of a solve is cut. No bit depends on it. All are powers of two. */
export interface TrsvTuning {
  readonly block: number; // rows of a group
  readonly slots: number; // work-items a row, no more than `block`
  readonly depth: number; // columns of a work-item whose entries are asked for together, by rows
  readonly spins: number; // how often an unknown is asked for before a group gives up
}

/**
 * The tuning for a device. A block is a warp of NVIDIA's, or what the local memory takes. On an H200, n = 4096, ns an unknown by
 * rows and by columns: 104 and 110 with 4 slots; with 8 slots 126 and 110, of depth 2 113 by rows; 140 and 133 with blocks of 64
 * and two rows a lane.
 */
export function trsvTuning(device: Device): TrsvTuning {
  const gpu = device.type === "gpu";
  const tuning = { block: 32, slots: gpu ? 4 : 8, depth: 1, spins: gpu ? 1 << 20 : 1 << 28 };
  while (localBytes(tuning) > device.localBytes && tuning.block > tuning.slots) tuning.block /= 2;
  return tuning;
}

// Of kernels/trsv.cl: two triangles, a filter a work-item, four vectors, the superaccumulator, and a few words.
function localBytes({ block, slots }: TrsvTuning): number {
  return 8 * (block * (block + 1) + 3 * block * slots + 4 * block + ACCUMULATOR) + 64;
}

const ZERO = new Int32Array(1);
const SMALL_GROUP = 64;

// Of a row by one stage: work-items, and superaccumulators that they share.
const ROW_GROUP = 128;
const STRIDE = 8;

type Defines = Readonly<Record<string, string | number>>;

// Vectors of a system: the unknowns in the order of substitution as binary64 numbers, and in the caller's order and format.
interface Unknowns {
  readonly published: DeviceBuffer;
  readonly x: DeviceBuffer;
}

// A residual and its solution.
interface Room {
  readonly r: DeviceBuffer;
  readonly d: Unknowns;
}

/** A triangle in the order of substitution, where all are lower ones. */
class System {
  readonly n: number;
  private readonly state: DeviceBuffer; // the next block, whether a group gave up, and the first zero of the diagonal
  private readonly found: DeviceBuffer;
  private readonly defines: Defines;
  private readonly kind: Defines; // of a solve

  constructor(
    private readonly scope: Scope,
    private readonly tuning: TrsvTuning,
    private readonly A: DeviceMatrix,
    private readonly how: Substitution,
    private readonly width: number,
    private unchecked: boolean, // there may be zeros on the diagonal: then the first solve throws
    private readonly stage?: ExactStage, // sums of rows by that one alone
  ) {
    this.n = A.rows;
    this.state = scope.scratch(12);
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

  // A kernel that works on rows in groups.
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

  // Unknowns from..to, given those before them.
  private launchSolve(from: number, to: number, args: readonly KernelArgument[]): void {
    const { device } = this.scope;
    const { stage, defines, kind } = this;
    if (stage === undefined) {
      this.launch("trsv", solveSource, to - from, args, kind);
      return;
    }
    const kernel = device.kernel("trsvBy", [certificate, superaccumulator, expansion, trsvState, oneStage], {
      REAL: defines.REAL as string,
      REAL_X: defines.REAL as string,
      REAL_Y: defines.REAL as string,
      OP: "DOT",
      COMPONENTS: stage === "superaccumulator" ? 0 : Number(stage[3]),
      ...(stage.endsWith("ee") ? { EARLY: 1 } : {}),
      STRIDE,
      ...kind,
    });
    const group = Math.min(ROW_GROUP, kernel.maxGroupSize);
    const pool = { localBytes: 8 * ACCUMULATOR * STRIDE };
    device.launch(kernel, [to - from], [group], [...args, this.how.unit ? 1 : 0, this.tuning.spins, pool]);
  }

  // One that has a work-item for each of `count` elements.
  private each(name: string, count: number, args: readonly KernelArgument[]): void {
    const kernel = this.scope.device.kernel(name, [certificate, trsvState, trsvSteps], { REAL: this.defines.REAL as string });
    this.scope.device.launch(kernel, [Math.ceil(count / SMALL_GROUP)], [SMALL_GROUP], args);
  }

  // The entry (from, from) in the order of substitution, and the steps.
  private place(from = 0): BigInt64Array {
    const { offset, rowStride, colStride } = this.A;
    const way = this.how.upper ? -1 : 1;
    return BigInt64Array.of(
      BigInt(offset + this.element(from) * (rowStride + colStride)),
      BigInt(way * rowStride),
      BigInt(way * colStride),
      0n,
    );
  }

  private element(k: number): number {
    return this.how.upper ? this.n - 1 - k : k;
  }

  // Where unknown `from` is in a vector, and the way to the next.
  private order(from = 0): [number, number] {
    return [this.element(from), this.how.upper ? -1 : 1];
  }

  unknowns(x?: DeviceBuffer): Unknowns {
    return { published: this.scope.scratch(8 * this.n), x: x ?? this.vector() };
  }

  private vector(): DeviceBuffer {
    return this.scope.scratch(this.width * this.n);
  }

  /** What a refinement needs. */
  room(): Room {
    return { r: this.vector(), d: this.unknowns() };
  }

  /** Unknowns from..to of x, given those before them; of the system that begins with unknown `first`. */
  *solve(b: DeviceBuffer, { published, x }: Unknowns, from: number, to: number, first = 0): Work<void> {
    const { device, routine } = this.scope;
    const block = this.stage === undefined ? this.tuning.block : 1; // rows of a group
    device.fill(this.state, ZERO);
    const { offset, rowStride, colStride, rows } = this.A;
    const asked = this.unchecked ? rows : 0;
    const diagonal = BigInt64Array.of(BigInt(offset), BigInt(rowStride), BigInt(colStride), 0n);
    this.each("trsvOpen", Math.max(to - from, asked), [published, from - first, to - first, this.A.buffer, diagonal, asked, this.state]);
    const run = (begin: number, end: number) => {
      const args = [this.A.buffer, this.place(first), b, x, published, this.state, begin - first, end - first, ...this.order(first)];
      this.launchSolve(begin, end, args);
    };
    run(from, to);
    if (to - from <= block && asked === 0) return; // one group waits for nothing
    this.unchecked = false;
    const state = new Int32Array(3);
    yield device.read(this.state, state);
    const [, failed, zero] = state as unknown as [number, number, number];
    if (zero > 0) {
      throw zeroOnDiagonal(routine, "T", rows - zero);
    }
    if (failed === 0) return;
    // Groups did not get on beside each other: one after another.
    for (let begin = from; begin < to; begin += block) {
      device.fill(this.state, ZERO);
      run(begin, Math.min(begin + block, to));
    }
  }

  /** r := RN(b - T x), entries from..to. */
  residual(b: DeviceBuffer, { published }: Unknowns, r: DeviceBuffer, from: number, to: number): void {
    this.launch("trsvResidual", trsvResidual, to - from, [this.A.buffer, this.place(), b, r, published, from, to, ...this.order()]);
  }

  /** Whether the unknowns from..to are finite. */
  *areFinite({ published }: Unknowns, from: number, to: number): Work<boolean> {
    const { device } = this.scope;
    device.fill(this.found, ZERO);
    this.each("trsvFinite", to - from, [published, from, to, this.found]);
    const flag = new Int32Array(1);
    yield device.read(this.found, flag);
    return flag[0] === 0;
  }

  /** x := RN(x + d), entries from..to; d begins with the first of them. */
  add({ published, x }: Unknowns, d: Unknowns, from: number, to: number): void {
    this.each("trsvAdd", to - from, [published, d.published, x, from, to, ...this.order()]);
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

/** The same with the sums of all rows by one of the papers' stages. */
export function trsvBy(scope: Scope, stage: ExactStage, T: StridedOperand, b: Operand, x: Operand, how: Substitution): Work<void> {
  return solveBy(scope, stage, T, b, x, how, trsvTuning(scope.device));
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
  const system = new System(scope, tuning, scope.matrix(T), how, T.data.BYTES_PER_ELEMENT, unchecked, stage);
  const right = scope.vector(b);
  const solution = system.unknowns(scope.result(x));
  const blocks = how.refineBlocks > 0 ? system.room() : undefined;
  yield* substitute(system, how, right, solution, blocks);
  if (how.refine > 0) {
    const again = (r: DeviceBuffer, d: Unknowns) => substitute(system, how, r, d, blocks);
    yield* refine(system, how.refine, system.room(), right, solution, 0, T.rows, again);
  }
  yield* scope.store(solution.x, x);
}

// Block by block where blocks are refined as soon as they are solved, else all at once.
function* substitute(system: System, how: Substitution, b: DeviceBuffer, x: Unknowns, blocks: Room | undefined): Work<void> {
  const { n } = system;
  const size = blocks ? how.blockSize || n : n;
  for (let from = 0; from < n; from += size) {
    const to = Math.min(from + size, n);
    yield* system.solve(b, x, from, to);
    if (blocks) yield* refine(system, how.refineBlocks, blocks, b, x, from, to, (r, d) => system.solve(r, d, from, to, from));
  }
}

// So many times, while the unknowns from..to are finite: their residual, its solution, and that added.
function* refine(
  system: System,
  steps: number,
  { r, d }: Room,
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
