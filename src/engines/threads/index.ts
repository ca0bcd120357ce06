// The threads engine: the jobs of wasm/jobs/ on a pool of workers. threads/backend.ts opens it; asynchronous routines call it.

import { copyColumns, separate } from "../../arrays/columns.ts";
import { EngineError } from "../../arrays/errors.ts";
import { rowMajor, rowMajorCopy, type StridedMatrix } from "../../arrays/matrix.ts";
import type { StoredLines } from "../../arrays/triangle.ts";
import type { Format, Real, Reduction, Rounding, Sparse } from "../../arrays/types.ts";
import { newVector } from "../../arrays/vectors.ts";
import type { Superaccumulator } from "../../exact/superaccumulator.ts";
import type { Backend } from "../backend.ts";
import { embedded } from "../embedded.ts";
import { type HostKrylov, type HostOperator, hostKrylov } from "../hostKrylov.ts";
import type { Breakdown, HostLines, RowBlocks, SparseTriangle, Substitution } from "../kernels.ts";
import type { KrylovSystem } from "../krylov.ts";
import type { Allocation, HostMemory } from "../memory.ts";
import { copyElements, filled } from "../ordinaryMemory.ts";
import type { Routine } from "../steps.ts";
import * as dense from "../wasm/jobs/dense.ts";
import * as level1 from "../wasm/jobs/level1.ts";
import * as sparse from "../wasm/jobs/sparse.ts";
import { type Product, spmv, spmvBytes } from "../wasm/jobs/spmv.ts";
import { bytesFor, Space } from "../wasm/space.ts";
import { ThreadApproximate } from "./approximate.ts";
import type { Pool } from "./pool.ts";

// Columns that a sparse solve takes at a time.
const COLUMN_WIDTH = 16;

// Unknowns and entries of a system from which its iterations are shared. Posting a job and waking up take some 20 to 50 us, as long as an
// operation on a vector of this length.
const MIN_SHARED = 2 ** 15;
const sizeOf = ({ n, A }: KrylovSystem): number => n + ("data" in A ? A.rows * A.cols : A.values.length);

/** The kernels on a pool of threads. Operands outside its memory are copied into it; results are written in one step. */
export class ThreadKernels implements Backend {
  readonly kind = "threads";
  /** The kernels of solve(). */
  readonly approximate: ThreadApproximate;

  constructor(
    readonly pool: Pool,
    readonly device: string,
  ) {
    this.approximate = new ThreadApproximate(pool);
  }

  close(): Promise<void> {
    return this.pool.close();
  }

  gemv(alpha: number, A: StridedMatrix, x: Real, beta: number, y: Real): Promise<void> {
    const { arena } = this.pool;
    return this.pool.run(dense.gemvBytes(arena, A, x, y, undefined), (space, job) =>
      dense.gemv(space, job, alpha, A, x, beta, y, undefined),
    );
  }

  spmv(alpha: number, A: HostOperator, x: Real, beta: number, y: Real): Promise<void> {
    return this.multiply({ alpha, A, x, beta, y, workers: this.pool.workers, streams: false, inPlace: false });
  }

  private multiply(product: Product): Promise<void> {
    return this.pool.run(spmvBytes(this.pool.arena, product), (space, job) => spmv(space, job, product));
  }

  ilu0(A: HostLines, values: Real): Promise<Breakdown | undefined> {
    const { arena, workers } = this.pool;
    return this.pool.run(sparse.ilu0Bytes(arena, A, values, workers), (space, job) => sparse.ilu0(space, job, A, values, workers));
  }

  private readonly pooled = hostKrylov(() => ({
    memory: this.memory,
    canStay: (array) => this.users.has(array),
    gemv: (...args) => this.gemv(...args),
    // The vectors of a workspace are nobody else's: results need no copy.
    spmv: (alpha, A, x, beta, y) => this.multiply({ alpha, A, x, beta, y, workers: this.pool.workers, streams: false, inPlace: true }),
    reduce: (...args) => this.reduce(...(args as Parameters<ThreadKernels["reduce"]>)),
    combine: (op, a, b, x, y, z) => this.pool.run(0, (_, job) => level1.combine(job, op, a, b, x, y, z)),
  }));

  /** Small systems are solved on the calling thread: a job costs more than an operation on them. The bits are the same. */
  readonly krylov: HostKrylov = {
    operations: () => this.pooled.operations(),
    workspace: (system, later) => (sizeOf(system) < MIN_SHARED ? embedded().krylov : this.pooled).workspace(system, later),
  };

  gemm(alpha: number, A: StridedMatrix, B: StridedMatrix, beta: number, C: StridedMatrix): Promise<void> {
    return this.pool.run(dense.gemmBytes(this.pool.arena, A, B, C), (space, job) => dense.gemm(space, job, alpha, A, B, beta, C));
  }

  trsv(T: StridedMatrix, b: Real, x: Real, how: Substitution): Promise<void> {
    const { arena, workers } = this.pool;
    const blocked = dense.withBlocks(T, how);
    return this.pool.run(dense.trsvBytes(arena, T, b, blocked, undefined, workers), (space, job) =>
      dense.trsv(space, job, T, b, x, blocked, undefined, workers),
    );
  }

