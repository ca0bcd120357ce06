import type { ExactStage } from "../kernels.ts";
import type { GemmOptions } from "./gemm.ts";
import type { GemvShape } from "./gemv.ts";
import type { Blocking } from "./luBlocked.ts";
import type { Exact, Filter } from "./reductions.ts";
import type { Tuning } from "./sparseTuning.ts";
import type { TrsvTuning } from "./trsv.ts";

/**
 * What the engine chooses from the device and the problem, and a caller may set: how work is divided, never the result. The
 * defaults, and the measurements behind them, are in docs/opencl.md.
 */
export interface Choices {
  /** The filter of sums and dot products. */
  readonly filter?: Partial<Filter> | undefined;
  /** The stage for sums that the filter leaves open: the superaccumulator, or an expansion of 2 to 8 components, with early exit or without. */
  readonly stage?: ExactStage | undefined;
  /** How that stage is laid out. */
  readonly exact?: Partial<Exact> | undefined;
  readonly gemv?: Partial<GemvShape> | undefined;
  readonly gemm?: GemmOptions | undefined;
  readonly trsv?: Partial<TrsvTuning> | undefined;
  readonly lu?: Partial<Blocking> | undefined;
  readonly sparse?: Partial<Tuning> | undefined;
}

export const CHOICES: readonly (keyof Choices)[] = ["filter", "stage", "exact", "gemv", "gemm", "trsv", "lu", "sparse"];
