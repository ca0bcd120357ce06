// The rows of a matrix on the host or on an engine. Read by the exact measures (measures.ts) and for error messages (system.ts).

import type { StridedOperand } from "../../arrays/matrix.ts";
import { isOnHost } from "../../arrays/operands.ts";
import { part } from "../../arrays/vectors.ts";
import type { Routine } from "../../engines/steps.ts";
import { copyToHost, download } from "../transfer.ts";
import { allRows, readDistributedRows } from "./held.ts";

// The most elements in one download. If more than MAX_SINGLE_ROWS rows of a column-major matrix are wanted, all of it is downloaded.
const MAX_DOWNLOAD = 2 ** 20;
const MAX_SINGLE_ROWS = 8;

function countWanted(rows: number, isWanted: (i: number) => boolean): number {
  let wanted = 0;
  for (let i = 0; i < rows; i++) if (isWanted(i)) wanted++;
  return wanted;
}

/** Visit the wanted rows, which must not be written. Consecutive rows are downloaded in blocks. */
export function* visitRows(
  routine: string,
  A: StridedOperand,
  isWanted: (i: number) => boolean,
  visit: (row: Float64Array, i: number) => void,
): Routine<void> {
  const { data, offset, rows, cols, rowStride, colStride } = A;
  const onEngine = !isOnHost(data);
  if (onEngine && (yield* visitDistributedRows(A, isWanted, visit))) return;
  if (onEngine && colStride !== 1 && countWanted(rows, isWanted) > MAX_SINGLE_ROWS) {
    const copy = yield* copyToHost(routine, A);
    for (let i = 0; i < rows; i++) if (isWanted(i)) visit(part(copy, i * cols, cols) as Float64Array, i);
    return;
  }
  const maxRows = onEngine && colStride === 1 ? Math.max(1, Math.floor(MAX_DOWNLOAD / rowStride)) : 1;
  for (let i = 0; i < rows; i++) {
    if (!isWanted(i)) continue;
    let end = i + 1;
    while (end < Math.min(i + maxRows, rows) && isWanted(end)) end++;
    if (end === i + 1) {
      visit(yield* rowOf(routine, A, i), i);
      continue;
    }
    const length = (end - 1 - i) * rowStride + cols;
    const block = yield* download<Float64Array>(routine, data, offset + i * rowStride, length);
    for (let k = i; k < end; k++) visit(block.subarray((k - i) * rowStride, (k - i) * rowStride + cols), k);
    i = end - 1;
  }
}

// Every process visits all wanted rows, which the ones that hold them send, in blocks. False on one machine.
function* visitDistributedRows(
  A: StridedOperand,
  isWanted: (i: number) => boolean,
  visit: (row: Float64Array, i: number) => void,
): Routine<boolean> {
  const { rows, cols } = A;
  const wanted = allRows(rows).filter(isWanted);
  const count = Math.max(1, Math.floor(MAX_DOWNLOAD / Math.max(1, cols)));
  for (let from = 0; from < Math.max(1, wanted.length); from += count) {
    const indices = wanted.subarray(from, from + count);
    const block = yield* readDistributedRows(A, indices);
    if (!block) return false;
    for (const [k, i] of indices.entries()) visit(block.subarray(k * cols, (k + 1) * cols), i);
  }
  return true;
}

/** Row i of a matrix. */
export function* rowOf(routine: string, A: StridedOperand, i: number): Routine<Float64Array> {
  const { data, offset, cols, rowStride, colStride } = A;
  const start = offset + i * rowStride;
  if (isOnHost(data)) {
    if (colStride === 1) return part(data, start, cols) as Float64Array;
    return Float64Array.from({ length: cols }, (_, j) => data[start + j * colStride] as number);
  }
  const found = yield* readDistributedRows(A, Int32Array.of(i));
  if (found) return found;
  if (colStride === 1) return yield* download<Float64Array>(routine, data, start, cols);
  // A row of a column-major matrix is a product with a unit vector: one pass over the matrix on the engine.
  const unit = new Float64Array(A.rows);
  unit[i] = 1;
  const row = new Float64Array(cols);
  const transposed = { ...A, rows: cols, cols: A.rows, rowStride: colStride, colStride: rowStride };
  yield (kernels) => kernels.gemv(1, transposed, unit, 0, row);
  return row;
}