  trsm(T: StridedMatrix, B: StridedMatrix, X: StridedMatrix, how: Substitution): Promise<void> {
    const { arena, workers } = this.pool;
    const cols = dense.trsmColumns(B.cols, how, workers);
    const blocked = dense.withBlocks(T, how);
    const one = newVector("extrsm", B.data, B.rows);
    const grouped = cols > 0 ? dense.trsmBytes(arena, T, cols, how, undefined, workers) : 0;
    const single = cols < B.cols ? dense.trsvBytes(arena, T, one, blocked, undefined, workers) : 0;
    return this.pool.run(grouped + single + bytesFor(arena, [], [T]), function* (space, job) {
      const held = space.held(T); // the caller may change T and B as soon as this yields
      const others = copyColumns(B, "extrsm", cols);
      if (cols > 0) yield* dense.trsm(space, job, held, B, X, cols, how, undefined, workers);
      const start = space.reserve(single);
      for (const [j, b] of others.entries()) {
        yield* dense.trsv(new Space(arena, start, start + single, true), job, held, b, one, blocked, undefined, workers);
        separate(one, 0, 1, X, cols + j);
      }
    });
  }

  *lu(data: Real, rows: number, cols: number, count: number, pivots: Int32Array, info: Int32Array): Routine<number> {
    const { arena, workers } = this.pool;
    const bytes = dense.luBytes(arena, data, rows, cols, count, workers);
    return (yield () =>
      this.pool.run(bytes, (space, job) => dense.lu(space, job, data, rows, cols, count, pivots, info, workers))) as number;
  }

  /** See ThreadApproximate.panel(). */
  panel(data: Float32Array, rows: number, cols: number, pivots: Int32Array): Promise<number> {
    return this.approximate.panel(data, rows, cols, pivots);
  }

  reduce(op: Reduction, x: Real, y: Real, root: boolean, mode: Rounding, format: Format): Promise<number> {
    const { arena, workers } = this.pool;
    return this.pool.run(level1.reduceBytes(arena, x, y, workers), (space, job) =>
      level1.reduce(space, job, op, x, y, root, mode, format, workers),
    );
  }

  get workers(): number {
    return this.pool.workers;
  }

  /** Vectors, matrices and patterns in the shared memory of the pool. */
  readonly memory: HostMemory = {
    isOnHost: true,
    holdsPatterns: true,
    upload: (_routine, like, length, pieces) => {
      const { arena } = this.pool;
      const at = arena.allocate(length * like.BYTES_PER_ELEMENT);
      if (at === 0) throw new EngineError(`threads: no memory for ${length} numbers`);
      const type = like instanceof Int32Array ? Int32Array : like.BYTES_PER_ELEMENT === 8 ? Float64Array : Float32Array;
      const value = filled(new type(arena.buffer, at, length) as typeof like, pieces);
      this.retain(value);
      return { value, free: () => this.release(value) };
    },
    download: copyElements,
    keepMatrix: (routine, A: StridedMatrix, lasting) => this.approximate.keepMatrix(routine, A, lasting),
    reserve: (routine, bytes) => {
      const { pool } = this;
      const at = pool.allocate(routine, bytes);
      return { value: new Uint8Array(pool.arena.buffer, at, bytes), free: () => pool.arena.release(at) };
    },
    share: (A) => this.share(A),
  };

  // A sparse resident as part of a plan, without a copy. Its arrays stay until both are freed.
  private share(A: Sparse<Real>): Allocation<Sparse<Real>> | undefined {
    const arrays = [A.pointers, A.indices, A.values];
    if (!arrays.every((array) => this.users.has(array))) return undefined;
    for (const array of arrays) this.retain(array);
    return {
      value: A,
      free: () => {
        for (const array of arrays) this.release(array);
      },
    };
  }

  // How many users each uploaded array has: its resident, and plans.
  private readonly users = new Map<ArrayBufferView, number>();

  private retain(array: ArrayBufferView): void {
    this.users.set(array, (this.users.get(array) ?? 0) + 1);
  }

  private release(array: ArrayBufferView): void {
    const count = (this.users.get(array) as number) - 1;
    this.users.set(array, count);
    if (count > 0) return;
    this.users.delete(array);
    this.pool.arena.release(array.byteOffset);
  }

  firstZero(lines: StoredLines, from: number, to: number): number {
    return sparse.firstZero(this.pool.arena, lines, from, to);
  }

  neighbours(blocks: RowBlocks, from: number): number {
    return sparse.neighbours(this.pool.arena, blocks, from);
  }

  sptrsv(system: SparseTriangle, b: Real, x: Real): Promise<void> {
    return this.pool.run(sparse.sptrsvBytes(system), (space, job) => sparse.sptrsv(space, job, system, b, x));
  }

  sptrsm(system: SparseTriangle, B: StridedMatrix, X: StridedMatrix): Promise<void> {
    const width = sparse.sptrsmColumns(system, B.cols) > 0 ? COLUMN_WIDTH : 1;
    // The caller may change B after the first columns.
    const right = rowMajor(rowMajorCopy("TriangularPlan.solve", B), B.rows, B.cols);
    return this.pool.run(sparse.sptrsvBytes(system, width), (space, job) => sparse.sptrsm(space, job, system, right, X, width));
  }

  /** Levels by Kahn's algorithm. The order within a level is arbitrary. */
  kahn(begins: Int32Array, indices: Int32Array, counts: Int32Array): Promise<{ ilev: Int32Array; jlev: Int32Array }> {
    return this.pool.run(sparse.kahnBytes(begins, indices), (space, job) => sparse.kahn(space, job, begins, indices, counts));
  }

  accumulate(op: Reduction, x: Real, y: Real, into: Superaccumulator): Promise<void> {
    const { arena, workers } = this.pool;
    return this.pool.run(level1.reduceBytes(arena, x, y, workers), (space, job) => level1.accumulate(space, job, op, x, y, workers, into));
  }
}
