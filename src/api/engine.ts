// The public Engine: every routine as an asynchronous method on a Backend, with residents as arguments. src/api/open.ts, src/opencl.ts and
// the tests build engines with engineOf(). docs/engines.md is for users.

/// <reference lib="esnext.disposable" preserve="true" />

import { checkLength, checkVector } from "../arrays/checks.ts";
import { asRow } from "../arrays/matrix.ts";
import { isOnHost, type Operand } from "../arrays/operands.ts";
import type { Matrix, Real, Sparse, TriangularOptions } from "../arrays/types.ts";
import { copyOf } from "../arrays/vectors.ts";
import type { Backend } from "../engines/backend.ts";
import { embedded } from "../engines/embedded.ts";
import type { Kernels } from "../engines/kernels.ts";
import type { Kind } from "../engines/table.ts";
import { Superaccumulator } from "../exact/superaccumulator.ts";
import type { Iterative, IterativeOptions, IterativeSolution } from "../routines/krylov/types.ts";
import { level1, onlyNegativeZeros, type RoundOptions, reductions } from "../routines/level1.ts";
import { asyncOutput, copiedOutput } from "../routines/outputs.ts";
import { asyncRoutines } from "../routines/routines.ts";
import type { Solves } from "../routines/solve/types.ts";
import type { SparseOptions, TriangularPlan } from "../routines/sparse/types.ts";
import type { AsyncMethods, BatchLU, LU, MatrixProductOptions, MatrixVectorOptions, RefineOptions, Routines } from "../routines/types.ts";
import { Accumulator } from "./accumulator.ts";
import { type Resident, Residents } from "./residents.ts";

export type { Resident } from "./residents.ts";

/** Where an engine runs: on this thread ("wasm"), on a pool of threads, on an OpenCL device or on WebGPU. With "auto", open() chooses. */
export type EngineKind = "auto" | Kind;

type Argument<A> = A extends Real | Matrix<Real> | Sparse<Real> ? A | Resident<A> : A;
type Arguments<P extends unknown[]> = { [K in keyof P]: Argument<P[K]> };
/** The same methods, which also take residents and return objects (LU, plans) whose methods take them. */
type WithResidents<O> = {
  [K in keyof O]: O[K] extends (...args: infer P) => Promise<infer R>
    ? (...args: Arguments<P>) => Promise<R extends { solve: unknown } ? WithResidents<R> : R>
    : O[K];
};

/** The routines that write one of their arguments. They return that argument: the resident, if it is one. */
interface InPlace<V extends Real> {
  exaxpy<Y extends V | Resident<V>>(alpha: number, x: V | Resident<V>, y: Y): Promise<Y>;
  exscal<X extends V | Resident<V>>(alpha: number, x: X): Promise<X>;
  exinvscal<X extends V | Resident<V>>(alpha: number, x: X): Promise<X>;
  exgemv<Y extends V | Resident<V>>(
    alpha: number,
    A: Matrix<V> | Resident<Matrix<V>>,
    x: V | Resident<V>,
    beta: number,
    y: Y,
    options?: MatrixVectorOptions,
  ): Promise<Y>;
  exspmv<Y extends V | Resident<V>>(
    alpha: number,
    A: Sparse<V> | Resident<Sparse<V>>,
    x: V | Resident<V>,
    beta: number,
    y: Y,
    options?: MatrixVectorOptions,
  ): Promise<Y>;
  exgemm<C extends Matrix<V> | Resident<Matrix<V>>>(
    alpha: number,
    A: Matrix<V> | Resident<Matrix<V>>,
    B: Matrix<V> | Resident<Matrix<V>>,
    beta: number,
    C: C,
    options?: MatrixProductOptions,
  ): Promise<C>;
}
/** The routines that return objects with an overloaded method, of which WithResidents would keep only the last overload. */
interface Factorizations<V extends Real> {
  exlu(A: Matrix<V> | Resident<Matrix<V>>): Promise<EngineLU<V>>;
  sptrsv(A: Sparse<V> | Resident<Sparse<V>>, options?: SparseOptions): Promise<EnginePlan<V>>;
}
type OnePrecision<V extends Real> = WithResidents<AsyncMethods<Omit<Routines<V>, keyof InPlace<V> | keyof Factorizations<V>>>> &
  InPlace<V> &
  Factorizations<V>;

