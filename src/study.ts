// For study and benchmarks: every stage of a reduction alone, on an engine of choice, and the pieces of exact/.
// Ordinary users need none of this: the routines of the main module choose, and return the same bits.
import { checkPair, checkVector, checkWord, ROUNDINGS } from "./checks.ts";
import { type Level1, level1, onlyNegativeZeros } from "./dense/level1.ts";
import { reduce } from "./dense/reduce.ts";
import { routines } from "./dense/routines.ts";
import type { Routines } from "./dense/types.ts";
import { embedded } from "./engines/embedded.ts";
import { EXACT_STAGES, type ExactStage, type Kernels } from "./engines/kernels.ts";
import { reference } from "./engines/reference.ts";
import { load } from "./engines/wasm/load.ts";
import { Superaccumulator } from "./exact/superaccumulator.ts";
import type { Real, Reduction, Rounding } from "./types.ts";

export { asyncRoutines } from "./dense/routines.ts";
export type { AsyncKernels } from "./dense/steps.ts";
export { type Engine, engineOf } from "./engines/engine.ts";
export type { Entries, Kernels, Substitution } from "./engines/kernels.ts";
export { onThreads } from "./engines/open.ts";
export { doubleDoubleTrsv } from "./exact/doubleDouble.ts";
export { expansionAccumulate } from "./exact/expansion.ts";
export { Superaccumulator } from "./exact/superaccumulator.ts";
export { twoProd, twoSum } from "./exact/transforms.ts";
export { Random } from "./problems/random.ts";
export type { Reduction } from "./types.ts";

/** The synchronous engines by name; undefined where this machine cannot run one. */
export function kernels(name: "embedded" | "reference" | "wasm-fma" | "wasm-dekker"): Kernels | undefined {
  if (name === "embedded") return embedded();
  if (name === "reference") return reference;
  return load(name === "wasm-fma" ? "fma" : "dekker");
}

/** The level 1 routines on one of these engines. */
export function level1On(engine: Kernels): Level1<Float64Array> & Level1<Float32Array> {
  return level1(() => engine);
}

/** All routines on one of these engines. */
export function routinesOn(engine: Kernels): Routines<Float64Array> & Routines<Float32Array> {
  return routines(() => engine);
}

/**
 * One stage alone: all terms into the superaccumulator; through expansions of 2 to 8 components, with early exit
 * ("ee") or without; through the ladder, exactly; or all stages as the routines use them ("certified").
 */
export type Stage = ExactStage | "ladder" | "certified";

export const STAGES: readonly Stage[] = [...EXACT_STAGES, "ladder", "certified"];

/** A reduction by one stage. The result is the same for all of them. */
export function reduceBy(stage: Stage, engine: Kernels, op: Reduction, x: Real, y: Real = x, round: Rounding = "nearest"): number {
  checkWord("reduceBy", "stage", stage, STAGES);
  checkWord("reduceBy", "op", op, ["sum", "asum", "dot"]);
  checkWord("reduceBy", "round", round, ROUNDINGS);
  const format = op === "dot" ? checkPair("reduceBy", x, y) : checkVector("reduceBy", "x", x);
  const second = op === "dot" ? y : x;
  let result: number;
  if (stage === "certified") {
    result = reduce(engine, op, x, second, false, round, format);
  } else {
    const sum = new Superaccumulator();
    if (stage === "ladder") engine.accumulate(op, x, second, sum, true);
    else engine.accumulateBy(stage, op, x, second, sum);
    result = sum.round(round, format);
  }
  return op === "sum" && result === 0 && onlyNegativeZeros(x) ? -0 : result;
}
