// The accuracy figures of the papers: relative forward errors against the condition number, computed from the exact solution and rounded
// once. Every engine returns the same bits, so the errors depend only on the version.

import type { Matrix } from "../../arrays/types.ts";
import type { Kernels } from "../../engines/kernels.ts";
import { doubleDoubleTrsv } from "../../exact/doubleDouble.ts";
import { illConditionedMatrix } from "../../problems/illConditionedMatrix.ts";
import { illConditionedMatrixVector } from "../../problems/illConditionedMatrixVector.ts";
import { illConditionedTriangular, representableTriangular } from "../../problems/illConditionedTriangular.ts";
import { skeelCondition } from "../../problems/skeelCondition.ts";
import { factorizationError } from "../../routines/dense/measures.ts";
import type { Solves } from "../../routines/solve/types.ts";
import type { Routines } from "../../routines/types.ts";
import { routinesOn } from "../../study.ts";
import { uniform } from "./data.ts";
import { exactProduct, exactSolution, exactSubstitution, type Rationals, relativeError } from "./exactErrors.ts";
import { plainFactors, plainProduct, plainSolve, plainSubstitution } from "./plain.ts";

/** The requested condition, the actual one, and the error of every method; null if a result is not finite. */
export interface AccuracyPoint {
  readonly asked: number;
  readonly seed: number;
  readonly condition: number;
  readonly [method: string]: number | null;
}

export interface AccuracyCurve {
  readonly n: number;
  /** The definition of the condition number. */
  readonly condition: string;
  readonly points: readonly AccuracyPoint[];
}

export interface Accuracy {
  readonly gemv: AccuracyCurve;
  readonly trsv: AccuracyCurve;
  readonly trsvRepresentable: AccuracyCurve;
  readonly lu: AccuracyCurve;
}

/** How much to measure: the order, the number of seeds, and one in `every` of the conditions. */
export interface AccuracyScale {
  readonly n: number;
  readonly seeds: number;
  readonly every: number;
}

type Exact = Routines<Float64Array> & Pick<Solves, "solve">;
type Errors = Record<string, number | null>;
type Measure = (routines: Exact, n: number, asked: number, seed: number) => { condition: number; errors: Errors };

const CURVES: { readonly [K in keyof Accuracy]: { condition: string; conditions: readonly number[]; measure: Measure } } = {
  gemv: { condition: "|| |A| |x| || / ||A x||", conditions: powers(2, 40, 2), measure: gemv },
  trsv: { condition: "Skeel's", conditions: powers(5, 35, 2), measure: trsv },
  trsvRepresentable: { condition: "Skeel's", conditions: powers(5, 35, 5), measure: trsvRepresentable },
  lu: { condition: "||A|| ||A^-1||", conditions: powers(2, 62, 3), measure: lu },
};

export const ACCURACY_CURVES = Object.keys(CURVES) as (keyof Accuracy)[];

/** One point for each condition and seed. */
export function measureAccuracy(which: keyof Accuracy, engine: Kernels, { n, seeds, every }: AccuracyScale): AccuracyCurve {
  const { condition: meaning, conditions, measure } = CURVES[which];
  const routines = routinesOn(engine);
  const points: AccuracyPoint[] = [];
  for (const asked of conditions.filter((_, k) => k % every === 0)) {
    for (let seed = 1; seed <= seeds; seed++) {
      const { condition, errors } = measure(routines, n, asked, seed);
      points.push({ asked, seed, condition, ...errors });
    }
  }
  return { n, condition: meaning, points };
}

/** The methods of a curve, in the order of measurement. */
export function methodsOf({ points: [first] }: AccuracyCurve): string[] {
  return Object.keys(first ?? {}).filter((name) => !["asked", "seed", "condition"].includes(name));
}

/** The largest error over all seeds, at most 1. */
export function worst({ points }: AccuracyCurve, asked: number, method: string): number {
  return Math.max(...points.filter((point) => point.asked === asked).map((point) => Math.min(point[method] ?? 1, 1)));
}

function powers(from: number, to: number, step: number): number[] {
  return Array.from({ length: (to - from) / step + 1 }, (_, i) => Number(`1e${from + i * step}`));
}

function gemv({ exgemv }: Exact, n: number, asked: number, seed: number): ReturnType<Measure> {
  const { A, x } = illConditionedMatrixVector(n, asked, seed);
  const { y, condition } = exactProduct(A, x);
  const errors = {
    plain: relativeError(y, plainProduct(A, x)),
    exact: relativeError(y, exgemv(1, A, x, 0, new Float64Array(n))),
  };
  return { condition, errors };
}

function trsv(routines: Exact, n: number, asked: number, seed: number): ReturnType<Measure> {
  const { T, b } = illConditionedTriangular(n, asked, seed);
  return triangularErrors(routines, T, b);
}

function trsvRepresentable(routines: Exact, n: number, asked: number, seed: number): ReturnType<Measure> {
  const { T, b } = representableTriangular(n, asked, seed);
  return triangularErrors(routines, T, b);
}

function triangularErrors({ extrsv }: Exact, T: Matrix, b: Float64Array): ReturnType<Measure> {
  const exact = exactSubstitution(T, b);
  const error = (x: Float64Array): number | null => relativeError(exact, x);
  const errors = {
    plain: error(plainSubstitution(T, b)),
    doubleDouble: error(doubleDoubleTrsv(T, b)),
    single: error(extrsv(T, b)),
    paper: error(extrsv(T, b, { rounding: "paper" })),
    corrected: error(extrsv(T, b, { rounding: "corrected" })),
    refine1: error(extrsv(T, b, { refine: 1 })),
    refine2: error(extrsv(T, b, { refine: 2 })),
  };
  return { condition: skeelCondition(T, rounded(exact)), errors };
}

// The right-hand side is A x rounded, for random x, so its exact solution differs from x.
function lu({ exgemv, exlu, solve }: Exact, n: number, asked: number, seed: number): ReturnType<Measure> {
  const A = illConditionedMatrix(n, asked, seed);
  const b = exgemv(1, A, uniform(n, seed), 0, new Float64Array(n));
  const { x, condition } = exactSolution(A, b);
  const plain = plainFactors(A);
  const exact = exlu(A);
  const errors = {
    plain: relativeError(x, plainSolve(plain, b)),
    exact: relativeError(x, exact.solve(b)),
    refine1: relativeError(x, exact.solve(b, { refine: 1 })),
    refine2: relativeError(x, exact.solve(b, { refine: 2 })),
    correct: relativeError(x, solve(A, b).x),
    plainFactorization: factorizationError(A, plain),
    exactFactorization: factorizationError(A, exact),
  };
  return { condition, errors };
}

function rounded({ numerators, denominator }: Rationals): Float64Array {
  return Float64Array.from(numerators, (n) => Number((n << 200n) / denominator) / 2 ** 200);
}
