// The workspace of the iterative solvers on an engine whose memory the host can read: every operation is a kernel of the engine, and the
// scalars are numbers of the host. Used by the reference engine, WebAssembly and threads.
import { rowMajor, rowMajorCopy, type StridedMatrix } from "../arrays/matrix.ts";
import type { Real } from "../arrays/types.ts";
import { aligned } from "../arrays/vectors.ts";
import type { Reducer } from "./backend.ts";
import type { Combination, SparseOperator, SparsePlan } from "./kernels.ts";
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
} from "./krylov.ts";
import type { Allocation, HostMemory, Later } from "./memory.ts";
import type { Routine } from "./steps.ts";

/** A sparse matrix on the host. */
export type HostOperator = SparseOperator & { readonly pointers: Int32Array; readonly indices: Int32Array; readonly values: Real };

/** The kernels that a workspace needs. */
export interface VectorOperations {
  readonly memory: Pick<HostMemory, "reserve">;
  /** Bytes in the memory that has all of these arrays, so that they can be used where they are; undefined if there is none, or no room. */
  reserveBeside?(arrays: readonly ArrayBufferView[], bytes: number): Allocation<Uint8Array> | undefined;
  /** Whether an array can be used where it is, for as long as a call takes; `later`: the caller may change its own arrays meanwhile. */
  canStay(array: ArrayBufferView, later: boolean): boolean;
  gemv(alpha: number, A: StridedMatrix, x: Real, beta: number, y: Real): Later<void>;
  spmv(alpha: number, A: HostOperator, x: Real, beta: number, y: Real): Later<void>;
  reduce: Reducer<Later<number>>;
  /** On vectors of the workspace. */
  combine(op: Combination, a: number, b: number, x: Real, y: Real, z: Real): Later<void>;
  /** If the system is a part of another: the first row of all parts, from the first row of this one; -1 for none. */
  firstRow?(row: number): Later<number>;
}

/** The solvers of such an engine, with the operations behind them: src/ranks runs the same workspace on a part of a system. */
export interface HostKrylov extends KrylovKernels {
  workspace(system: KrylovSystem, later: boolean): Workspace;
  operations(): VectorOperations;
}

// Vectors have room for a multiple of 8 elements, the last of which are zero: reductions read them in place.
const padded = (n: number): number => Math.ceil(n / 8) * 8;

export function hostKrylov(operations: () => VectorOperations): HostKrylov {
  return { operations, workspace: (system, later) => new HostWorkspace(operations(), system, later) };
}

type HostMatrix = StridedMatrix | HostOperator;

class HostWorkspace implements Workspace {
  plans: readonly SparsePlan[] = [];
  private readonly memory: Allocation<Uint8Array>;
  private used = 0;
  private readonly A: HostMatrix;
  private readonly vectors: Float64Array[];
  private readonly basis: Float64Array;
  private readonly diagonal: Float64Array | undefined;
  private readonly recurrence: Recurrence;
  private readonly n: number;
  private readonly room: Float64Array | undefined; // for results of plans before the last

  constructor(
    private readonly operations: VectorOperations,
    system: KrylovSystem,
    later: boolean,
  ) {
    const { routine, n, preconditioner } = system;
    const A = system.A as HostMatrix;
    this.n = n;
    const stride = padded(n);
    const count = OWN + system.vectors + system.basis + (preconditioner === "none" ? 0 : 1);
    const bytes = 8 * stride * count;
    const beside = later ? undefined : operations.reserveBeside?.(arraysOf(A), bytes);
    const stays = beside !== undefined || arraysOf(A).every((array) => operations.canStay(array, later));
    const copied = stays ? 0 : arraysOf(A).reduce((sum, { byteLength }) => sum + aligned(byteLength), 0);
    this.memory = beside ?? operations.memory.reserve(routine, bytes + copied);
    try {
      this.vectors = Array.from({ length: OWN + system.vectors }, () => this.zeros(n));
      // Columns are written before they are read, so only their padding is cleared: most of a large basis may never be touched.
      this.basis = this.place(Float64Array, stride * system.basis);
      for (let j = 0; j < system.basis; j++) {
        this.vectors.push(this.basis.subarray(j * stride, j * stride + n));
        this.basis.fill(0, j * stride + n, (j + 1) * stride);
      }
      this.diagonal = preconditioner === "jacobi" ? this.zeros(n) : undefined;
      this.room = preconditioner === "plans" ? this.zeros(n) : undefined;
      this.vector(B).set(system.b as Float64Array);
      if (system.x0) this.vector(X).set(system.x0 as Float64Array);
      this.A = stays ? A : this.copied(routine, A);
    } catch (error) {
      this.memory.free();
      throw error;
    }
    this.recurrence = new Recurrence(system.scalars);
  }

  *zeroDiagonal(): Routine<number> {
    if (!this.diagonal) return -1;
    const row = fillDiagonal(this.A, this.diagonal);
    const { operations } = this;
    return operations.firstRow ? ((yield () => operations.firstRow?.(row)) as number) : row;
  }

  private place<T>(type: { new (buffer: ArrayBufferLike, at: number, length: number): T; BYTES_PER_ELEMENT: number }, length: number): T {
    const { buffer, byteOffset } = this.memory.value;
    const array = new type(buffer, byteOffset + this.used, length);
    this.used += aligned(length * type.BYTES_PER_ELEMENT);
    return array;
  }

  private zeros(length: number): Float64Array {
    return this.place(Float64Array, padded(length)).fill(0).subarray(0, length);
  }

  // A vector and the zeros after it.
  private withZeros(k: number): Float64Array {
    const { buffer, byteOffset, length } = this.vector(k);
    return new Float64Array(buffer, byteOffset, padded(length));
  }

