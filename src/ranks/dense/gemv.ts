// exgemv() on a distributed matrix, with vectors that are whole on every rank. A row that lies on one rank is a job of its engine. A row
// that is spread over several is enclosed by two rounded sums from each; where the enclosure does not decide the rounding, its exact sum
// is added over the ranks. See Ranks.
import { asRow, checkSeparate, stridedView } from "../../arrays/matrix.ts";
import type { Matrix } from "../../arrays/types.ts";
import { embeddedVectors } from "../../engines/embeddedVectors.ts";
import { certify, settleWithin } from "../../exact/certify.ts";
import { addEnclosure, startEnclosure } from "../../exact/enclosure.ts";
import { store } from "../../exact/store.ts";
import { Superaccumulator } from "../../exact/superaccumulator.ts";
import { twoProd } from "../../exact/transforms.ts";
import { checkProduct, checkProductSizes } from "../../routines/dense/gemv.ts";
import { copiedOutput } from "../../routines/outputs.ts";
import type { MatrixVectorOptions } from "../../routines/types.ts";
import { type Context, together } from "../context.ts";
import { addOverRanks } from "../digits.ts";
import { hashOf } from "../replicated.ts";
import type { Distributed } from "../types.ts";
import { callWith, type DistributedMatrix } from "./matrix.ts";
import { Oriented } from "./oriented.ts";
import { messageBuffer } from "./redistribute.ts";

/** y := alpha A x + beta y, or with the transpose of A. */
export function exgemv(
  context: Context,
  alpha: number,
  A: Distributed<Matrix>,
  x: Float64Array,
  beta: number,
  y: Float64Array,
  options: MatrixVectorOptions = {},
): Promise<Float64Array> {
  return callWith(context, "exgemv", (borrow) => {
    const factor = borrow("A", A);
    const trans = checkProduct("exgemv", alpha, () => "binary64", x, beta, y, options);
    const view = stridedView(factor.local, trans);
    checkProductSizes("exgemv", trans ? { rows: factor.cols, cols: factor.rows } : factor, trans, x, y);
    checkSeparate("exgemv", "y", asRow(y), "A", view);
    checkSeparate("exgemv", "y", asRow(y), "x", asRow(x));
    const out = copiedOutput("exgemv", "y", asRow(y), true);
    const product = new Product(context, alpha, new Oriented(factor, trans), x.slice(), beta, out.entries.data as Float64Array);
    return {
      facts: {
        alpha,
        A: factor.description,
        ...(alpha === 0 ? {} : { "x with hash": hashOf(x) }),
        beta,
        ...(beta === 0 ? {} : { "y with hash": hashOf(y) }),
        trans,
      },
      async body() {
        await product.compute();
        out.write();
        return y;
      },
    };
  });
}

/** The same inside a call of all ranks, with a copy of x. */
export function multiply(
  context: Context,
  alpha: number,
  A: DistributedMatrix,
  x: Float64Array,
  beta: number,
  y: Float64Array,
): Promise<void> {
  return new Product(context, alpha, new Oriented(A, false), x, beta, y).compute();
}

class Product {
  private readonly sum = new Superaccumulator();

  constructor(
    private readonly context: Context,
    private readonly alpha: number,
    private readonly A: Oriented,
    private readonly x: Float64Array,
    private readonly beta: number,
    private readonly y: Float64Array,
  ) {}

  /** Replaces y. */
  async compute(): Promise<void> {
    const { alpha, A } = this;
    if (alpha === 0) for (let i = 0; i < A.rows.n; i++) this.finish(i, this.sum.clear());
    else if (A.cols.parts === 1) await this.rowsOnOneRank();
    else await this.rowsOnSeveral();
  }

  // y_i from alpha times the sum of products.
  private finish(i: number, scaled: Superaccumulator): void {
    if (this.beta !== 0) scaled.addProduct(this.beta, this.y[i] as number);
    store(this.y, i, scaled.round());
  }

  private async rowsOnOneRank(): Promise<void> {
    const { context, A, alpha, beta, y } = this;
    const mine = A.rows.indices(A.rowPart);
    const part = messageBuffer(A.rows.count(0));
    for (const [k, i] of mine.entries()) part[k] = y[i] as number;
    await together(context, "exgemv", () => this.multiply(alpha, beta, part));
    const all = await this.share(part);
    for (let i = 0; i < y.length; i++) store(y, i, all[A.rankOf(i, 0) * part.length + A.rows.local(i)] as number);
  }

  // part := factor * (the part of A on this rank) x + beta part.
  private async multiply(factor: number, beta: number, part: Float64Array): Promise<void> {
    const { A, x, context } = this;
    if (A.view.rows === 0) return;
    const columns = A.cols.indices(A.colPart);
    await context.backend.gemv(
      factor,
      A.view,
      Float64Array.from(columns, (j) => x[j] as number),
      beta,
      part.subarray(0, A.view.rows),
    );
  }

