// What an engine brings along for src/api/engine.ts, which builds the public Engine on it. Every folder of engines/ has one.
import type { Format, Real, Reduction, Rounding } from "../arrays/types.ts";
import type { Superaccumulator } from "../exact/superaccumulator.ts";
import type { Elementwise } from "./kernels.ts";
import type { Store } from "./memory.ts";
import type { AsyncKernels } from "./steps.ts";

/** How a reduction is done: the operation, the vectors, whether the root of the sum is wanted, and how the result is rounded. */
export type Reducer<R> = (op: Reduction, x: Real, y: Real, root: boolean, mode: Rounding, format: Format) => R;

/** An engine below the routines. */
export interface Backend extends AsyncKernels {
  /** As in the table of engines. */
  readonly kind: string;
  /** The device as a person would name it. */
  readonly device: string;
  readonly reduce: Reducer<Promise<number>>;
  /** Add the exact sum (or dot product) to an accumulator. */
  accumulate(op: Reduction, x: Real, y: Real, into: Superaccumulator): Promise<void>;
  readonly store: Store;
  /** Element by element, for arrays that only the engine can read. */
  map?(op: Elementwise, alpha: number, x: Real, y: Real): Promise<void>;
  /** Calls that are pending fail, and so do later ones. */
  close(): Promise<void>;
}
