// Where the entries of a distributed dense matrix are: block-cyclic over a grid of ranks, as in ScaLAPACK (Blackford et al., ScaLAPACK
// Users' Guide, 1997, section 4.3). Rank r of a grid of pr by pc is in its row floor(r / pc) and column r mod pc. The files of dense/ use it.
import { checkCount, checkOptions, describe } from "../arrays/checks.ts";
import { ShapeError } from "../arrays/errors.ts";
import type { GridOptions } from "./types.ts";

const BLOCK_SIZE = 64;
/** Rows and columns of a matrix, at most: indices are 32-bit integers. */
const MAX = 2 ** 31 - 1;

/** The indices 0 to n - 1, dealt out to parts in blocks: block I belongs to part I mod parts. */
export class Cyclic {
  constructor(
    readonly n: number,
    readonly blockSize: number,
    readonly parts: number,
  ) {}

  /** The part that has index i. */
  owner(i: number): number {
    return Math.floor(i / this.blockSize) % this.parts;
  }

  /** The place of index i in its part. */
  local(i: number): number {
    const { blockSize, parts } = this;
    return Math.floor(i / (blockSize * parts)) * blockSize + (i % blockSize);
  }

  /** The index at place l of a part. */
  global(part: number, l: number): number {
    const { blockSize, parts } = this;
    return (Math.floor(l / blockSize) * parts + part) * blockSize + (l % blockSize);
  }

  /** How many indices below `end` a part has. They are its first ones. */
  count(part: number, end = this.n): number {
    const blocks = Math.floor(end / this.blockSize);
    const next = blocks % this.parts;
    const rest = part < next ? this.blockSize : part === next ? end % this.blockSize : 0;
    return Math.floor(blocks / this.parts) * this.blockSize + rest;
  }

  /** Whether a part has all of these indices, one after another. */
  hasRange(part: number, indices: Int32Array): boolean {
    return indices.every((i, k) => this.owner(i) === part && this.local(i) === this.local(indices[0] as number) + k);
  }

  /** The indices of a part, ascending. */
  indices(part: number): Int32Array {
    return Int32Array.from({ length: this.count(part) }, (_, l) => this.global(part, l));
  }
}

/** How a matrix is spread over ranks: its rows over the rows of the grid, its columns over the columns. */
export class Layout {
  readonly rowCut: Cyclic;
  readonly colCut: Cyclic;

  constructor(
    readonly rows: number,
    readonly cols: number,
    readonly blockSize: number,
    readonly grid: readonly [rows: number, cols: number],
  ) {
    this.rowCut = new Cyclic(rows, blockSize, grid[0]);
    this.colCut = new Cyclic(cols, blockSize, grid[1]);
  }

  /** The row of the grid that a rank is in. */
  gridRow(rank: number): number {
    return Math.floor(rank / this.grid[1]);
  }

  /** The column of the grid that a rank is in. */
  gridCol(rank: number): number {
    return rank % this.grid[1];
  }

  /** The number of rows, and of columns, that a rank holds. */
  shapeOn(rank: number): [rows: number, cols: number] {
    return [this.rowCut.count(this.gridRow(rank)), this.colCut.count(this.gridCol(rank))];
  }

  /** The rows that a rank holds. */
  rowsOn(rank: number): Int32Array {
    return this.rowCut.indices(this.gridRow(rank));
  }

  /** The columns that a rank holds. */
  colsOn(rank: number): Int32Array {
    return this.colCut.indices(this.gridCol(rank));
  }

  /** In words, for the comparison of calls. */
  toString(): string {
    return `${this.rows} by ${this.cols} in blocks of ${this.blockSize} on ${this.grid.join(" by ")} ranks`;
  }
}

/** How a matrix of any shape is to be laid out. */
export type GridChoice = Pick<Layout, "blockSize" | "grid">;

/** Checks the options of a new matrix. */
export function checkGrid(routine: string, options: GridOptions, ranks: number): GridChoice {
  checkOptions(routine, options, ["blockSize", "grid"]);
  const { blockSize = BLOCK_SIZE, grid = squareGrid(ranks) } = options;
  checkCount(routine, "blockSize", blockSize, 1);
  if (blockSize > MAX) throw new ShapeError(`${routine}: blockSize is ${blockSize}, expected at most ${MAX}`);
  if (!Array.isArray(grid) || grid.length !== 2)
    throw new ShapeError(
      `${routine}: grid is ${Array.isArray(grid) ? `an array of length ${grid.length}` : describe(grid)}, expected [rows, cols]`,
    );
  const [rows, cols] = grid as [number, number];
  checkCount(routine, "grid[0]", rows, 1);
  checkCount(routine, "grid[1]", cols, 1);
  if (rows * cols !== ranks)
    throw new ShapeError(`${routine}: grid is ${rows} by ${cols}, ${rows * cols} ranks, expected ${ranks} (the ranks of this job)`);
  return { blockSize, grid: [rows, cols] };
}

/** The grid whose number of rows is the largest divisor of the number of ranks that is not above its root. */
function squareGrid(ranks: number): [number, number] {
  let rows = Math.floor(Math.sqrt(ranks));
  while (ranks % rows !== 0) rows--;
  return [rows, ranks / rows];
}

/** Checks the number of rows or columns of a new matrix. */
export function checkDimension(routine: string, name: string, n: number): void {
  checkCount(routine, name, n, 0);
  if (n > MAX) throw new ShapeError(`${routine}: ${name} is ${n}, expected at most ${MAX}`);
}
