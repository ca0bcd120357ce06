import { rowMajor } from "../../arrays/matrix.ts";
import type { Routine } from "../../engines/steps.ts";
import { powerOfTwo } from "../../exact/bits.ts";
import { apart, beside } from "./columns.ts";
import { sameNumbers, scaled } from "./powers.ts";
import type { System } from "./system.ts";

/**
 * RN(v - 2^power A y) for each v and its y, exact and rounded once. The power goes to y where that loses nothing: with a factor
 * of -1 the kernels keep what cancels to themselves, and nearly everything does (H200, n = 8192: 0.8 ms, and 65 with another factor).
 */
export function* exactResiduals(
  { n, A, power }: System,
  ys: readonly Float64Array[],
  vs: readonly Float64Array[],
): Routine<Float64Array[]> {
  const k = vs.length;
  const moved = ys.map((y) => scaled(y, power));
  const isMoved = moved.every((z, c) => sameNumbers(scaled(z, -power), ys[c] as Float64Array));
  const alpha = isMoved ? -1 : -powerOfTwo(power);
  const [v, y] = [beside(vs, n), beside(isMoved ? moved : ys, n)];
  const r = k === 1 ? v.slice() : v;
  yield (kernels) => (k === 1 ? kernels.gemv(alpha, A, y, 1, r) : kernels.gemm(alpha, A, rowMajor(y, n, k), 1, rowMajor(r, n, k)));
  return apart(r, n, k);
}

/**
 * The same in ordinary arithmetic, in any order of summation: off by less than (n + 3) u (norm(2^power A) norm(y) + norm(v)). Nothing
 * where an engine has no such kernel, or where products could leave the range of binary64.
 */
export function* ordinaryResiduals(
  { routine, n, A, power }: System,
  ys: readonly Float64Array[],
  vs: readonly Float64Array[],
): Routine<Float64Array[] | undefined> {
  if (Math.abs(power) > 900) return undefined;
  const k = vs.length;
  const r = new Float64Array(n * k);
  let computed = false;
  yield ({ approximate }) => {
    computed = approximate.residual !== undefined;
    return approximate.residual?.(routine, -powerOfTwo(power), A, beside(ys, n), beside(vs, n), k, r);
  };
  return computed ? apart(r, n, k) : undefined;
}
