// Moves entries of distributed matrices between ranks: every rank says which rows and columns it wants, and one exchange brings their
// entries. The other files of this folder call it.
import type { Context } from "../context.ts";
import type { Cyclic, Layout } from "../grid.ts";
import type { Message } from "../mpi/communicator.ts";

/** The entries at these rows and columns. */
export interface Wanted {
  readonly rows: Int32Array;
  readonly cols: Int32Array;
}

export const NOTHING: Wanted = { rows: new Int32Array(0), cols: new Int32Array(0) };

/** A buffer for messages. Short typed arrays without a buffer of their own can be moved by garbage collection. */
export function messageBuffer(length: number): Float64Array<ArrayBuffer> {
  return new Float64Array(new ArrayBuffer(8 * length));
}

/** The part of a rank in its memory: entry (r, c) of the part is data[rowStart(r) + colStart(c)]. */
export interface Stored {
  readonly layout: Layout;
  readonly data: Float64Array;
  rowStart(r: number): number;
  colStart(c: number): number;
}

/**
 * The entries of A that this rank wants, row by row without gaps, in `into` if it is given. `wanted` says it for every rank and is the same
 * function on all of them.
 */
export async function collect(
  context: Context,
  A: { readonly stored: Stored },
  wanted: (rank: number) => Wanted,
  into?: Float64Array,
): Promise<Float64Array> {
  const own = wanted(context.comm.rank);
  const width = own.cols.length;
  const out = into ?? new Float64Array(own.rows.length * width);
  await collectInto(context, A.stored, wanted, { data: out, rowStart: (i) => i * width, colStart: (c) => c });
  return out;
}

// The same to any place: the i-th of the wanted rows begins at rowStart(i).
async function collectInto({ comm }: Context, from: Stored, wanted: (rank: number) => Wanted, to: Omit<Stored, "layout">): Promise<void> {
  const sends: Message[] = [];
  for (let rank = 0; rank < comm.size; rank++) {
    if (rank === comm.rank) continue;
    const places = heldBy(comm.rank, from, wanted(rank));
    const message = compact(places.rows.length, places.cols.length);
    copyEntries(places, message);
    sends.push({ rank, data: message.data });
  }
  const own = wanted(comm.rank);
  const targets = sourcesOf(from.layout, own, comm.size).map(
    ({ rows, cols }): Places => ({ data: to.data, rows: rows.map(to.rowStart), cols: cols.map(to.colStart) }),
  );
  const receives = targets.map(({ rows, cols }, rank) => (rank === comm.rank ? compact(0, 0) : compact(rows.length, cols.length)));
  const pending = comm.exchange(
    sends,
    receives.map(({ data }, rank) => ({ rank, data })),
  );
  copyEntries(heldBy(comm.rank, from, own), targets[comm.rank] as Places);
  await pending.wait();
  for (const [rank, received] of receives.entries()) if (rank !== comm.rank) copyEntries(received, targets[rank] as Places);
}

// Numbers that a rank receives at a time when a matrix gets another layout: 4 MB.
const STRIP = 2 ** 19;

/** Copy a matrix to another layout. */
export async function relayout(context: Context, from: Stored, to: Stored): Promise<void> {
  const { rows, cols } = to.layout;
  const { size, rank } = context.comm;
  const height = Math.max(1, Math.floor((STRIP * size) / Math.max(1, cols)));
  const columns = Array.from({ length: size }, (_, r) => to.layout.colsOn(r));
  for (let top = 0; top < rows; top += height) {
    const strip = (i: number): boolean => i >= top && i < top + height;
    const wanted = (r: number): Wanted => ({ rows: to.layout.rowsOn(r).filter(strip), cols: columns[r] as Int32Array });
    const first = to.layout.rowCut.count(to.layout.gridRow(rank), top);
    await collectInto(context, from, wanted, { data: to.data, rowStart: (i) => to.rowStart(first + i), colStart: (c) => to.colStart(c) });
  }
}

/** Places in memory: entry (r, c) is data[rows[r] + cols[c]]. */
interface Places {
  readonly data: Float64Array;
  readonly rows: Int32Array;
  readonly cols: Int32Array;
}

// A message, row by row without gaps.
function compact(rows: number, cols: number): Places {
  const multiples = (length: number, step: number): Int32Array => Int32Array.from({ length }, (_, k) => k * step);
  return { data: messageBuffer(rows * cols), rows: multiples(rows, cols), cols: multiples(cols, 1) };
}

// Those of the wanted entries that this rank holds.
function heldBy(rank: number, { layout, data, rowStart, colStart }: Stored, wanted: Wanted): Places {
  return {
    data,
    rows: placesIn(layout.rowCut, layout.gridRow(rank), wanted.rows).map(rowStart),
    cols: placesIn(layout.colCut, layout.gridCol(rank), wanted.cols).map(colStart),
  };
}

// Columns that are copied together. In some layouts columns are far apart: whole rows would touch too many pages of memory at a time.
const TILE = 32;

function copyEntries(from: Places, to: Places): void {
  const { data: source, cols } = from;
  const { data: target, cols: columns } = to;
  for (let left = 0; left < cols.length; left += TILE) {
    const right = Math.min(left + TILE, cols.length);
    for (let r = 0; r < from.rows.length; r++) {
      const [start, out] = [from.rows[r] as number, to.rows[r] as number];
      for (let c = left; c < right; c++) target[out + (columns[c] as number)] = source[start + (cols[c] as number)] as number;
    }
  }
}

// The places in a part of those indices that belong to it.
function placesIn(cut: Cyclic, part: number, indices: Int32Array): Int32Array {
  return indices.filter((i) => cut.owner(i) === part).map((i) => cut.local(i));
}

// For every rank, which of the wanted rows and columns it holds: positions in the two lists.
function sourcesOf(layout: Layout, { rows, cols }: Wanted, size: number): Wanted[] {
  const byRow = positionsByOwner(layout.rowCut, rows);
  const byCol = positionsByOwner(layout.colCut, cols);
  return Array.from({ length: size }, (_, rank) => ({
    rows: byRow[layout.gridRow(rank)] as Int32Array,
    cols: byCol[layout.gridCol(rank)] as Int32Array,
  }));
}

function positionsByOwner(cut: Cyclic, indices: Int32Array): Int32Array[] {
  const lists = Array.from({ length: cut.parts }, (): number[] => []);
  for (const [at, i] of indices.entries()) lists[cut.owner(i)]?.push(at);
  return lists.map((list) => Int32Array.from(list));
}
