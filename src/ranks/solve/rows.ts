// Matrices that are spread over ranks by rows, as solve() works on them: the array that routines see, and how ranks put together what each
// computes for its own rows. kernels.ts builds the engine of solve() on it.
import { rowMajor, type StridedOperand } from "../../arrays/matrix.ts";
import { EngineArray, isOnHost } from "../../arrays/operands.ts";
import type { HeldRows } from "../../engines/distribution.ts";
import type { Allocation, Later } from "../../engines/memory.ts";
import { type Context, failTogether } from "../context.ts";
import { messageBuffer } from "../dense/redistribute.ts";

/** Which rows each rank has: one list for each, ascending. */
export type RowLists = readonly Int32Array[];

/** A matrix of which every rank has some rows, in the memory of its own engine. */
export class RowArray extends EngineArray {
  /** The rows of this rank. Undefined if it has none, or until they are there. */
  part: Allocation<StridedOperand> | undefined;
  private places: { readonly owner: Int32Array; readonly local: Int32Array } | undefined;

  constructor(
    readonly lists: RowLists,
    readonly rows: number,
    readonly cols: number,
  ) {
    super("binary64", rows * cols);
  }

  /** The matrix as routines see it. */
  get operand(): StridedOperand {
    return rowMajor(this, this.rows, this.cols);
  }

  /** For each rank, which of these rows it has: positions in the list. */
  positionsOf(rows: Int32Array): RowLists {
    const { owner } = this.lookUp();
    const found = this.lists.map((): number[] => []);
    for (const [k, row] of rows.entries()) found[owner[row] as number]?.push(k);
    return found.map((list) => Int32Array.from(list));
  }

  /** The place of a row among those of its rank. */
  place(row: number): number {
    return this.lookUp().local[row] as number;
  }

  private lookUp() {
    if (!this.places) {
      const [owner, local] = [new Int32Array(this.rows), new Int32Array(this.rows)];
      for (const [rank, rows] of this.lists.entries())
        for (const [k, row] of rows.entries()) {
          owner[row] = rank;
          local[row] = k;
        }
      this.places = { owner, local };
    }
    return this.places;
  }

  free(): void {
    this.part?.free();
    this.part = undefined;
  }
}

/** The row array behind a matrix of these kernels. */
export function rowArray(A: StridedOperand): RowArray {
  if (A.data instanceof RowArray) return A.data;
  throw new Error("halfulp: a matrix is not spread over ranks");
}

/** Which rows the others have, by one who knows its own. */
export async function shareLists({ comm }: Context, rows: Int32Array): Promise<RowLists> {
  const counts = new Int32Array(new ArrayBuffer(4 * comm.size));
  const count = new Int32Array(new ArrayBuffer(4)).fill(rows.length);
  await comm.gatherAll(count, counts).wait();
  const most = Math.max(1, ...counts);
  const own = new Int32Array(new ArrayBuffer(4 * most));
  own.set(rows);
  const all = new Int32Array(new ArrayBuffer(4 * most * comm.size));
  await comm.gatherAll(own, all).wait();
  return Array.from(counts, (length, rank) => all.slice(rank * most, rank * most + length));
}

/**
 * A matrix of `total` rows by `width`, of which each rank computes the rows in its list, whole on every rank. If one fails to, all throw.
 * The message of a rank is padded to the length of the longest, and its last number tells whether it failed.
 */
export async function collectRows(
  context: Context,
  lists: RowLists,
  total: number,
  width: number,
  compute: (own: Float64Array) => Later<void>,
): Promise<Float64Array> {
  const { comm } = context;
  const most = width * Math.max(...lists.map((list) => list.length));
  const message = messageBuffer(most + 1);
  const count = (lists[comm.rank] as Int32Array).length;
  let failure: unknown;
  try {
    if (count > 0) await compute(message.subarray(0, count * width));
  } catch (error) {
    failure = error ?? new Error("halfulp: an error without a value");
    message[most] = 1;
  }
  const all = messageBuffer((most + 1) * comm.size);
  await comm.gatherAll(message, all).wait();
  const failed = lists.findIndex((_, rank) => all[rank * (most + 1) + most] === 1);
  if (failed >= 0) throw failTogether("solve", failure, failed);
  const out = new Float64Array(total * width);
  for (const [rank, rows] of lists.entries()) {
    const from = rank * (most + 1);
    if (width === 1) for (let k = 0; k < rows.length; k++) out[rows[k] as number] = all[from + k] as number;
    else for (let k = 0; k < rows.length; k++) out.set(all.subarray(from + k * width, from + (k + 1) * width), (rows[k] as number) * width);
  }
  return out;
}

/** The rows of this rank on the host: in place, or downloaded from a device. */
export async function hostRows(context: Context, array: RowArray): Promise<HeldRows> {
  const rows = array.lists[context.comm.rank] as Int32Array;
  if (!array.part) return { rows, data: new Float64Array(0) };
  const { data, offset } = array.part.value;
  const length = rows.length * array.cols;
  if (isOnHost(data)) return { rows, data: (data as Float64Array).subarray(offset, offset + length) };
  return { rows, data: (await context.backend.memory.download("solve", data, offset, length)) as Float64Array };
}
