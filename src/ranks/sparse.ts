// Sparse matrices by block rows: Ranks.sparse() and Ranks.exspmv(). Each rank has consecutive rows, and the same rows of every vector.
// halo.ts has the product, krylov.ts the solvers.
import { checkCount, checkSameFormat, checkSize, describe } from "../arrays/checks.ts";
import { EngineError, ShapeError } from "../arrays/errors.ts";
import { asRow, checkSeparate } from "../arrays/matrix.ts";
import { checkSparse, patternInfoOf, toCsr, trusted } from "../arrays/sparse.ts";
import type { Sparse } from "../arrays/types.ts";
import { copyOf } from "../arrays/vectors.ts";
import { embedded } from "../engines/embedded.ts";
import type { HostKrylov, VectorOperations } from "../engines/hostKrylov.ts";
import { checkProduct } from "../routines/dense/gemv.ts";
import { copiedOutput } from "../routines/outputs.ts";
import type { MatrixVectorOptions } from "../routines/types.ts";
import { type Context, together } from "./context.ts";
import { RowProduct, type Rows, transposedRows } from "./halo.ts";
import type { Distributed } from "./types.ts";

/** What is behind a matrix of sparse(). */
export interface RankMatrix extends Rows {
  readonly context: Context;
  /** Counts the matrices of a job, so that ranks notice if they use different ones. */
  readonly id: number;
  /** The order of the whole matrix. */
  readonly n: number;
  /** Rank r has the rows starts[r] to starts[r + 1] - 1. */
  readonly starts: Float64Array;
  readonly product: RowProduct;
  /** Made when it is first needed. */
  transposed: RowProduct | undefined;
  freed: boolean;
}

const matrices = new WeakMap<object, RankMatrix>();
let made = 0;

/** A matrix by block rows: see Ranks.sparse. */
export function sparse(context: Context, part: Sparse, firstRow: number, rows: number): Promise<Distributed<Sparse>> {
  return context.call("sparse", () => {
    checkSameFormat("sparse", "part", checkSparse("sparse", "part", part), "binary64", "sparse matrices on ranks");
    checkCount("sparse", "firstRow", firstRow, 0);
    checkCount("sparse", "rows", rows, 0);
    if (part.cols !== rows)
      throw new ShapeError(`sparse: part has ${part.cols} columns, expected ${rows} (rows): only square matrices are divided by rows`);
    if (firstRow + part.rows > rows)
      throw new ShapeError(`sparse: part has the rows ${firstRow} to ${firstRow + part.rows - 1}, expected rows below ${rows}`);
    const A = toCsr(part);
    const product = new RowProduct(operationsOf(context), { first: firstRow, A });
    const { operator } = product;
    // The product has its own indices, unless this rank has all rows.
    const indices = context.comm.size === 1 ? operator.indices : A.indices.slice();
    const local = trusted(
      { format: "csr", rows: A.rows, cols: rows, pointers: operator.pointers, indices, values: operator.values as Float64Array } as const,
      { ascends: patternInfoOf(A).ascends },
    );
    return {
      facts: { rows },
      async body() {
        const starts = await startsOf(context, firstRow, part.rows, rows);
        await product.connect(context.comm, starts);
        const matrix = { context, id: made++, n: rows, first: firstRow, A: local, starts, product, transposed: undefined, freed: false };
        return publicMatrix(matrix);
      },
    };
  });
}

function publicMatrix(matrix: RankMatrix): Distributed<Sparse> {
  const { context, n, A, product } = matrix;
  const distributed: Distributed<Sparse> = {
    rows: n,
    cols: n,
    get local() {
      if (matrix.freed) throw new EngineError("local: the matrix was freed");
      return A;
    },
    grid: [context.comm.size, 1],
    blockSize: 0,
    free() {
      if (matrix.freed) return;
      matrix.freed = true;
      context.afterCalls(() => {
        product.memory.free();
        matrix.transposed?.memory.free();
      });
    },
  };
  matrices.set(Object.freeze(distributed), matrix);
  return distributed;
}

