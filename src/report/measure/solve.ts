// Measurements of solve: effective Gflop/s and refinement steps against n, and ill-conditioned systems (the mixed-precision paper).
import type { Engine } from "../../api/engine.ts";
import { EngineError } from "../../arrays/errors.ts";
import { matrix } from "../../arrays/matrix.ts";
import { exgemv, solve } from "../../index.ts";
import { illConditionedMatrix } from "../../problems/illConditionedMatrix.ts";
import type { Solution, SolveMethod } from "../../routines/solve/types.ts";
import { race } from "./clock.ts";
import { uniform } from "./data.ts";

/** One engine, method and order; times in nanoseconds. */
export interface SolveRow {
  readonly engine: string;
  /** How CPU and GPU share the work, if they do. */
  readonly sharing?: { readonly panel: string; readonly lookAhead?: number; readonly forward: string; readonly backward: string };
  readonly method: string;
  readonly n: number;
  readonly time?: number;
  readonly min?: number;
  /** From the fastest or the median solve, depending on the run. */
  readonly gflops?: number;
  readonly iterations?: number;
  readonly converged?: boolean;
  readonly residual?: number | null;
  /** Why it could not be measured. */
  readonly missing?: string;
}

export interface SolveEngines {
  readonly device?: string;
  readonly rows?: readonly SolveRow[];
  readonly missing?: string;
}

/** The outcome with binary32 factors alone, and with fallback. */
export interface IllPoint {
  readonly condition: number;
  readonly seed: number;
  readonly mixed: Quality;
  readonly answer: Quality & { readonly method: string };
}
type Quality = Pick<Solution, "converged" | "iterations"> & { readonly residual: number | null };

export interface SolveTables {
  readonly cpu?: SolveEngines;
  readonly gpu?: SolveEngines;
  readonly ill?: { readonly n: number; readonly points: readonly IllPoint[] };
}

/** The LINPACK operation count, used for every method. */
export function operationsOf(n: number): number {
  return (2 / 3) * n ** 3 + 2 * n ** 2;
}

/** Times solves of a random system whose matrix is on the engine. */
export async function measureSolve(engine: Engine, name: string, method: SolveMethod, n: number, rounds: number): Promise<SolveRow> {
  const b = uniform(n, 2);
  const key = { engine: name, method, n };
  try {
    const A = await engine.upload(matrix(uniform(n * n, 1), n, n));
    try {
      let solution: Solution | undefined;
      const run = async (): Promise<void> => {
        solution = await engine.solve(A, b, { rounding: "backward", method, fallback: false });
      };
      const [timing] = await race([{ name, run }], rounds);
      const { median: time, min } = timing as { median: number; min: number };
      const { iterations, converged, residual } = solution as unknown as Solution;
      return { ...key, time, min, gflops: operationsOf(n) / min, iterations, converged, residual };
    } finally {
      A.free();
    }
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return { ...key, missing: error.message };
  }
}

/** Solves a system of the given condition; the right-hand side is A times random numbers, rounded. */
export function measureIll(n: number, condition: number, seed: number): IllPoint {
  const A = illConditionedMatrix(n, condition, seed);
  const b = exgemv(1, A, uniform(n, seed), 0, new Float64Array(n));
  const best = solve(A, b, { rounding: "backward", method: "mixed" });
  return {
    condition,
    seed,
    mixed: qualityOf(solve(A, b, { rounding: "backward", method: "mixed", fallback: false })),
    answer: { method: best.method, ...qualityOf(best) },
  };
}

const qualityOf = ({ converged, iterations, residual }: Solution): Quality => ({ converged, iterations, residual });
