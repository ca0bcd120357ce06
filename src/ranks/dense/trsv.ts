// extrsv() on a distributed triangle, with vectors that are whole on every rank. Substitution goes block by block, whatever the blocks of
// the layout are. One rank collects the diagonal block and the exact sums of its rows, solves it and broadcasts the unknowns; then every
// rank adds the products with them to the sums of its later rows. See Ranks.
import { zeroOnDiagonal } from "../../arrays/matrix.ts";
import type { Matrix, TriangularOptions } from "../../arrays/types.ts";
import { embeddedVectors } from "../../engines/embeddedVectors.ts";
import type { Substitution } from "../../engines/kernels.ts";
import { correct, store } from "../../exact/store.ts";
import { unknown } from "../../exact/substitution.ts";
import { Superaccumulator } from "../../exact/superaccumulator.ts";
import { checkTriangular } from "../../routines/dense/trsv.ts";
import type { Context } from "../context.ts";
import { addOverRanks } from "../digits.ts";
import { hashOf } from "../replicated.ts";
import type { Distributed } from "../types.ts";
import { callWith, type DistributedMatrix } from "./matrix.ts";
import { Oriented } from "./oriented.ts";
import { collect, messageBuffer, NOTHING } from "./redistribute.ts";

// Unknowns in a block, unless blocks are refined: then the caller says. A block takes three exchanges.
const BLOCK = 256;

/** The solution of T x = b, or of the transposed system, by substitution. */
export function extrsv(context: Context, T: Distributed<Matrix>, b: Float64Array, options: TriangularOptions = {}): Promise<Float64Array> {
  return callWith(context, "extrsv", (borrow) => {
    const triangle = borrow("T", T);
    const { trans, ...how } = checkTriangular(triangle, "binary64", b, options);
    const right = b.slice();
    return {
      facts: { T: triangle.description, "b with hash": hashOf(b), trans, ...how },
      async body() {
        const system = new System(context, new Oriented(triangle, trans), how);
        if (!how.unit) await system.checkDiagonal();
        return system.solve(right);
      },
    };
  });
}

/** The same inside a call of all ranks, for a triangle without zeros on its diagonal. */
export function solveTriangle(context: Context, T: DistributedMatrix, how: Substitution, b: Float64Array): Promise<Float64Array> {
  return new System(context, new Oriented(T, false), how).solve(b);
}

class System {
  private readonly n: number;
  /** The part of this rank, row by row. */
  private readonly data: Float64Array;
  private readonly width: number;

  constructor(
    private readonly context: Context,
    private readonly T: Oriented,
    private readonly how: Substitution,
  ) {
    const { rows, cols, data } = T.view;
    this.n = T.rows.n;
    this.width = cols;
    this.data = data;
    if (!T.trans) return;
    this.data = new Float64Array(rows * cols);
    for (let r = 0; r < rows; r++) this.data.set(T.row(r), r * cols);
  }

  /** Throws on every rank if there is a zero on the diagonal, for the first one. */
  async checkDiagonal(): Promise<void> {
    const { T, n, data, width } = this;
    const { comm } = this.context;
    const first = messageBuffer(1).fill(n);
    const rows = T.rows.indices(T.rowPart);
    for (let r = rows.length - 1; r >= 0; r--) {
      const i = rows[r] as number;
      if (T.cols.owner(i) === T.colPart && data[r * width + T.cols.local(i)] === 0) first[0] = i;
    }
    const all = messageBuffer(comm.size);
    await comm.gatherAll(first, all).wait();
    const zero = Math.min(...all);
    if (zero < n) throw zeroOnDiagonal("extrsv", "T", zero);
  }

  async solve(b: Float64Array): Promise<Float64Array> {
    const x = await this.substitute(b);
    for (let step = 0; step < this.how.refine && x.every(Number.isFinite); step++)
      correct(x, await this.substitute(await this.residual(b, x)));
    return x;
  }

  private async substitute(b: Float64Array): Promise<Float64Array> {
    const { context, T, n, how } = this;
    const { comm } = context;
    const x = new Float64Array(n);
    const size = how.refineBlocks > 0 ? how.blockSize : BLOCK;
    const count = Math.ceil(n / size);
    // The sums of the rows of this rank over the unknowns so far.
    const sums = Array.from({ length: T.rows.count(T.rowPart) }, () => new Superaccumulator());
    for (let k = 0; k < count; k++) {
      // In the order of substitution: the last block of an upper triangle is first, and its first may be shorter.
      const [from, to] = how.upper ? [Math.max(0, n - (k + 1) * size), n - k * size] : [k * size, Math.min(n, (k + 1) * size)];
      const solver = k % comm.size;
      const range = Int32Array.from({ length: to - from }, (_, i) => from + i);
      const entries = await collect(context, T.A, (rank) => (rank === solver ? { rows: range, cols: range } : NOTHING));
      const known: Superaccumulator[] = [];
      const part = (i: number): Superaccumulator | undefined =>
        T.rows.owner(from + i) === T.rowPart ? sums[T.rows.local(from + i)] : undefined;
      await addOverRanks(context, to - from, part, comm.rank === solver ? (_, sum) => known.push(sum) : undefined);
      const solution = messageBuffer(to - from);
      if (comm.rank === solver) {
        const block = new Block(T.trans ? transposed(entries, to - from) : entries, how, known, b.subarray(from, to));
        solution.set(block.solve());
      }
      await comm.broadcast(solution, solver).wait();
      x.set(solution, from);
      if (k + 1 < count) this.addProducts(sums, x, from, to);
    }
    return x;
  }

