import { checkNumber, checkOptions, checkOverlap, checkPair, checkVector, checkWord, ROUNDINGS } from "../checks.ts";
import type { Kernels } from "../engines/kernels.ts";
import type { Real, Rounding } from "../types.ts";
import { reduce } from "./reduce.ts";

/** How the result of a reduction is rounded; to nearest unless said otherwise. */
export interface RoundOptions {
  round?: Rounding | undefined;
}

/** The vector routines for one precision; src/index.ts says what each returns. */
export interface Level1<V extends Real> {
  exsum(x: V, options?: RoundOptions): number;
  exasum(x: V, options?: RoundOptions): number;
  exdot(x: V, y: V, options?: RoundOptions): number;
  exnrm2(x: V, options?: RoundOptions): number;
  exaxpy(alpha: number, x: V, y: V): V;
  exscal(alpha: number, x: V): V;
  exinvscal(alpha: number, x: V): V;
}

/** The level 1 routines on an engine. */
export function level1(kernels: () => Kernels): Level1<Float64Array> & Level1<Float32Array> {
  return {
    exsum(x: Real, options?: RoundOptions): number {
      const format = checkVector("exsum", "x", x);
      const sum = reduce(kernels(), "sum", x, x, false, roundingOf("exsum", options), format);
      return sum === 0 && onlyNegativeZeros(x) ? -0 : sum;
    },
    exasum(x: Real, options?: RoundOptions): number {
      const format = checkVector("exasum", "x", x);
      return reduce(kernels(), "asum", x, x, false, roundingOf("exasum", options), format);
    },
    exdot(x: Real, y: Real, options?: RoundOptions): number {
      const format = checkPair("exdot", x, y);
      return reduce(kernels(), "dot", x, y, false, roundingOf("exdot", options), format);
    },
    exnrm2(x: Real, options?: RoundOptions): number {
      const format = checkVector("exnrm2", "x", x);
      return reduce(kernels(), "dot", x, x, true, roundingOf("exnrm2", options), format);
    },
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

/** Whether a vector holds no term but -0: the state of an empty sum. */
export function onlyNegativeZeros(x: Real): boolean {
  for (let i = 0; i < x.length; i++) if (!Object.is(x[i], -0)) return false;
  return true;
}
