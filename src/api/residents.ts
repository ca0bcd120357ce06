// Residents: data that a user keeps on an engine, and the rules for lending them to calls. src/api/engine.ts wraps every routine in lending().

import { checkVector } from "../arrays/checks.ts";
import { EngineError, ShapeError } from "../arrays/errors.ts";
import { checkMatrix, contiguousLines, type StridedMatrix, stridedView } from "../arrays/matrix.ts";
import { isSparseOnHost, type MatrixOperand, type Operand, type SparseOperand } from "../arrays/operands.ts";
import { checkSparse, patternInfoOf, trusted } from "../arrays/sparse.ts";
import type { Matrix, Real, Sparse } from "../arrays/types.ts";
import { copyOf, part } from "../arrays/vectors.ts";
import type { Allocation, EngineMemory, Piece } from "../engines/memory.ts";

/** Data kept on an engine: wherever a routine takes V it takes Resident<V>, and what it writes there stays there. */
export interface Resident<V> {
  readonly shape: readonly number[];
  /** A copy. */
  read(): Promise<V>;
  /** Give the memory back, when no pending call uses it. */
  free(): void;
}

type Routine = (...args: unknown[]) => Promise<unknown>;
type Value = Real | Matrix<Real> | Sparse<Real>;
type ValueOperand = Operand | MatrixOperand | SparseOperand;

/**
 * The residents of one engine. A call borrows the residents among its arguments until it is done. Any number of calls may read a resident
 * at the same time; a call that writes one must have it alone, or results would depend on which call is done first.
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
   * A routine that also takes residents. The arguments have these names, and `writes` is the index of the one it writes. It returns the
   * resident that it has written, not its contents.
   */
  lending(routine: string, names: readonly string[], writes: number | undefined, call: Routine): Routine {
    return async (...args) => {
      this.checkOpen(routine);
      const lent = names.flatMap((name, i) => {
        const resident = args[i];
        return resident instanceof OnEngine ? [{ resident, name, writes: i === writes }] : [];
      });
      for (const { resident, name, writes } of lent) resident.check(this, `${routine}: ${name}`, writes);
      for (const { resident, writes } of lent) resident.lend(writes);
      try {
        const result = await call(...args.map((arg, i) => (i < names.length && arg instanceof OnEngine ? arg.inner : arg)));
        this.checkOpen(routine); // an engine on this thread finishes the call even if it was closed meanwhile
        const target = writes === undefined ? undefined : args[writes];
        return target instanceof OnEngine ? target : result;
      } finally {
        for (const { resident, writes } of lent) resident.returned(writes);
      }
    };
  }

  /** Calls are refused from now on. */
  close(): void {
    this.closed = true;
  }

  freeAll(): void {
    for (const resident of this.all) resident.release();
    this.all.clear();
  }

  free(resident: OnEngine): void {
    if (this.closed) return; // freeAll() does it
    resident.release();
    this.all.delete(resident);
  }
}

class OnEngine implements Resident<Value> {
  private freed = false;
  private readers = 0;
  private writers = 0; // at most one

  constructor(
    private readonly owner: Residents,
    readonly inner: ValueOperand,
    readonly shape: readonly number[],
    private readonly freeMemory: () => void,
  ) {}

  async read(): Promise<Value> {
    this.owner.checkOpen("read");
    const { inner, owner } = this;
    this.check(owner, "read: this", false);
    this.lend(false); // the memory stays until this is done
    try {
      const { memory } = owner;
      if (isMatrix(inner)) return { ...inner, data: await memory.download<Real>("read", inner.data) };
      if (!isSparse(inner)) return await memory.download<Real>("read", inner);
      if (isSparseOnHost(inner) && !memory.holdsPatterns) return copyOfSparse("read", inner);
      const [pointers, indices, values] = await Promise.all([
        memory.download<Int32Array>("read", inner.pointers),
        memory.download<Int32Array>("read", inner.indices),
        memory.download<Real>("read", inner.values),
      ]);
      return trusted({ ...inner, pointers, indices, values }, patternInfoOf(inner));
    } finally {
      this.returned(false);
    }
  }

  free(): void {
    this.owner.free(this);
  }

  release(): void {
    this.checkOpen("free: this");
    this.freed = true;
    this.releaseIfIdle();
  }

  check(engine: Residents, name: string, writes: boolean): void {
    this.checkOpen(name);
    if (this.owner !== engine) throw new ShapeError(`${name} is a resident of another engine, expected one of this engine`);
    const busy = this.writers > 0 ? "writes" : writes && this.readers > 0 ? "reads" : undefined;
    if (busy) throw new ShapeError(`${name} is a resident that a pending call ${busy}, expected that call to be awaited first`);
  }

  lend(writes: boolean): void {
    if (writes) this.writers++;
    else this.readers++;
  }

  returned(writes: boolean): void {
    if (writes) this.writers--;
    else this.readers--;
    this.releaseIfIdle();
  }

  private checkOpen(name: string): void {
    if (this.freed) throw new ShapeError(`${name} is a resident that was freed, expected one that is on the engine`);
  }

  private releaseIfIdle(): void {
    if (this.freed && this.readers + this.writers === 0) this.freeMemory();
  }
}

// The contiguous lines of a matrix, each with its place in an array without gaps; one piece if there are no gaps.
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
