// The body of a Matrix Market file in array format. Called by matrixMarket.ts.
import { matrix } from "../arrays/matrix.ts";
import type { Matrix } from "../arrays/types.ts";
import { newVector } from "../arrays/vectors.ts";
import { store } from "../exact/store.ts";
import { Growing } from "./growing.ts";
import { type Header, MIRROR, type Size } from "./header.ts";
import type { Line } from "./lines.ts";

/** Collects the entries of a file in array format, column by column: all, those on and below, or those below the diagonal. */
export class Columns {
  readonly entries: number;
  private readonly values: Growing<Float64Array>;

  constructor(
    private readonly routine: string,
    private readonly header: Header,
    private readonly size: Size,
  ) {
    this.entries = size.entries;
    this.values = new Growing(size.entries, (length) => newVector(routine, new Float64Array(0), length));
  }

  get read(): number {
    return this.values.length;
  }

  take(line: Line): void {
    line.checkFields(["value"]);
    this.values.push(line.value(this.header.field === "integer"));
  }

  /** The full matrix. */
  matrix(): Matrix {
    const { rows, cols } = this.size;
    const data = newVector(this.routine, new Float64Array(0), rows * cols);
    const sign = MIRROR[this.header.symmetry];
    for (let j = 0, k = 0; j < cols; j++)
      for (let i = sign === 0 ? 0 : sign === 1 ? j : j + 1; i < rows; i++, k++) {
        const value = this.values.get(k);
        store(data, i + j * rows, value);
        if (sign !== 0 && i !== j) store(data, j + i * rows, sign * value);
      }
    return matrix(data, rows, cols, { order: "column" });
  }
}