  private copied(routine: string, A: HostMatrix): HostMatrix {
    if ("data" in A) {
      const data = this.place(Float64Array, A.rows * A.cols);
      data.set(rowMajorCopy(routine, A));
      return rowMajor(data, A.rows, A.cols);
    }
    const [pointers, indices] = [this.place(Int32Array, A.pointers.length), this.place(Int32Array, A.indices.length)];
    const values = this.place(Float64Array, A.values.length);
    pointers.set(A.pointers);
    indices.set(A.indices);
    values.set(A.values);
    return { ...A, pointers, indices, values };
  }

  private vector(k: number): Float64Array {
    return this.vectors[k] as Float64Array;
  }

  private multiply(alpha: number, x: number, beta: number, y: number): Later<void> {
    const { A, operations } = this;
    const [from, to] = [this.vector(x), this.vector(y)];
    return "data" in A ? operations.gemv(alpha, A, from, beta, to) : operations.spmv(alpha, A, from, beta, to);
  }

  *product(x: number, y: number): Routine<void> {
    if (this.recurrence.status === "running") yield () => this.multiply(1, x, 0, y);
  }

  *residual(x: number, y: number): Routine<void> {
    this.vector(y).set(this.vector(B));
    yield () => this.multiply(-1, x, 1, y);
  }

  *precondition(r: number, z: number): Routine<number> {
    const { diagonal, plans, room } = this;
    if (diagonal) yield () => this.operations.combine("quotient", 0, 0, this.vector(r), this.vector(z), diagonal);
    if (diagonal || plans.length === 0) return diagonal ? z : r;
    // Results alternate between z and `room`, so that the last one is z.
    let from = this.vector(r);
    for (const [k, plan] of plans.entries()) {
      const to = (plans.length - k) % 2 === 1 ? this.vector(z) : (room as Float64Array);
      yield* plan.solve(from, to);
      from = to;
    }
    return z;
  }

  *reduce(x: number, y: number, root: boolean, finish: Finish): Routine<void> {
    if (this.recurrence.status !== "running") return;
    const left = this.withZeros(x);
    const right = x === y ? left : this.withZeros(y);
    const value = (yield () => this.operations.reduce("dot", left, right, root, "nearest", "binary64")) as number;
    this.recurrence.finish(finish, value);
  }

  *axpy(sign: 1 | -1, scalar: Scalar | number, x: number, y: number, when: When = "running"): Routine<void> {
    if (this.recurrence.allows(when)) yield* this.update("axpy", sign * this.recurrence.get(scalar), x, y);
  }

  *invscal(scalar: number, y: number): Routine<void> {
    yield* this.update("invscal", this.recurrence.get(scalar), y, y);
  }

  *xpay(z: number, p: number): Routine<void> {
    yield* this.update("xpay", this.recurrence.get("beta"), z, p);
  }

  *direction(r: number, v: number, p: number): Routine<void> {
    const { beta, omega } = this.recurrence.values;
    yield* this.update("direction", beta, r, p, -omega, v);
  }

  *add(d: number, x: number): Routine<void> {
    yield () => this.operations.combine("sum", 0, 0, this.vector(d), this.vector(x), this.vector(x));
  }

  // A recurrence that has ended updates nothing, but for the axpy of an iteration that met the bound.
  private *update(op: Combination, a: number, x: number, y: number, b = 0, z = x): Routine<void> {
    if (op !== "axpy" && this.recurrence.status !== "running") return;
    yield () => this.operations.combine(op, a, b, this.vector(x), this.vector(y), this.vector(z));
  }

  // biome-ignore lint/correctness/useYield: on this engine no step is needed
  *copy(x: number, y: number): Routine<void> {
    this.vector(y).set(this.vector(x));
  }

  *combine(coefficients: Float64Array, count: number, y: number): Routine<void> {
    const { n, basis } = this;
    const V = { data: basis, offset: 0, rows: n, cols: count, rowStride: 1, colStride: padded(n) };
    yield () => this.operations.gemv(1, V, coefficients, 0, this.vector(y));
  }

  ahead(): number {
    return 1;
  }

  begin(): void {}

  // biome-ignore lint/correctness/useYield: on this engine no step is needed
  *look(): Routine<Look> {
    const { status, norms } = this.recurrence;
    this.recurrence.norms = [];
    return { status, norms };
  }

  // biome-ignore lint/correctness/useYield: on this engine no step is needed
  *scalars(from: number, count: number): Routine<Float64Array> {
    return this.recurrence.extra.slice(from, from + count);
  }

  // biome-ignore lint/correctness/useYield: on this engine no step is needed
  *start(bound: number): Routine<void> {
    this.recurrence.status = "running";
    this.recurrence.values.bound = bound;
  }

  // biome-ignore lint/correctness/useYield: on this engine no step is needed
  *read(x: number): Routine<Float64Array> {
    return Float64Array.from(this.vector(x));
  }

  free(): void {
    this.memory.free();
  }
}

const arraysOf = (A: HostMatrix): readonly ArrayBufferView[] => ("data" in A ? [A.data] : [A.pointers, A.indices, A.values]);

// diagonal := that of A. Returns the first row in which it is zero or missing, or -1.
function fillDiagonal(A: HostMatrix, diagonal: Float64Array): number {
  for (let i = 0; i < diagonal.length; i++) {
    if ("data" in A) diagonal[i] = A.data[A.offset + i * (A.rowStride + A.colStride)] as number;
    else {
      const end = A.pointers[i + 1] as number;
      for (let p = A.pointers[i] as number; p < end; p++) if (A.indices[p] === i) diagonal[i] = A.values[p] as number;
    }
    if (diagonal[i] === 0) return i;
  }
  return -1;
}