  // The parts of all ranks. Part 0 has the most rows; the others are padded.
  private async share(part: Float64Array): Promise<Float64Array> {
    const { comm } = this.context;
    const all = messageBuffer(part.length * comm.size);
    await comm.gatherAll(part, all).wait();
    return all;
  }

  private async rowsOnSeveral(): Promise<void> {
    const { context, A, alpha, y } = this;
    const length = A.rows.count(0);
    const finite = Number.isFinite(alpha);
    const part = messageBuffer(2 * length);
    const [first, second] = [part.subarray(0, length), part.subarray(length)];
    await together(context, "exgemv", async () => {
      await this.multiply(finite ? 1 : alpha, 0, first);
      second.set(first);
      if (finite) await this.multiply(1, -1, second);
    });
    const all = await this.share(part);
    const undecided: number[] = [];
    for (let i = 0; i < y.length; i++) {
      const result = finite ? this.decide(i, all, length) : undefined;
      if (result !== undefined) store(y, i, result);
      else if (finite) undecided.push(i);
      else this.finish(i, this.addSpecials(i, all, length));
    }
    await this.addExactly(undecided);
  }

  // The result for row i, if the enclosures of its parts decide it. A part S is p1 + p2 with p1 = RN(S) and p2 = RN(S - p1): it is off by
  // at most half a unit in the last place of p2, which is below 2^-53 |p2| or 2^-1075. The bounds below are twice that, so that their own
  // roundings do not matter. The usual case, alpha = 1 or -1, is tried in binary64 first: 0.1 µs for two parts, where exact digits take 8.
  private decide(i: number, all: Float64Array, length: number): number | undefined {
    const { A, alpha, beta, y, sum } = this;
    const at = A.rows.local(i);
    let bound = 0;
    startEnclosure();
    sum.clear();
    const starts = this.startsOf(i, length);
    for (const start of starts) {
      const p1 = all[start + at] as number;
      const p2 = all[start + length + at] as number;
      if (!Number.isFinite(p1)) return undefined; // an overflow, or a term that is not finite
      const own = Math.abs(p2) * 2 ** -52 + 2 ** -1074;
      addEnclosure(alpha * p1, alpha * p2, own);
      bound += own;
    }
    const quick = Math.abs(alpha) === 1 && this.addsExactly(beta, y[i] as number) ? certify(false, "nearest", "binary64") : Number.NaN;
    if (quick === quick) return quick;
    bound = bound * Math.abs(alpha) + 2 ** -1074;
    if (!Number.isFinite(bound)) return undefined;
    for (const start of starts) sum.add(all[start + at] as number).add(all[start + length + at] as number);
    sum.scale(alpha);
    if (beta !== 0) sum.addProduct(beta, y[i] as number);
    return settleWithin(sum, bound, false, "nearest", "binary64");
  }

  // Where the parts of row i begin, one for each part of the columns.
  private startsOf(i: number, length: number): number[] {
    const { A } = this;
    return Array.from({ length: A.cols.parts }, (_, c) => 2 * length * A.rankOf(i, c));
  }

  // Add beta y to the enclosure; false if its product is not the sum of two numbers (twoProd).
  private addsExactly(beta: number, y: number): boolean {
    if (beta === 0 || y === 0) return Number.isFinite(beta);
    const p = beta * y;
    if (!(Math.abs(p) > 2 ** -900 && Math.abs(p) < 2 ** 900 && Math.abs(beta) < 2 ** 900 && Math.abs(y) < 2 ** 900)) return false;
    addEnclosure(p, twoProd(beta, y, p), 0);
    return true;
  }

  // The terms of row i if alpha is not finite: every part that has terms is NaN or an infinity.
  private addSpecials(i: number, all: Float64Array, length: number): Superaccumulator {
    const { A, sum } = this;
    sum.clear();
    for (const start of this.startsOf(i, length)) sum.add(all[start + A.rows.local(i)] as number);
    return sum;
  }

  private async addExactly(rows: readonly number[]): Promise<void> {
    const { context, A, x, alpha, sum } = this;
    const own = Float64Array.from(A.cols.indices(A.colPart), (j) => x[j] as number);
    const part = (k: number): Superaccumulator | undefined => {
      const i = rows[k] as number;
      if (A.rows.owner(i) !== A.rowPart) return undefined;
      sum.clear();
      if (own.length > 0) embeddedVectors().accumulate("dot", A.row(A.rows.local(i)), own, sum, true);
      return sum;
    };
    await addOverRanks(context, rows.length, part, (k, whole) => this.finish(rows[k] as number, whole.scale(alpha)));
  }
}
