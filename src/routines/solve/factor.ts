import type { MatrixOperand, Operand, SparseOperand } from "../../arrays/operands.ts";
import type { Routine, Run } from "../../engines/steps.ts";
import { Lifetime } from "../lifetime.ts";
import { checkRight, checkSquare, type RightHandSides, type Settings, settingsOf, squareOf } from "./arguments.ts";
import { certifiedFactors } from "./correct.ts";
import { prepareModulo } from "./exact.ts";
import { Progress } from "./progress.ts";
import { answer, copiedColumns, fetched, firstOf, nothingToSolve } from "./solve.ts";
import { METHODS, type Solution, type SolveMethod, type SolveOptions } from "./types.ts";
import { attempt, begin, checkRegular, drop, end, exactOf, freeDropped, productOf, type Work } from "./work.ts";

/** A factorisation for any number of right-hand sides; `run` runs its solves. */
export function* factor(A: MatrixOperand | SparseOperand, options: SolveOptions = {}, run: Run): Routine<unknown> {
  checkSquare("factor", A);
  const settings = settingsOf("factor", options);
  const first = firstOf(settings, A.rows);
  if (A.rows === 0) return facade(0, undefined, first, settings, run);
  const square = yield* squareOf("factor", A);
  const work = yield* begin("factor", square, true);
  try {
    yield* prepare(work, first, settings);
    settings.signal?.throwIfAborted(); // what was to be proved may not be
    freeDropped(work);
  } catch (error) {
    end(work);
    throw error;
  }
  return facade(A.rows, work, first, { ...settings, signal: undefined, onProgress: undefined }, run); // those are of this call alone
}

// The factors of the first method, or a SingularError.
function* prepare(work: Work, first: SolveMethod, settings: Settings): Routine<void> {
  const { rounding, signal, onProgress } = settings;
  const progress = new Progress(signal, onProgress);
  if (rounding === "backward") {
    yield* attempt(work, first, [], 0);
    yield* checkRegular(work, first, true, progress);
  } else if (first === "exact" || !((yield* certifiedFactors(work, settings)) || (settings.fallback && (yield* productOf(work))))) {
    if (yield* prepareModulo(yield* exactOf(work), progress)) work.regular = true;
  }
}

/** Factors, the method to begin with, and whether a cheaper one has not converged before. */
interface Held {
  readonly work: Work | undefined;
  first: SolveMethod;
  fellBack: boolean;
}

// What users see.
function facade(n: number, work: Work | undefined, first: SolveMethod, settings: Settings, run: Run): object {
  const held: Held = { work, first, fellBack: false };
  const lifetime = new Lifetime("the factors were freed, expected factors that are in use", {
    free: () => work && end(work),
    idle: () => work && freeDropped(work),
    isCollected: !work || work.given.kept.isCollected === true,
  });
  function* solveWithFactors(b: Operand | MatrixOperand, options: SolveOptions = {}): Routine<Solution> {
    lifetime.checkOpen("Factored.solve");
    const right = checkRight("Factored.solve", b, n);
    const own = settingsOf("Factored.solve", options, settings);
    const columns = copiedColumns("Factored.solve", right);
    return yield* lifetime.use(solveColumns(right, columns, own, options.method));
  }
  function* solveColumns(
    right: RightHandSides,
    copied: readonly Float64Array[] | undefined,
    own: Settings,
    method: SolveOptions["method"],
  ) {
    return yield* solveWith(held, copied ?? (yield* fetched("Factored.solve", right)), right.order, own, method);
  }
  // biome-ignore lint/correctness/useYield: a routine, so that its errors come as those of others do
  function* freeFactors(): Routine<void> {
    lifetime.checkOpen("Factored.free");
    lifetime.free();
  }
  return {
    solve: (b: Operand | MatrixOperand, options?: SolveOptions) => run(solveWithFactors(b, options)),
    free: () => run(freeFactors()),
  };
}

// Where a dearer method answers for the one that the factors were made for, it is the one to begin with from now on.
function* solveWith(
  held: Held,
  columns: readonly Float64Array[],
  order: "vector" | "row" | "column",
  settings: Settings,
  asked: SolveOptions["method"],
): Routine<Solution> {
  const { work } = held;
  const chosen = asked !== undefined && asked !== "auto" ? asked : undefined;
  if (!work) return nothingToSolve({ ...settings, method: chosen ?? held.first });
  if (settings.rounding === "correct") return yield* answer(work, columns, order, settings, chosen ?? firstOf(settings, work.given.n));
  const solution = yield* answer(work, columns, order, settings, chosen ?? held.first);
  if (chosen) return solution;
  const fellBack = solution.fellBack || held.fellBack;
  if (solution.fellBack && solution.converged) {
    const method = solution.method as SolveMethod; // exact arithmetic is for rounding "correct"
    for (const cheaper of METHODS.slice(0, METHODS.indexOf(method))) drop(work, cheaper);
    held.first = method;
    held.fellBack = true;
  }
  return { ...solution, fellBack };
}