/** Overloads for programs that do not know the precision at compile time. */
interface EngineEitherPrecision {
  exsum<V extends Real>(x: V | Resident<V>, options?: RoundOptions): Promise<number>;
  exasum<V extends Real>(x: V | Resident<V>, options?: RoundOptions): Promise<number>;
  exdot<V extends Real>(x: V | Resident<V>, y: V | Resident<V>, options?: RoundOptions): Promise<number>;
  exnrm2<V extends Real>(x: V | Resident<V>, options?: RoundOptions): Promise<number>;
  exaxpy<V extends Real, Y extends V | Resident<V>>(alpha: number, x: V | Resident<V>, y: Y): Promise<Y>;
  exscal<X extends Real | Resident<Real>>(alpha: number, x: X): Promise<X>;
  exinvscal<X extends Real | Resident<Real>>(alpha: number, x: X): Promise<X>;
  exgemv<V extends Real, Y extends V | Resident<V>>(
    alpha: number,
    A: Matrix<V> | Resident<Matrix<V>>,
    x: V | Resident<V>,
    beta: number,
    y: Y,
    options?: MatrixVectorOptions,
  ): Promise<Y>;
  exspmv<V extends Real, Y extends V | Resident<V>>(
    alpha: number,
    A: Sparse<V> | Resident<Sparse<V>>,
    x: V | Resident<V>,
    beta: number,
    y: Y,
    options?: MatrixVectorOptions,
  ): Promise<Y>;
  exgemm<V extends Real, C extends Matrix<V> | Resident<Matrix<V>>>(
    alpha: number,
    A: Matrix<V> | Resident<Matrix<V>>,
    B: Matrix<V> | Resident<Matrix<V>>,
    beta: number,
    C: C,
    options?: MatrixProductOptions,
  ): Promise<C>;
  extrsv<V extends Real>(T: Matrix<V> | Resident<Matrix<V>>, b: V | Resident<V>, options?: TriangularOptions): Promise<V>;
  extrsm<V extends Real>(
    T: Matrix<V> | Resident<Matrix<V>>,
    B: Matrix<V> | Resident<Matrix<V>>,
    options?: TriangularOptions,
  ): Promise<Matrix<V>>;
  exlu<V extends Real>(A: Matrix<V> | Resident<Matrix<V>>): Promise<EngineLU<V>>;
  exluBatch<V extends Real>(data: V | Resident<V>, n: number, count: number): Promise<BatchLU<V>>;
  ilu0<V extends Real>(A: Sparse<V> | Resident<Sparse<V>>): Promise<Sparse<V>>;
  sptrsv<V extends Real>(A: Sparse<V> | Resident<Sparse<V>>, options?: SparseOptions): Promise<EnginePlan<V>>;
}
// Written out, because WithResidents keeps one overload of solve(), and the compiler cannot evaluate it for a type parameter.
type EngineLU<V extends Real> = Pick<LU<V>, "lu" | "pivots"> & {
  solve(b: V | Resident<V>, options?: RefineOptions): Promise<V>;
  solve(b: Matrix<V> | Resident<Matrix<V>>, options?: RefineOptions): Promise<Matrix<V>>;
};
type EnginePlan<V extends Real> = Omit<TriangularPlan<V>, "solve" | "update" | "free"> & {
  solve(b: V | Resident<V>, out?: V | Resident<V>): Promise<V>;
  solve(B: Matrix<V> | Resident<Matrix<V>>): Promise<Matrix<V>>;
  update(values: V | Resident<V>): Promise<void>;
  free(): Promise<void>;
};

/** z := M^-1 r on an engine: names, or plans of that engine. */
export type EnginePreconditioner = "none" | "jacobi" | "ilu0" | readonly EnginePlan<Float64Array>[];
/** Options of the iterative solvers on an engine. */
export type EngineIterativeOptions = Omit<IterativeOptions, "preconditioner"> & {
  /** Default: "none". */
  preconditioner?: EnginePreconditioner | undefined;
};
type EngineIterative = (
  A: Sparse | Matrix | Resident<Sparse> | Resident<Matrix>,
  b: Float64Array | Resident<Float64Array>,
  options?: EngineIterativeOptions,
) => Promise<IterativeSolution>;

