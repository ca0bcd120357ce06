import { SingularError, ValueError } from "../../arrays/errors.ts";
import type { ApproximateFactors, NextResidual } from "../../engines/approximate.ts";
import type { Routine } from "../../engines/steps.ts";
import { exlu, type Factors, solveFactored } from "../dense/lu.ts";
import { copyToHost } from "../transfer.ts";
import { apart, beside } from "./columns.ts";
import { normalizing, scaledBy, timesPower } from "./powers.ts";
import type { System } from "./system.ts";
import type { SolveMethod } from "./types.ts";

/** The scaled matrix R A C factored by one of the methods. */
export interface Factorization {
  readonly method: SolveMethod;
  /** A pivot was 0 or not finite: there is nothing to solve with. */
  readonly broken: boolean;
  /** The column of a pivot of exlu that is 0. */
  readonly zero?: number | undefined;
  /** A pivot may be what rounding errors left of 0. */
  readonly suspicious: boolean;
  /** Those of the engine, in ordinary arithmetic. */
  readonly approximate?: ApproximateFactors | undefined;
  /** The solutions for k right-hand sides, n by k row by row. */
  substitute(b: Float64Array, k: number): Routine<Float64Array>;
  /** The same for one, into x, and the next residual meanwhile; false on an engine that does not do that. */
  refine?(b: Float64Array, x: Float64Array, next: Omit<NextResidual, "A">): Routine<boolean>;
  free(): void;
}

// A pivot below the rounding errors of the largest may be all that they left of 0. (One above them proves nothing: columns before it
// may be ill-conditioned.)
const UNIT = { mixed: 2 ** -24, double: 2 ** -53, exact: 2 ** -53 };
const isSuspicious = (method: SolveMethod, least: number, largest: number): boolean => !(least > UNIT[method] * largest);

/**
 * Factor by a method. The right-hand sides b of the scaled system go through the elimination; their solutions come beside, unless
 * the method has no use for that.
 */
export function* factorize(
  system: System,
  method: SolveMethod,
  b: Float64Array,
  k: number,
): Routine<{ factors: Factorization; x: Float64Array | undefined }> {
  if (method === "exact") return { factors: yield* exactFactors(system), x: undefined };
  const { routine, n, A, scaling } = system;
  const x = new Float64Array(n * k);
  const format = method === "mixed" ? "binary32" : "binary64";
  const found = (yield (kernels) => kernels.approximate.factorize(routine, A, scaling, format, b, k, x)) as ApproximateFactors;
  const broken = found.column >= 0;
  const factors: Factorization = {
    method,
    broken,
    approximate: found,
    suspicious: broken || isSuspicious(method, found.least, found.largest),
    *substitute(b, k) {
      const x = new Float64Array(n * k);
      yield (kernels) => kernels.approximate.substitute(routine, found, b, k, x);
      return x;
    },
    *refine(b, x, next) {
      if (!(yield (kernels) => kernels.approximate.refine !== undefined)) return false;
      yield (kernels) => kernels.approximate.refine?.(routine, found, b, x, { ...next, A });
      return true;
    },
    free: () => found.free(),
  };
  return { factors, x: broken || k === 0 ? undefined : x };
}

// exlu of the scaled matrix. Scaling by powers of two changes no bits of the factors but their exponents, and keeps them in range.
function* exactFactors(system: System): Routine<Factorization> {
  const { routine, n, A, rows, cols } = system;
  const data = (yield* copyToHost(routine, A)) as Float64Array;
  for (let i = 0; i < n; i++)
    for (let j = 0; j < n; j++)
      data[i * n + j] = timesPower(data[i * n + j] as number, (rows.each[i] as number) + (cols.each[j] as number));
  const { lu, zero } = yield* exluOrNothing(data, n);
  const diagonal = Array.from({ length: lu ? n : 0 }, (_, i) => Math.abs(lu?.lu.data[i * n + i] as number));
  const least = diagonal.reduce((a, v) => Math.min(a, v), Number.POSITIVE_INFINITY);
  const largest = diagonal.reduce((a, v) => Math.max(a, v), 0);
  return {
    method: "exact",
    broken: lu === undefined,
    zero,
    suspicious: lu === undefined || isSuspicious("exact", least, largest),
    *substitute(b, k) {
      const columns: Float64Array[] = [];
      for (const column of apart(b, n, k)) columns.push((yield* solveFactored(lu as Factors, column)) as Float64Array);
      return beside(columns, n);
    },
    free: () => lu?.free?.(),
  };
}

// A zero pivot and an overflow are answers here.
function* exluOrNothing(data: Float64Array, n: number): Routine<{ lu?: Factors; zero?: number | undefined }> {
  try {
    return { lu: yield* exlu({ data, rows: n, cols: n, order: "row", ld: n, offset: 0 }) };
  } catch (error) {
    if (error instanceof SingularError) return { zero: error.index };
    if (error instanceof ValueError) return {};
    throw error;
  }
}

// 2^power A y = v for vectors y and v is R A C z = 2^s R v with y = 2^(-s - power) C z, whatever s: each vector has its own, so that
// what is solved for is of the size of 1 and binary32 can hold it.

/** Right-hand sides of the scaled system, n by k row by row, and their powers s. */
export function scaledRight(system: System, vectors: readonly Float64Array[]): { b: Float64Array; powers: number[] } {
  const powers = vectors.map((v) => normalizing(v, system.rows));
  const columns = vectors.map((v, c) => scaledBy(v, system.rows, powers[c] as number));
  return { b: beside(columns, system.n), powers };
}

/** What the solutions of the scaled system are to the one that they came from. */
export function unscaled(system: System, x: Float64Array, powers: readonly number[]): Float64Array[] {
  return apart(x, system.n, powers.length).map((v, c) => scaledBy(v, system.cols, -(powers[c] as number) - system.power));
}

/** The solutions of 2^power A y = v, as good as the factors are. */
export function* solved(system: System, factors: Factorization, vectors: readonly Float64Array[]): Routine<Float64Array[]> {
  const { b, powers } = scaledRight(system, vectors);
  return unscaled(system, yield* factors.substitute(b, vectors.length), powers);
}
