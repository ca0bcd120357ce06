// The rows of a sparse matrix that one rank has, and its product with a vector of which every rank has the same rows. Which entries of
// other ranks are needed follows from the column indices. The ranks find it once, and each product exchanges only those. Called by
// sparse.ts and krylov.ts.
import { bucketStarts, positionOf, trusted } from "../arrays/sparse.ts";
import type { Sparse } from "../arrays/types.ts";
import { newIntegers } from "../arrays/vectors.ts";
import type { HostOperator, VectorOperations } from "../engines/hostKrylov.ts";
import type { Allocation } from "../engines/memory.ts";
import { ReservedArrays } from "../routines/sparse/storage.ts";
import type { Communicator, Message } from "./mpi/communicator.ts";

/** The rows from `first` on of a square matrix, by rows, with the columns of the whole matrix. */
export interface Rows {
  readonly first: number;
  readonly A: Sparse;
}

/** Rows whose columns are numbered as this rank has them: first its own entries of x, then those that other ranks send, ascending. */
export class RowProduct {
  readonly operator: HostOperator;
  readonly memory: Allocation<unknown>;
  private readonly rows: number;
  private readonly first: number;
  private readonly columns: Int32Array; // of other ranks
  private readonly x: Float64Array; // own entries and those of other ranks, beside the matrix in memory
  private wanted = new Int32Array(); // own entries that other ranks need, rank by rank
  private outgoing = new Float64Array();
  private incoming = new Float64Array();
  private sends: readonly Message[] = [];
  private receives: readonly Message[] = [];

  /** Copies the rows into the memory of the engine. */
  constructor(operations: VectorOperations, { first, A }: Rows) {
    const { rows, pointers, indices, values } = A;
    this.rows = rows;
    this.first = first;
    this.columns = columnsOutside(indices, first, first + rows);
    const cols = rows + this.columns.length;
    const arrays = new ReservedArrays(
      (bytes) => operations.memory.reserve("sparse", bytes),
      [pointers.byteLength, indices.byteLength, values.byteLength, 8 * cols],
    );
    this.memory = arrays.allocation;
    const own = {
      pointers: arrays.integers(pointers.length),
      indices: arrays.integers(indices.length),
      values: arrays.reals(values, values.length),
    };
    this.x = arrays.reals(values, cols) as Float64Array;
    this.x.fill(0);
    own.pointers.set(pointers);
    own.values.set(values);
    for (let p = 0; p < indices.length; p++) {
      const j = (indices[p] as number) - first;
      own.indices[p] = j >= 0 && j < rows ? j : rows + positionOf(this.columns, 0, this.columns.length, j + first);
    }
    this.operator = { rows, cols, byRows: true, ...own };
  }

  /** Tell the other ranks what this one needs. Rank r has the rows starts[r] to starts[r + 1] - 1. */
  async connect(comm: Communicator, starts: Float64Array): Promise<void> {
    const { columns, first } = this;
    const needed = boundsOf(columns, starts);
    const counts = await swapCounts(comm, needed);
    this.wanted = messageIntegers(counts.at(-1) as number);
    await comm.exchange(messages(columns, needed), messages(this.wanted, counts)).wait();
    for (let k = 0; k < this.wanted.length; k++) this.wanted[k] = (this.wanted[k] as number) - first;
    this.outgoing = messageReals(this.wanted.length);
    this.incoming = messageReals(columns.length);
    this.sends = messages(this.outgoing, counts);
    this.receives = messages(this.incoming, needed);
  }

  /** y := alpha A x + beta y for the rows of this rank. A call of all ranks. */
  async multiply(
    comm: Communicator,
    spmv: VectorOperations["spmv"],
    alpha: number,
    x: Float64Array,
    beta: number,
    y: Float64Array,
  ): Promise<void> {
    const { wanted, outgoing, rows } = this;
    for (let k = 0; k < wanted.length; k++) outgoing[k] = x[wanted[k] as number] as number;
    const pending = comm.exchange(this.sends, this.receives);
    this.x.set(x);
    await pending.wait();
    this.x.set(this.incoming, rows);
    if (rows > 0) await spmv(alpha, this.operator, this.x, beta, y);
  }
}

