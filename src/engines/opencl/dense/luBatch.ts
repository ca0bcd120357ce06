// exlu of many small matrices on a device, one work-group each. Called by lu.ts.
import * as exact from "../exact/sources.ts";
import type { Factorization } from "./luCommon.ts";
import { overflowIn } from "./luCommon.ts";
import * as sources from "./sources.ts";

/** One matrix per work-group of `items` work-items, a power of two. */
export const luBatchOf = (items?: number): Factorization =>
  function* (scope, data, real, rows, cols, count, pivots) {
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
    const info = scope.scratch((count + 1) * 4);
    const chosen = scope.scratch(count * steps * 4);
    device.fill(info, Int32Array.of(0), count * 4);
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
        chosen,
        ...(inLocal ? [{ localBytes: bytes }] : []),
        { localBytes: 8 * size },
        { localBytes: 4 * size },
        { localBytes: 4 * size },
        { localBytes: 8 * cols },
      ],
    );
    const infos = new Int32Array(count + 1);
    yield device.read(info, infos);
    yield device.read(chosen, pivots);
    const ended = { info: infos.subarray(0, count), overflowed: [] };
    if (infos[count] === 0) return ended; // nothing overflowed
    const words = new Uint32Array(2 * count);
    yield device.read(failed, words);
    return { ...ended, overflowed: Array.from(ended.info, (zero, k) => overflowIn(words, k, zero, cols)) };
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
