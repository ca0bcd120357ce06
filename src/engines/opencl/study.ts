// An OpenCL device for benchmarks, reached through halfulp/study: its memory, kernels of the caller's own, and the library's
// routines below their public functions, including the stages and the unblocked LU of the papers, which nothing else uses.
import type { StridedOperand } from "../../arrays/matrix.ts";
import type { Operand, SparseOperand } from "../../arrays/operands.ts";
import { patternInfoOf } from "../../arrays/sparse.ts";
import type { Real, Reduction } from "../../arrays/types.ts";
import { Superaccumulator } from "../../exact/superaccumulator.ts";
import type { Backend } from "../backend.ts";
import type { DeviceBuffer, Kernel, KernelArgument, Work } from "../device.ts";
import { bufferOf, DeviceArray } from "../deviceArray.ts";
import { inScope, Scope } from "../deviceScope.ts";
import type { ExactStage, Levels, Schedule, SparseOperator, Substitution } from "../kernels.ts";
import { runSync } from "../steps.ts";
import { gemvBy } from "./dense/gemv.ts";
import { lu } from "./dense/lu.ts";
import { luUnblocked } from "./dense/luUnblocked.ts";
import { trsvBy } from "./dense/trsv.ts";
import { type OpenclDevice, openDevice } from "./device/device.ts";
import { backendOn, kernelsOn } from "./index.ts";
import { reduce } from "./reductions/reduce.ts";
import { launchSpmv, prepareSpmv } from "./sparse/spmv.ts";
import { levelsOn } from "./sparse/study.ts";
import type { LevelFinder } from "./sparse/tuning.ts";

const SINGLE: Omit<Substitution, "upper" | "unit"> = { rounding: "single", refine: 0, refineBlocks: 0, blockSize: 0 };

/** The triangle of a substitution: which one, and whether its diagonal is all ones. */
export type StudyTriangle = Pick<Substitution, "upper" | "unit">;

/** A plan for a sparse triangular solve with arrays on the device. */
export interface StudyPlan {
  solve(b: Operand, x: Operand): void;
  free(): void;
}

/**
 * An OpenCL device for benchmarks. Routines take arrays and matrices made by `array` and `matrix`; those that leave
 * their result on the device return before it is computed: `finish` waits for everything.
 */
export class StudyDevice {
  readonly name: string;
  readonly type: string;
  readonly vendor: string;
  /** Multiprocessors, or cores. */
  readonly computeUnits: number;
  readonly memoryBytes: number;
  private readonly kernels: ReturnType<typeof kernelsOn>;
  private readonly withoutWaits: OpenclDevice;

  constructor(private readonly device: OpenclDevice) {
    ({ name: this.name, type: this.type, vendor: this.vendor, computeUnits: this.computeUnits, memoryBytes: this.memoryBytes } = device);
    // A batch of calls waits once, at its end.
    const done = { now() {}, later: async () => {} };
    this.withoutWaits = Object.create(device, { finish: { value: () => done } });
    this.kernels = kernelsOn(this.withoutWaits);
  }

  allocate(bytes: number): DeviceBuffer {
    return this.device.allocate("study", bytes);
  }

  write(to: DeviceBuffer, from: ArrayBufferView): void {
    this.device.write(to, from);
  }

  /** Wait for everything so far, and copy to the caller's memory. */
  read(from: DeviceBuffer, to: ArrayBufferView, offset = 0): void {
    this.device.read(from, to, offset).now?.();
  }

  copy(from: DeviceBuffer, to: DeviceBuffer, bytes: number, fromOffset = 0, toOffset = 0): void {
    this.device.copy(from, to, bytes, fromOffset, toOffset);
  }

  /** Fill with a pattern of 4 or 8 bytes. */
  fill(buffer: DeviceBuffer, pattern: ArrayBufferView): void {
    this.device.fill(buffer, pattern);
  }

  /** A kernel from OpenCL C, compiled once. */
  kernel(name: string, source: string): Kernel {
    return this.device.kernel(name, [source]);
  }

  launch(kernel: Kernel, groups: readonly number[], group: readonly number[], args: readonly KernelArgument[]): void {
    this.device.launch(kernel, groups, group, args);
  }

  /** Wait for everything so far. */
  finish(): void {
    this.device.finish().now?.();
  }

  /** An array of this type and length in this memory, for the routines below. */
  array(like: Real | Int32Array, length: number, buffer: DeviceBuffer): DeviceArray {
    return DeviceArray.like(like, length, buffer);
  }

  /** A matrix in such an array, stored without gaps by rows or by columns. */
  matrix(data: Operand, rows: number, cols: number, order: "row" | "column"): StridedOperand {
    const [rowStride, colStride] = order === "row" ? [cols, 1] : [1, rows];
    return { data, offset: 0, rows, cols, rowStride, colStride };
  }

