// exgemm() on distributed matrices: every rank collects the rows of A and the columns of B that its part of C needs, in strips, and its
// engine does the rest. Every entry is computed whole on one rank. See Ranks.
import { checkFlag, checkNumber, checkOptions } from "../../arrays/checks.ts";
import { ShapeError } from "../../arrays/errors.ts";
import { rowMajor, type StridedMatrix } from "../../arrays/matrix.ts";
import type { Matrix } from "../../arrays/types.ts";
import { checkProductShapes } from "../../routines/dense/gemm.ts";
import type { MatrixProductOptions } from "../../routines/types.ts";
import { type Context, together } from "../context.ts";
import type { Distributed } from "../types.ts";
import { callWith, type DistributedMatrix } from "./matrix.ts";
import { collect, type Wanted } from "./redistribute.ts";

// Numbers that a rank collects of A, and of B, at a time: 32 MB.
const STRIP = 2 ** 22;

/** C := alpha A B + beta C, each of A and B transposed or not. */
export function exgemm(
  context: Context,
  alpha: number,
  A: Distributed<Matrix>,
  B: Distributed<Matrix>,
  beta: number,
  C: Distributed<Matrix>,
  options: MatrixProductOptions = {},
): Promise<Distributed<Matrix>> {
  return callWith(context, "exgemm", (borrow) => {
    checkNumber("exgemm", "alpha", alpha);
    const left = borrow("A", A);
    const right = borrow("B", B);
    checkNumber("exgemm", "beta", beta);
    const product = borrow("C", C);
    checkOptions("exgemm", options, ["transA", "transB"]);
    const { transA = false, transB = false } = options;
    checkFlag("exgemm", "transA", transA);
    checkFlag("exgemm", "transB", transB);
    const inner = transA ? left.rows : left.cols;
    checkProductShapes(transposedShape(left, transA), transposedShape(right, transB), product, transA, transB);
    for (const [name, factor] of [["A", left] as const, ["B", right] as const])
      if (factor === product && factor.rows > 0 && factor.cols > 0)
        throw new ShapeError(`exgemm: C shares entries with ${name}, expected none in common`);
    return {
      facts: { alpha, A: left.description, B: right.description, beta, C: product.description, transA, transB },
      async body() {
        const factors = { alpha, left: { A: left, trans: transA }, right: { A: right, trans: transB }, inner: alpha === 0 ? 0 : inner };
        const result = await multiply(context, factors, beta, product);
        product.entries.data.set(result);
        return product;
      },
    };
  });
}

const transposedShape = ({ rows, cols }: DistributedMatrix, trans: boolean) => (trans ? { rows: cols, cols: rows } : { rows, cols });

/** A factor of the product, transposed or not. */
interface Factor {
  readonly A: DistributedMatrix;
  readonly trans: boolean;
}

interface Factors {
  readonly alpha: number;
  readonly left: Factor;
  readonly right: Factor;
  readonly inner: number; // 0 if alpha is: then neither factor is read
}

// The new entries of this rank.
async function multiply(
  context: Context,
  { alpha, left, right, inner }: Factors,
  beta: number,
  C: DistributedMatrix,
): Promise<Float64Array> {
  const { comm, backend } = context;
  const { layout, entries } = C;
  const result = entries.data.slice();
  const steps = Int32Array.from({ length: inner }, (_, k) => k);
  const rowLists = Array.from({ length: comm.size }, (_, rank) => layout.rowsOn(rank));
  const colLists = Array.from({ length: comm.size }, (_, rank) => layout.colsOn(rank));
  const rowStrips = stripsOf(rowLists, inner);
  const colStrips = stripsOf(colLists, inner);
  const rowsIn = (rank: number, s: number): Int32Array => strip(rowLists[rank] as Int32Array, rowStrips, s);
  const colsIn = (rank: number, s: number): Int32Array => strip(colLists[rank] as Int32Array, colStrips, s);
  let a: StridedMatrix | undefined;
  for (let t = 0; t < colStrips.count; t++) {
    const b = await factorPart(context, right, (rank) => ({ rows: steps, cols: colsIn(rank, t) }));
    for (let s = 0; s < rowStrips.count; s++) {
      if (a === undefined || rowStrips.count > 1) a = await factorPart(context, left, (rank) => ({ rows: rowsIn(rank, s), cols: steps }));
      const rows = a;
      const c = { ...entries, data: result, rows: rows.rows, cols: b.cols };
      const at = s * rowStrips.length * entries.rowStride + t * colStrips.length;
      await together(context, "exgemm", async () => {
        if (c.rows > 0 && c.cols > 0) await backend.gemm(alpha, rows, b, beta, { ...c, offset: at });
      });
    }
  }
  return result;
}

// The wanted rows and columns of a factor, which is read or collected as it is stored.
async function factorPart(context: Context, { A, trans }: Factor, wanted: (rank: number) => Wanted): Promise<StridedMatrix> {
  const asStored = (rank: number): Wanted => (trans ? { rows: wanted(rank).cols, cols: wanted(rank).rows } : wanted(rank));
  const part = ownPart(context, A, asStored) ?? (await collectedPart(context, A, asStored));
  if (!trans) return part;
  return { ...part, rows: part.cols, cols: part.rows, rowStride: part.colStride, colStride: part.rowStride };
}

// A view of the part of this rank, if every rank already has what it wants.
function ownPart({ comm }: Context, { layout, entries }: DistributedMatrix, wanted: (rank: number) => Wanted): StridedMatrix | undefined {
  for (let rank = 0; rank < comm.size; rank++) {
    const { rows, cols } = wanted(rank);
    if (!layout.rowCut.hasRange(layout.gridRow(rank), rows) || !layout.colCut.hasRange(layout.gridCol(rank), cols)) return undefined;
  }
  const { rows, cols } = wanted(comm.rank);
  const offset = layout.rowCut.local(rows[0] ?? 0) * entries.rowStride + layout.colCut.local(cols[0] ?? 0);
  return { ...entries, offset, rows: rows.length, cols: cols.length };
}

async function collectedPart(context: Context, A: DistributedMatrix, wanted: (rank: number) => Wanted): Promise<StridedMatrix> {
  const { rows, cols } = wanted(context.comm.rank);
  return rowMajor(await collect(context, A, wanted), rows.length, cols.length);
}

/** Lists cut into strips of this length. Their number is that of the longest list: it must be the same on every rank. */
interface Strips {
  readonly length: number;
  readonly count: number;
}

function stripsOf(lists: readonly Int32Array[], inner: number): Strips {
  const longest = Math.max(...lists.map((list) => list.length));
  const length = Math.max(1, Math.min(longest, Math.floor(STRIP / Math.max(inner, 1))));
  return { length, count: Math.ceil(longest / length) };
}

const strip = (list: Int32Array, { length }: Strips, s: number): Int32Array => list.subarray(s * length, (s + 1) * length);
