import { Accumulator } from "../accumulator.ts";
import { checkLength, checkVector } from "../checks.ts";
import { type Level1, level1, onlyNegativeZeros, type Reducer, reductions } from "../dense/level1.ts";
import { asyncRoutines } from "../dense/routines.ts";
import type { AsyncKernels } from "../dense/steps.ts";
import type { AsyncMethods, Routines } from "../dense/types.ts";
import { ShapeError } from "../errors.ts";
import { Superaccumulator } from "../exact/superaccumulator.ts";
import { checkMatrix, entries } from "../matrix.ts";
import type { Matrix, Real, Reduction } from "../types.ts";
import { embedded } from "./embedded.ts";

export type EngineKind = "auto" | "wasm" | "threads";

/** Data kept on an engine: wherever a routine takes V it takes Resident<V>, and what it writes there stays there. */
export interface Resident<V> {
  readonly shape: readonly number[];
  /** A copy. */
  read(): Promise<V>;
  /** Give the memory back. */
  free(): void;
}

type Argument<A> = A extends Real | Matrix<Real> ? A | Resident<A> : A;
type Arguments<P extends unknown[]> = { [K in keyof P]: Argument<P[K]> };
type WithResidents<O> = { [K in keyof O]: O[K] extends (...args: infer P) => infer R ? (...args: Arguments<P>) => R : O[K] };

/**
 * The routines, asynchronous. Calls read their inputs before they return and write their outputs in one step when they
 * resolve; one that fails has written nothing. Residents are borrowed until then.
 */
export type Engine = WithResidents<AsyncMethods<Routines<Float64Array>>> &
  WithResidents<AsyncMethods<Routines<Float32Array>>> & {
    readonly kind: Exclude<EngineKind, "auto">;
    /** What a person would call it. */
    readonly device: string;
    /** The sum of x, or the dot product of x and y, not yet rounded: merge it with others. */
    accumulate(x: Real | Resident<Real>, y?: Real | Resident<Real>): Promise<Accumulator>;
    /** Keep a vector or a matrix on the engine. */
    upload<V extends Real | Matrix<Real>>(value: V): Promise<Resident<V>>;
    close(): Promise<void>;
    [Symbol.asyncDispose](): Promise<void>;
  };

/** What an engine brings along. */
export interface Backend extends AsyncKernels {
  readonly kind: Exclude<EngineKind, "auto">;
  readonly device: string;
  readonly reduce: Reducer<Promise<number>>;
  accumulate(op: Reduction, x: Real, y: Real, into: Superaccumulator): Promise<void>;
  /** A vector in the engine's memory, and how to give it back. */
  allocate<V extends Real>(like: V, length: number): { array: V; free(): void };
  close(): Promise<void>;
}

/** Everything an engine offers, from its kernels. */
export function engineOf(backend: Backend): Engine {
  const routines = { ...asyncLevel1(backend), ...asyncRoutines(() => backend), accumulate: accumulateOn(backend) };
  const methods = Object.fromEntries(
    Object.entries(routines).map(([name, routine]) => [name, onResidents(routine as (...args: unknown[]) => Promise<unknown>)]),
  );
  const close = (): Promise<void> => backend.close();
  return {
    ...methods,
    kind: backend.kind,
    device: backend.device,
    upload: async (value: Real | Matrix<Real>) => upload(backend, value),
    close,
    [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]: close,
  } as unknown as Engine;
}

