// exlu() on distributed matrices: P A = L U with partial pivoting, and its solve(). See Ranks.
//
// The factorization has a layout of its own: columns in groups of eight, dealt out one by one, and rows of L likewise. It is left-looking,
// 32 columns at a time. The panel of a block is copied to all ranks, and each computes the sums of its own rows in it. These sums go to all
// ranks, and each factors the panel by itself, all of them alike; where an entry takes more than its sum to decide, one exchange for each
// column decides the pivot. Then the 32 rows of L go to all ranks, and each computes these rows of U in its own columns: first in those of
// the next panel. The other columns are left for the time in which a rank would wait for the next panel, its sums, and its rows of L: the
// factorization looks ahead by one panel. The bits are those of one machine.
import { checkCount, checkOptions, checkSize, checkVectorOf } from "../../arrays/checks.ts";
import { ShapeError, SingularError, ValueError } from "../../arrays/errors.ts";
import type { Matrix } from "../../arrays/types.ts";
import { BLOCK, GROUP, LuKernels } from "../../engines/wasm/luRanks.ts";
import { correct } from "../../exact/store.ts";
import type { RefineOptions } from "../../routines/types.ts";
import { type Context, together } from "../context.ts";
import { Layout } from "../grid.ts";
import type { Pending } from "../mpi/communicator.ts";
import { hashOf } from "../replicated.ts";
import type { Distributed, DistributedLU } from "../types.ts";
import { multiply } from "./gemv.ts";
import { callWith, DistributedMatrix, newPart } from "./matrix.ts";
import { messageBuffer, relayout, type Stored } from "./redistribute.ts";
import { solveTriangle } from "./trsv.ts";

/** P A = L U with partial pivoting. */
export function exlu(context: Context, A: Distributed<Matrix>): Promise<DistributedLU> {
  return callWith(context, "exlu", (borrow) => {
    const matrix = borrow("A", A);
    return { facts: { A: matrix.description }, body: () => factor(context, matrix) };
  });
}

async function factor(context: Context, A: DistributedMatrix): Promise<DistributedLU> {
  const { layout } = A;
  const elimination = await Elimination.of(context, layout);
  await elimination.read(A.stored);
  const outcome = await elimination.run();
  if ("overflowed" in outcome) {
    const [row, column] = outcome.overflowed;
    throw new ValueError(`exlu: entry (${row}, ${column}) of the factors of A overflows, expected a finite number`, row, column);
  }
  if ("column" in outcome) {
    const { column } = outcome;
    throw new SingularError(`exlu: the pivot of column ${column} is 0, expected a matrix of full rank`, column);
  }
  const lu = await together(context, "exlu", () => elimination.result(layout));
  await elimination.write(lu.stored);
  const copy = new DistributedMatrix(context, layout, await together(context, "exlu", () => elimination.copyOf(A)));
  return new DistributedFactors(context, lu, outcome.pivots, copy);
}

/**
 * P A = L U in place of a finite matrix, inside a call of all ranks: the pivots, or the first column whose pivot is 0, or in which an entry
 * overflows.
 */
export async function factorDistributed(
  context: Context,
  A: DistributedMatrix,
): Promise<{ lu: DistributedMatrix; pivots: Int32Array } | { column: number }> {
  const elimination = await Elimination.of(context, A.layout);
  await elimination.read(A.stored);
  const outcome = await elimination.run();
  if ("overflowed" in outcome) return { column: outcome.overflowed[1] };
  if ("column" in outcome) return outcome;
  await elimination.write(A.stored);
  return { lu: A, pivots: outcome.pivots };
}

// Where an attempt of every rank by itself does not reach the end of a panel, as many panels go without one.
const PATIENCE = 8;

type Outcome = { pivots: Int32Array } | { column: number } | { overflowed: [row: number, column: number] };

/** One factorization on this rank. */
class Elimination {
  private readonly steps: number;
  private readonly groups: number;
  private readonly columns: Stored;
  // The groups in which rows [from, from + count) of U are still to be computed.
  private behind: { readonly groups: number[]; readonly from: number; readonly count: number } = { groups: [], from: 0, count: 0 };

  static async of(context: Context, { rows, cols }: Layout): Promise<Elimination> {
    const { rank, size } = context.comm;
    return new Elimination(context, rows, cols, await together(context, "exlu", () => new LuKernels(rows, cols, rank, size)));
  }

