// Distributed dense matrices: the object that users hold, and matrix(), which makes one from a function. The other makers are in transfer.ts
// and npy.ts. Every routine of this folder gets its matrices by callWith(), so that none is freed while a call uses it.
import { allocate, free } from "../../api/memory.ts";
import { describe } from "../../arrays/checks.ts";
import { EngineError, ShapeError } from "../../arrays/errors.ts";
import { rowMajor, type StridedMatrix } from "../../arrays/matrix.ts";
import type { Matrix } from "../../arrays/types.ts";
import type { Context, Prepared } from "../context.ts";
import { checkDimension, checkGrid, Layout } from "../grid.ts";
import type { Distributed, GridOptions } from "../types.ts";
import type { Stored } from "./redistribute.ts";

// Matrices are made in the same order on every rank, so equal numbers mean the same matrix.
let made = 0;

/** A dense matrix of which each rank holds the blocks that its layout says, row by row without gaps. */
export class DistributedMatrix implements Distributed<Matrix> {
  private readonly number = ++made;
  private readonly part: Matrix;
  private freed = false;
  private users = 0;

  /** Every rank makes it, with its part in memory from allocate(), or in other memory with a way to release it. */
  constructor(
    readonly context: Context,
    readonly layout: Layout,
    data: Float64Array,
    private readonly release: (data: Float64Array) => void = free,
  ) {
    const [rows, cols] = layout.shapeOn(context.comm.rank);
    this.part = { data, rows, cols, order: "row", ld: cols, offset: 0 };
  }

  get rows(): number {
    return this.layout.rows;
  }

  get cols(): number {
    return this.layout.cols;
  }

  get grid(): readonly [rows: number, cols: number] {
    return this.layout.grid;
  }

  get blockSize(): number {
    return this.layout.blockSize;
  }

  get local(): Matrix {
    if (this.freed && this.users === 0) throw new EngineError("local: the matrix was freed");
    return this.part;
  }

  /** The part of this rank, for a call that borrowed the matrix. */
  get entries(): StridedMatrix<Float64Array> {
    return rowMajor(this.part.data, this.part.rows, this.part.cols);
  }

  /** The same, as collect() and relayout() see it. */
  get stored(): Stored {
    const { data, cols } = this.part;
    return { layout: this.layout, data, rowStart: (r) => r * cols, colStart: (c) => c };
  }

  /** Which matrix this is, for the facts of a call. */
  get description(): string {
    return `${this.layout} (matrix ${this.number})`;
  }

  /** Takes effect after the calls that use the matrix. */
  free(): void {
    if (this.freed) return;
    this.freed = true;
    if (this.users === 0) this.release(this.part.data as Float64Array);
  }

  /** Keep the memory until giveBack(). */
  borrow(routine: string, name: string): void {
    if (this.freed) throw new EngineError(`${routine}: ${name} was freed`);
    this.users++;
  }

  giveBack(): void {
    if (--this.users === 0 && this.freed) this.release(this.part.data as Float64Array);
  }
}

/** Checks that an argument is a matrix of these ranks, and keeps its memory until the call is done. */
export type Borrow = (name: string, A: Distributed<Matrix>) => DistributedMatrix;

/** A call of all ranks (Context.call) that works with distributed matrices. */
export async function callWith<R>(context: Context, routine: string, prepare: (borrow: Borrow) => Prepared<R>): Promise<R> {
  const borrowed: DistributedMatrix[] = [];
  const borrow: Borrow = (name, A) => {
    if (!(A instanceof DistributedMatrix))
      throw new ShapeError(`${routine}: ${name} is ${describe(A)}, expected a distributed matrix (see matrix() and scatter() of Ranks)`);
    if (A.context !== context) throw new ShapeError(`${routine}: ${name} belongs to other ranks, expected a matrix of these`);
    A.borrow(routine, name);
    borrowed.push(A);
    return A;
  };
  try {
    return await context.call(routine, () => prepare(borrow));
  } finally {
    for (const A of borrowed) A.giveBack();
  }
}

/** Memory for the part of this rank. */
export function newPart({ comm }: Context, layout: Layout): Float64Array<ArrayBuffer> {
  const [rows, cols] = layout.shapeOn(comm.rank);
  return allocate(rows * cols);
}

/** A matrix from a function of the row and the column: see Ranks.matrix. */
export function matrix(
  context: Context,
  rows: number,
  cols: number,
  entry: (i: number, j: number) => number,
  options: GridOptions = {},
): Promise<DistributedMatrix> {
  return context.call("matrix", () => {
    checkDimension("matrix", "rows", rows);
    checkDimension("matrix", "cols", cols);
    if (typeof entry !== "function") throw new ShapeError(`matrix: entry is ${describe(entry)}, expected a function`);
    const { blockSize, grid } = checkGrid("matrix", options, context.comm.size);
    const layout = new Layout(rows, cols, blockSize, grid);
    const data = filled(context, layout, entry);
    return { facts: { layout: String(layout) }, body: () => new DistributedMatrix(context, layout, data) };
  });
}

function filled(context: Context, layout: Layout, entry: (i: number, j: number) => number): Float64Array {
  const data = newPart(context, layout);
  if (data.length === 0) return data;
  const columns = layout.colsOn(context.comm.rank);
  let at = 0;
  try {
    for (const i of layout.rowsOn(context.comm.rank))
      for (const j of columns) {
        const v = entry(i, j);
        if (typeof v !== "number") throw new ShapeError(`matrix: entry(${i}, ${j}) is ${describe(v)}, expected a number`);
        data[at++] = v;
      }
  } catch (error) {
    free(data);
    throw error;
  }
  return data;
}
