// The inverses of triangular factors that are spread over ranks, for the proofs of solve() and for its corrections. Every rank computes some
// columns. Blocks of rows of the factor go to all ranks one after another; each adds a block of rows to its columns of the inverse.
import { allocate, free } from "../../api/memory.ts";
import { rowMajor } from "../../arrays/matrix.ts";
import { type Context, together } from "../context.ts";
import type { DistributedMatrix } from "../dense/matrix.ts";
import { messageBuffer, relayout } from "../dense/redistribute.ts";
import { Layout } from "../grid.ts";

/** Rows of a block. The triangle on the diagonal is solved in TypeScript: n^2 ROWS / 2 operations. */
export const ROWS = 32;
// Columns in a block: the columns of a rank begin in all parts of the triangle, so that ranks have equal work.
const COLUMNS = 8;
// Columns of a product. Those of one product share the rows that are known to be zero.
const TOGETHER = 128;

/**
 * The roundings that a product goes through (engines/approximate.ts). Let row r of a block have the products with earlier blocks in t, exact
 * and rounded once. Substitution in the block has at most ROWS products, so |(T_KK X_K - t)_r| <= gamma(ROWS + 1) (|T_KK| |X_K|)_r with its
 * division (Higham, theorem 8.5); and |t| <= (1 + gamma(ROWS + 1)) |T_KK| |X_K|, so that its own rounding adds one, and terms of u^2.
 */
export const INVERSE_ROUNDINGS = ROWS + 4;

/**
 * The rows of this rank of L^-1 or U^-1, whole rows without gaps. `lu` has whole rows on each rank, in blocks of at most ROWS, and the
 * diagonal of U has no zero.
 */
export async function invertTriangle(context: Context, lu: DistributedMatrix, upper: boolean): Promise<Float64Array> {
  const { comm } = context;
  const { layout } = lu;
  const n = layout.rows;
  const columns = new Layout(n, n, COLUMNS, [1, comm.size]);
  const own = columns.colsOn(comm.rank);
  const width = own.length;
  const inverse = await together(context, "solve", () => allocate(n * width));
  const block = await together(context, "solve", () => allocate(layout.blockSize * n));
  const message = messageBuffer(layout.blockSize * n);
  const blocks = Math.ceil(n / layout.blockSize);
  for (let step = 0; step < blocks; step++) {
    const first = (upper ? blocks - 1 - step : step) * layout.blockSize;
    const end = Math.min(first + layout.blockSize, n);
    const rows = message.subarray(0, (end - first) * n);
    const owner = layout.rowCut.owner(first);
    if (owner === comm.rank) {
      const at = layout.rowCut.local(first) * n;
      rows.set(lu.entries.data.subarray(at, at + rows.length));
    }
    await comm.broadcast(rows, owner).wait();
    block.set(rows);
    await together(context, "solve", () => addRows(context, { n, block, inverse, own, upper, first, end }));
  }
  free(block);
  const result = await together(context, "solve", () => new Float64Array(layout.shapeOn(comm.rank)[0] * n));
  const from = { layout: columns, data: inverse, rowStart: (r: number) => r * width, colStart: (c: number) => c };
  await relayout(context, from, { layout, data: result, rowStart: (r) => r * n, colStart: (c) => c });
  free(inverse);
  return result;
}

interface BlockOfRows {
  readonly n: number;
  /** The rows first..end - 1 of the factor. */
  readonly block: Float64Array;
  /** The columns of this rank so far, row by row, and their indices. */
  readonly inverse: Float64Array;
  readonly own: Int32Array;
  readonly upper: boolean;
  readonly first: number;
  readonly end: number;
}

// Rows first..end - 1 of T X = I: the identity minus the products with known rows, then the triangle on the diagonal. Column j of a lower
// inverse is zero above row j, that of an upper one below it.
async function addRows(context: Context, { n, block, inverse, own, upper, first, end }: BlockOfRows): Promise<void> {
  const width = own.length;
  const count = end - first;
  const [left, right] = upper ? [own.findIndex((j) => j >= first), width] : [0, countBelow(own, end)];
  if (left < 0 || left === right) return;
  for (let c = left; c < right; c++)
    if ((own[c] as number) >= first && (own[c] as number) < end) inverse[(own[c] as number) * width + c] = 1;
  for (let c = left; c < right; c += TOGETHER) {
    const stop = Math.min(c + TOGETHER, right);
    const [from, to] = upper ? [end, Math.min(n, (own[stop - 1] as number) + 1)] : [own[c] as number, first];
    if (from >= to) continue;
    const factor = { ...rowMajor(block, count, to - from), offset: from, rowStride: n };
    const known = { ...rowMajor(inverse, to - from, stop - c), offset: from * width + c, rowStride: width };
    const rows = { ...rowMajor(inverse, count, stop - c), offset: first * width + c, rowStride: width };
    await context.backend.gemm(-1, factor, known, 1, rows);
  }
  for (let step = 0; step < count; step++) {
    const r = upper ? count - 1 - step : step;
    const row = inverse.subarray((first + r) * width + left, (first + r) * width + right);
    for (let s = upper ? r + 1 : 0; s < (upper ? count : r); s++) {
      const t = block[r * n + first + s] as number;
      if (t === 0) continue;
      const solved = inverse.subarray((first + s) * width + left, (first + s) * width + right);
      for (let c = 0; c < row.length; c++) row[c] = (row[c] as number) - t * (solved[c] as number);
    }
    if (!upper) continue;
    const diagonal = block[r * n + first + r] as number;
    for (let c = 0; c < row.length; c++) row[c] = (row[c] as number) / diagonal;
  }
}

function countBelow(indices: Int32Array, end: number): number {
  const at = indices.findIndex((j) => j >= end);
  return at < 0 ? indices.length : at;
}