// Where the rows of each rank begin, and the end. All ranks see the same numbers, and the same error.
async function startsOf({ comm }: Context, first: number, count: number, rows: number): Promise<Float64Array> {
  const own = new Float64Array(new ArrayBuffer(16));
  own.set([first, count]);
  const all = new Float64Array(new ArrayBuffer(16 * comm.size));
  await comm.gatherAll(own, all).wait();
  const starts = new Float64Array(comm.size + 1);
  for (let r = 0; r < comm.size; r++) {
    const end = starts[r] as number;
    const [begin, length] = [all[2 * r] as number, all[2 * r + 1] as number];
    if (begin !== end)
      throw new ShapeError(
        `sparse: firstRow is ${begin} on rank ${r}, expected ${end} (${r === 0 ? "the first row" : `where the part of rank ${r - 1} ends`})`,
      );
    starts[r + 1] = end + length;
  }
  const end = starts.at(-1);
  if (end !== rows)
    throw new ShapeError(`sparse: the parts end before row ${end}, with that of rank ${comm.size - 1}, expected ${rows} (rows)`);
  return starts;
}

/** The matrix behind an argument of a call. */
export function rankMatrix(routine: string, context: Context, A: Distributed<Sparse>): RankMatrix {
  const matrix = typeof A === "object" && A !== null ? matrices.get(A) : undefined;
  if (!matrix || matrix.context !== context) throw new ShapeError(`${routine}: A is ${describe(A)}, expected a matrix from sparse()`);
  if (matrix.freed) throw new EngineError(`${routine}: A was freed`);
  return matrix;
}

/** The operations of this rank's engine on its part of vectors, which may be empty. A matrix of sparse() stays where it is. */
export function operationsOf({ backend }: Context): VectorOperations {
  const own = (backend.krylov as Partial<HostKrylov>).operations?.();
  // A device has no vectors that the host can read: it multiplies, and this thread does the rest.
  const operations = own ?? { ...embedded().krylov.operations(), spmv: (...args) => backend.spmv(...args) };
  const { memory, reserveBeside } = operations;
  const some = (bytes: number): number => Math.max(bytes, 64);
  return {
    ...operations,
    memory: { reserve: (routine, bytes) => memory.reserve(routine, some(bytes)) },
    ...(reserveBeside && { reserveBeside: (arrays, bytes) => reserveBeside(arrays, some(bytes)) }),
    canStay: () => true,
    gemv: (alpha, A, x, beta, y) => (y.length === 0 ? undefined : operations.gemv(alpha, A, x, beta, y)),
    combine: (op, a, b, x, y, z) => (y.length === 0 ? undefined : operations.combine(op, a, b, x, y, z)),
  };
}

/** y := alpha A x + beta y: see Ranks.exspmv. */
export function exspmv(
  context: Context,
  alpha: number,
  A: Distributed<Sparse>,
  x: Float64Array,
  beta: number,
  y: Float64Array,
  options: MatrixVectorOptions = {},
): Promise<Float64Array> {
  return context.call("exspmv", () => {
    const matrix = rankMatrix("exspmv", context, A);
    const trans = checkProduct("exspmv", alpha, () => "binary64", x, beta, y, options);
    for (const [name, vector] of [["x", x] as const, ["y", y] as const])
      checkSize("exspmv", name, vector, matrix.A.rows, "the rows of A on this rank");
    checkSeparate("exspmv", "y", asRow(y), "A", asRow(matrix.A.values));
    checkSeparate("exspmv", "y", asRow(y), "x", asRow(x));
    const copy = copyOf("exspmv", x);
    const out = copiedOutput("exspmv", "y", asRow(y), true);
    return {
      facts: { A: `matrix ${matrix.id}`, alpha, beta, trans },
      async body() {
        const product = trans ? await transposeOf(matrix) : matrix.product;
        // The engine's own product: the operations of a workspace write only to its memory.
        const { backend, comm } = context;
        const spmv: VectorOperations["spmv"] = (...args) => backend.spmv(...args);
        await together(context, "exspmv", () => product.multiply(comm, spmv, alpha, copy, beta, out.entries.data as Float64Array));
        out.write();
        return y;
      },
    };
  });
}

async function transposeOf(matrix: RankMatrix): Promise<RowProduct> {
  if (matrix.transposed) return matrix.transposed;
  const { context, starts } = matrix;
  const rows = await transposedRows(context.comm, starts, matrix);
  const product = await together(context, "exspmv", () => new RowProduct(operationsOf(context), rows));
  await product.connect(context.comm, starts);
  matrix.transposed = product;
  return product;
}
