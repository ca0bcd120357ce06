import { apart, beside } from "../../solve/columns.ts";
import type { DeviceBuffer, Work } from "../device.ts";
import type { Entries } from "../kernels.ts";
import type { NextResidual } from "../plain.ts";
import { lanesOf } from "./hybridKernels.ts";
import { double, long, realOf } from "./numbers.ts";
import type { DeviceMatrix, Scope } from "./scope.ts";
import { hybridResidual } from "./sources.generated.ts";

/** What a residual is made of. */
type Terms = Omit<NextResidual, "update">;

/** r := b + alpha A x for k right-hand sides, a pass over A for each. */
export function* residuals(
  scope: Scope,
  alpha: number,
  A: Entries,
  x: Float64Array,
  b: Float64Array,
  k: number,
  r: Float64Array,
): Work<void> {
  const n = A.rows;
  const [xs, bs] = [apart(x, n, k), apart(b, n, k)];
  const all = bs.map((c, j): Terms => ({ A, alpha: -alpha, c, y: xs[j] as Float64Array, r: new Float64Array(n) }));
  const given = all.map((terms) => new Residual(scope, terms));
  for (const residual of given) residual.subtract(0, A.cols);
  for (const residual of given) yield* residual.read();
  r.set(
    beside(
      all.map((terms) => terms.r),
      n,
    ),
  );
}

/** c - alpha A y on the device, for blocks of y as they come. */
export class Residual {
  private readonly A: DeviceMatrix;
  private readonly y: DeviceBuffer;
  private readonly r: DeviceBuffer; // the high parts, then the low ones

  constructor(
    private readonly scope: Scope,
    private readonly next: Terms,
  ) {
    const n = next.A.rows;
    this.A = scope.matrix(next.A);
    this.y = scope.scratch(8 * n);
    const r = new Float64Array(2 * n);
    r.set(next.c);
    this.r = scope.copy(r);
  }

  /** Subtract alpha A[:, from...to] y[from...to]. */
  subtract(from: number, to: number): void {
    const { device } = this.scope;
    const { buffer, offset, rowStep, colStep, rows } = this.A;
    const { A, alpha, y } = this.next;
    device.write(this.y, y.subarray(from, to), 8 * from);
    const byRows = lanesOf(device);
    const { LANES, ROWS } = colStep === 1 ? byRows : { LANES: 1, ROWS: byRows.LANES * byRows.ROWS };
    const kernel = device.kernel("residual", [hybridResidual], { REAL: realOf(A.data.BYTES_PER_ELEMENT), LANES, ROWS });
    const args = [buffer, long(offset), long(rowStep), long(colStep), double(alpha), this.y, this.r, rows, from, to - from];
    device.launch(kernel, [1, Math.ceil(rows / ROWS)], [LANES, ROWS], args);
  }

  /** Rounded to binary64. */
  *read(): Work<void> {
    const { r } = this.next;
    const n = r.length;
    const parts = new Float64Array(2 * n);
    yield this.scope.device.read(this.r, parts);
    for (let i = 0; i < n; i++) r[i] = (parts[i] as number) + (parts[n + i] as number);
  }
}
