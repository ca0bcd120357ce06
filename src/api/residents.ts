// Residents: data that a user keeps on an engine, and the rules by which calls borrow them. src/api/engine.ts wraps every routine with
// Residents.accept(); the data is an Allocation of the engine's memory (src/engines/memory.ts).
import { checkVector } from "../arrays/checks.ts";
import { EngineError, ShapeError } from "../arrays/errors.ts";
import { checkMatrix, contiguousLines, type StridedMatrix, stridedView } from "../arrays/matrix.ts";
import { isSparseOnHost, type MatrixOperand, type Operand, type SparseOperand } from "../arrays/operands.ts";
import { checkSparse, patternInfoOf, trusted } from "../arrays/sparse.ts";
import type { Matrix, Real, Sparse } from "../arrays/types.ts";
import { copyOf, part } from "../arrays/vectors.ts";
import type { Allocation, EngineMemory, Piece } from "../engines/memory.ts";

/** Data kept on an engine. A routine that takes a V also takes a Resident<V>; what it writes to one stays on the engine. */
export interface Resident<V> {
  readonly shape: readonly number[];
  /** A copy on the host. */
  read(): Promise<V>;
  /** Free the memory as soon as no pending call uses it. */
  free(): void;
}

type Routine = (...args: unknown[]) => Promise<unknown>;
type Value = Real | Matrix<Real> | Sparse<Real>;
type ValueOperand = Operand | MatrixOperand | SparseOperand;

/**
 * The residents of one engine. A call borrows the residents among its arguments until it is done. Any number of calls may read a resident
 * at the same time. A call that writes one must be its only user, or results would depend on the order in which calls end.
 */
export class Residents {
  private readonly all = new Set<OnEngine>();
  private closed = false;

  constructor(readonly memory: EngineMemory) {}

  checkOpen(routine: string): void {
    if (this.closed) throw new EngineError(`${routine}: the engine is closed`);
  }

  upload(value: Value): Resident<Value> {
    this.checkOpen("upload");
    const resident = isMatrix(value) ? this.matrix(value) : isSparse(value) ? this.sparse(value) : this.vector(value);
    this.all.add(resident);
    return resident;
  }

  private vector(x: Real): OnEngine {
    checkVector("upload", "value", x, "a matrix, a sparse matrix, ");
    const { value, free } = this.memory.upload("upload", x, x.length, [[x, 0]]);
    return new OnEngine(this, value, [x.length], free);
  }

  private matrix(A: Matrix<Real>): OnEngine {
    checkMatrix("upload", "value", A);
    const { rows, cols, order } = A;
    const view = stridedView(A);
    const { value, free } = this.memory.upload("upload", A.data, rows * cols, piecesOf(view));
    return new OnEngine(this, { data: value, rows, cols, order, ld: order === "row" ? cols : rows, offset: 0 }, [rows, cols], free);
  }

  private sparse(A: Sparse<Real>): OnEngine {
    checkSparse("upload", "value", A);
    const shape = [A.rows, A.cols];
    if (!this.memory.holdsPatterns) return new OnEngine(this, copyOfSparse("upload", A), shape, () => {});
    const allocations: Allocation<unknown>[] = [];
    const free = (): void => {
      for (const each of allocations) each.free();
    };
    const upload = <V extends Real | Int32Array>(x: V) => {
      const allocation = this.memory.upload("upload", x, x.length, [[x, 0]]);
      allocations.push(allocation);
      return allocation.value;
    };
    try {
      const onEngine = { ...A, pointers: upload(A.pointers), indices: upload(A.indices), values: upload(A.values) };
      return new OnEngine(this, trusted(onEngine as SparseOperand, patternInfoOf(A)), shape, free);
    } catch (error) {
      free();
      throw error;
    }
  }

  /**
   * The routine `call`, which then also accepts residents. `names` are the names of its arguments and `writes` is the index of the one it
   * writes. If that is a resident, the result is the resident, not its contents.
   */
  accept(routine: string, names: readonly string[], writes: number | undefined, call: Routine): Routine {
    return async (...args) => {
      this.checkOpen(routine);
      const borrowed = names.flatMap((name, i) => {
        const resident = args[i];
        return resident instanceof OnEngine ? [{ resident, name, writes: i === writes }] : [];
      });
      for (const { resident, name, writes } of borrowed) resident.check(this, `${routine}: ${name}`, writes);
      for (const { resident, writes } of borrowed) resident.borrow(writes);
      try {
        const result = await call(...args.map((arg, i) => (i < names.length && arg instanceof OnEngine ? arg.operand : arg)));
        this.checkOpen(routine); // an engine on this thread finishes the call even if it has been closed meanwhile
        const target = writes === undefined ? undefined : args[writes];
        return target instanceof OnEngine ? target : result;
      } finally {
        for (const { resident, writes } of borrowed) resident.giveBack(writes);
      }
    };
  }

