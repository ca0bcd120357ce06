// rounding "correct" of solve(), see "How it works" in docs/solve.md. Each stage decides the components that the one before could not
// prove:
//
//   1. binary64 factors with a proof that bounds the inverse, and refinement in twice the working precision (extended.ts)
//   2. zeros that follow from the patterns of A and b (structure.ts)
//   3. the same factors with integer residuals, for zeros, ties and components next to a tie (lifting.ts)
//   4. the same with factors of a product, if those of A have no proof (product.ts)
//   5. p-adic lifting, if those have none either (padic.ts)
//
// Whichever stage decides a component, its value is the same: the exact solution, rounded once.
import type { Routine } from "../../engines/steps.ts";
import { arrangeColumns, type RightHandSides, type Settings } from "./arguments.ts";
import { correctorOf, decideByCorrections, decideModulo, structureOf } from "./exact.ts";
import { type ExtendedSolution, refineExtended } from "./extended.ts";
import { largestOver } from "./held.ts";
import { entryExponents, matchingExponents } from "./matching.ts";
import { exponent, largest } from "./powers.ts";
import type { Progress } from "./progress.ts";
import { type MeasuredSolution, measure, measureRefined, measureWithResidual, scaleRightHandSide } from "./refine.ts";
import {
  type CertifiedFactors,
  certifiedFactors,
  discardFactors,
  estimateCondition,
  exactMatrixOf,
  factorsBy,
  freeFactored,
  productCorrectorOf,
  proveRegularExactly,
  refineBy,
  type Solver,
  unfactored,
} from "./solver.ts";
import { structuralZeros } from "./structure.ts";
import { type System, scaledSystem } from "./system.ts";
import type { Solution, SolveMethod } from "./types.ts";

/** A right-hand side and its solution so far. */
interface PartialSolution {
  readonly b: Float64Array;
  x: Float64Array;
  /** Components that are not proved yet. */
  open: readonly number[];
  /** Of this x, if they are known. */
  measures: MeasuredSolution | undefined;
}

/** The exact solutions, rounded once; only approximate if the call was aborted or a method may not fall back. */
export function* solveCorrectly(
  solver: Solver,
  columns: readonly Float64Array[],
  order: RightHandSides["order"],
  settings: Settings,
  progress: Progress,
): Routine<Solution> {
  const { n } = solver.original;
  const all = Array.from({ length: n }, (_, j) => j);
  const solutions = columns.map((b): PartialSolution => ({ b, x: new Float64Array(n).fill(Number.NaN), open: all, measures: undefined }));
  const summary: Summary = { method: settings.method === "auto" ? "double" : settings.method, fellBack: false, iterations: 0 };
  if (summary.method === "mixed") yield* byMixedFactors(solver, solutions, settings, summary);
  if (summary.method !== "exact" && (settings.fallback || summary.method === "double"))
    yield* byCertifiedFactors(solver, solutions, settings, summary, progress);
  if (settings.fallback || summary.method === "exact") yield* byExactArithmetic(solver, solutions, summary, progress);
  if (!(yield* progress.isAborted())) yield* proveRegularExactly(solver, progress);
  if (solutions.some(({ x }) => x.some(Number.isNaN))) yield* progress.throwIfAborted(); // there is no approximate x to return
  const measures: MeasuredSolution[] = [];
  for (const { b, x, measures: known } of solutions) measures.push(known ?? (yield* measure(solver.original, b, x)));
  const factored = solver.rescaled ?? solver;
  if (factored.factors.size === 0) yield* factorsBy(factored, "double", []); // for the condition
  const isCertified = solver.isRegular && solutions.every(({ open }) => open.length === 0);
  return {
    x: arrangeColumns(
      solutions.map(({ x }) => x),
      n,
      order,
    ),
    converged: isCertified,
    method: !isCertified && summary.method === "modular" ? "double" : summary.method, // aborted: x came from binary64 factors
    fellBack: summary.fellBack,
    iterations: summary.iterations,
    residual: maximum(measures.map(({ residual }) => residual)),
    backwardError: maximum(measures.map((each) => each.backwardError)),
    condition: yield* estimateCondition(solver, factored, factored.factors.has("double") ? "double" : "mixed"),
    certified: isCertified,
  };
}

