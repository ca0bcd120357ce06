// solve(A, b): checks, then one of the two roundings (docs/solve.md). "correct" is in correct.ts. "backward", the solver of the
// mixed-precision paper, is here, with its refinement in refine.ts. routines.ts calls solve(); factor.ts shares the rest.

import { isOnHost, type MatrixOperand, type Operand, type SparseOperand } from "../../arrays/operands.ts";
import type { Routine } from "../../engines/steps.ts";
import { download } from "../transfer.ts";
import {
  arrangeColumns,
  checkFiniteColumns,
  checkRightHandSides,
  checkSquare,
  copyColumns,
  denseView,
  type RightHandSides,
  type Settings,
  settingsOf,
} from "./arguments.ts";
import { maximum, solveCorrectly } from "./correct.ts";
import { Progress } from "./progress.ts";
import { CONVERGENCE_LIMIT, type MeasuredSolution, measureRefined, type Refined } from "./refine.ts";
import { checkRegular, discardFactors, estimateCondition, freeSolver, openSolver, refineBy, type Solver } from "./solver.ts";
import { METHODS, type Solution, type SolveMethod, type SolveOptions } from "./types.ts";

/** The solution of A x = b, for one right-hand side or several. */
export function* solve(A: MatrixOperand | SparseOperand, b: Operand | MatrixOperand, options: SolveOptions = {}): Routine<Solution> {
  checkSquare("solve", A);
  const right = checkRightHandSides("solve", b, A.rows);
  const settings = settingsOf("solve", options);
  const columns = copyHostColumns("solve", right);
  if (A.rows === 0) return emptySolution(settings);
  const square = yield* denseView("solve", A);
  const solver = yield* openSolver("solve", square, false);
  try {
    return yield* solveColumns(
      solver,
      columns ?? (yield* downloadColumns("solve", right)),
      right.order,
      settings,
      firstMethod(settings, A.rows),
    );
  } finally {
    freeSolver(solver);
  }
}

// From about this order on, binary32 factors and two corrections take less time than binary64 factors. (One thread, FMA: 1.8 ms and
// 1.7 ms at n = 256, 5.1 and 6.8 at 500, 23 and 36 at 1000.)
const MIXED_FROM = 256;

/** The method to begin with. For "correct", "auto" means binary64 factors: only those have a proof. */
export function firstMethod({ method, rounding }: Settings, n: number): SolveMethod {
  if (method !== "auto") return method;
  return rounding === "correct" || n < MIXED_FROM ? "double" : "mixed";
}

/** Copies of the right-hand sides, which the caller may change between two steps. Undefined if they are on an engine. */
export function copyHostColumns(routine: string, right: RightHandSides): Float64Array[] | undefined {
  const { data } = right.entries;
  if (!isOnHost(data)) return undefined;
  const columns = copyColumns({ ...right.entries, data });
  checkFiniteColumns(routine, columns, right.order);
  return columns;
}

/** Copies of right-hand sides that are on an engine. */
export function* downloadColumns(routine: string, right: RightHandSides): Routine<Float64Array[]> {
  const data = yield* download<Float64Array>(routine, right.entries.data);
  return copyHostColumns(routine, { ...right, entries: { ...right.entries, data } }) as Float64Array[];
}

/** The solution of a system without unknowns. */
export function emptySolution(settings: Settings): Solution {
  const numbers = { iterations: 0, residual: 0, backwardError: 0, condition: 1 };
  const certified = settings.rounding === "correct";
  return { x: new Float64Array(0), converged: true, method: firstMethod(settings, 0), fellBack: false, ...numbers, certified };
}

/** The solutions for all right-hand sides, beginning with the method `first`. */
export function* solveColumns(
  solver: Solver,
  columns: readonly Float64Array[],
  order: RightHandSides["order"],
  settings: Settings,
  first: SolveMethod,
): Routine<Solution> {
  const progress = new Progress(settings.signal, settings.onProgress);
  if (settings.rounding === "correct") return yield* solveCorrectly(solver, columns, order, { ...settings, method: first }, progress);
  return yield* solveBackward(solver, columns, order, settings, first, progress);
}

// Each method in turn, from `first` on, for the right-hand sides that have not converged yet.
function* solveBackward(
  solver: Solver,
  columns: readonly Float64Array[],
  order: RightHandSides["order"],
  { fallback, maxIterations }: Settings,
  first: SolveMethod,
  progress: Progress,
): Routine<Solution> {
  const { original } = solver;
  const solved = new Map<Float64Array, MeasuredSolution>();
  const best = new Map<Float64Array, Refined>();
  let [method, iterations] = [first, 0];
  for (const next of METHODS.slice(METHODS.indexOf(first))) {
    if (!solver.lasting) discardFactors(solver, method);
    method = next;
    const refined = yield* refineBy(
      solver,
      method,
      columns.filter((b) => !solved.has(b)),
      maxIterations,
    );
    iterations = refined.reduce((max, each) => Math.max(max, each.iterations), 0);
    for (const each of refined) {
      const solution = each.errorRatio <= CONVERGENCE_LIMIT ? yield* measureRefined(original, solver.system, each) : undefined;
      // If x leaves the range of binary64 its measures differ from those of y, but no other method has a better x.
      if (solution && (hasConverged(solution, original.n) || each.errorRatio <= 1)) solved.set(each.right.b, solution);
      else if (each.errorRatio < (best.get(each.right.b)?.errorRatio ?? Number.POSITIVE_INFINITY)) best.set(each.right.b, each);
    }
    if (solved.size === columns.length || !fallback) break;
  }
  yield* checkRegular(solver, method, solved.size === columns.length, progress);
  const condition = yield* estimateCondition(solver, solver, method);
  const solutions: MeasuredSolution[] = [];
  for (const b of columns) {
    const nearest = best.get(b);
    solutions.push(solved.get(b) ?? (nearest ? yield* measureRefined(original, solver.system, nearest) : noSolution(b)));
  }
  const x = arrangeColumns(
    solutions.map((each) => each.x),
    original.n,
    order,
  );
  const residual = maximum(solutions.map((each) => each.residual));
  const backwardError = maximum(solutions.map((each) => each.backwardError));
  const converged = hasConverged({ residual, backwardError }, original.n);
  return { x, converged, method, fellBack: method !== first, iterations, residual, backwardError, condition, certified: false };
}

/** The criterion of rounding "backward", see Solution.converged. */
const hasConverged = ({ residual, backwardError }: Omit<MeasuredSolution, "x">, n: number): boolean =>
  residual <= 1 && backwardError <= (n + 1) * 2 ** -53;

const noSolution = (b: Float64Array): MeasuredSolution => {
  return { x: new Float64Array(b.length).fill(Number.NaN), residual: Number.NaN, backwardError: Number.NaN };
};
