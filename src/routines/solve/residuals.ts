// Residuals of several vectors at once, by the engine: exact for the stopping rules and proofs (refine.ts, extended.ts, regular.ts), or in
// ordinary arithmetic.

import { rowMajor } from "../../arrays/matrix.ts";
import type { Routine } from "../../engines/steps.ts";
import { powerOfTwo } from "../../exact/bits.ts";
import { joinColumns, splitColumns } from "./columns.ts";
import { sameNumbers, scaled } from "./powers.ts";
import type { System } from "./system.ts";

/**
 * RN(v - 2^power A y) for each v and its y: exact and rounded once. y is scaled by the power if that is exact: nearly all entries cancel,
 * and with a factor of -1 a GPU settles them without the host (H200, n = 8192: 0.8 ms; 65 ms with other factors).
 */
export function* exactResiduals(
  { n, A, power }: System,
  ys: readonly Float64Array[],
  vs: readonly Float64Array[],
): Routine<Float64Array[]> {
  const k = vs.length;
  const scaledYs = ys.map((y) => scaled(y, power));
  const isExact = scaledYs.every((z, c) => sameNumbers(scaled(z, -power), ys[c] as Float64Array));
  const alpha = isExact ? -1 : -powerOfTwo(power);
  const [v, y] = [joinColumns(vs, n), joinColumns(isExact ? scaledYs : ys, n)];
  const r = k === 1 ? v.slice() : v;
  yield (kernels) => (k === 1 ? kernels.gemv(alpha, A, y, 1, r) : kernels.gemm(alpha, A, rowMajor(y, n, k), 1, rowMajor(r, n, k)));
  return splitColumns(r, n, k);
}

/**
 * The same in ordinary arithmetic, in any order of summation: the error is less than (n + 3) u (norm(2^power A) norm(y) + norm(v)).
 * Undefined if the engine has no such kernel, or if products could leave the range of binary64.
 */
export function* ordinaryResiduals(
  { routine, n, A, power }: System,
  ys: readonly Float64Array[],
  vs: readonly Float64Array[],
): Routine<Float64Array[] | undefined> {
  if (Math.abs(power) > 900) return undefined;
  const k = vs.length;
  const r = new Float64Array(n * k);
  let hasKernel = false;
  yield ({ approximate }) => {
    hasKernel = approximate.residual !== undefined;
    return approximate.residual?.(routine, -powerOfTwo(power), A, joinColumns(ys, n), joinColumns(vs, n), k, r);
  };
  return hasKernel ? splitColumns(r, n, k) : undefined;
}
