// factor(A): the factors and proofs of solve(), kept for any number of right-hand sides (docs/solve.md). routines.ts calls it.

import type { MatrixOperand, Operand, SparseOperand } from "../../arrays/operands.ts";
import type { Routine, Run } from "../../engines/steps.ts";
import { Lifetime } from "../lifetime.ts";
import { checkRightHandSides, checkSquare, denseView, type RightHandSides, type Settings, settingsOf } from "./arguments.ts";
import { findCertifiedFactors } from "./correct.ts";
import { prepareModulo } from "./exact.ts";
import { Progress } from "./progress.ts";
import { copyHostColumns, downloadColumns, emptySolution, firstMethod, solveColumns } from "./solve.ts";
import {
  checkRegular,
  discardFactors,
  exactMatrixOf,
  freeDiscarded,
  freeSolver,
  openSolver,
  productCorrectorOf,
  refineBy,
  type Solver,
} from "./solver.ts";
import { METHODS, type Solution, type SolveMethod, type SolveOptions } from "./types.ts";

/** A factorisation for any number of right-hand sides. Its methods run their routines by `run`. */
export function* factor(A: MatrixOperand | SparseOperand, options: SolveOptions = {}, run: Run): Routine<unknown> {
  checkSquare("factor", A);
  const settings = settingsOf("factor", options);
  const first = firstMethod(settings, A.rows);
  // The signal and the callback belong to this call alone.
  const kept = { ...settings, signal: undefined, onProgress: undefined };
  if (A.rows === 0) return publicFactored(0, undefined, first, kept, run);
  const square = yield* denseView("factor", A);
  const solver = yield* openSolver("factor", square, true);
  try {
    const progress = new Progress(settings.signal, settings.onProgress);
    yield* prepare(solver, first, settings, progress);
    yield* progress.throwIfAborted(); // the proof may be missing
    freeDiscarded(solver);
  } catch (error) {
    freeSolver(solver);
    throw error;
  }
  return publicFactored(A.rows, solver, first, kept, run);
}

// Compute the factors of the first method, or throw a SingularError.
function* prepare(solver: Solver, first: SolveMethod, settings: Settings, progress: Progress): Routine<void> {
  if (settings.rounding === "backward") {
    yield* refineBy(solver, first, [], 0);
    yield* checkRegular(solver, first, true, progress);
  } else if (
    first === "exact" ||
    !((yield* findCertifiedFactors(solver, settings)) || (settings.fallback && (yield* productCorrectorOf(solver))))
  ) {
    if (yield* prepareModulo(yield* exactMatrixOf(solver), progress)) solver.isRegular = true;
  }
}

/** The solver, the method to begin with, and whether a cheaper method has failed to converge before. */
interface FactoredState {
  readonly solver: Solver | undefined;
  first: SolveMethod;
  fellBack: boolean;
}

// The object that factor() returns to users.
function publicFactored(n: number, solver: Solver | undefined, first: SolveMethod, settings: Settings, run: Run): object {
  const state: FactoredState = { solver, first, fellBack: false };
  const lifetime = new Lifetime("the factors were freed, expected factors that are in use", {
    free: () => solver && freeSolver(solver),
    idle: () => solver && freeDiscarded(solver),
    isCollected: !solver || solver.original.allocation.isCollected === true,
  });
  function* solveWithFactors(b: Operand | MatrixOperand, options: SolveOptions = {}): Routine<Solution> {
    lifetime.checkOpen("Factored.solve");
    const right = checkRightHandSides("Factored.solve", b, n);
    const own = settingsOf("Factored.solve", options, settings);
    const columns = copyHostColumns("Factored.solve", right);
    return yield* lifetime.use(solveOpen(right, columns, own, options.method));
  }
  function* solveOpen(right: RightHandSides, copied: readonly Float64Array[] | undefined, own: Settings, method: SolveOptions["method"]) {
    return yield* solveWith(state, copied ?? (yield* downloadColumns("Factored.solve", right)), right.order, own, method);
  }
  // biome-ignore lint/correctness/useYield: a routine, so that its errors are delivered like those of others
  function* freeFactors(): Routine<void> {
    lifetime.checkOpen("Factored.free");
    lifetime.free();
  }
  return {
    solve: (b: Operand | MatrixOperand, options?: SolveOptions) => run(solveWithFactors(b, options)),
    free: () => run(freeFactors()),
  };
}

// With "backward", a costlier method that converged after a cheaper one failed becomes the one to begin with.
function* solveWith(
  state: FactoredState,
  columns: readonly Float64Array[],
  order: "vector" | "row" | "column",
  settings: Settings,
  requested: SolveOptions["method"],
): Routine<Solution> {
  const { solver } = state;
  const chosen = requested !== undefined && requested !== "auto" ? requested : undefined;
  if (!solver) return emptySolution({ ...settings, method: chosen ?? state.first });
  if (settings.rounding === "correct")
    return yield* solveColumns(solver, columns, order, settings, chosen ?? firstMethod(settings, solver.original.n));
  const solution = yield* solveColumns(solver, columns, order, settings, chosen ?? state.first);
  if (chosen) return solution;
  const fellBack = solution.fellBack || state.fellBack;
  if (solution.fellBack && solution.converged) {
    const method = solution.method as SolveMethod; // "modular" occurs only with rounding "correct"
    for (const cheaper of METHODS.slice(0, METHODS.indexOf(method))) discardFactors(solver, cheaper);
    state.first = method;
    state.fellBack = true;
  }
  return { ...solution, fellBack };
}
