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

/** Copy a matrix to another layout. */
export async function relayout(context: Context, from: Stored, to: Stored): Promise<void> {
  const { layout } = to;
  await collectInto(context, from, (rank) => ({ rows: layout.rowsOn(rank), cols: layout.colsOn(rank) }), to);
}

// Numbers that a rank receives at a time: 1 MB. Such messages stay in the cache between their copies.
const STRIP = 2 ** 17;

// The same to any place: the i-th of the wanted rows begins at rowStart(i). Rows go in strips, one exchange each.
async function collectInto({ comm }: Context, from: Stored, wanted: (rank: number) => Wanted, to: Omit<Stored, "layout">): Promise<void> {
  const { rowCut, colCut } = from.layout;
  const [gridRow, gridCol] = [from.layout.gridRow(comm.rank), from.layout.gridCol(comm.rank)];
  const ranks = Array.from({ length: comm.size }, (_, rank) => ({ rank, ...wanted(rank) }));
  const own = wanted(comm.rank);
  // The columns that this rank has of those that each one wants, and those that it gets from each column of the grid.
  const given = ranks.map(({ cols }) => heldBy(colCut, gridCol, cols).map((c) => from.colStart(c)));
  const gotten = positionsByOwner(colCut, own.cols).map((cols) => cols.map((c) => to.colStart(c)));
  const height = Math.max(1, Math.floor(STRIP / Math.max(1, ...ranks.map(({ cols }) => cols.length))));
  const tallest = Math.max(...ranks.map(({ rows }) => rows.length));
  const [sent, received] = [new Messages(), new Messages()];
  for (let top = 0; top < tallest; top += height) {
    const rowsGotten = positionsByOwner(rowCut, own.rows.subarray(top, top + height)).map((rows) => rows.map((r) => to.rowStart(top + r)));
    const sources = ranks.map(({ rank, rows }): Places => {
      const held = heldBy(rowCut, gridRow, rows.subarray(top, top + height));
      return { data: from.data, rows: held.map((r) => from.rowStart(r)), cols: given[rank] as Int32Array };
    });
    const targets = ranks.map(({ rank }): Places => {
      const rows = rowsGotten[from.layout.gridRow(rank)] as Int32Array;
      return { data: to.data, rows, cols: gotten[from.layout.gridCol(rank)] as Int32Array };
    });
    const others = (places: readonly Places[]): Places[] => places.map((each, rank) => (rank === comm.rank ? NO_PLACES : each));
    const sends = sent.like(others(sources));
    const receives = received.like(others(targets));
    for (const [rank, message] of sends.entries()) if (rank !== comm.rank) copyEntries(sources[rank] as Places, message);
    const pending = comm.exchange(asMessages(sends), asMessages(receives));
    copyEntries(sources[comm.rank] as Places, targets[comm.rank] as Places);
    await pending.wait();
    for (const [rank, message] of receives.entries()) if (rank !== comm.rank) copyEntries(message, targets[rank] as Places);
  }
}

/** Places in memory: entry (r, c) is data[rows[r] + cols[c]]. */
interface Places {
  readonly data: Float64Array;
  readonly rows: Int32Array;
  readonly cols: Int32Array;
}

const NO_PLACES: Places = { data: new Float64Array(0), rows: new Int32Array(0), cols: new Int32Array(0) };

const asMessages = (places: readonly Places[]): Message[] => places.map(({ data }, rank) => ({ rank, data }));

/** Memory for the messages to all ranks, or from all of them, one after another. */
class Messages {
  private data = messageBuffer(0);

  /** A message for each of these places, row by row without gaps. It lasts until the next call. */
  like(places: readonly Places[]): Places[] {
    const total = places.reduce((sum, { rows, cols }) => sum + rows.length * cols.length, 0);
    if (total > this.data.length) this.data = messageBuffer(total);
    let end = 0;
    return places.map(({ rows, cols }) => {
      const start = end;
      end += rows.length * cols.length;
      return { data: this.data.subarray(start, end), rows: rows.map((_, r) => r * cols.length), cols: cols.map((_, c) => c) };
    });
  }
}

// Runs of this many numbers are copied by set(). It takes 50 ns a run, a loop 2 ns a number.
const LONG_RUN = 32;

// Rows that are copied together, run by run of contiguous columns. In some layouts runs are a column long and far apart: single rows would
// touch too many pages of memory in turn, and all rows too many as well.
const ROWS = 16;

function copyEntries(from: Places, to: Places): void {
  const { data: source } = from;
  const { data: target } = to;
  const ends = endsOfRuns(from.cols, to.cols);
  for (let top = 0; top < from.rows.length; top += ROWS) {
    const bottom = Math.min(top + ROWS, from.rows.length);
    let left = 0;
    for (const end of ends) {
      const length = end - left;
      const [fromCol, toCol] = [from.cols[left] as number, to.cols[left] as number];
      for (let r = top; r < bottom; r++) {
        const start = (from.rows[r] as number) + fromCol;
        const out = (to.rows[r] as number) + toCol;
        if (length >= LONG_RUN) target.set(source.subarray(start, start + length), out);
        else for (let k = 0; k < length; k++) target[out + k] = source[start + k] as number;
      }
      left = end;
    }
  }
}

// Where each run of columns ends that are contiguous in both places.
function endsOfRuns(a: Int32Array, b: Int32Array): number[] {
  const ends: number[] = [];
  for (let end = 1; end <= a.length; end++)
    if (end === a.length || a[end] !== (a[end - 1] as number) + 1 || b[end] !== (b[end - 1] as number) + 1) ends.push(end);
  return ends;
}

// The places, in a part, of those indices that belong to it.
function heldBy(cut: Cyclic, part: number, indices: Int32Array): Int32Array {
  return indices.filter((i) => cut.owner(i) === part).map((i) => cut.local(i));
}

// For every part, which of these indices it has: positions in the list.
function positionsByOwner(cut: Cyclic, indices: Int32Array): Int32Array[] {
  const lists = Array.from({ length: cut.parts }, (): number[] => []);
  for (const [at, i] of indices.entries()) lists[cut.owner(i)]?.push(at);
  return lists.map((list) => Int32Array.from(list));
}