  /** A reduction as the library computes it: filtered, then exactly where the filter proves nothing. */
  reduce(op: Reduction, x: Operand, y: Operand): number {
    return this.run(`ex${op}`, (scope) => reduce(scope, op, x, y, false, "nearest", "binary64"));
  }

  /** The same by one of the papers' stages. */
  reduceBy(stage: ExactStage, op: Reduction, x: Operand, y: Operand): number {
    const sum = new Superaccumulator();
    this.kernels.accumulateBy(stage, op, x, y, sum);
    return sum.round();
  }

  /** y := A x for a sparse matrix by rows, prepared once. A launch does not wait. */
  product(A: Omit<SparseOperator, "byRows">): { launch(x: Operand, y: Operand): void; free(): void } {
    const scope = new Scope(this.device, "exspmv");
    const product = prepareSpmv(scope, { ...A, byRows: true });
    return {
      launch: (x, y) => launchSpmv(this.device, product, 1, bufferOf(x), 0, bufferOf(y)),
      free: () => scope.free(),
    };
  }

  /** y := A x */
  gemv(A: StridedOperand, x: Operand, y: Operand): void {
    this.kernels.gemv(1, A, x, 0, y);
  }

  /** The same by one of the papers' stages. */
  gemvBy(stage: ExactStage, A: StridedOperand, x: Operand, y: Operand): void {
    this.run("exgemv", (scope) => gemvBy(scope, stage, 1, A, x, 0, y));
  }

  /** C := A B */
  gemm(A: StridedOperand, B: StridedOperand, C: StridedOperand): void {
    this.kernels.gemm(1, A, B, 0, C);
  }

  /** x := the solution of T x = b */
  trsv(T: StridedOperand, b: Operand, x: Operand, triangle: StudyTriangle): void {
    this.kernels.trsv(T, b, x, { ...SINGLE, ...triangle });
  }

  /** The same by one of the papers' stages. */
  trsvBy(stage: ExactStage, T: StridedOperand, b: Operand, x: Operand, triangle: StudyTriangle): void {
    this.run("extrsv", (scope) => trsvBy(scope, stage, T, b, x, { ...SINGLE, ...triangle }));
  }

  /** P A = L U in place, for `count` matrices of order n stored one after another by rows. */
  lu(data: Operand, n: number, count: number, pivots: Int32Array, info: Int32Array): void {
    runSync(this.kernels.lu(data, n, n, count, pivots, info), () => this.kernels);
  }

  /** The same by the algorithm of the LU paper, column by column. */
  luUnblocked(data: Operand, n: number, count: number, pivots: Int32Array, info: Int32Array): void {
    this.run("exlu", (scope) => lu(scope, data, n, n, count, pivots, info, luUnblocked));
  }

  /** A plan for a triangle stored by rows, with its arrays on the device. */
  plan(A: SparseOperand, { upper, exact, schedule }: { upper: boolean; exact: boolean; schedule: Schedule }): StudyPlan {
    const { kernels } = this;
    if (!kernels.plan) throw new Error("plan: the OpenCL engine has no plans");
    const triangle = { A, n: A.rows, upper, byRows: true, unit: false, info: patternInfoOf(A) };
    const plan = kernels.plan(triangle, exact, { schedule });
    return { solve: (b, x) => void runSync(plan.solve(b, x), () => kernels), free: () => plan.free() };
  }

  /** The levels of a triangle of A, by the device, to compare with those of `levels`. */
  levels(A: SparseOperand, uplo: "lower" | "upper", finder: LevelFinder): Levels {
    return runSync(levelsOn(this.device, A, uplo, finder));
  }

  /** The engine "opencl" on this device, for `engineOf`. Closing the engine closes the device. */
  backend(): Backend {
    return backendOn(this.device);
  }

  /** Count the bytes allocated from now on: `now`, and their maximum `peak`, which the caller may reset. */
  countMemory(): { now: number; peak: number } {
    const { device } = this;
    const counts = { now: 0, peak: 0 };
    const allocate = device.allocate.bind(device);
    device.allocate = (routine, bytes) => {
      const buffer = allocate(routine, bytes);
      let held = bytes;
      counts.now += bytes;
      counts.peak = Math.max(counts.peak, counts.now);
      for (const name of ["free", "recycle"] as const) {
        const release = buffer[name].bind(buffer);
        buffer[name] = () => {
          counts.now -= held;
          held = 0;
          release();
        };
      }
      return buffer;
    };
    return counts;
  }

  async close(): Promise<void> {
    await this.device.close();
  }

  private run<R>(routine: string, work: (scope: Scope) => Work<R>): R {
    return runSync(inScope(this.withoutWaits, routine, work));
  }
}

/** The device that this choice means: a place in the list of devices or a part of a name; default: the best. */
export async function openStudyDevice(choice?: string | number): Promise<StudyDevice> {
  return new StudyDevice(await openDevice(choice));
}
