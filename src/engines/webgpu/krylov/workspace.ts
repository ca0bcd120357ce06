// The workspace of the iterative solvers on the device (engines/krylov.ts): the matrix and the vectors are there, the scalars on the host, which
// waits for each dot product. Called by the engine.
import type { StridedOperand } from "../../../arrays/matrix.ts";
import { isOnHost, type Operand } from "../../../arrays/operands.ts";
import type { Real } from "../../../arrays/types.ts";
import type { DeviceBuffer, Work } from "../../device.ts";
import { bufferOf, DeviceArray } from "../../deviceArray.ts";
import { keepMatrix } from "../../deviceMemory.ts";
import { inScope, Scope } from "../../deviceScope.ts";
import type { Combination, SparseOperator, SparsePlan } from "../../kernels.ts";
import {
  B,
  type Finish,
  type KrylovKernels,
  type KrylovSystem,
  type Look,
  OWN,
  Recurrence,
  type Scalar,
  type When,
  type Workspace,
  X,
} from "../../krylov.ts";
import type { Routine } from "../../steps.ts";
import type { Choices } from "../choices.ts";
import { gemv } from "../dense/gemv.ts";
import type { WebgpuDevice } from "../device/device.ts";
import { round, window, words } from "../exact/sources.generated.ts";
import * as host from "../host.ts";
import { map } from "../reductions/elementwise.ts";
import { reduce } from "../reductions/reduce.ts";
import { type DeviceProduct, multiply, prepareProduct, ROW_SPACE } from "../sparse/spmv.ts";
import { combine as source } from "./sources.generated.ts";

const OPS = ["xpay", "direction", "quotient", "sum"] as const;
const GROUP = 64;
// Columns of the basis begin where a binding may.
const COLUMN_UNIT = 32;

/** The solvers: systems of at least `minIteration` entries on the device, if their vectors fit bindings. */
export function krylov(run: (work: Work<unknown>) => Promise<unknown>, device: WebgpuDevice, { minIteration }: Choices): KrylovKernels {
  const onHost = host.krylov(run, device);
  return {
    workspace(system, later) {
      const { A, n, basis } = system;
      const entries = "data" in A ? n * n : A.indices.length;
      const largest = 8 * Math.max(1, basis) * (n + COLUMN_UNIT) + ROW_SPACE;
      if (entries < minIteration || largest > device.maxBindingBytes) return onHost.workspace(system, later);
      return run(deviceWorkspace(device, system)) as Promise<Workspace>;
    },
  };
}

/** A workspace for a system whose vectors and matrix fit bindings. What the caller may change is copied before the first wait. */
function* deviceWorkspace(device: WebgpuDevice, system: KrylovSystem): Work<Workspace> {
  const scope = new Scope(device, system.routine);
  try {
    const space = new DeviceWorkspace(device, scope, system);
    yield* space.load(system.A);
    return space;
  } catch (error) {
    scope.free();
    throw error;
  }
}

class DeviceWorkspace implements Workspace {
  plans: readonly SparsePlan[] = [];
  private readonly n: number;
  private matrix: DeviceProduct | StridedOperand | undefined; // once it is loaded
  private readonly vectors: DeviceArray[];
  private readonly basis: DeviceArray;
  private readonly columnStride: number;
  private readonly diagonal: DeviceArray | undefined;
  private readonly room: DeviceArray | undefined; // for results of plans before the last
  private readonly recurrence: Recurrence;

