// solve(A, b): checks, then one of the two roundings. rounding: "backward" is the mixed-precision solver of the paper, here;
// "correct" is in correct.ts.

import { isOnHost, type MatrixOperand, type Operand, type SparseOperand } from "../../arrays/operands.ts";
import type { Routine } from "../../engines/steps.ts";
import { download } from "../transfer.ts";
import {
  checkColumns,
  checkRight,
  checkSquare,
  columnsOf,
  inOrder,
  type RightHandSides,
  type Settings,
  settingsOf,
  squareOf,
} from "./arguments.ts";
import { answerCorrectly, largestOf } from "./correct.ts";
import { Progress } from "./progress.ts";
import { type Attempt, answerOf, type Measured, NEARLY } from "./refine.ts";
import { METHODS, type Solution, type SolveMethod, type SolveOptions } from "./types.ts";
import { attempt, begin, checkRegular, conditionOf, drop, end, type Work } from "./work.ts";

/** The solution of A x = b. */
export function* solve(A: MatrixOperand | SparseOperand, b: Operand | MatrixOperand, options: SolveOptions = {}): Routine<Solution> {
  checkSquare("solve", A);
  const right = checkRight("solve", b, A.rows);
  const settings = settingsOf("solve", options);
  const columns = copiedColumns("solve", right);
  if (A.rows === 0) return nothingToSolve(settings);
  const square = yield* squareOf("solve", A);
  const work = yield* begin("solve", square, false);
  try {
    return yield* answer(work, columns ?? (yield* fetched("solve", right)), right.order, settings, firstOf(settings, A.rows));
  } finally {
    end(work);
  }
}

// From about this order on binary32 factors and two corrections take less time than binary64 factors. (On one thread, FMA: 1.8 ms and
// 1.7 at n = 256, 5.1 and 6.8 at 500, 23 and 36 at 1000.)
const MIXED_FROM = 256;

/** The method that `auto` means: the proof of "correct" is one of binary64 factors. */
export function firstOf({ method, rounding }: Settings, n: number): SolveMethod {
  if (method !== "auto") return method;
  return rounding === "correct" || n < MIXED_FROM ? "double" : "mixed";
}

/** Copies of the right-hand sides: the caller may change them between two steps. Undefined if they are on a device. */
export function copiedColumns(routine: string, right: RightHandSides): Float64Array[] | undefined {
  const { data } = right.entries;
  if (!isOnHost(data)) return undefined;
  const columns = columnsOf({ ...right.entries, data });
  checkColumns(routine, columns, right.order);
  return columns;
}

/** Copies of right-hand sides that are on a device. */
export function* fetched(routine: string, right: RightHandSides): Routine<Float64Array[]> {
  const data = yield* download<Float64Array>(routine, right.entries.data);
  return copiedColumns(routine, { ...right, entries: { ...right.entries, data } }) as Float64Array[];
}

/** A system without unknowns. */
export function nothingToSolve(settings: Settings): Solution {
  const numbers = { iterations: 0, residual: 0, backwardError: 0, condition: 1 };
  const certified = settings.rounding === "correct";
  return { x: new Float64Array(0), converged: true, method: firstOf(settings, 0), fellBack: false, ...numbers, certified };
}

/** The solutions for right-hand sides, beginning with one of the methods. */
export function* answer(
  work: Work,
  columns: readonly Float64Array[],
  order: RightHandSides["order"],
  settings: Settings,
  first: SolveMethod,
): Routine<Solution> {
  const progress = new Progress(settings.signal, settings.onProgress);
  if (settings.rounding === "correct") return yield* answerCorrectly(work, columns, order, { ...settings, method: first }, progress);
  return yield* answerBackward(work, columns, order, settings, first, progress);
}

// One method after another, each with the right-hand sides that have not converged yet.
function* answerBackward(
  work: Work,
  columns: readonly Float64Array[],
  order: RightHandSides["order"],
  { fallback, maxIterations }: Settings,
  first: SolveMethod,
  progress: Progress,
): Routine<Solution> {
  const { given } = work;
  const solved = new Map<Float64Array, Measured>();
  const best = new Map<Float64Array, Attempt>();
  let [method, iterations] = [first, 0];
  for (const next of METHODS.slice(METHODS.indexOf(first))) {
    if (!work.lasting) drop(work, method);
    method = next;
    const attempts = yield* attempt(
      work,
      method,
      columns.filter((b) => !solved.has(b)),
      maxIterations,
    );
    iterations = attempts.reduce((most, each) => Math.max(most, each.iterations), 0);
    for (const each of attempts) {
      const answer = each.residual <= NEARLY ? yield* answerOf(given, work.system, each) : undefined;
      // Where x leaves the range of binary64 its measures are others than those of y, but no other method has a better x.
      if (answer && (isSmall(answer, given.n) || each.residual <= 1)) solved.set(each.right.b, answer);
      else if (each.residual < (best.get(each.right.b)?.residual ?? Number.POSITIVE_INFINITY)) best.set(each.right.b, each);
    }
    if (solved.size === columns.length || !fallback) break;
  }
  yield* checkRegular(work, method, solved.size === columns.length, progress);
  const condition = yield* conditionOf(work, work, method);
  const answers: Measured[] = [];
  for (const b of columns) {
    const nearest = best.get(b);
    answers.push(solved.get(b) ?? (nearest ? yield* answerOf(given, work.system, nearest) : noAnswer(b)));
  }
  const x = inOrder(
    answers.map((each) => each.x),
    given.n,
    order,
  );
  const residual = largestOf(answers.map((each) => each.residual));
  const backwardError = largestOf(answers.map((each) => each.backwardError));
  const converged = isSmall({ residual, backwardError }, given.n);
  return { x, converged, method, fellBack: method !== first, iterations, residual, backwardError, condition, certified: false };
}

/** The criterion of rounding: "backward". */
const isSmall = ({ residual, backwardError }: Omit<Measured, "x">, n: number): boolean =>
  residual <= 1 && backwardError <= (n + 1) * 2 ** -53;

const noAnswer = (b: Float64Array): Measured => {
  return { x: new Float64Array(b.length).fill(Number.NaN), residual: Number.NaN, backwardError: Number.NaN };
};