/** The rows of the transpose that this rank has. Every rank sends each of its entries to the rank that has its column. */
export async function transposedRows(comm: Communicator, starts: Float64Array, { first, A }: Rows): Promise<Rows> {
  const ownerOf = (column: number): number => {
    let [low, high] = [0, comm.size - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((starts[middle + 1] as number) <= column) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const owners = newIntegers("exspmv", A.indices.length);
  for (let p = 0; p < owners.length; p++) owners[p] = ownerOf(A.indices[p] as number);
  const bounds = new Int32Array(comm.size + 1);
  const next = bucketStarts(owners, bounds);
  const sent = entries(owners.length);
  for (let i = 0; i < A.rows; i++)
    for (let p = A.pointers[i] as number; p < (A.pointers[i + 1] as number); p++) {
      const owner = owners[p] as number;
      const at = next[owner] as number;
      next[owner] = at + 1;
      sent.rows[at] = (A.indices[p] as number) - (starts[owner] as number);
      sent.columns[at] = first + i;
      sent.values[at] = A.values[p] as number;
    }
  const counts = await swapCounts(comm, bounds);
  const got = entries(counts.at(-1) as number);
  const each = (of: typeof sent, at: Int32Array) => [of.rows, of.columns, of.values].flatMap((array) => messages(array, at));
  await comm.exchange(each(sent, bounds), each(got, counts)).wait();
  // Entries come by ascending columns, and the counting sort keeps their order.
  const pointers = newIntegers("exspmv", A.rows + 1);
  const place = bucketStarts(got.rows, pointers);
  const indices = newIntegers("exspmv", got.rows.length);
  const values = new Float64Array(got.rows.length);
  for (let k = 0; k < indices.length; k++) {
    const row = got.rows[k] as number;
    const at = place[row] as number;
    place[row] = at + 1;
    indices[at] = got.columns[k] as number;
    values[at] = got.values[k] as number;
  }
  return { first, A: trusted({ ...A, pointers, indices, values }, { ascends: true }) };
}

// V8 moves the contents of small typed arrays unless they are made from a buffer, and messages use addresses.
const messageIntegers = (length: number) => new Int32Array(new ArrayBuffer(4 * length));
const messageReals = (length: number) => new Float64Array(new ArrayBuffer(8 * length));
const entries = (length: number) => ({ rows: messageIntegers(length), columns: messageIntegers(length), values: messageReals(length) });

// One message for each rank, from or to array[bounds[r]] to array[bounds[r + 1] - 1]. Empty ones are left out.
function messages(array: Int32Array | Float64Array, bounds: Int32Array): Message[] {
  return Array.from({ length: bounds.length - 1 }, (_, rank) => ({ rank, data: array.subarray(bounds[rank], bounds[rank + 1]) })).filter(
    ({ data }) => data.length > 0,
  );
}

// The bounds of what each rank sends to this one, from the bounds of what this one sends, or asks for, rank by rank.
async function swapCounts(comm: Communicator, bounds: Int32Array): Promise<Int32Array> {
  const { size } = comm;
  const [out, back] = [messageIntegers(size), messageIntegers(size)];
  for (let r = 0; r < size; r++) out[r] = (bounds[r + 1] as number) - (bounds[r] as number);
  const each = Int32Array.from({ length: size + 1 }, (_, r) => r);
  await comm.exchange(messages(out, each), messages(back, each)).wait();
  const result = new Int32Array(size + 1);
  for (let r = 0; r < size; r++) result[r + 1] = (result[r] as number) + (back[r] as number);
  return result;
}

// The columns outside of [first, end) that occur, ascending.
function columnsOutside(indices: Int32Array, first: number, end: number): Int32Array {
  const isOutside = (j: number): boolean => j < first || j >= end;
  let count = 0;
  for (let p = 0; p < indices.length; p++) if (isOutside(indices[p] as number)) count++;
  const all = newIntegers("sparse", count);
  for (let p = 0, k = 0; p < indices.length; p++) if (isOutside(indices[p] as number)) all[k++] = indices[p] as number;
  all.sort();
  let distinct = 0;
  for (let k = 0; k < count; k++) if (k === 0 || all[k] !== all[distinct - 1]) all[distinct++] = all[k] as number;
  const columns = messageIntegers(distinct);
  columns.set(all.subarray(0, distinct));
  return columns;
}

// Where the columns of each rank begin in a list that ascends, and the end.
function boundsOf(columns: Int32Array, starts: Float64Array): Int32Array {
  const bounds = new Int32Array(starts.length);
  for (let r = 1, k = 0; r < starts.length; r++) {
    while (k < columns.length && (columns[k] as number) < (starts[r] as number)) k++;
    bounds[r] = k;
  }
  return bounds;
}