  private constructor(
    private readonly context: Context,
    private readonly rows: number,
    private readonly cols: number,
    private readonly kernels: LuKernels,
  ) {
    this.steps = Math.min(rows, cols);
    this.groups = Math.ceil(cols / GROUP);
    const layout = new Layout(rows, cols, GROUP, [1, context.comm.size]);
    this.columns = { layout, data: kernels.data, rowStart: (r) => GROUP * r, colStart: (c) => kernels.colStart(c) };
  }

  /** Copy A to the columns. Throws on every rank for the first entry that is not finite. */
  async read(A: Stored): Promise<void> {
    await relayout(this.context, A, this.columns);
    let first = Number.POSITIVE_INFINITY;
    let value = 0;
    for (const g of this.ownGroups(0)) {
      const place = this.kernels.place(g);
      if (place < 0) continue;
      const [row, col] = [Math.floor(place / GROUP), g * GROUP + (place % GROUP)];
      if (row * this.cols + col > first) continue;
      first = row * this.cols + col;
      value = this.columns.data[GROUP * row + this.kernels.colStart(this.columns.layout.colCut.local(col))] as number;
    }
    const [index, entry] = await this.least(first, value);
    if (index === Number.POSITIVE_INFINITY) return;
    const [row, col] = [Math.floor(index / this.cols), index % this.cols];
    throw new ValueError(`exlu: entry (${row}, ${col}) of A is ${entry}, expected a finite number`, row, col);
  }

  /** Copy the factors to a matrix. */
  async write(to: Stored): Promise<void> {
    await relayout(this.context, this.columns, to);
  }

  /** A matrix for the factors, in memory that the factorization no longer needs. */
  result(layout: Layout): DistributedMatrix {
    const { context, kernels } = this;
    const [rows, cols] = layout.shapeOn(context.comm.rank);
    const data = kernels.inPlaceOfRows(rows * cols);
    return data
      ? new DistributedMatrix(context, layout, data, () => undefined)
      : new DistributedMatrix(context, layout, newPart(context, layout));
  }

  /** A copy of the part of A, in the memory of the columns, which are lost. */
  copyOf(A: DistributedMatrix): Float64Array {
    const { data } = A.local;
    const copy = this.kernels.inPlaceOfGroups(data.length) ?? newPart(this.context, A.layout);
    copy.set(data as Float64Array);
    return copy;
  }

  async run(): Promise<Outcome> {
    const { steps, rows, cols, kernels } = this;
    let panel = this.sharePanel(0);
    let patience = 0; // panels before the next attempt of every rank by itself
    for (let first = 0; first < steps; first += BLOCK) {
      const end = Math.min(first + BLOCK, steps);
      for (const each of panel) await this.meanwhile(each);
      kernels.sums(first);
      const from = patience > 0 ? first : await this.factorAlike(first, end);
      patience = patience > 0 ? patience - 1 : from < end ? PATIENCE : 0;
      for (let j = from; j < end; j++) {
        kernels.propose(j);
        await this.meanwhile(this.context.comm.gatherAll(kernels.message, kernels.messages));
        const done = kernels.pivot(j);
        if (done === "singular") return { column: j };
        if (done === "overflowed") return this.overflow();
      }
      await this.shareRows(first, end - first, end);
      const right = this.ownGroups((first + BLOCK) / GROUP);
      const next = (first + 2 * BLOCK) / GROUP;
      this.behind = { groups: right, from: first, count: end - first };
      while ((right[0] as number) < next) this.catchUp();
      panel = this.sharePanel(end);
    }
    while (this.catchUp());
    for (let i = steps; i < rows; i += BLOCK) await this.shareRows(i, Math.min(BLOCK, rows - i), steps);
    if (cols > rows && (await this.least(kernels.overflowed, 0))[0] < Number.POSITIVE_INFINITY) return this.overflow();
    return { pivots: kernels.pivots.slice() };
  }

  // Factor the panel on every rank by itself. Returns the column from which on the ranks decide together.
  private async factorAlike(first: number, end: number): Promise<number> {
    const { context, kernels } = this;
    const parts = kernels.share();
    if (!parts) return first;
    await this.meanwhile(context.comm.gatherAll(...parts));
    return kernels.panel(end);
  }

