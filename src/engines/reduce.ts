// The stages of a reduction on a synchronous engine. routines/level1.ts and wasm/backend.ts call it; exact/certify.ts decides whether the
// result of a stage is proved.
import type { Operand } from "../arrays/operands.ts";
import type { Format, Reduction, Rounding } from "../arrays/types.ts";
import { certify, roundSum, settleWithin } from "../exact/certify.ts";
import { Superaccumulator } from "../exact/superaccumulator.ts";
import type { VectorKernels } from "./kernels.ts";

/**
 * A reduction: the certified filter; if it cannot prove the result, the ladder with its bound; if that cannot either, the
 * superaccumulator. With `root`, the square root of the sum.
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
    if (lost > 0 && Math.abs(result) > lost * FILTER_MARGIN) failed.times = 0; // without a loss there is nothing to compare with
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
// next ones skip it, which saves a quarter of the time at a condition of 1e30. The filter is used again once a ladder result shows that
// it would have succeeded, and in any case for one sum in RETRY_EVERY.
const RETRY_EVERY = 64;
const LONG = 1000;
// For 8192 terms the ladder loses 2^-162 of the largest one and the filter 2^-74, and the filter needs 54 bits of the result: a result
// that exceeds the ladder's loss by 2^(162 - 74 + 54), and two bits to be safe, would have passed the filter.
const FILTER_MARGIN = 2 ** 144;
let lost = 0; // the bound on what the ladder lost in the last sum
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