  // Add the products with the unknowns from..to - 1 to the sums of the rows that are still to be solved.
  private addProducts(sums: readonly Superaccumulator[], x: Float64Array, from: number, to: number): void {
    const { T, how, data, width } = this;
    const [start, end] = [T.cols.count(T.colPart, from), T.cols.count(T.colPart, to)];
    if (start === end) return;
    const factors = this.ownOf(x, start, end);
    const [first, last] = how.upper ? [0, T.rows.count(T.rowPart, from)] : [T.rows.count(T.rowPart, to), sums.length];
    for (let r = first; r < last; r++) addDot(data.subarray(r * width + start, r * width + end), factors, sums[r] as Superaccumulator);
  }

  // The elements of x for the columns of this rank, from place `start` to `end` - 1.
  private ownOf(x: Float64Array, start: number, end: number): Float64Array {
    const { T } = this;
    return Float64Array.from({ length: end - start }, (_, c) => x[T.cols.global(T.colPart, start + c)] as number);
  }

  // RN(b - T x), for a finite x.
  private async residual(b: Float64Array, x: Float64Array): Promise<Float64Array> {
    const { context, T, n, how, data, width } = this;
    const factors = this.ownOf(x, 0, width);
    const sum = new Superaccumulator();
    const part = (i: number): Superaccumulator | undefined => {
      if (T.rows.owner(i) !== T.rowPart) return undefined;
      const [start, end] = how.upper
        ? [T.cols.count(T.colPart, how.unit ? i + 1 : i), width]
        : [0, T.cols.count(T.colPart, how.unit ? i : i + 1)];
      const row = T.rows.local(i) * width;
      addDot(data.subarray(row + start, row + end), factors.subarray(start, end), sum.clear());
      return sum;
    };
    const r = new Float64Array(n);
    await addOverRanks(context, n, part, (i, whole) => {
      if (how.unit) whole.add(x[i] as number);
      store(
        r,
        i,
        whole
          .negate()
          .add(b[i] as number)
          .round(),
      );
    });
    return r;
  }
}

function addDot(x: Float64Array, y: Float64Array, into: Superaccumulator): void {
  if (x.length > 0) embeddedVectors().accumulate("dot", x, y, into, true);
}

function transposed(entries: Float64Array, n: number): Float64Array {
  return entries.map((_, k) => entries[(k % n) * n + Math.floor(k / n)] as number);
}

const sum = new Superaccumulator();

/** A diagonal block, row by row, with the sums of its rows over the unknowns before it. */
class Block {
  private readonly n: number;

  constructor(
    private readonly entries: Float64Array,
    private readonly how: Substitution,
    private readonly known: readonly Superaccumulator[],
    private readonly b: Float64Array,
  ) {
    this.n = b.length;
  }

  solve(): Float64Array {
    const x = this.substitute(this.b, this.known);
    for (let step = 0; step < this.how.refineBlocks && x.every(Number.isFinite); step++)
      correct(x, this.substitute(this.residual(x), undefined));
    return x;
  }

  private substitute(b: Float64Array, known: readonly Superaccumulator[] | undefined): Float64Array {
    const { n, how, entries } = this;
    const x = new Float64Array(n);
    for (let step = 0; step < n; step++) {
      const k = how.upper ? n - 1 - step : step;
      this.addRow(k, x, known);
      sum.negate().add(b[k] as number);
      store(x, k, unknown(sum, how.unit ? undefined : (entries[k * n + k] as number), how.rounding, "binary64"));
    }
    return x;
  }

  // sum := the products of row k with the unknowns before it.
  private addRow(k: number, x: Float64Array, known: readonly Superaccumulator[] | undefined): void {
    const { n, how, entries } = this;
    const [start, end] = how.upper ? [k + 1, n] : [0, k];
    addDot(entries.subarray(k * n + start, k * n + end), x.subarray(start, end), sum.clear());
    if (known) sum.merge(known[k] as Superaccumulator);
  }

  private residual(x: Float64Array): Float64Array {
    const { n, how, entries, b, known } = this;
    const r = new Float64Array(n);
    for (let k = 0; k < n; k++) {
      this.addRow(k, x, known);
      sum.addProduct(how.unit ? 1 : (entries[k * n + k] as number), x[k] as number);
      store(
        r,
        k,
        sum
          .negate()
          .add(b[k] as number)
          .round(),
      );
    }
    return r;
  }
}
