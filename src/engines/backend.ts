// The contract between the folder of an engine and src/api/engine.ts, which builds the public Engine on it. The table of engines
// (table.ts) opens backends; kernels.ts and steps.ts define the kernels.
import type { Operand } from "../arrays/operands.ts";
import type { Format, Reduction, Rounding } from "../arrays/types.ts";
import type { Superaccumulator } from "../exact/superaccumulator.ts";
import type { Elementwise } from "./kernels.ts";
import type { AsyncKernels } from "./steps.ts";

/** Computes a sum, a sum of magnitudes or a dot product, rounded once. With `root`, the square root of the sum. */
export type Reducer<R> = (op: Reduction, x: Operand, y: Operand, root: boolean, mode: Rounding, format: Format) => R;

/** An engine as routines see it: asynchronous kernels and a memory. */
export interface Backend extends AsyncKernels {
  /** Its kind in the table of engines. */
  readonly kind: string;
  /** The device, named for people. */
  readonly device: string;
  reduce(...args: Parameters<Reducer<unknown>>): Promise<number>;
  /** Add the exact sum (or dot product) to an accumulator. */
  accumulate(op: Reduction, x: Operand, y: Operand, into: Superaccumulator): Promise<void>;
  /** Elementwise operations on arrays that the host cannot read. */
  map?(op: Elementwise, alpha: number, x: Operand, y: Operand): Promise<void>;
  /** Pending and later calls fail. */
  close(): Promise<void>;
}