// Reductions on the engine. What works element by element is done on this thread, on a copy: moving a vector to another
// memory and back takes longer than the work.
function asyncLevel1(backend: Backend): { readonly [K in keyof Level1<Real>]: (...args: never[]) => Promise<unknown> } {
  const { exsum, exasum, exdot, exnrm2 } = reductions(
    async (...args) => (args[1].length === 0 ? 0 : backend.reduce(...args)),
    async (value) => value,
  );
  const { exscal, exinvscal, exaxpy } = level1(embedded) as unknown as Record<string, (...args: unknown[]) => Real>;
  // The result of a routine that writes its last argument, on a copy; written when the promise resolves.
  const later = async (routine: ((...args: unknown[]) => Real) | undefined, args: unknown[]): Promise<Real> => {
    const target = args.at(-1) as Real;
    const copy = ArrayBuffer.isView(target) ? target.slice() : target;
    const last = args.length - 1;
    (routine as (...args: unknown[]) => Real)(...args.map((arg, i) => (i === last ? copy : arg)));
    await undefined;
    target.set(copy);
    return target;
  };
  return {
    exsum: rejecting(exsum),
    exasum: rejecting(exasum),
    exdot: rejecting(exdot),
    exnrm2: rejecting(exnrm2),
    exscal: (...args: unknown[]) => later(exscal, args),
    exinvscal: (...args: unknown[]) => later(exinvscal, args),
    exaxpy: (...args: unknown[]) => later(exaxpy, args),
  };
}

// What is wrong with the arguments rejects the promise.
function rejecting(routine: (...args: never[]) => Promise<number>): (...args: never[]) => Promise<number> {
  return async (...args) => routine(...args);
}

function accumulateOn(backend: Backend) {
  return async (x: Real, y?: Real): Promise<Accumulator> => {
    checkVector("accumulate", "x", x);
    if (y !== undefined) {
      checkVector("accumulate", "y", y);
      checkLength("accumulate", x, y);
      if (x.BYTES_PER_ELEMENT !== y.BYTES_PER_ELEMENT) return new Accumulator().addProduct(x, y);
    }
    const empty = y === undefined ? onlyNegativeZeros(x) : x.length === 0;
    const sum = new Superaccumulator();
    if (x.length > 0) await backend.accumulate(y === undefined ? "sum" : "dot", x, y ?? x, sum);
    return Accumulator.of(sum, empty);
  };
}

// ---------------------------------------------------------------- residents

class OnEngine<V extends Real | Matrix<Real>> implements Resident<V> {
  private freed = false;

  constructor(
    private readonly inner: V,
    readonly shape: readonly number[],
    private readonly release: () => void,
  ) {}

  /** The data as routines take them. */
  value(): V {
    if (this.freed) throw new ShapeError("this resident was freed, expected one that is on the engine");
    return this.inner;
  }

  async read(): Promise<V> {
    const value = this.value();
    return ("data" in value ? { ...value, data: ordinary(value.data) } : ordinary(value as Real)) as V;
  }

  free(): void {
    this.value();
    this.freed = true;
    this.release();
  }
}

function ordinary(x: Real): Real {
  const copy = x.BYTES_PER_ELEMENT === 8 ? new Float64Array(x.length) : new Float32Array(x.length);
  copy.set(x);
  return copy;
}

function upload(backend: Backend, value: Real | Matrix<Real>): Resident<Real | Matrix<Real>> {
  if (ArrayBuffer.isView(value) || !("data" in value)) {
    checkVector("upload", "value", value as Real);
    const { array, free } = backend.allocate(value as Real, (value as Real).length);
    array.set(value as Real);
    return new OnEngine(array, [array.length], free);
  }
  checkMatrix("upload", "value", value);
  const { rows, cols, order } = value;
  const { data, offset, rowStep, colStep } = entries(value);
  const { array, free } = backend.allocate(data, rows * cols);
  const [lines, length, step] = order === "row" ? [rows, cols, rowStep] : [cols, rows, colStep];
  for (let i = 0; i < lines; i++) array.set(data.subarray(offset + i * step, offset + i * step + length), i * length);
  return new OnEngine({ data: array, rows, cols, order, ld: length, offset: 0 }, [rows, cols], free);
}

// A routine that takes residents too, and returns the resident where it would return what is in it.
function onResidents(routine: (...args: unknown[]) => Promise<unknown>): (...args: unknown[]) => Promise<unknown> {
  return async (...args) => {
    const values = args.map((arg) => (arg instanceof OnEngine ? arg.value() : arg));
    const result = await routine(...values);
    const i = values.indexOf(result);
    return i < 0 ? result : args[i];
  };
}
