// scatter() and gather(): a whole matrix on one rank, and the same matrix spread over all of them. See Ranks. rowStrips() is for the
// command.
import { checkCount } from "../../arrays/checks.ts";
import { ShapeError } from "../../arrays/errors.ts";
import { checkMatrixOf, matrix, stridedView } from "../../arrays/matrix.ts";
import type { Matrix } from "../../arrays/types.ts";
import { newVector } from "../../arrays/vectors.ts";
import { type Context, together } from "../context.ts";
import { checkDimension, checkGrid, Layout } from "../grid.ts";
import type { Distributed, GridOptions } from "../types.ts";
import { callWith, DistributedMatrix, newPart } from "./matrix.ts";
import { collect, messageBuffer, NOTHING } from "./redistribute.ts";

/** A matrix that the root has, spread over all ranks. */
export function scatter(context: Context, A: Matrix | undefined, root = 0, options: GridOptions = {}): Promise<DistributedMatrix> {
  const { comm } = context;
  return context.call("scatter", () => {
    checkRoot("scatter", root, comm.size);
    const { blockSize, grid } = checkGrid("scatter", options, comm.size);
    const layoutOf = (rows: number, cols: number): Layout => new Layout(rows, cols, blockSize, grid);
    let parts: Float64Array[] = [];
    let shape = [0, 0];
    if (comm.rank === root) {
      checkMatrixOf("scatter", "A", A as Matrix, "binary64", "distributed matrices");
      const { rows, cols } = A as Matrix;
      checkDimension("scatter", "A.rows", rows);
      checkDimension("scatter", "A.cols", cols);
      shape = [rows, cols];
      parts = partsOf(A as Matrix, layoutOf(rows, cols), comm.size);
    }
    return {
      facts: { root, blockSize, grid: grid.join(" by ") },
      // Only the root has a shape: the sum over all ranks is its own. It fits into the low half of a word.
      payload(halves) {
        for (const [k, n] of shape.entries()) halves[2 * k] = n;
      },
      async body(halves) {
        const layout = layoutOf(halves[0] as number, halves[2] as number);
        const data = await together(context, "scatter", () => newPart(context, layout));
        const own = messageBuffer(data.length);
        await comm
          .exchange(
            parts.map((part, rank) => ({ rank, data: part })),
            [{ rank: root, data: own }],
          )
          .wait();
        data.set(own);
        return new DistributedMatrix(context, layout, data);
      },
    };
  });
}

// The parts of all ranks, each row by row.
function partsOf(A: Matrix, layout: Layout, size: number): Float64Array[] {
  const { data, offset, rowStride, colStride } = stridedView(A);
  return Array.from({ length: size }, (_, rank) => {
    const [rows, cols] = layout.shapeOn(rank);
    const part = messageBuffer(rows * cols);
    if (part.length === 0) return part;
    const columns = layout.colsOn(rank);
    let at = 0;
    for (const i of layout.rowsOn(rank)) for (const j of columns) part[at++] = data[offset + i * rowStride + j * colStride] as number;
    return part;
  });
}

/** A distributed matrix as a whole on the root, and undefined on all other ranks. */
export function gather(context: Context, A: Distributed<Matrix>, root = 0): Promise<Matrix | undefined> {
  const { comm } = context;
  return callWith(context, "gather", (borrow) => {
    const from = borrow("A", A);
    checkRoot("gather", root, comm.size);
    const { rows, cols } = from;
    return {
      facts: { root, A: from.description },
      async body() {
        const whole = await together(context, "gather", () =>
          newVector("gather", new Float64Array(0), comm.rank === root ? rows * cols : 0),
        );
        if (rows > 0 && cols > 0) {
          const all = { rows: Int32Array.from({ length: rows }, (_, i) => i), cols: Int32Array.from({ length: cols }, (_, j) => j) };
          await collect(context, from, (rank) => (rank === root ? all : NOTHING), whole);
        }
        return comm.rank === root ? matrix(whole, rows, cols) : undefined;
      },
    };
  });
}

// Numbers in a strip of rowStrips(): 8 MB.
const STRIP = 2 ** 20;

/** The rows of a matrix on rank 0, a strip at a time, for one who does not need the whole. The other ranks get empty strips. */
export async function* rowStrips(context: Context, A: Distributed<Matrix>): AsyncGenerator<Float64Array> {
  const { rows, cols } = A;
  if (cols === 0) return;
  const columns = Int32Array.from({ length: cols }, (_, j) => j);
  const height = Math.max(1, Math.floor(STRIP / cols));
  for (let top = 0; top < rows; top += height) {
    const strip = { rows: Int32Array.from({ length: Math.min(height, rows - top) }, (_, i) => top + i), cols: columns };
    yield await callWith(context, "rowStrips", (borrow) => {
      const from = borrow("A", A);
      return {
        facts: { A: from.description, top },
        body: () => collect(context, from, (rank) => (rank === 0 ? strip : NOTHING)),
      };
    });
  }
}

function checkRoot(routine: string, root: number, size: number): void {
  checkCount(routine, "root", root, 0);
  if (root >= size) throw new ShapeError(`${routine}: root is ${root}, expected a rank below ${size}`);
}