/** What the result will report. */
interface Summary {
  method: SolveMethod | "modular";
  fellBack: boolean;
  iterations: number;
}

/** The largest of numbers that are not negative; NaN if one is NaN. */
export const maximum = (numbers: readonly number[]): number => numbers.reduce((max, v) => Math.max(max, v), 0);

const withOpenComponents = (solutions: readonly PartialSolution[]): PartialSolution[] => solutions.filter(({ open }) => open.length > 0);

// Binary32 factors prove nothing. Their solution is returned only if falling back is not allowed.
function* byMixedFactors(
  solver: Solver,
  solutions: readonly PartialSolution[],
  { maxIterations, fallback }: Settings,
  summary: Summary,
): Routine<void> {
  yield* byApproximateFactors(solver, "mixed", solutions, maxIterations, summary);
  if (!fallback) return;
  summary.method = "double";
  summary.fellBack = true;
}

// Refined solutions without a proof.
function* byApproximateFactors(
  solver: Solver,
  method: SolveMethod,
  solutions: readonly PartialSolution[],
  maxIterations: number,
  summary: Summary,
): Routine<void> {
  const refined = yield* refineBy(
    solver,
    method,
    solutions.map(({ b }) => b),
    maxIterations,
  );
  for (const each of refined) {
    const solution = solutions.find(({ b }) => b === each.right.b) as PartialSolution;
    solution.measures = yield* measureRefined(solver.original, solver.system, each);
    solution.x = solution.measures.x;
    summary.iterations = Math.max(summary.iterations, each.iterations);
  }
}

// Stages 1 to 3. If the factors have no proof, their solution is kept as an approximation and stage 4 follows.
function* byCertifiedFactors(
  solver: Solver,
  solutions: readonly PartialSolution[],
  settings: Settings,
  summary: Summary,
  progress: Progress,
): Routine<void> {
  const found = yield* findCertifiedFactors(solver, settings);
  if (!found) {
    yield* byApproximateFactors(solver, "double", solutions, settings.maxIterations, summary);
    if (settings.fallback) yield* byProduct(solver, solutions, summary, progress);
    return;
  }
  const { system, factors, certificate } = found;
  const rights = solutions.map(({ b }) => scaleRightHandSide(system, b));
  const results = yield* refineExtended(system, factors, certificate, rights, settings.maxIterations);
  for (const [c, result] of results.entries()) {
    const solution = solutions[c] as PartialSolution;
    solution.x = result.x;
    solution.measures = undefined; // those from binary32 factors belong to another x
    solution.open = largest(solution.b) === 0 ? setZeroSolution(solution) : result.open;
    summary.iterations = Math.max(summary.iterations, result.iterations);
    yield* markStructuralZeros(solver, solution);
    if (solution.open.length === 0) solution.measures = yield* measureExtended(solver.original, system, result, solution);
  }
  if (!settings.fallback) return;
  const open = withOpenComponents(solutions);
  if (open.length > 0) Object.assign(summary, { method: "modular", fellBack: true });
  for (const solution of open) {
    solution.x = solution.x.slice();
    const corrector = correctorOf(factors, certificate);
    solution.open = yield* decideByCorrections(
      yield* exactMatrixOf(solver),
      system,
      corrector,
      solution.b,
      solution.x,
      solution.open,
      progress,
    );
  }
}

// Stage 4.
function* byProduct(solver: Solver, solutions: readonly PartialSolution[], summary: Summary, progress: Progress): Routine<void> {
  const corrector = yield* productCorrectorOf(solver);
  if (!corrector) return;
  Object.assign(summary, { method: "modular", fellBack: true });
  for (const solution of solutions) {
    const x = solution.x.slice();
    const open = largest(solution.b) === 0 ? x.fill(0) && [] : solution.open;
    solution.open = yield* decideByCorrections(yield* exactMatrixOf(solver), solver.system, corrector, solution.b, x, open, progress);
    solution.x = x;
    solution.measures = undefined;
  }
}