/**
 * All routines as asynchronous methods. A call reads its inputs before it returns, and writes its outputs in one step when its promise
 * resolves; a call that fails has written nothing. It borrows its residents until then.
 */
export type Engine = OnePrecision<Float64Array> &
  OnePrecision<Float32Array> &
  EngineEitherPrecision &
  WithResidents<AsyncMethods<Solves>> & { readonly [K in keyof Iterative]: EngineIterative } & {
    readonly kind: Kind;
    /** The device, named for people. */
    readonly device: string;
    /** The sum of x, or the dot product of x and y, exact and not yet rounded, to be merged with others. */
    accumulate(x: Real | Resident<Real>, y?: Real | Resident<Real>): Promise<Accumulator>;
    /** Keep a vector, a matrix or a sparse matrix on the engine. */
    upload<V extends Real | Matrix<Real> | Sparse<Real>>(value: V): Promise<Resident<V>>;
    /** Close the engine. Pending and later calls fail. */
    close(): Promise<void>;
    [Symbol.asyncDispose](): Promise<void>;
  };

/** The names of the arguments of each routine, and the index of the one it writes. */
const ARGUMENTS: Record<string, { readonly names: readonly string[]; readonly writes?: number }> = {
  exsum: { names: ["x"] },
  exasum: { names: ["x"] },
  exdot: { names: ["x", "y"] },
  exnrm2: { names: ["x"] },
  exaxpy: { names: ["alpha", "x", "y"], writes: 2 },
  exscal: { names: ["alpha", "x"], writes: 1 },
  exinvscal: { names: ["alpha", "x"], writes: 1 },
  exgemv: { names: ["alpha", "A", "x", "beta", "y"], writes: 4 },
  exgemm: { names: ["alpha", "A", "B", "beta", "C"], writes: 4 },
  extrsv: { names: ["T", "b"] },
  extrsm: { names: ["T", "B"] },
  exlu: { names: ["A"] },
  "LU.solve": { names: ["b"] },
  exluBatch: { names: ["data", "n", "count"] },
  exspmv: { names: ["alpha", "A", "x", "beta", "y"], writes: 4 },
  ilu0: { names: ["A"] },
  sptrsv: { names: ["A"] },
  "TriangularPlan.solve": { names: ["b", "out"], writes: 1 },
  "TriangularPlan.update": { names: ["values"] },
  solve: { names: ["A", "b"] },
  factor: { names: ["A"] },
  "Factored.solve": { names: ["b"] },
  cg: { names: ["A", "b"] },
  bicgstab: { names: ["A", "b"] },
  gmres: { names: ["A", "b"] },
  accumulate: { names: ["x", "y"] },
};

type Method = (...args: unknown[]) => Promise<unknown>;

/** The public engine on a backend. */
export function engineOf(backend: Backend): Engine {
  const residents = new Residents(backend.memory);
  const withResidents = (name: string, routine: Method): Method => {
    const { names, writes } = ARGUMENTS[name] as (typeof ARGUMENTS)[string];
    return residents.accept(name, names, writes, routine);
  };
  const routines = { ...asyncLevel1(backend), ...asyncRoutines(() => backend), accumulate: accumulateOn(backend) };
  const exlu = async (A: Matrix<Real>): Promise<unknown> => {
    const factors = await (routines.exlu as (A: Matrix<Real>) => Promise<{ solve: Method }>)(A);
    return { ...factors, solve: withResidents("LU.solve", factors.solve) };
  };
  const sptrsv = async (...args: [Sparse<Real>]): Promise<unknown> => {
    const plan = await (routines.sptrsv as (...args: [Sparse<Real>]) => Promise<{ solve: Method; update: Method }>)(...args);
    // Not a spread, which would read the property `levels` and thereby count them.
    return Object.assign(plan, {
      solve: withResidents("TriangularPlan.solve", plan.solve),
      update: withResidents("TriangularPlan.update", plan.update),
    });
  };
  const factor = async (...args: [Matrix]): Promise<unknown> => {
    const factored = await (routines.factor as (...args: [Matrix]) => Promise<{ solve: Method }>)(...args);
    return { ...factored, solve: withResidents("Factored.solve", factored.solve) };
  };
  const methods = Object.entries({ ...routines, exlu, sptrsv, factor }).map(([name, routine]) => [
    name,
    withResidents(name, routine as Method),
  ]);
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    residents.close();
    closing ??= backend.close().then(() => residents.freeAll());
    return closing;
  };
  return {
    ...Object.fromEntries(methods),
    kind: backend.kind,
    device: backend.device,
    upload: async (value: Real | Matrix<Real> | Sparse<Real>) => residents.upload(value),
    close,
    [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]: close,
  } as unknown as Engine;
}