  constructor(
    private readonly device: WebgpuDevice,
    private readonly scope: Scope,
    system: KrylovSystem,
  ) {
    const { n, preconditioner } = system;
    this.n = n;
    this.columnStride = Math.ceil(n / COLUMN_UNIT) * COLUMN_UNIT;
    this.vectors = Array.from({ length: OWN + system.vectors }, () => this.vector(n));
    this.basis = this.vector(this.columnStride * system.basis);
    for (let j = 0; j < system.basis; j++)
      this.vectors.push(new DeviceArray("binary64", n, device.part(this.basis.buffer, 8 * j * this.columnStride, 8 * n)));
    this.diagonal = preconditioner === "jacobi" ? this.vector(n) : undefined;
    this.room = preconditioner === "plans" ? this.vector(n) : undefined;
    this.put(system.b, B);
    if (system.x0) this.put(system.x0, X);
    else device.fill(this.bufferOf(X), new Int32Array(1));
    this.recurrence = new Recurrence(system.scalars);
  }

  private vector(length: number): DeviceArray {
    return new DeviceArray("binary64", length, this.scope.scratch(8 * length));
  }

  private put(x: Operand, to: number): void {
    if (isOnHost(x)) this.device.write(this.bufferOf(to), x);
    else this.device.copy(bufferOf(x), this.bufferOf(to), 8 * this.n);
  }

  *load(A: SparseOperator | StridedOperand): Work<void> {
    if (!("data" in A)) this.matrix = yield* prepareProduct(this.scope, A);
    else {
      const kept = keepMatrix(this.device, this.scope.routine, A, false);
      if (kept.value !== A) this.scope.adopt(bufferOf(kept.value.data));
      this.matrix = kept.value;
    }
    if (this.diagonal) this.device.write(this.diagonal.buffer, yield* this.diagonalOf(A));
    yield this.device.finish();
  }

  // The diagonal of A, with zeros where it has none.
  private *diagonalOf(A: SparseOperator | StridedOperand): Work<Float64Array> {
    const { n, scope } = this;
    const diagonal = new Float64Array(n);
    if ("data" in A) {
      const [matrix] = yield* host.fetchMatrices(scope, A);
      if (matrix)
        for (let i = 0; i < n; i++) diagonal[i] = matrix.data[matrix.offset + i * (matrix.rowStride + matrix.colStride)] as number;
      return diagonal;
    }
    const [pointers, indices, values] = (yield* host.fetch(scope, A.pointers, A.indices, A.values)) as [Int32Array, Int32Array, Real];
    for (let i = 0; i < n; i++)
      for (let p = pointers[i] as number; p < (pointers[i + 1] as number); p++) if (indices[p] === i) diagonal[i] = values[p] as number;
    return diagonal;
  }

  private array(k: number): DeviceArray {
    return this.vectors[k] as DeviceArray;
  }

  private bufferOf(k: number): DeviceBuffer {
    return this.array(k).buffer;
  }

  // Work of the device, as a step.
  private call<R>(work: (scope: Scope) => Work<R>): Work<R> {
    return inScope(this.device, this.scope.routine, work);
  }

  private multiply(alpha: number, x: number, beta: number, y: number): Work<void> {
    const { matrix, device } = this;
    const [from, to] = [this.array(x), this.array(y)];
    return this.call(function* (scope): Work<void> {
      if (matrix && "data" in matrix) yield* gemv(scope, alpha, matrix, from, beta, to);
      else yield* multiply(scope, matrix as DeviceProduct, alpha, from.buffer, beta, to.buffer);
      yield device.finish();
    });
  }

  *product(x: number, y: number): Routine<void> {
    if (this.recurrence.status === "running") yield* this.multiply(1, x, 0, y);
  }

  *residual(x: number, y: number): Routine<void> {
    this.device.copy(this.bufferOf(B), this.bufferOf(y), 8 * this.n);
    yield* this.multiply(-1, x, 1, y);
  }

  *zeroDiagonal(): Routine<number> {
    if (!this.diagonal) return -1;
    const diagonal = new Float64Array(this.n);
    yield this.device.read(this.diagonal.buffer, diagonal);
    return diagonal.indexOf(0);
  }

