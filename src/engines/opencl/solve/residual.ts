// b - A x on a device, in twice the working precision. Called by refinement, all at once or block by block during back substitution,
// and by the exact stages of solve(), whose integers make every product and sum exact.
import type { StridedOperand } from "../../../arrays/matrix.ts";
import type { NextResidual } from "../../approximate.ts";
import type { DeviceBuffer, DeviceMatrix, Work } from "../../device.ts";
import type { Scope } from "../../deviceScope.ts";
import { double, long, realOf } from "../device/numbers.ts";
import { lanesOf } from "../hybrid/kernels.ts";
import { residual as residualSource } from "./sources.ts";

type Terms = Omit<NextResidual, "update">;

/** r := b + alpha A x for k right-hand sides. A may be rectangular. */
export function* residuals(
  scope: Scope,
  alpha: number,
  A: StridedOperand,
  x: Float64Array,
  b: Float64Array,
  k: number,
  r: Float64Array,
): Work<void> {
  const residual = new Residual(scope, { A, alpha: -alpha, c: b, y: x, r }, k);
  residual.subtract(0, A.cols);
  yield* residual.read();
}

const MAX_SIDES = 4; // in one pass over A

/** c - alpha A y on the device, block by block of y as it becomes known. c and y have k columns, stored by rows. */
export class Residual {
  private readonly A: DeviceMatrix;
  private readonly y: DeviceBuffer;
  private readonly r: DeviceBuffer; // the high parts, then the low parts

  constructor(
    private readonly scope: Scope,
    private readonly next: Terms,
    private readonly k = 1,
  ) {
    const { rows, cols } = next.A;
    this.A = scope.matrix(next.A);
    this.y = scope.scratch(8 * cols * k);
    const r = new Float64Array(2 * rows * k);
    r.set(next.c);
    this.r = scope.copy(r);
  }

  /** Subtract alpha A[:, from...to] y[from...to]. */
  subtract(from: number, to: number): void {
    const { k } = this;
    const { device } = this.scope;
    const { buffer, offset, rowStride, colStride, rows } = this.A;
    const { A, alpha, y } = this.next;
    device.write(this.y, y.subarray(from * k, to * k), 8 * from * k);
    const byRows = lanesOf(device);
    const { LANES, ROWS } = colStride === 1 ? byRows : { LANES: 1, ROWS: byRows.LANES * byRows.ROWS };
    const args = [buffer, long(offset), long(rowStride), long(colStride), double(alpha), this.y, this.r, rows, from, to - from];
    for (let side = 0; side < k && rows > 0; side += MAX_SIDES) {
      const defines = { REAL: realOf(A.data.BYTES_PER_ELEMENT), LANES, ROWS, K: Math.min(MAX_SIDES, k - side) };
      const kernel = device.kernel("residual", [residualSource], defines);
      device.launch(kernel, [1, Math.ceil(rows / ROWS)], [LANES, ROWS], [...args, k, side]);
    }
  }

  /** Read the residual, rounded to binary64. */
  *read(): Work<void> {
    const { r } = this.next;
    const n = r.length;
    const parts = new Float64Array(2 * n);
    yield this.scope.device.read(this.r, parts);
    for (let i = 0; i < n; i++) r[i] = (parts[i] as number) + (parts[n + i] as number);
  }
}
