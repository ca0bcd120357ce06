// What the schedules hand out: phases (levr, levc) and blocks of rows, or of columns in the plain column-wise schedules. The rows of a
// block are consecutive in the order of substitution and solved in that order, so a block waits only for earlier blocks, never for
// itself. The sparse paper hands out single rows (Algorithms 1 to 4). Called by plan.ts, storage.ts and graph.ts.
import { newIntegers } from "../../arrays/vectors.ts";
import type { SparseTriangle } from "../../engines/kernels.ts";
import { LOOKUP_SHIFT } from "../../engines/lookup.ts";

/** A barrier takes about as long as this many rows. */
export const ROWS_PER_BARRIER = 64;

/**
 * Where phases begin, and the end, for levels of single rows or of blocks. ~start begins a phase for one worker alone: any number of
 * levels with fewer than `minTasks` tasks each, without barriers between them.
 */
export function phasesOf(ilev: Int32Array, minTasks: number): Int32Array {
  const levels = ilev.length - 1;
  const phases: number[] = [];
  for (let m = 0, alone = false; m < levels; m++) {
    const start = ilev[m] as number;
    const small = (ilev[m + 1] as number) - start < minTasks;
    if (!small) phases.push(start);
    else if (!alone) phases.push(~start);
    alone = small;
  }
  return Int32Array.from([...phases, ilev[levels] as number]);
}

/** The pattern of a system, without what depends on its schedule. */
export type SystemPattern = Pick<SparseTriangle, "n" | "upper" | "begins" | "ends" | "indices" | "order" | "diagonalAt">;

/** Blocks of rows: where each begins, and the end; and the block of every 32nd row. */
export interface Blocks {
  readonly starts: Int32Array;
  readonly lookup: Int32Array;
}

// Rows in a block: enough that handing it out costs little.
const MIN_BLOCK = 2 ** LOOKUP_SHIFT;

/**
 * Divides rows in natural order into blocks. A block ends where the next unknown does not depend on the previous one, for instance at
 * the end of a grid line, so that the worker with the next block need not wait for all of this one; and when it has `maxRows` rows.
 */
class BlockBuilder {
  private readonly begins: number[] = [0];
  private start = 0;

  constructor(
    private readonly n: number,
    private readonly maxRows: number,
  ) {}

  /** The k-th row does not depend on the one before it. k ascends from call to call, and may be n. */
  breakAt(k: number): void {
    while (k - this.start > this.maxRows) this.begin(this.start + this.maxRows);
    if (k - this.start >= MIN_BLOCK && k < this.n) this.begin(k);
  }

  private begin(k: number): void {
    this.begins.push(k);
    this.start = k;
  }

  blocks(): Blocks {
    this.breakAt(this.n);
    return blocksAt(this.begins, this.n);
  }
}

/** Blocks of rows (or columns) from bits that tell which of them lack the entry next to the diagonal: see Triangular. */
export function blocksFromBits(lacksNeighbour: Int32Array, n: number, upper: boolean, columns: boolean, maxRows: number): Blocks {
  const builder = new BlockBuilder(n, maxRows);
  for (let k = 0; k < n; k++) {
    const line = upper ? n - 1 - k : k;
    const bit = line & 31;
    const word = lacksNeighbour[line >> 5] as number;
    const ahead = upper ? word << (31 - bit) : word >>> bit;
    k += ahead === 0 ? (upper ? bit : 31 - bit) : upper ? Math.clz32(ahead) : 31 - Math.clz32(ahead & -ahead);
    if (ahead !== 0) builder.breakAt(columns ? k + 1 : k);
  }
  return builder.blocks();
}

/**
 * The same from the entries. Only the first and the last of each line, except for the diagonal, are read: in a sorted line, the one next to
 * the diagonal is there.
 */
export function findBlocks({ n, upper, begins, ends, indices, diagonalAt }: SystemPattern, columns: boolean, maxRows: number): Blocks {
  const builder = new BlockBuilder(n, maxRows);
  for (let k = 0; k < n; k++) {
    const line = upper ? n - 1 - k : k;
    const neighbour = upper === columns ? line - 1 : line + 1;
    const first = (begins[line] as number) + (diagonalAt === "first" ? 1 : 0);
    const end = ends[line] as number;
    if (first === end || (indices[end - 1] !== neighbour && indices[first] !== neighbour)) builder.breakAt(columns ? k + 1 : k);
  }
  return builder.blocks();
}

/** Fewer blocks, of at least `minRows` rows each except for the last: rows that are adjacent in memory are solved together. */
export function mergeBlocks({ starts }: Blocks, minRows: number): Blocks {
  const n = starts[starts.length - 1] as number;
  const begins = [0];
  for (const start of starts) if (start < n && start - (begins[begins.length - 1] as number) >= minRows) begins.push(start);
  return blocksAt(begins, n);
}

/** More blocks, of at most `maxRows` rows each. */
export function splitBlocks({ starts }: Blocks, maxRows: number): Blocks {
  const begins: number[] = [];
  for (let block = 0; block + 1 < starts.length; block++) {
    const [start, end] = [starts[block] as number, starts[block + 1] as number];
    begins.push(start);
    for (let k = start + maxRows; k < end; k += maxRows) begins.push(k);
  }
  return blocksAt(begins, starts[starts.length - 1] as number);
}

/** Blocks of `size` rows each. */
export function equalBlocks(n: number, size: number): Blocks {
  return blocksAt(
    Array.from({ length: Math.ceil(n / size) }, (_, block) => block * size),
    n,
  );
}

function blocksAt(begins: readonly number[], n: number): Blocks {
  const starts = newIntegers("sptrsv", begins.length + 1);
  starts.set(begins);
  starts[begins.length] = n;
  const lookup = newIntegers("sptrsv", Math.ceil(n / MIN_BLOCK));
  for (let k = 0, block = 0; k < lookup.length; k++) {
    while ((starts[block + 1] as number) <= k << LOOKUP_SHIFT) block++;
    lookup[k] = block;
  }
  return { starts, lookup };
}
