// What the folder of an engine provides for src/api/engine.ts, which builds the public Engine on top of it.
import type { Operand } from "../arrays/operands.ts";
import type { Format, Reduction, Rounding } from "../arrays/types.ts";
import type { Superaccumulator } from "../exact/superaccumulator.ts";
import type { Elementwise } from "./kernels.ts";
import type { AsyncKernels } from "./steps.ts";

/** Does a reduction. `root` asks for the square root of the sum. */
export type Reducer<R> = (op: Reduction, x: Operand, y: Operand, root: boolean, mode: Rounding, format: Format) => R;

/** An engine below the routines. */
export interface Backend extends AsyncKernels {
  /** As in the table of engines. */
  readonly kind: string;
  /** The device as a person would name it. */
  readonly device: string;
  reduce(...args: Parameters<Reducer<unknown>>): Promise<number>;
  /** Add the exact sum (or dot product) to an accumulator. */
  accumulate(op: Reduction, x: Operand, y: Operand, into: Superaccumulator): Promise<void>;
  /** Element by element, for arrays that the host cannot read. */
  map?(op: Elementwise, alpha: number, x: Operand, y: Operand): Promise<void>;
  /** Pending calls fail, and so do later ones. */
  close(): Promise<void>;
}
