// A distributed matrix or its transpose, as gemv.ts and trsv.ts see it: its rows and columns, which ranks have them, and the part of this
// rank. A transposed matrix is laid out over the transposed grid.
import { type StridedMatrix, stridedView } from "../../arrays/matrix.ts";
import type { Cyclic } from "../grid.ts";
import type { DistributedMatrix } from "./matrix.ts";

export class Oriented {
  readonly rows: Cyclic;
  readonly cols: Cyclic;
  /** Which part of the rows, and of the columns, this rank has. */
  readonly rowPart: number;
  readonly colPart: number;
  readonly view: StridedMatrix<Float64Array>;

  constructor(
    readonly A: DistributedMatrix,
    readonly trans: boolean,
  ) {
    const { layout } = A;
    const { rank } = A.context.comm;
    const [row, col] = [layout.gridRow(rank), layout.gridCol(rank)];
    [this.rows, this.cols] = trans ? [layout.colCut, layout.rowCut] : [layout.rowCut, layout.colCut];
    [this.rowPart, this.colPart] = trans ? [col, row] : [row, col];
    this.view = stridedView(A.local, trans) as StridedMatrix<Float64Array>;
  }

  /** The rank that has row i of part c of the columns. */
  rankOf(i: number, c: number): number {
    const row = this.rows.owner(i);
    const width = this.A.grid[1];
    return this.trans ? c * width + row : row * width + c;
  }

  /** Row r of the part of this rank: contiguous, a copy if the matrix is transposed. */
  row(r: number): Float64Array {
    const { data, offset, cols, rowStride, colStride } = this.view;
    const start = offset + r * rowStride;
    if (!this.trans) return data.subarray(start, start + cols);
    return Float64Array.from({ length: cols }, (_, c) => data[start + c * colStride] as number);
  }
}