// Stage 5. Also proves that A is regular if all components are decided without it.
function* byExactArithmetic(solver: Solver, solutions: readonly PartialSolution[], summary: Summary, progress: Progress): Routine<void> {
  const open = withOpenComponents(solutions);
  if (open.length === 0) {
    yield* proveRegularExactly(solver, progress);
    return;
  }
  const exact = yield* exactMatrixOf(solver);
  Object.assign(summary, { method: "modular", fellBack: summary.method !== "exact" || summary.fellBack });
  for (const solution of open) {
    const x = new Float64Array(solver.original.n);
    if (!(yield* decideModulo(exact, solution.b, x, progress))) return;
    solver.isRegular = true;
    solution.x = x;
    solution.open = [];
    solution.measures = undefined;
  }
}

/** Binary64 factors with a proof, of the system as it is or, if it may fall back, scaled by a matching. */
export function* findCertifiedFactors(solver: Solver, { fallback }: Settings): Routine<CertifiedFactors | undefined> {
  const found = yield* certifiedFactors(solver, solver);
  if (found || !fallback) return found;
  if (solver.rescaled !== undefined) return solver.rescaled ? yield* certifiedFactors(solver, solver.rescaled) : undefined;
  solver.rescaled = null; // overlapping calls do without it
  const system = yield* rescaledSystem(solver);
  if (!system) return undefined;
  const factored = unfactored(system);
  try {
    const certified = yield* certifiedFactors(solver, factored);
    if (!certified) return undefined;
    solver.rescaled = factored;
    discardFactors(solver, "double");
    return certified;
  } finally {
    if (solver.rescaled !== factored) freeFactored(factored);
  }
}

function setZeroSolution(solution: PartialSolution): readonly number[] {
  solution.x = new Float64Array(solution.b.length);
  return [];
}

// If x is the high part of the last refinement step, its residual is known.
function* measureExtended(
  original: System,
  system: System,
  { right, residual, x }: ExtendedSolution,
  solution: PartialSolution,
): Routine<MeasuredSolution> {
  if (!residual || system !== original || x !== solution.x) return yield* measure(original, solution.b, solution.x);
  return yield* measureWithResidual(original, solution.b, x, residual, right.power);
}

// Stage 2, if an open component is so small that it may be zero.
function* markStructuralZeros(solver: Solver, solution: PartialSolution): Routine<void> {
  const { x, open, b } = solution;
  if (open.length === 0) return;
  const top = largest(x);
  if (!open.some((j) => !(Math.abs(x[j] as number) > top * 2 ** -40))) return;
  const exact = yield* exactMatrixOf(solver);
  const { pattern, matching } = yield* structureOf(exact);
  if (!matching) return; // cannot happen: A is proved regular
  const isZero = structuralZeros(pattern, matching, b);
  const remaining = open.filter((j) => isZero[j] === 0);
  if (remaining.length === open.length) return;
  solution.x = x.map((v, j) => (isZero[j] === 1 ? 0 : v));
  solution.open = remaining;
}

// If all entries are within 2^RESCALE_RANGE of each other after scaling rows and columns, a matching would not scale them better.
const RESCALE_RANGE = 60;

// The system with rows and columns scaled by a matching instead, if the entries differ so much that this may help.
function* rescaledSystem(solver: Solver): Routine<System | undefined> {
  const exact = yield* exactMatrixOf(solver);
  const { routine, n, rows: held, data } = exact;
  const { preScale, rows, cols } = solver.system;
  const power = (i: number, j: number): number =>
    preScale ? (preScale.rows[i] as number) + (preScale.cols[j] as number) : (rows.each[i] as number) + (cols.each[j] as number);
  let minExponent = 0;
  for (const [k, i] of held.entries()) {
    for (let j = 0; j < n; j++) {
      const size = Math.abs(data[k * n + j] as number);
      if (size > 0) minExponent = Math.min(minExponent, exponent(size) + power(i, j));
    }
  }
  if (-(yield* largestOver(-minExponent)) > -RESCALE_RANGE) return undefined;
  const scale = matchingExponents(yield* entryExponents(exact, n), n);
  return scale && (yield* scaledSystem(routine, exact, n, scale));
}
