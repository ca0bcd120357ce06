import { checkVector } from "../arrays/checks.ts";
import { EngineError, ShapeError } from "../arrays/errors.ts";
import { checkMatrix, stridedView } from "../arrays/matrix.ts";
import { checkSparse, patternInfoOf, trusted } from "../arrays/sparse.ts";
import type { Matrix, Real, Sparse } from "../arrays/types.ts";
import { copyOf, part } from "../arrays/vectors.ts";
import type { Kept, Store } from "../engines/memory.ts";
import { remoteMemory } from "../engines/remote.ts";

/** Data kept on an engine: wherever a routine takes V it takes Resident<V>, and what it writes there stays there. */
export interface Resident<V> {
  readonly shape: readonly number[];
  /** A copy. */
  read(): Promise<V>;
  /** Give the memory back, once calls that were made with it are through. */
  free(): void;
}

type Routine = (...args: unknown[]) => Promise<unknown>;
type Value = Real | Matrix<Real> | Sparse<Real>;

/**
 * The residents of one engine. A call borrows those among its arguments until it is through: any number of calls may read
 * one, and a call that writes one has it alone. Otherwise a result would depend on which call is done first.
 */
export class Residents {
  private readonly all = new Set<OnEngine>();
  private closed = false;

  constructor(readonly store: Store) {}

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
    const { array, free } = this.store.keep(x, x.length, [[x, 0]]);
    return new OnEngine(this, array, [x.length], free);
  }

  private matrix(A: Matrix<Real>): OnEngine {
    checkMatrix("upload", "value", A);
    const { rows, cols, order } = A;
    const { data, offset, rowStride, colStride } = stridedView(A);
    const [lines, length, step] = order === "row" ? [rows, cols, rowStride] : [cols, rows, colStride];
    const pieces = linesOf(data, offset, lines, length, step);
    const { array, free } = this.store.keep(data, rows * cols, pieces);
    return new OnEngine(this, { data: array, rows, cols, order, ld: length, offset: 0 }, [rows, cols], free);
  }

  private sparse(A: Sparse<Real>): OnEngine {
    checkSparse("upload", "value", A);
    const shape = [A.rows, A.cols];
    if (!this.store.patterns) return new OnEngine(this, copyOfSparse("upload", A), shape, () => {});
    const kept: Kept<unknown>[] = [];
    const free = () => {
      for (const each of kept) each.free();
    };
    const keep = <V extends Real | Int32Array>(x: V): V => {
      const each = this.store.keep(x, x.length, [[x, 0]]);
      kept.push(each);
      return each.array;
    };
    try {
      const there = { ...A, pointers: keep(A.pointers), indices: keep(A.indices), values: keep(A.values) };
      return new OnEngine(this, trusted(there, patternInfoOf(A)), shape, free);
    } catch (error) {
      free();
      throw error;
    }
  }

  /**
   * A routine that takes residents too: the arguments have these names, and `writes` says which of them it writes. It
   * returns a resident where it would return what is in it.
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
        this.checkOpen(routine); // an engine on this thread goes on until it is through: its answer comes too late
        const target = writes === undefined ? undefined : args[writes];
        return target instanceof OnEngine ? target : result;
      } finally {
        for (const { resident, writes } of lent) resident.giveBack(writes);
      }
    };
  }

  /** Calls are refused from now on. */
  close(): void {
    this.closed = true;
  }

  freeAll(): void {
    for (const resident of this.all) resident.giveUp();
    this.all.clear();
  }

  free(resident: OnEngine): void {
    if (this.closed) return; // freeAll() does it
    resident.giveUp();
    this.all.delete(resident);
  }
}

class OnEngine implements Resident<Value> {
  private freed = false;
  private readers = 0;
  private writers = 0; // at most one

  constructor(
    private readonly owner: Residents,
    readonly inner: Value,
    readonly shape: readonly number[],
    private readonly release: () => void,
  ) {}

  async read(): Promise<Value> {
    this.owner.checkOpen("read");
    const { inner, owner } = this;
    this.check(owner, "read: this", false);
    this.lend(false); // its memory stays until this is through
    try {
      if (isMatrix(inner)) return { ...inner, data: await owner.store.fetch(inner.data) };
      if (!isSparse(inner)) return await owner.store.fetch(inner);
      if (!remoteMemory(inner.values)) return copyOfSparse("read", inner);
      const [pointers, indices, values] = await Promise.all([inner.pointers, inner.indices, inner.values].map((x) => owner.store.fetch(x)));
      return trusted({ ...inner, pointers, indices, values } as Sparse<Real>, patternInfoOf(inner));
    } finally {
      this.giveBack(false);
    }
  }

  free(): void {
    this.owner.free(this);
  }

  giveUp(): void {
    this.checkHere("free: this");
    this.freed = true;
    this.releaseIfIdle();
  }

  check(engine: Residents, name: string, writes: boolean): void {
    this.checkHere(name);
    if (this.owner !== engine) throw new ShapeError(`${name} is a resident of another engine, expected one of this engine`);
    const busy = this.writers > 0 ? "writes" : writes && this.readers > 0 ? "reads" : undefined;
    if (busy) throw new ShapeError(`${name} is a resident that a pending call ${busy}, expected that call to be awaited first`);
  }

  lend(writes: boolean): void {
    if (writes) this.writers++;
    else this.readers++;
  }

  giveBack(writes: boolean): void {
    if (writes) this.writers--;
    else this.readers--;
    this.releaseIfIdle();
  }

  private checkHere(name: string): void {
    if (this.freed) throw new ShapeError(`${name} is a resident that was freed, expected one that is on the engine`);
  }

  private releaseIfIdle(): void {
    if (this.freed && this.readers + this.writers === 0) this.release();
  }
}

// The lines of a matrix, each with its place in an array without gaps; all of them as one where there are none.
function* linesOf(data: Real, offset: number, lines: number, length: number, step: number): Iterable<readonly [Real, number]> {
  if (length === 0) return;
  if (step === length) yield [part(data, offset, lines * length), 0];
  else for (let i = 0; i < lines; i++) yield [part(data, offset + i * step, length), i * length];
}

const isMatrix = (value: Value): value is Matrix<Real> => hasMember(value, "data");
const isSparse = (value: Value): value is Sparse<Real> => hasMember(value, "pointers");

function hasMember(value: Value, name: string): boolean {
  return typeof value === "object" && value !== null && !ArrayBuffer.isView(value) && name in value;
}

function copyOfSparse(routine: string, A: Sparse<Real>): Sparse<Real> {
  return trusted({ ...A, pointers: A.pointers.slice(), indices: A.indices.slice(), values: copyOf(routine, A.values) }, patternInfoOf(A));
}
