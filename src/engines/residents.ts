import { checkVector } from "../checks.ts";
import { copyOf } from "../dense/vectors.ts";
import { EngineError, ShapeError } from "../errors.ts";
import { checkMatrix, entries } from "../matrix.ts";
import { ascends, checkSparse, trusted } from "../sparse/formats.ts";
import type { Matrix, Real, Sparse } from "../types.ts";
import { part } from "./wasm/arena.ts";

/** Data kept on an engine: wherever a routine takes V it takes Resident<V>, and what it writes there stays there. */
export interface Resident<V> {
  readonly shape: readonly number[];
  /** A copy. */
  read(): Promise<V>;
  /** Give the memory back, once calls that were made with it are through. */
  free(): void;
}

/** A vector in an engine's memory, and how to give it back. */
export type Allocate = <V extends Real>(like: V, length: number) => { array: V; free(): void };

type Routine = (...args: unknown[]) => Promise<unknown>;
type Value = Real | Matrix<Real> | Sparse<Real>;

/**
 * The residents of one engine. A call borrows those among its arguments until it is through: any number of calls may read
 * one, and a call that writes one has it alone. Otherwise a result would depend on which call is done first.
 */
export class Residents {
  private readonly all = new Set<OnEngine>();
  private closed = false;

  constructor(private readonly allocate: Allocate) {}

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
    const { array, free } = this.allocate(x, x.length);
    array.set(x);
    return new OnEngine(this, array, [x.length], free);
  }

  private matrix(A: Matrix<Real>): OnEngine {
    checkMatrix("upload", "value", A);
    const { rows, cols, order } = A;
    const { data, offset, rowStep, colStep } = entries(A);
    const { array, free } = this.allocate(data, rows * cols);
    const [lines, length, step] = order === "row" ? [rows, cols, rowStep] : [cols, rows, colStep];
    if (length > 0) for (let i = 0; i < lines; i++) array.set(part(data, offset + i * step, length), i * length);
    return new OnEngine(this, { data: array, rows, cols, order, ld: length, offset: 0 }, [rows, cols], free);
  }

  // The analysis of a sparse matrix is made on this thread: here is where it is at hand.
  private sparse(A: Sparse<Real>): OnEngine {
    checkSparse("upload", "value", A);
    return new OnEngine(this, copyOfSparse("upload", A), [A.rows, A.cols], () => {});
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
    this.checkHere("read: this");
    if (isSparse(this.inner)) return copyOfSparse("read", this.inner);
    return isMatrix(this.inner) ? { ...this.inner, data: copyOf("read", this.inner.data) } : copyOf("read", this.inner);
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

const isMatrix = (value: Value): value is Matrix<Real> => hasMember(value, "data");
const isSparse = (value: Value): value is Sparse<Real> => hasMember(value, "pointers");

function hasMember(value: Value, name: string): boolean {
  return typeof value === "object" && value !== null && !ArrayBuffer.isView(value) && name in value;
}

function copyOfSparse(routine: string, A: Sparse<Real>): Sparse<Real> {
  return trusted({ ...A, pointers: A.pointers.slice(), indices: A.indices.slice(), values: copyOf(routine, A.values) }, ascends(A));
}