  // Wait for messages. Until they are there, compute what is behind.
  private async meanwhile(pending: Pending): Promise<void> {
    while (!pending.test()) if (!this.catchUp()) return pending.wait();
  }

  // Compute rows of U in one of the groups that are behind; false if none is.
  private catchUp(): boolean {
    const { groups, from, count } = this.behind;
    const group = groups.shift();
    if (group !== undefined) this.kernels.solve(group, from, count);
    return group !== undefined;
  }

  // The groups of this rank from `from` on.
  private ownGroups(from: number): number[] {
    const { rank, size } = this.context.comm;
    const own: number[] = [];
    for (let g = rank; g < this.groups; g += size) if (g >= from) own.push(g);
    return own;
  }

  // Start to copy the groups of a panel to all ranks.
  private sharePanel(first: number): Pending[] {
    const { comm } = this.context;
    const pending: Pending[] = [];
    if (first >= this.steps) return pending;
    const end = Math.min((first + BLOCK) / GROUP, this.groups);
    for (let g = first / GROUP; g < end; g++) pending.push(comm.broadcast(this.kernels.group(g), g % comm.size));
    return pending;
  }

  // Copy rows of L to all ranks, after which nothing is behind.
  private async shareRows(from: number, count: number, length: number): Promise<void> {
    const pending = this.context.comm.shareParts(this.kernels.pack(from, count, length));
    while (this.catchUp()) pending.test(); // so that the messages move on
    await pending.wait();
    this.kernels.store(from, count);
  }

  private async overflow(): Promise<Outcome> {
    const [place] = await this.least(this.kernels.overflowed, 0);
    return { overflowed: [place % this.rows, Math.floor(place / this.rows)] };
  }

  // The least of these numbers over all ranks, and what comes with it.
  private async least(place: number, value: number): Promise<[number, number]> {
    const { comm } = this.context;
    const all = messageBuffer(2 * comm.size);
    await comm.gatherAll(messageBuffer(2).fill(place, 0, 1).fill(value, 1), all).wait();
    let at = 0;
    for (let rank = 1; rank < comm.size; rank++) if ((all[2 * rank] as number) < (all[2 * at] as number)) at = rank;
    return [all[2 * at] as number, all[2 * at + 1] as number];
  }
}

const SUBSTITUTION = { rounding: "single", refine: 0, refineBlocks: 0, blockSize: 0 } as const;

class DistributedFactors implements DistributedLU {
  constructor(
    private readonly context: Context,
    readonly lu: DistributedMatrix,
    readonly pivots: Int32Array,
    private readonly copy: DistributedMatrix,
  ) {}

  solve(b: Float64Array, options: RefineOptions = {}): Promise<Float64Array> {
    const { context, lu, copy } = this;
    return callWith(context, "LU.solve", (borrow) => {
      borrow("lu", lu);
      if (lu.rows !== lu.cols) throw new ShapeError(`LU.solve: the matrix is ${lu.rows} by ${lu.cols}, expected a square one`);
      checkVectorOf("LU.solve", "b", b, "binary64", "A");
      checkSize("LU.solve", "b", b, lu.rows, "the order of A");
      checkOptions("LU.solve", options, ["refine"]);
      const { refine = 0 } = options;
      checkCount("LU.solve", "refine", refine, 0);
      const right = b.slice();
      return {
        facts: { lu: lu.description, "b with hash": hashOf(b), refine },
        body: async () => {
          const x = await this.substitute(right.slice());
          for (let step = 0; step < refine && x.every(Number.isFinite); step++) {
            const r = right.slice();
            await multiply(context, -1, copy, x, 1, r);
            correct(x, await this.substitute(r));
          }
          return x;
        },
      };
    });
  }

  private substitute(b: Float64Array): Promise<Float64Array> {
    return substituteExactly(this.context, this.lu, this.pivots, b);
  }
}

/** Row swaps, which change b, and both triangular solves, inside a call of all ranks. */
export async function substituteExactly(
  context: Context,
  lu: DistributedMatrix,
  pivots: Int32Array,
  b: Float64Array,
): Promise<Float64Array> {
  for (const [k, p] of pivots.entries()) [b[k], b[p]] = [b[p] as number, b[k] as number];
  const y = await solveTriangle(context, lu, { ...SUBSTITUTION, upper: false, unit: true }, b);
  return solveTriangle(context, lu, { ...SUBSTITUTION, upper: true, unit: false }, y);
}