  /** Refuse calls from now on. */
  close(): void {
    this.closed = true;
  }

  /** Free all residents of a closed engine. */
  freeAll(): void {
    for (const resident of this.all) resident.release();
    this.all.clear();
  }

  free(resident: OnEngine): void {
    if (this.closed) return; // freeAll() frees it
    resident.release();
    this.all.delete(resident);
  }
}

/** A value on the engine, and how many pending calls use it. */
class OnEngine implements Resident<Value> {
  private freed = false;
  private readers = 0;
  private writers = 0; // at most one

  constructor(
    private readonly owner: Residents,
    readonly operand: ValueOperand,
    readonly shape: readonly number[],
    private readonly freeMemory: () => void,
  ) {}

  async read(): Promise<Value> {
    this.owner.checkOpen("read");
    const { operand, owner } = this;
    this.check(owner, "read: this", false);
    this.borrow(false); // the memory is kept until this is done
    try {
      const { memory } = owner;
      if (isMatrix(operand)) return { ...operand, data: await memory.download<Real>("read", operand.data) };
      if (!isSparse(operand)) return await memory.download<Real>("read", operand);
      if (isSparseOnHost(operand) && !memory.holdsPatterns) return copyOfSparse("read", operand);
      const [pointers, indices, values] = await Promise.all([
        memory.download<Int32Array>("read", operand.pointers),
        memory.download<Int32Array>("read", operand.indices),
        memory.download<Real>("read", operand.values),
      ]);
      return trusted({ ...operand, pointers, indices, values }, patternInfoOf(operand));
    } finally {
      this.giveBack(false);
    }
  }

  free(): void {
    this.owner.free(this);
  }

  release(): void {
    this.checkNotFreed("free: this");
    this.freed = true;
    this.releaseIfIdle();
  }

  /** Throws unless a call on this engine may read it, or write it. */
  check(engine: Residents, name: string, writes: boolean): void {
    this.checkNotFreed(name);
    if (this.owner !== engine) throw new ShapeError(`${name} is a resident of another engine, expected one of this engine`);
    const busy = this.writers > 0 ? "writes" : writes && this.readers > 0 ? "reads" : undefined;
    if (busy) throw new ShapeError(`${name} is a resident that a pending call ${busy}, expected that call to be awaited first`);
  }

  borrow(writes: boolean): void {
    if (writes) this.writers++;
    else this.readers++;
  }

  giveBack(writes: boolean): void {
    if (writes) this.writers--;
    else this.readers--;
    this.releaseIfIdle();
  }

  private checkNotFreed(name: string): void {
    if (this.freed) throw new ShapeError(`${name} is a resident that was freed, expected one that is on the engine`);
  }

  private releaseIfIdle(): void {
    if (this.freed && this.readers + this.writers === 0) this.freeMemory();
  }
}

// The contiguous lines of a matrix, each with its index in an array without gaps; a single piece if the matrix has no gaps either.
function* piecesOf(A: StridedMatrix): Iterable<Piece<Real>> {
  const { lines, length, stride } = contiguousLines(A);
  if (length === 0) return;
  if (stride === length) yield [part(A.data, A.offset, lines * length), 0];
  else for (let l = 0; l < lines; l++) yield [part(A.data, A.offset + l * stride, length), l * length];
}

const isMatrix = <M extends MatrixOperand>(value: ValueOperand | M): value is M => hasMember(value, "data");
const isSparse = <S extends SparseOperand>(value: ValueOperand | S): value is S => hasMember(value, "pointers");

function hasMember(value: ValueOperand, name: string): boolean {
  return typeof value === "object" && value !== null && !ArrayBuffer.isView(value) && name in value;
}

function copyOfSparse(routine: string, A: Sparse<Real>): Sparse<Real> {
  return trusted({ ...A, pointers: A.pointers.slice(), indices: A.indices.slice(), values: copyOf(routine, A.values) }, patternInfoOf(A));
}
