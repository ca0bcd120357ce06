// The vector routines: checks, then a reduction (engines/reduce.ts; docs/stages.md) or an elementwise kernel. src/api builds the public
// functions from these.

import { checkNumber, checkOptions, checkOverlap, checkPair, checkVector, checkWord, ROUNDINGS } from "../arrays/checks.ts";
import type { Operand } from "../arrays/operands.ts";
import type { Real, Rounding } from "../arrays/types.ts";
import type { Reducer } from "../engines/backend.ts";
import type { VectorKernels } from "../engines/kernels.ts";
import { reduce } from "../engines/reduce.ts";
import type { BothPrecisions } from "./types.ts";

/** How the result of a reduction is rounded; default: to nearest. */
export interface RoundOptions {
  round?: Rounding | undefined;
}

/** The reductions for one precision; R is a number, or a promise of one. */
export interface Reductions<V extends Operand, R = number> {
  exsum(x: V, options?: RoundOptions): R;
  exasum(x: V, options?: RoundOptions): R;
  exdot(x: V, y: V, options?: RoundOptions): R;
  exnrm2(x: V, options?: RoundOptions): R;
}

/** The vector routines for one precision; src/api/vectorRoutines.ts documents each. */
export interface Level1<V extends Real> extends Reductions<V> {
  exaxpy(alpha: number, x: V, y: V): V;
  exscal(alpha: number, x: V): V;
  exinvscal(alpha: number, x: V): V;
}

/** The reductions on an engine; `of` wraps a result that needs no engine. */
export function reductions<R>(run: Reducer<R>, of: (value: number) => R): Reductions<Operand, R> {
  return {
    exsum(x: Operand, options?: RoundOptions): R {
      const format = checkVector("exsum", "x", x);
      const mode = roundingOf("exsum", options);
      return onlyNegativeZeros(x) ? of(-0) : run("sum", x, x, false, mode, format);
    },
    exasum(x: Operand, options?: RoundOptions): R {
      const format = checkVector("exasum", "x", x);
      return run("asum", x, x, false, roundingOf("exasum", options), format);
    },
    exdot(x: Operand, y: Operand, options?: RoundOptions): R {
      const format = checkPair("exdot", x, y);
      return run("dot", x, y, false, roundingOf("exdot", options), format);
    },
    exnrm2(x: Operand, options?: RoundOptions): R {
      const format = checkVector("exnrm2", "x", x);
      return run("dot", x, x, true, roundingOf("exnrm2", options), format);
    },
  };
}

/** The level 1 routines on an engine. */
export function level1(kernels: () => VectorKernels): Pick<BothPrecisions, keyof Level1<Real>> {
  const run: Reducer<number> = (op, x, y, root, mode, format) => reduce(kernels(), op, x, y, root, mode, format);
  return {
    ...reductions(run, (value) => value),
    exaxpy<V extends Real>(alpha: number, x: V, y: V): V {
      checkNumber("exaxpy", "alpha", alpha);
      checkPair("exaxpy", x, y);
      checkOverlap("exaxpy", x, y);
      if (alpha !== 0) kernels().map("axpy", alpha, x, y);
      return y;
    },
    exscal<V extends Real>(alpha: number, x: V): V {
      checkNumber("exscal", "alpha", alpha);
      checkVector("exscal", "x", x);
      kernels().map("scal", alpha, x, x);
      return x;
    },
    exinvscal<V extends Real>(alpha: number, x: V): V {
      checkNumber("exinvscal", "alpha", alpha);
      checkVector("exinvscal", "x", x);
      kernels().map("invscal", alpha, x, x);
      return x;
    },
  };
}

function roundingOf(routine: string, options: RoundOptions | undefined): Rounding {
  if (options === undefined) return "nearest";
  checkOptions(routine, options, ["round"]);
  return options.round === undefined ? "nearest" : checkWord(routine, "round", options.round, ROUNDINGS);
}

/**
 * Whether a vector holds no term but -0, which is the state of an empty sum. For a vector that the host cannot read the engine decides:
 * it has no element 0 here, which is not -0. (Asking isOnHost() first takes 6 of the 50 ns of a short sum.)
 */
export function onlyNegativeZeros(x: Operand): boolean {
  for (let i = 0; i < x.length; i++) if (!Object.is((x as Real)[i], -0)) return false;
  return true;
}