  *precondition(r: number, z: number): Routine<number> {
    const { diagonal, plans, room } = this;
    if (diagonal) this.launch("quotient", 0, r, z, 0, diagonal);
    if (diagonal || plans.length === 0) return diagonal ? z : r;
    // Results alternate between z and `room`, so that the last one is z.
    let from = this.array(r);
    for (const [k, plan] of plans.entries()) {
      const to = (plans.length - k) % 2 === 1 ? this.array(z) : (room as DeviceArray);
      yield* plan.solve(from, to);
      from = to;
    }
    return z;
  }

  *reduce(x: number, y: number, root: boolean, finish: Finish): Routine<void> {
    if (this.recurrence.status !== "running") return;
    const value = yield* this.call((scope) => reduce(scope, "dot", this.array(x), this.array(y), root, "nearest", "binary64"));
    this.recurrence.finish(finish, value);
  }

  *axpy(sign: 1 | -1, scalar: Scalar | number, x: number, y: number, when: When = "running"): Routine<void> {
    if (!this.recurrence.allows(when)) return;
    const alpha = sign * this.recurrence.get(scalar);
    if (alpha !== 0) yield* this.call((scope) => map(scope, "axpy", alpha, this.array(x), this.array(y)));
  }

  *invscal(scalar: number, y: number): Routine<void> {
    if (this.recurrence.status === "running")
      yield* this.call((scope) => map(scope, "invscal", this.recurrence.get(scalar), this.array(y), this.array(y)));
  }

  // biome-ignore lint/correctness/useYield: the host does not wait
  *xpay(z: number, p: number): Routine<void> {
    if (this.recurrence.status === "running") this.launch("xpay", this.recurrence.get("beta"), z, p);
  }

  // biome-ignore lint/correctness/useYield: the host does not wait
  *direction(r: number, v: number, p: number): Routine<void> {
    const { beta, omega } = this.recurrence.values;
    if (this.recurrence.status === "running") this.launch("direction", beta, r, p, -omega, this.array(v));
  }

  // biome-ignore lint/correctness/useYield: the host does not wait
  *add(d: number, x: number): Routine<void> {
    this.launch("sum", 0, d, x);
  }

  private launch(op: Exclude<Combination, "axpy" | "invscal">, a: number, x: number, y: number, b = 0, z = this.array(x)): void {
    const { device, n } = this;
    const kernel = device.kernel("combine", [words, window, round, source], { GROUP, OP: OPS.indexOf(op) });
    const args = [this.bufferOf(x), z.buffer, this.bufferOf(y), n, Float64Array.of(a), Float64Array.of(b)];
    device.launch(kernel, [Math.ceil(n / GROUP)], [GROUP], args);
  }

  // biome-ignore lint/correctness/useYield: the host does not wait
  *copy(x: number, y: number): Routine<void> {
    this.device.copy(this.bufferOf(x), this.bufferOf(y), 8 * this.n);
  }

  *combine(coefficients: Float64Array, count: number, y: number): Routine<void> {
    const { n, basis, columnStride } = this;
    const V = { data: basis, offset: 0, rows: n, cols: count, rowStride: 1, colStride: columnStride };
    yield* this.call((scope) => gemv(scope, 1, V, coefficients, 0, this.array(y)));
  }

  ahead(): number {
    return 1;
  }

  begin(): void {}

  // biome-ignore lint/correctness/useYield: the scalars are on the host
  *look(): Routine<Look> {
    const { status, norms } = this.recurrence;
    this.recurrence.norms = [];
    return { status, norms };
  }

  // biome-ignore lint/correctness/useYield: the scalars are on the host
  *scalars(from: number, count: number): Routine<Float64Array> {
    return this.recurrence.extra.slice(from, from + count);
  }

  // biome-ignore lint/correctness/useYield: the scalars are on the host
  *start(bound: number): Routine<void> {
    this.recurrence.status = "running";
    this.recurrence.values.bound = bound;
  }

  *read(x: number): Routine<Float64Array> {
    const copy = new Float64Array(this.n);
    yield this.device.read(this.bufferOf(x), copy);
    return copy;
  }

  free(): void {
    this.scope.free();
  }
}
