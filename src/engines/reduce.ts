// The stages of a reduction on a synchronous engine. The level 1 routines call it; exact/certify.ts decides the result of each stage.

import type { Operand } from "../arrays/operands.ts";
import type { Format, Reduction, Rounding } from "../arrays/types.ts";
import { certify, roundSum, settleWithin } from "../exact/certify.ts";
import { Superaccumulator } from "../exact/superaccumulator.ts";
import type { VectorKernels } from "./kernels.ts";

/**
 * The stages of a reduction, each only if the one before could not decide: the certified filter, the ladder with
 * its bound, the superaccumulator. `root` asks for the square root of the sum.
 */
export function reduce(
  kernels: VectorKernels,
  op: Reduction,
  x: Operand,
  y: Operand,
  root: boolean,
  mode: Rounding,
  format: Format,
): number {
  if (x.length >= LONG && skipFilter(op, x.length)) {
    const result = settle(kernels, op, x, y, root, mode, format);
    if (lost > 0 && Math.abs(result) > lost * FILTER_MARGIN) failed.times = 0; // a ladder that lost nothing tells nothing
    return result;
  }
  kernels.enclose(op, x, y);
  const certified = certify(root, mode, format);
  if (certified === certified) {
    if (failed.length === x.length) failed.times = 0;
    return certified;
  }
  if (x.length >= LONG) remember(op, x.length);
  return settle(kernels, op, x, y, root, mode, format);
}

// Programs that sum cancelling data usually do so repeatedly. If the filter failed for the last two sums of this kind and length, the
// next ones skip it, which saves a quarter of the time at a condition of 1e30. A ladder result that the filter would have proved ends
// that; where the ladder cannot tell, one sum in RETRY_EVERY goes through the filter again.
const RETRY_EVERY = 64;
const LONG = 1000;
// Of 8192 terms the ladder loses 2^-162 of the largest, the filter 2^-74, and the filter must know 54 bits: a result this much larger
// than what the ladder lost would have passed the filter.
const FILTER_MARGIN = 2 ** 144;
let lost = 0; // the bound of what the ladder lost last
const failed: { op: Reduction; length: number; times: number; skipped: number } = { op: "sum", length: 0, times: 0, skipped: 0 };

function skipFilter(op: Reduction, length: number): boolean {
  return failed.times > 1 && failed.length === length && failed.op === op && ++failed.skipped % RETRY_EVERY !== 0;
}

function remember(op: Reduction, length: number): void {
  failed.times = failed.op === op && failed.length === length ? failed.times + 1 : 1;
  failed.op = op;
  failed.length = length;
}

function settle(kernels: VectorKernels, op: Reduction, x: Operand, y: Operand, root: boolean, mode: Rounding, format: Format): number {
  const sum = new Superaccumulator();
  lost = kernels.accumulate(op, x, y, sum, false);
  const settled = settleWithin(sum, lost, root, mode, format);
  if (settled !== undefined) return settled;
  kernels.accumulate(op, x, y, sum.clear(), true);
  return roundSum(sum, root, mode, format);
}
