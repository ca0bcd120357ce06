// exlu of many small matrices on a device, one work-group each. Called by lu.ts.
import * as exact from "../exact/sources.ts";
import type { Factorization } from "./luCommon.ts";
import { overflowIn } from "./luCommon.ts";
import * as sources from "./sources.ts";

/** One matrix per work-group of `items` work-items, a power of two. */
export const luBatchOf = (items?: number): Factorization =>
  function* (scope, data, real, rows, cols, count) {
    const { device } = scope;
    const steps = Math.min(rows, cols);
    const bytes = rows * (cols | 1) * (real === "double" ? 8 : 4);
    const wanted = items ?? itemsFor(Math.max(rows, cols));
    const inLocal = bytes + 16 * wanted + 8 * cols <= device.localBytes;
    const kernel = device.kernel("luBatch", [exact.certificate, exact.superaccumulator, sources.lu, sources.luBatch], {
      REAL: real,
      SPACE_IS_PRIVATE: 1,
      ...(inLocal ? { IN_LOCAL: 1 } : {}),
    });
    const size = Math.min(wanted, powerOfTwoUpTo(kernel.maxGroupSize));
    const failed = scope.scratch(count * 8);
    const info = scope.scratch(count * 4);
    const pivots = scope.scratch(count * steps * 4);
    device.launch(
      kernel,
      [Math.min(count, MAX_GROUPS)],
      [size],
      [
        data,
        rows,
        cols,
        count,
        failed,
        info,
        pivots,
        ...(inLocal ? [{ localBytes: bytes }] : []),
        { localBytes: 8 * size },
        { localBytes: 4 * size },
        { localBytes: 4 * size },
        { localBytes: 8 * cols },
      ],
    );
    const words = new Uint32Array(2 * count);
    const outcome = { info: new Int32Array(count), pivots: new Int32Array(count * steps) };
    yield device.read(failed, words);
    yield device.read(info, outcome.info);
    yield device.read(pivots, outcome.pivots);
    // Mostly there is none, and 16,384 calls would take a fifth of the time.
    const overflowed = words.every((word) => word === 0xffffffff)
      ? []
      : Array.from(outcome.info, (zero, k) => overflowIn(words, k, zero, cols));
    return { ...outcome, overflowed };
  };

export const luBatch: Factorization = luBatchOf();

const MAX_GROUPS = 1 << 16;

// One work-item per row or column, from 32 to 256.
function itemsFor(size: number): number {
  return Math.min(256, Math.max(32, 2 * powerOfTwoUpTo(Math.max(1, size - 1))));
}

function powerOfTwoUpTo(n: number): number {
  return 2 ** Math.floor(Math.log2(n));
}
