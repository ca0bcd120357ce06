import type { Routine } from "../dense/steps.ts";
import { remoteMemory } from "../engines/remote.ts";
import type { Matrix } from "../types.ts";
import { checkColumns, checkRight, checkSquare, columnsOf, inOrder, type RightHandSides, type Settings, settingsOf } from "./arguments.ts";
import { type Attempt, answerOf, type Right, rightOf } from "./refine.ts";
import { METHODS, type Solution, type SolveMethod, type SolveOptions } from "./types.ts";
import { attempt, begin, checkRegular, drop, end, type Work } from "./work.ts";

/** The solution of A x = b. */
export function* solve(A: Matrix, b: Float64Array | Matrix, options: SolveOptions = {}): Routine<Solution> {
  const square = checkSquare("solve", A);
  const right = checkRight("solve", b, A.rows);
  const settings = settingsOf("solve", options);
  const columns = here("solve", right);
  const first = firstOf(settings, A.rows);
  if (A.rows === 0) return nothingToSolve(first);
  const work = yield* begin("solve", square, false);
  try {
    return yield* answer(work, columns ?? (yield* fetched("solve", right)), right.order, settings, first);
  } finally {
    end(work);
  }
}

// From about this order on binary32 factors and two corrections take less time than binary64 factors. (On one thread, FMA: 1.8 ms and
// 1.7 at n = 256, 5.1 and 6.8 at 500, 23 and 36 at 1000.)
const MIXED_FROM = 256;

export const firstOf = ({ method }: Settings, n: number): SolveMethod => (method !== "auto" ? method : n < MIXED_FROM ? "double" : "mixed");

/** Copies of the right-hand sides: the caller may change them between two steps. Nothing if they are not here. */
export function here(routine: string, right: RightHandSides): Float64Array[] | undefined {
  if (remoteMemory(right.entries.data)) return undefined;
  const columns = columnsOf(right);
  checkColumns(routine, columns, right.order);
  return columns;
}

/** The same of some that are on a device. */
export function* fetched(routine: string, right: RightHandSides): Routine<Float64Array[]> {
  const data = (yield (kernels) => kernels.keeping?.fetch(routine, right.entries.data)) as Float64Array;
  return here(routine, { ...right, entries: { ...right.entries, data } }) as Float64Array[];
}

/** A system without unknowns. */
export function nothingToSolve(method: SolveMethod): Solution {
  return { x: new Float64Array(0), converged: true, method, fellBack: false, iterations: 0, residual: 0, certified: false };
}

/** One method after another, each with the right-hand sides that are not solved yet. */
export function* answer(
  work: Work,
  columns: readonly Float64Array[],
  order: RightHandSides["order"],
  { fallback, maxIterations }: Settings,
  first: SolveMethod,
): Routine<Solution> {
  const rights = columns.map((b) => rightOf(b));
  const solved = new Map<Float64Array, Answer>();
  const best = new Map<Float64Array, Attempt>();
  let [method, iterations] = [first, 0];
  for (const next of METHODS.slice(METHODS.indexOf(first))) {
    if (!work.lasting) drop(work, method);
    method = next;
    const open = rights.filter(({ b }) => !solved.has(b));
    const attempts = yield* attempt(work, method, open, maxIterations);
    iterations = attempts.reduce((most, each) => Math.max(most, each.iterations), 0);
    for (const each of attempts) {
      // Where x leaves the range of binary64 the residual is another one, but no other method has a better x.
      if (each.residual <= 1) solved.set(each.right.b, yield* answerOf(work.system, each));
      else if (each.residual < (best.get(each.right.b)?.residual ?? Number.POSITIVE_INFINITY)) best.set(each.right.b, each);
    }
    if (solved.size === rights.length || !fallback) break;
  }
  yield* checkRegular(work, method, solved.size === rights.length);
  const answers: Answer[] = [];
  for (const right of rights) {
    const attempt = best.get(right.b);
    answers.push(solved.get(right.b) ?? (attempt ? yield* answerOf(work.system, attempt) : noAnswer(right)));
  }
  const xs = answers.map(({ x }) => x);
  const residual = answers.reduce((most, each) => Math.max(most, each.residual), 0); // NaN if one is
  const x = inOrder(xs, work.system.n, order);
  return { x, converged: residual <= 1, method, fellBack: method !== first, iterations, residual, certified: false };
}

interface Answer {
  readonly x: Float64Array;
  readonly residual: number;
}

const noAnswer = ({ b }: Right): Answer => ({ x: new Float64Array(b.length).fill(Number.NaN), residual: Number.NaN });