// Reductions run on the backend. Elementwise routines run on this thread, on a copy: moving a vector to another memory and back takes
// longer than the work.
function asyncLevel1(backend: Backend): Record<string, (...args: never[]) => Promise<unknown>> {
  const { exsum, exasum, exdot, exnrm2 } = reductions(
    async (...args) => (args[1].length === 0 ? 0 : backend.reduce(...args)),
    async (value) => value,
  );
  return {
    exsum: asAsync(exsum),
    exasum: asAsync(exasum),
    exdot: asAsync(exdot),
    exnrm2: asAsync(exnrm2),
    exaxpy: elementwise(backend, "exaxpy"),
    exscal: elementwise(backend, "exscal"),
    exinvscal: elementwise(backend, "exinvscal"),
  };
}

// The routine as an asynchronous function: errors in the arguments reject the promise.
function asAsync(routine: (...args: never[]) => Promise<number>): (...args: never[]) => Promise<number> {
  return async (...args) => routine(...args);
}

// An elementwise routine: computed at the call, written when the promise resolves. Arrays that the host cannot read stay on the backend.
function elementwise(backend: Backend, routine: "exaxpy" | "exscal" | "exinvscal"): (...args: never[]) => Promise<Real> {
  return async (...args) => {
    let finish: () => Promise<void> | void = () => {};
    const map: Kernels["map"] = (op, alpha, x, y) => {
      const [name, target] = op === "axpy" ? ["y", y] : ["x", x];
      if (backend.map && !(isOnHost(x) && isOnHost(y))) {
        const out = asyncOutput(routine, name, asRow(target), true);
        const pending = backend.map(op, alpha, op === "axpy" ? x : out.entries.data, out.entries.data);
        finish = async () => {
          await pending;
          out.write();
        };
        return;
      }
      const out = copiedOutput(routine, name, asRow(target as Real), true);
      embedded().map(op, alpha, op === "axpy" ? x : out.entries.data, out.entries.data);
      finish = () => out.write();
    };
    const result = (level1(() => ({ map }) as Kernels)[routine] as (...args: never[]) => Real)(...args);
    await undefined;
    await finish();
    return result;
  };
}

// Engine.accumulate(). Vectors of different precisions are added on this thread.
function accumulateOn(backend: Backend) {
  return async (x: Operand, y?: Operand): Promise<Accumulator> => {
    checkVector("accumulate", "x", x);
    if (y !== undefined) {
      checkVector("accumulate", "y", y);
      checkLength("accumulate", x, y);
      if (x.BYTES_PER_ELEMENT !== y.BYTES_PER_ELEMENT) {
        // The caller may change its arrays as soon as this function awaits something.
        if (isOnHost(x) && isOnHost(y)) return new Accumulator().addProduct(x, y);
        const copy = (z: Operand) => (isOnHost(z) ? copyOf("accumulate", z) : backend.memory.download<Real>("accumulate", z));
        const [left, right] = await Promise.all([copy(x), copy(y)]);
        return new Accumulator().addProduct(left, right);
      }
    }
    const empty = y === undefined ? onlyNegativeZeros(x) : x.length === 0;
    const sum = new Superaccumulator();
    if (x.length > 0) await backend.accumulate(y === undefined ? "sum" : "dot", x, y ?? x, sum);
    // In an array that the host cannot read, only the engine can tell -0 from 0.
    const mayBeNegativeZero = y === undefined && x.length > 0 && !isOnHost(x) && Object.is(sum.round(), 0);
    const isNegativeZero = mayBeNegativeZero && Object.is(await backend.reduce("sum", x, x, false, "nearest", "binary64"), -0);
    return Accumulator.of(sum, empty || isNegativeZero);
  };
}
