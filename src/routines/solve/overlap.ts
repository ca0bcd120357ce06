// Refinement on an engine that computes the next residual during back substitution (opencl/hybrid): one step of refine.ts in one call,
// after the mixed-precision paper.

import type { Routine } from "../../engines/steps.ts";
import { powerOfTwo } from "../../exact/bits.ts";
import { correct } from "../../exact/store.ts";
import { type MethodFactors, scaledRightHandSides } from "./factors.ts";
import { scaledBy } from "./powers.ts";
import type { System } from "./system.ts";

/**
 * The corrected y and its residual, on an engine that computes that residual during back substitution; undefined on others. The residual
 * is as accurate as one computed in twice the working precision, but not correctly rounded like those of the exact kernels.
 */
export function* correctWithNextResidual(
  system: System,
  factors: MethodFactors,
  right: Float64Array,
  before: Float64Array,
  residual: Float64Array,
): Routine<{ y: Float64Array; r: Float64Array } | undefined> {
  const { n, cols, power } = system;
  if (!factors.refine) return undefined;
  const { b, powers } = scaledRightHandSides(system, [residual]);
  const [x, y, r] = [new Float64Array(n), before.slice(), new Float64Array(n)];
  const update = (from: number, to: number): void => {
    const part = { each: cols.each.subarray(from, to), common: cols.common };
    correct(y.subarray(from, to), scaledBy(x.subarray(from, to), part, -(powers[0] as number) - power));
  };
  return (yield* factors.refine(b, x, { alpha: powerOfTwo(power), c: right, y, r, update })) ? { y, r } : undefined;
}
