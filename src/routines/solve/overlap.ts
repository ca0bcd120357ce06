import type { Routine } from "../../engines/steps.ts";
import { powerOfTwo } from "../../exact/bits.ts";
import { correct } from "../../exact/store.ts";
import { type Factorization, scaledRight } from "./factors.ts";
import { scaledBy } from "./powers.ts";
import type { System } from "./system.ts";

/**
 * A correction of y and the residual that it leaves, on an engine that computes that residual while back substitution goes on;
 * undefined on others. It is as good as one in twice the working precision, and not rounded once as that of the exact kernels.
 */
export function* overlapped(
  system: System,
  factors: Factorization,
  right: Float64Array,
  before: Float64Array,
  residual: Float64Array,
): Routine<{ y: Float64Array; r: Float64Array } | undefined> {
  const { n, cols, power } = system;
  if (!factors.refine) return undefined;
  const { b, powers } = scaledRight(system, [residual]);
  const [x, y, r] = [new Float64Array(n), before.slice(), new Float64Array(n)];
  const update = (from: number, to: number): void => {
    const part = { each: cols.each.subarray(from, to), common: cols.common };
    correct(y.subarray(from, to), scaledBy(x.subarray(from, to), part, -(powers[0] as number) - power));
  };
  return (yield* factors.refine(b, x, { alpha: powerOfTwo(power), c: right, y, r, update })) ? { y, r } : undefined;
}
