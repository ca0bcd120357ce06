// rounding: "correct". Each stage decides what the one before could not prove:
//
//   1. binary64 factors with a proof that bounds the inverse, and refinement in twice the working precision (extended.ts)
//   2. zeros that the patterns of A and b account for (structure.ts)
//   3. the same factors and a residual in whole numbers, for zeros, ties and what is next to one (lifting.ts)
//   4. the same with the factors of a product, where those of A have no proof (product.ts)
//   5. p-adic lifting, where those have none either (padic.ts)
//
// Whatever decides a component, its value is the same: the exact solution, rounded once.
import type { Routine } from "../../engines/steps.ts";
import { inOrder, type RightHandSides, type Settings } from "./arguments.ts";
import { assignmentPowers } from "./balance.ts";
import { correctorOf, decideByCorrections, decideModulo } from "./exact.ts";
import { type Extended, refineExtended } from "./extended.ts";
import { exponent, largest } from "./powers.ts";
import type { Progress } from "./progress.ts";
import { answerOf, type Measured, measured, measuredAnew, rightOf } from "./refine.ts";
import { perfectMatching, structuralZeros } from "./structure.ts";
import { type System, scaledSystem } from "./system.ts";
import type { Solution, SolveMethod } from "./types.ts";
import {
  attempt,
  type Certified,
  certified,
  conditionOf,
  drop,
  exactOf,
  factored,
  formOf,
  freeForm,
  productOf,
  proveExactly,
  type Work,
} from "./work.ts";

/** A right-hand side and what is known of its solution. */
interface Target {
  readonly b: Float64Array;
  x: Float64Array;
  /** Components that are not proved. */
  open: readonly number[];
  measures: Measured | undefined;
}

export function* answerCorrectly(
  work: Work,
  columns: readonly Float64Array[],
  order: RightHandSides["order"],
  settings: Settings,
  progress: Progress,
): Routine<Solution> {
  const { n } = work.given;
  const every = Array.from({ length: n }, (_, j) => j);
  const targets = columns.map((b): Target => ({ b, x: new Float64Array(n).fill(Number.NaN), open: every, measures: undefined }));
  const state: State = { method: settings.method === "auto" ? "double" : settings.method, fellBack: false, iterations: 0 };
  if (state.method === "mixed") yield* byMixedFactors(work, targets, settings, state);
  if (state.method !== "exact" && (settings.fallback || state.method === "double"))
    yield* byFactors(work, targets, settings, state, progress);
  if (settings.fallback || state.method === "exact") yield* byExactArithmetic(work, targets, state, progress);
  if (!progress.aborted) yield* proveExactly(work, progress);
  if (targets.some(({ x }) => x.some(Number.isNaN))) progress.throwIfAborted(); // there is no answer to end with
  const measures: Measured[] = [];
  for (const { b, x, measures: known } of targets) measures.push(known ?? (yield* measuredAnew(work.given, b, x)));
  const form = work.balanced ?? work;
  if (form.factors.size === 0) yield* factored(form, "double", []); // for the condition
  const isCertified = work.regular && targets.every(({ open }) => open.length === 0);
  return {
    x: inOrder(
      targets.map(({ x }) => x),
      n,
      order,
    ),
    converged: isCertified,
    method: !isCertified && state.method === "modular" ? "double" : state.method, // aborted: x is what factors had come to
    fellBack: state.fellBack,
    iterations: state.iterations,
    residual: largestOf(measures.map(({ residual }) => residual)),
    backwardError: largestOf(measures.map((each) => each.backwardError)),
    condition: yield* conditionOf(work, form, form.factors.has("double") ? "double" : "mixed"),
    certified: isCertified,
  };
}

interface State {
  method: SolveMethod | "modular";
  fellBack: boolean;
  iterations: number;
}

/** The largest; NaN if one is. */
export const largestOf = (numbers: readonly number[]): number => numbers.reduce((most, v) => Math.max(most, v), 0);

const openOnes = (targets: readonly Target[]): Target[] => targets.filter(({ open }) => open.length > 0);

// Binary32 factors prove nothing. Their solution is the answer if no other method may be tried.
function* byMixedFactors(work: Work, targets: readonly Target[], { maxIterations, fallback }: Settings, state: State): Routine<void> {
  yield* approximate(work, "mixed", targets, maxIterations, state);
  if (!fallback) return;
  state.method = "double";
  state.fellBack = true;
}

function* approximate(work: Work, method: SolveMethod, targets: readonly Target[], maxIterations: number, state: State): Routine<void> {
  const attempts = yield* attempt(
    work,
    method,
    targets.map(({ b }) => b),
    maxIterations,
  );
  for (const each of attempts) {
    const target = targets.find(({ b }) => b === each.right.b) as Target;
    target.measures = yield* answerOf(work.given, work.system, each);
    target.x = target.measures.x;
    state.iterations = Math.max(state.iterations, each.iterations);
  }
}

