// The cycles of gmres(m) with right preconditioning and modified Gram-Schmidt, as SPEC.md fixes them. The engine makes the basis; the
// small least-squares problem is solved on the host. Called by krylov.ts.
import { OWN, R, type Workspace, X } from "../../engines/krylov.ts";
import type { Routine } from "../../engines/steps.ts";
import { Superaccumulator } from "../../exact/superaccumulator.ts";

/** The vectors of gmres besides b, x and r; the basis comes after them. */
export const VECTORS = 2;
const [U, W] = [OWN, OWN + 1];
const BASIS = OWN + VECTORS;

const sum = new Superaccumulator();

/** The column of step j (from 0) in the scalars: h_0j to h_(j+1)j. */
export const columnAt = (j: number): number => 1 + (j * (j + 3)) / 2;
/** Scalar 0 is the norm of the residual at the start; then come the columns. */
export const NORM = 0;
export const scalarsOf = (m: number): number => columnAt(m);

/** One step: w := A M^-1 v_j, orthogonalized against v_0 to v_j; v_(j+1) is the rest, normalized. */
export function* arnoldi(space: Workspace, j: number): Routine<void> {
  const at = columnAt(j);
  const u = yield* space.precondition(BASIS + j, U);
  yield* space.product(u, W);
  for (let i = 0; i <= j; i++) {
    yield* space.reduce(W, BASIS + i, false, at + i);
    yield* space.axpy(-1, at + i, BASIS + i, W);
  }
  yield* space.reduce(W, W, true, at + j + 1);
  yield* space.copy(W, BASIS + j + 1);
  yield* space.invscal(at + j + 1, BASIS + j + 1);
}

/** v_0 := r / norm. */
export function* firstVector(space: Workspace): Routine<void> {
  yield* space.copy(R, BASIS);
  yield* space.invscal(NORM, BASIS);
}

/** The least-squares problem of a cycle: the triangle R of the rotated columns and the rotated right-hand side. */
export class LeastSquares {
  private readonly columns: number[][] = []; // of R
  private readonly rotations: (readonly [c: number, s: number])[] = [];
  private readonly right: number[];

  constructor(norm: number) {
    this.right = [norm];
  }

  get steps(): number {
    return this.columns.length;
  }

  /** Takes the column of a step. Returns the norm of the residual; 0 as `g` and NaN say that the step failed and was not taken. */
  add(column: Float64Array): { readonly norm: number; readonly g: number } {
    const h = Array.from(column);
    const j = this.steps;
    for (const [i, [c, s]] of this.rotations.entries()) {
      const [p, q] = [h[i] as number, h[i + 1] as number];
      h[i] = rotated(c, s, p, q);
      h[i + 1] = rotated(-s, c, p, q);
    }
    const [a, b] = [h[j] as number, h[j + 1] as number];
    const g = sum.clear().addProduct(a, a).addProduct(b, b).squareRoot();
    if (!(g > 0 && g < Infinity)) return { norm: Number.NaN, g };
    const [c, s] = [a / g, b / g];
    h[j] = g;
    h.length = j + 1;
    const last = this.right[j] as number;
    this.columns.push(h);
    this.rotations.push([c, s]);
    this.right[j] = rotated(c, s, last, 0);
    this.right[j + 1] = rotated(-s, c, last, 0);
    return { norm: Math.abs(this.right[j + 1] as number), g };
  }

  /** y, with the bits of extrsv. */
  solve(): Float64Array {
    const y = new Float64Array(this.steps);
    for (let k = y.length - 1; k >= 0; k--) {
      sum.clear().add(this.right[k] as number);
      for (let j = k + 1; j < y.length; j++) sum.addProduct(-this.entry(k, j), y[j] as number);
      const v = sum.quotient(this.entry(k, k));
      y[k] = v === 0 && sum.sign() === 0 ? 0 : v; // an exact zero is +0
    }
    return y;
  }

  private entry(i: number, j: number): number {
    return (this.columns[j] as number[])[i] as number;
  }
}

// c p + s q, exact and rounded once.
function rotated(c: number, s: number, p: number, q: number): number {
  return sum.clear().addProduct(c, p).addProduct(s, q).round();
}

/** x := RN(x + M^-1 V y). */
export function* update(space: Workspace, y: Float64Array): Routine<void> {
  if (y.length === 0) return;
  yield* space.combine(y, y.length, W);
  const u = yield* space.precondition(W, U);
  yield* space.add(u, X);
}
