// Factors of the scaled matrix by each method of solve(): approximate factors in binary32 or binary64 from the engine, or exlu (the LU
// paper). solver.ts computes them; refinement and the proofs solve with them.

import { SingularError, ValueError } from "../../arrays/errors.ts";
import type { ApproximateFactors, NextResidual } from "../../engines/approximate.ts";
import type { Routine } from "../../engines/steps.ts";
import { exlu, type Factors, solveFactored } from "../dense/lu.ts";
import { joinColumns, splitColumns } from "./columns.ts";
import { distributedExactFactors, heldRows, newHeldVector } from "./held.ts";
import { normalizing, scaledBy } from "./powers.ts";
import { type System, scaleMatrix } from "./system.ts";
import type { SolveMethod } from "./types.ts";

/** The factors of the scaled matrix R A C by one of the methods. */
export interface MethodFactors {
  readonly method: SolveMethod;
  /** The factorisation broke down: a pivot was 0 or not finite. */
  readonly isBroken: boolean;
  /** A pivot is so small that it may be 0 but for rounding errors. */
  readonly mayBeSingular: boolean;
  /** The engine's factors in ordinary arithmetic; undefined for exlu. */
  readonly approximate?: ApproximateFactors | undefined;
  /** The solutions for k right-hand sides, n by k row by row. */
  substitute(b: Float64Array, k: number): Routine<Float64Array>;
  /** The same for one right-hand side, into x, while the engine computes the next residual; false if it cannot. */
  refine?(b: Float64Array, x: Float64Array, next: Omit<NextResidual, "A">): Routine<boolean>;
  free(): void;
}

// A pivot below the rounding error of the largest may be 0 in exact arithmetic. (One above it proves nothing: the columns before it may
// be ill-conditioned.)
const UNIT_ROUNDOFF = { mixed: 2 ** -24, double: 2 ** -53, exact: 2 ** -53 };
const hasTinyPivot = (method: SolveMethod, minPivot: number, maxPivot: number): boolean => !(minPivot > UNIT_ROUNDOFF[method] * maxPivot);

/**
 * Factor by a method. The right-hand sides b of the scaled system go through the elimination, and x has their solutions. x is undefined
 * with "exact", after a breakdown, or without right-hand sides.
 */
export function* factorize(
  system: System,
  method: SolveMethod,
  b: Float64Array,
  k: number,
): Routine<{ factors: MethodFactors; x: Float64Array | undefined }> {
  if (method === "exact") return { factors: yield* exactFactors(system), x: undefined };
  const { routine, n, A, scaling } = system;
  const x = new Float64Array(n * k);
  const format = method === "mixed" ? "binary32" : "binary64";
  const found = (yield (kernels) => kernels.approximate.factorize(routine, A, scaling, format, b, k, x)) as ApproximateFactors;
  const factors: MethodFactors = {
    ...factorsOnEngine(routine, method, found),
    *refine(b, x, next) {
      if (!(yield (kernels) => kernels.approximate.refine !== undefined)) return false;
      yield (kernels) => kernels.approximate.refine?.(routine, found, b, x, { ...next, A });
      return true;
    },
  };
  return { factors, x: factors.isBroken || k === 0 ? undefined : x };
}

function factorsOnEngine(routine: string, method: SolveMethod, found: ApproximateFactors): MethodFactors {
  const isBroken = found.column >= 0;
  return {
    method,
    isBroken,
    approximate: found,
    mayBeSingular: isBroken || hasTinyPivot(method, found.minPivot, found.maxPivot),
    *substitute(b, k) {
      const x = new Float64Array(found.n * k);
      yield (kernels) => kernels.approximate.substitute(routine, found, b, k, x);
      return x;
    },
    free: () => found.free(),
  };
}

// exlu of the scaled matrix. Scaling by powers of two changes only the exponents of the factors, and keeps them in range.
function* exactFactors(system: System): Routine<MethodFactors> {
  const { routine, n, A, rows, cols } = system;
  const own = yield* heldRows(routine, A);
  const held = { rows: own.rows, data: yield* newHeldVector(routine, own.data.length) };
  scaleMatrix(own, n, { rows: rows.each, cols: cols.each }, held.data);
  const distributed = yield* distributedExactFactors(routine, held, n);
  if (distributed) return factorsOnEngine(routine, "exact", distributed);
  const lu = yield* tryExlu(held.data, n);
  const diagonal = Array.from({ length: lu ? n : 0 }, (_, i) => Math.abs(lu?.lu.data[i * n + i] as number));
  const minPivot = diagonal.reduce((a, v) => Math.min(a, v), Number.POSITIVE_INFINITY);
  const maxPivot = diagonal.reduce((a, v) => Math.max(a, v), 0);
  return {
    method: "exact",
    isBroken: lu === undefined,
    mayBeSingular: lu === undefined || hasTinyPivot("exact", minPivot, maxPivot),
    *substitute(b, k) {
      const columns: Float64Array[] = [];
      for (const column of splitColumns(b, n, k)) columns.push((yield* solveFactored(lu as Factors, column)) as Float64Array);
      return joinColumns(columns, n);
    },
    free: () => lu?.free?.(),
  };
}

// A zero pivot or an overflow is not an error here: the method has broken down.
function* tryExlu(data: Float64Array, n: number): Routine<Factors | undefined> {
  try {
    return yield* exlu({ data, rows: n, cols: n, order: "row", ld: n, offset: 0 });
  } catch (error) {
    if (error instanceof SingularError || error instanceof ValueError) return undefined;
    throw error;
  }
}

// 2^power A y = v is R A C z = 2^s R v with y = 2^(-s - power) C z, for any s. Each vector v has its own s, so that the right-hand side
// is of order 1 and fits binary32.

/** Right-hand sides of the scaled system, n by k row by row, and their powers s. */
export function scaledRightHandSides(system: System, vectors: readonly Float64Array[]): { b: Float64Array; powers: number[] } {
  const powers = vectors.map((v) => normalizing(v, system.rows));
  const columns = vectors.map((v, c) => scaledBy(v, system.rows, powers[c] as number));
  return { b: joinColumns(columns, system.n), powers };
}

/** The solutions y from those of the scaled system. */
export function unscaledSolutions(system: System, x: Float64Array, powers: readonly number[]): Float64Array[] {
  return splitColumns(x, system.n, powers.length).map((v, c) => scaledBy(v, system.cols, -(powers[c] as number) - system.power));
}

/** Solutions of 2^power A y = v, as accurate as the factors. */
export function* approximateSolutions(system: System, factors: MethodFactors, vectors: readonly Float64Array[]): Routine<Float64Array[]> {
  const { b, powers } = scaledRightHandSides(system, vectors);
  return unscaledSolutions(system, yield* factors.substitute(b, vectors.length), powers);
}