function* byFactors(work: Work, targets: readonly Target[], settings: Settings, state: State, progress: Progress): Routine<void> {
  const found = yield* certifiedFactors(work, settings);
  if (!found) {
    yield* approximate(work, "double", targets, settings.maxIterations, state);
    if (settings.fallback) yield* byProduct(work, targets, state, progress);
    return;
  }
  const { system, factors, certificate } = found;
  const rights = targets.map(({ b }) => rightOf(system, b));
  const results = yield* refineExtended(system, factors, certificate, rights, settings.maxIterations);
  for (const [c, result] of results.entries()) {
    const target = targets[c] as Target;
    target.x = result.x;
    target.measures = undefined; // those of binary32 factors were of another x
    target.open = largest(target.b) === 0 ? zeroSolution(target) : result.open;
    state.iterations = Math.max(state.iterations, result.iterations);
    yield* markStructuralZeros(work, target);
    if (target.open.length === 0) target.measures = yield* measuresOf(work.given, system, result, target);
  }
  if (!settings.fallback) return;
  const open = openOnes(targets);
  if (open.length > 0) Object.assign(state, { method: "modular", fellBack: true });
  for (const target of open) {
    target.x = target.x.slice();
    const corrector = correctorOf(factors, certificate);
    target.open = yield* decideByCorrections(yield* exactOf(work), system, corrector, target.b, target.x, target.open, progress);
  }
}

function* byProduct(work: Work, targets: readonly Target[], state: State, progress: Progress): Routine<void> {
  const corrector = yield* productOf(work);
  if (!corrector) return;
  Object.assign(state, { method: "modular", fellBack: true });
  for (const target of targets) {
    const x = target.x.slice();
    const open = largest(target.b) === 0 ? x.fill(0) && [] : target.open;
    target.open = yield* decideByCorrections(yield* exactOf(work), work.system, corrector, target.b, x, open, progress);
    target.x = x;
    target.measures = undefined;
  }
}

/** Binary64 factors with a proof, of the matrix as it is worked on or balanced. */
export function* certifiedFactors(work: Work, { fallback }: Settings): Routine<Certified | undefined> {
  const found = yield* certified(work, work);
  if (found || !fallback) return found;
  if (work.balanced !== undefined) return work.balanced ? yield* certified(work, work.balanced) : undefined;
  work.balanced = null; // calls that overlap go on without it
  const system = yield* balance(work);
  if (!system) return undefined;
  const form = formOf(system);
  try {
    const balanced = yield* certified(work, form);
    if (!balanced) return undefined;
    work.balanced = form;
    drop(work, "double");
    return balanced;
  } finally {
    if (work.balanced !== form) freeForm(form);
  }
}

function zeroSolution(target: Target): readonly number[] {
  target.x = new Float64Array(target.b.length);
  return [];
}

// The residual of the last step is that of x, if x is what that step had.
function* measuresOf(given: System, system: System, { right, residual, x }: Extended, target: Target): Routine<Measured> {
  if (!residual || system !== given || x !== target.x) return yield* measuredAnew(given, target.b, target.x);
  return yield* measured(given, target.b, x, residual, right.power);
}

function* markStructuralZeros(work: Work, target: Target): Routine<void> {
  const { x, open, b } = target;
  if (open.length === 0) return;
  const top = largest(x);
  if (!open.some((j) => !(Math.abs(x[j] as number) > top * 2 ** -40))) return;
  const exact = yield* exactOf(work);
  exact.matching ??= perfectMatching(exact);
  if (!exact.matching) return; // A is certified: there is one
  const isZero = structuralZeros(exact, exact.matching, b);
  const left = open.filter((j) => isZero[j] === 0);
  if (left.length === open.length) return;
  target.x = x.map((v, j) => (isZero[j] === 1 ? 0 : v));
  target.open = left;
}

// StridedMatrix whose sizes are within this of each other, rows and columns scaled, are as well scaled as an assignment would have them.
const MANY_BITS = 60;

// The system with rows and columns scaled anew, by an assignment, if entries are so unlike that it may help.
function* balance(work: Work): Routine<System | undefined> {
  const { routine, n, data } = yield* exactOf(work);
  const { outer, rows, cols } = work.system;
  const power = (i: number, j: number): number =>
    outer ? (outer.rows[i] as number) + (outer.cols[j] as number) : (rows.each[i] as number) + (cols.each[j] as number);
  let least = 0;
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      const size = Math.abs(data[i * n + j] as number);
      if (size > 0) least = Math.min(least, exponent(size) + power(i, j));
    }
  }
  if (least > -MANY_BITS) return undefined;
  const scale = assignmentPowers(data, n);
  return scale && (yield* scaledSystem(routine, data, n, scale));
}

function* byExactArithmetic(work: Work, targets: readonly Target[], state: State, progress: Progress): Routine<void> {
  const open = openOnes(targets);
  if (open.length === 0) {
    yield* proveExactly(work, progress);
    return;
  }
  const exact = yield* exactOf(work);
  Object.assign(state, { method: "modular", fellBack: state.method !== "exact" || state.fellBack });
  for (const target of open) {
    const x = new Float64Array(work.given.n);
    if (!(yield* decideModulo(exact, target.b, x, progress))) return;
    work.regular = true;
    target.x = x;
    target.open = [];
    target.measures = undefined;
  }
}
