// P A = L U with exact sums on a device: one work-group per small matrix, blocks for larger ones. Called by the engine; see the LU paper.
import { isOnHost, type Operand } from "../../../arrays/operands.ts";
import { newVector } from "../../../arrays/vectors.ts";
import type { Work } from "../../device.ts";
import type { Scope } from "../../deviceScope.ts";
import { long, realOf } from "../device/numbers.ts";
import * as exact from "../exact/sources.ts";
import { luBatch } from "./luBatch.ts";
import { type Blocking, luBlockedBy } from "./luBlocked.ts";
import type { Factorization } from "./luCommon.ts";
import * as sources from "./sources.ts";

// Up to this many rows and columns one work-group factors a matrix, in one launch. The matrix has at most 72 KiB: it is in local memory
// if the device has enough, else in global memory.
const SMALL = 96;

/** The factorization for matrices of any size. `blocking` overrides defaults. */
export const luBy =
  (blocking: Partial<Blocking> = {}): Factorization =>
  (scope, data, real, rows, cols, count, pivots) =>
    (Math.max(rows, cols) <= SMALL ? luBatch : luBlockedBy(blocking))(scope, data, real, rows, cols, count, pivots);

/** Factor matrices in place: see Kernels.lu. `data` may be on the device. */
export function* lu(
  scope: Scope,
  data: Operand,
  rows: number,
  cols: number,
  count: number,
  pivots: Int32Array,
  info: Int32Array,
  factor: Factorization = luBy(),
): Work<number> {
  if (rows * cols * count === 0) {
    info.fill(0);
    return -1;
  }
  const memory = scope.vector(data);
  const outcome = yield* factor(scope, memory, realOf(data.BYTES_PER_ELEMENT), rows, cols, count, pivots);
  const failed = outcome.overflowed.findIndex((index) => index >= 0);
  if (failed >= 0) return failed * rows * cols + (outcome.overflowed[failed] as number);
  if (isOnHost(data)) {
    const factors = newVector(scope.routine, data, data.length);
    yield scope.device.read(memory, factors);
    data.set(factors);
  }
  info.set(outcome.info);
  return -1;
}

/** The index of the first element that is not finite, or -1. */
export function* firstNotFinite(scope: Scope, data: Operand): Work<number> {
  const { device } = scope;
  const kernel = device.kernel("firstNotFinite", [exact.certificate, sources.lu, sources.luFinite], {
    REAL: realOf(data.BYTES_PER_ELEMENT),
  });
  const first = scope.copy(BigInt64Array.of(-1n));
  const groups = Math.max(1, Math.min(Math.ceil(data.length / 256), 16 * device.computeUnits));
  device.launch(kernel, [groups], [256], [scope.vector(data), long(data.length), first]);
  const index = new BigInt64Array(1);
  yield device.read(first, index);
  return Number(index[0]);
}
