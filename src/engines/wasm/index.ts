// The embedded engine: the kernels of assembly/ on the calling thread. Vectors are streamed past the vector kernels; matrix routines run
// as jobs (jobs/*.ts). load.ts and loadVectors.ts create it, routines call it through the contract in engines/kernels.ts.

import { solveColumns } from "../../arrays/columns.ts";
import { EngineError } from "../../arrays/errors.ts";
import { contiguousLines, type StridedMatrix } from "../../arrays/matrix.ts";
import type { StoredLines } from "../../arrays/triangle.ts";
import type { Real, Reduction } from "../../arrays/types.ts";
import { formatOf } from "../../arrays/vectors.ts";
import { storeNaN } from "../../exact/bits.ts";
import { enclosure } from "../../exact/enclosure.ts";
import type { Superaccumulator } from "../../exact/superaccumulator.ts";
import { type HostOperator, hostKrylov } from "../hostKrylov.ts";
import type { Breakdown, Elementwise, ExactStage, HostLines, Kernels, SparseTriangle, Substitution } from "../kernels.ts";
import type { Allocation, HostMemory, Piece } from "../memory.ts";
import { copyElements, filled } from "../ordinaryMemory.ts";
import { reduce } from "../reduce.ts";
import { mapOne, reference } from "../reference/index.ts";
import type { Routine } from "../steps.ts";
import { WasmApproximate } from "./approximate.ts";
import { kernelIndex, LIMIT, type Modules, VectorArena } from "./arena.ts";
import * as layout from "./assembly/layout.ts";
import * as dense from "./jobs/dense.ts";
import type { JobBody } from "./jobs/job.ts";
import { combine } from "./jobs/level1.ts";
import * as sparse from "./jobs/sparse.ts";
import { type Product, spmv, spmvBytes } from "./jobs/spmv.ts";
import type { WasmModule } from "./objects.ts";
import type { Variant } from "./packedModule.ts";
import { bytesFor, Space } from "./space.ts";

// Up to this length the reference kernels are faster: they need no copy and no call into WebAssembly.
const TINY = 32;

// A call needs no copies only if all its arrays are in one arena. Arrays that are used together tend to be of similar size, so an arena
// has room for four of the size of its first one. Untouched memory costs only address space.
const ARRAYS_PER_ARENA = 4;
const MIN_ARENA = 1 << 24;

// Columns that a sparse solve takes at a time, if there is memory for them.
const COLUMN_WIDTHS = [64, 32, 16, 8];

// The engine keeps the scratch memory of one call for the next, up to this number of bytes.
const MAX_KEPT = 1 << 26;

// One stage of a reduction, on a chunk of n terms at these addresses; n is a multiple of 8. Returning false ends the pass.
type Stage = (px: number, py: number, n: number) => unknown;

interface ArrayType<V extends Real | Int32Array> {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBuffer, offset: number, length: number): V;
}

/** The embedded engine: WebAssembly SIMD on the calling thread. */
export class WasmKernels implements Kernels {
  readonly name: string;
  readonly modules: Modules;
  private scratchArena: VectorArena; // for streaming, and for the operands of matrix routines
  // An arena lives as long as one of its arrays. (With a list of weak references, dereferencing them in every call would keep all arenas
  // alive.)
  private readonly arenas = new WeakMap<ArrayBufferLike, VectorArena>();
  private current: VectorArena | undefined; // for the next array: the arena that was last created, or in which one was last freed
  private readonly live = new WeakSet<Real | Int32Array>(); // arrays not freed yet. (An offset would not identify them: it may belong to a newer array.)
  private hasAllocated = false; // until then no array can be in an arena

  constructor(
    vectors: WasmModule,
    readonly variant: Variant,
  ) {
    this.name = `wasm-${variant}`;
    this.modules = { vectors, matrices: undefined };
    this.scratchArena = new VectorArena(this.modules, 0);
  }

  /** Whether a multiply-add rounds once on this machine: (1 + 2^-27)(1 - 2^-27) - 1 is -2^-54, and 0 with two roundings. */
  fuses(): boolean {
    return this.scratchArena.multiplyAdd(1 + 2 ** -27, 1 - 2 ** -27, -1) === -(2 ** -54);
  }

  enclose(op: Reduction, x: Real, y: Real): void {
    if (x.length <= TINY) {
      reference.enclose(op, x, y);
      return;
    }
    const arena = this.arenaOf(x, y);
    const state = arena.binary64;
    state[layout.HIGH / 8] = 0;
    state[layout.LOW / 8] = 0;
    state[layout.BOUND / 8] = 0;
    state[layout.GRID / 8] = 0;
    const filter = arena.filter[op][kernelIndex(x)];
    const known = this.stream(arena, x, y, (px, py, n) => filter(px, py, n) !== 0);
    enclosure[0] = state[layout.HIGH / 8] as number;
    enclosure[1] = state[layout.LOW / 8] as number;
    enclosure[2] = known ? (state[layout.BOUND / 8] as number) : Number.NaN;
  }

  accumulate(op: Reduction, x: Real, y: Real, into: Superaccumulator, exact: boolean): number {
    if (x.length <= TINY) return reference.accumulate(op, x, y, into, exact);
    const index = kernelIndex(wider(x, y));
    let bound = 0;
    this.collect(x, y, into, (arena) => {
      if (exact) return arena.exact[op][index];
      const ladder = arena.ladder[op][index];
      return (px, py, n) => {
        bound += ladder(px, py, n);
      };
    });
    return bound;
  }

  accumulateBy(stage: ExactStage, op: Reduction, x: Real, y: Real, into: Superaccumulator): void {
    this.collect(x, y, into, (arena) => {
      const kernel = (stage === "superaccumulator" ? arena.deposit : arena.expansion)[op][kernelIndex(wider(x, y))];
      const size = Number(stage[3]);
      const early = stage.endsWith("ee") ? 1 : 0;
      return (px, py, n) => kernel(px, py, n, size, early);
    });
  }

  // Run an exact stage over all terms, and add its sum to `into`.
  private collect(x: Real, y: Real, into: Superaccumulator, stage: (arena: VectorArena) => Stage): void {
    const arena = this.arenaOf(x, y);
    this.stream(arena, x, y, stage(arena));
    into.addDigits(arena.digits(), 0);
    into.addSpecials(arena.words[layout.SPECIAL / 4] as number);
    arena.clear(); // the matrix kernels expect the digits to be zero
  }

  map(op: Elementwise, alpha: number, x: Real, y: Real): void {
    const arena = this.arenaOf(x, y);
    const kernel = arena.map[op][kernelIndex(x)];
    const target = op === "axpy" ? y : x;
    const format = formatOf(x);
    const first = layout.SCRATCH_OUT / x.BYTES_PER_ELEMENT;
    const heap = arena.heap(x);
    for (let i = 0; i < x.length; i += layout.BLOCK) {
      const n = Math.min(layout.BLOCK, x.length - i);
      const px = arena.padded(x, i, n, layout.SCRATCH_X, x);
      const flagged = kernel(alpha, px, y === x ? px : arena.padded(y, i, n, layout.SCRATCH_Y, x), n);
      for (let k = 0; k < flagged; k++) {
        const j = arena.words[layout.FLAGGED / 4 + k] as number;
        if (j >= n) continue;
        const v = mapOne(op, alpha, x[i + j] as number, y[i + j] as number, format);
        if (v === v) heap[first + j] = v;
        else storeNaN(heap, first + j);
      }
      target.set(heap.subarray(first, first + n), i);
    }
  }

  gemv(alpha: number, A: StridedMatrix, x: Real, beta: number, y: Real): void {
    const streamed = this.streamed(A, 1);
    this.inSpace(
      "exgemv",
      [A.data],
      (arena) => dense.gemvBytes(arena, A, x, y, streamed),
      (space, job) => dense.gemv(space, job, alpha, A, x, beta, y, streamed),
    );
  }

  spmv(alpha: number, A: HostOperator, x: Real, beta: number, y: Real): void {
    const product: Product = { alpha, A, x, beta, y, workers: 1, streams: true, inPlace: false };
    this.inSpace(
      "exspmv",
      [A.values, A.indices, x, y],
      (arena) => spmvBytes(arena, product),
      (space, job) => spmv(space, job, product),
    );
  }

  ilu0(A: HostLines, values: Real): Breakdown | undefined {
    return this.inSpace(
      "ilu0",
      [values],
      (arena) => sparse.ilu0Bytes(arena, A, values, 1),
      (space, job) => sparse.ilu0(space, job, A, values, 1),
    );
  }

  readonly krylov = hostKrylov(() => ({
    memory: this.memory,
    reserveBeside: (arrays, bytes) => this.reserveBeside(arrays, bytes),
    canStay: () => false,
    gemv: (...args) => this.gemv(...args),
    spmv: (...args) => this.spmv(...args),
    reduce: (...args) => reduce(this, ...args),
    combine: (op, a, b, x, y, z) => run(this.arenas.get(y.buffer) as VectorArena, (_, job) => combine(job, op, a, b, x, y, z), 0, 0),
  }));

  gemm(alpha: number, A: StridedMatrix, B: StridedMatrix, beta: number, C: StridedMatrix): void {
    this.inSpace(
      "exgemm",
      [A.data, B.data, C.data],
      (arena) => dense.gemmBytes(arena, A, B, C),
      (space, job) => dense.gemm(space, job, alpha, A, B, beta, C),
    );
  }

  trsv(T: StridedMatrix, b: Real, x: Real, how: Substitution): void {
    const blocked = dense.withBlocks(T, how, this.arenaWith(T.data) ? undefined : layout.CHUNK);
    const streamed = this.streamed(T, blocked.blockSize);
    this.inSpace(
      "extrsv",
      [T.data],
      (arena) => dense.trsvBytes(arena, T, b, blocked, streamed, 1),
      (space, job) => dense.trsv(space, job, T, b, x, blocked, streamed, 1),
    );
  }

  trsm(T: StridedMatrix, B: StridedMatrix, X: StridedMatrix, how: Substitution): void {
    const cols = dense.trsmColumns(B.cols, how, 1);
    const streamed = contiguousLines(T).byRows ? this.streamed(T, layout.TRSM_ROWS) : undefined;
    if (cols > 0)
      this.inSpace(
        "extrsm",
        [T.data],
        (arena) => dense.trsmBytes(arena, T, cols, how, streamed, 1) + (streamed ? 0 : bytesFor(arena, [], [T])),
        (space, job) => dense.trsm(space, job, T, B, X, cols, how, streamed, 1),
      );
    solveColumns(B, X, "extrsm", (b, x) => this.trsv(T, b, x, how), cols);
  }

  *lu(data: Real, rows: number, cols: number, count: number, pivots: Int32Array, info: Int32Array): Routine<number> {
    return this.inSpace(
      "exlu",
      [data],
      (arena) => dense.luBytes(arena, data, rows, cols, count, 1),
      (space, job) => dense.lu(space, job, data, rows, cols, count, pivots, info, 1),
    );
  }

  /** The kernels of solve(). */
  readonly approximate = new WasmApproximate({
    find: (data) => this.arenas.get(data.buffer),
    make: (routine, bytes, wanted) => {
      const arena = this.newArena(routine, bytes, wanted);
      this.addArena(arena);
      return arena;
    },
    scratchArena: () => this.scratchArena,
    run,
  });

  readonly workers = 0;

  readonly memory: HostMemory = {
    isOnHost: true,
    holdsPatterns: false,
    upload: (routine, like, length, pieces) => {
      const type = (like.BYTES_PER_ELEMENT === 8 ? Float64Array : Float32Array) as unknown as ArrayType<Real>;
      const array = this.allocateFor(routine, length, type);
      filled(array, pieces as Iterable<Piece<Real>>);
      return { value: array as typeof like, free: () => this.free(array) };
    },
    download: copyElements,
    keepMatrix: (routine, A: StridedMatrix, lasting) => this.approximate.keepMatrix(routine, A, lasting),
    reserve: (routine, bytes) => this.reserve(routine, bytes),
  };

  private reserve(routine: string, bytes: number): Allocation<Uint8Array> {
    return this.reserved(this.allocateFor(routine, Math.ceil(bytes / 8), Float64Array), bytes);
  }

  // Bytes in the arena that has all of these arrays, if there is one and it has room.
  private reserveBeside(arrays: readonly ArrayBufferView[], bytes: number): Allocation<Uint8Array> | undefined {
    const buffer = arrays[0]?.buffer;
    const arena = buffer && this.arenas.get(buffer);
    if (!arena || !arrays.every((array) => array.buffer === buffer)) return undefined;
    const at = arena.allocate(bytes, false);
    if (at === 0) return undefined;
    const array = new Float64Array(arena.buffer, at, Math.ceil(bytes / 8));
    this.live.add(array);
    return this.reserved(array, bytes);
  }

  private reserved(array: Float64Array, bytes: number): Allocation<Uint8Array> {
    const arena = this.arenas.get(array.buffer) as VectorArena;
    const allocation = {
      value: new Uint8Array(array.buffer, array.byteOffset, bytes),
      isCollected: true,
      free: () => {
        arena.disown(allocation);
        this.free(array);
      },
    };
    arena.own(allocation, array.byteOffset);
    return allocation;
  }

  firstZero(lines: StoredLines, from: number, to: number): number {
    return sparse.firstZero(this.arenas.get(lines.values.buffer) as VectorArena, lines, from, to);
  }

  /** Not used on a single thread: only schedules for several workers need it. */
  readonly neighbours = reference.neighbours;

  sptrsv(system: SparseTriangle, b: Real, x: Real): void {
    const arena = this.arenas.get(system.values.buffer) as VectorArena;
    const start = system.work.byteOffset;
    run(arena, (space, job) => sparse.sptrsv(space, job, system, b, x), start, start + sparse.sptrsvBytes(system));
  }

  sptrsm(system: SparseTriangle, B: StridedMatrix, X: StridedMatrix): void {
    const arena = this.arenas.get(system.values.buffer) as VectorArena;
    // The system cannot leave its arena: as many columns at a time as there is room for.
    for (const width of COLUMN_WIDTHS) {
      if (sparse.sptrsmColumns(system, B.cols) === 0) break;
      const bytes = sparse.sptrsvBytes(system, width);
      const at = arena.allocate(bytes, false);
      if (at === 0) continue;
      try {
        run(arena, (space, job) => sparse.sptrsm(space, job, system, B, X, width), at, at + bytes);
        return;
      } finally {
        arena.release(at);
      }
    }
    solveColumns(B, X, "TriangularPlan.solve", (b, x) => this.sptrsv(system, b, x));
  }

  // How an ordinary matrix is streamed past the kernels: as many contiguous lines at a time as fit into a chunk, in multiples of `block`.
  // Undefined if the matrix is in an arena.
  private streamed(A: StridedMatrix, block: number): { lines: number } | undefined {
    if (this.arenaWith(A.data)) return undefined;
    const { lines, length } = contiguousLines(A);
    return { lines: Math.min(lines, Math.max(1, Math.floor(layout.CHUNK / Math.max(length, 1) / block)) * block) };
  }

  // Run a job in an arena that holds one of its operands and has room for the others, else in the scratch arena.
  private inSpace<R>(routine: string, operands: ArrayBufferView[], bytesIn: (arena: VectorArena) => number, body: JobBody<R>): R {
    for (const data of operands) {
      const arena = this.arenaWith(data);
      if (!arena) continue;
      const bytes = bytesIn(arena);
      const at = arena.allocate(bytes, false);
      if (at === 0) continue;
      try {
        return run(arena, body, at, at + bytes);
      } finally {
        arena.release(at);
      }
    }
    const bytes = bytesIn(this.scratchArena);
    if (this.scratchArena.buffer.byteLength < layout.FRAME + bytes) this.scratchArena = this.newArena(routine, bytes, 2 * bytes);
    const { scratchArena } = this;
    if (bytes > MAX_KEPT) this.scratchArena = new VectorArena(this.modules, 0);
    return run(scratchArena, body, layout.FRAME, layout.FRAME + bytes);
  }

  /** An array in this engine's memory. */
  allocate<V extends Real | Int32Array>(length: number, type: ArrayType<V>): V {
    return this.allocateFor("allocate", length, type);
  }

  private allocateFor<V extends Real | Int32Array>(routine: string, length: number, type: ArrayType<V>): V {
    const bytes = length * type.BYTES_PER_ELEMENT;
    if (bytes > LIMIT)
      throw new EngineError(`${routine}: ${bytes} bytes asked for, one array can have ${LIMIT} (WebAssembly memory ends at 4 GiB)`);
    let offset = this.current?.allocate(bytes);
    if (!this.current || !offset) {
      const arena = this.newArena(routine, bytes, Math.max(MIN_ARENA, ARRAYS_PER_ARENA * bytes));
      arena.onCollected = () => this.reuse(arena);
      this.current = arena;
      this.addArena(arena);
      offset = this.current.allocate(bytes);
    }
    const array = new type(this.current.buffer, offset, length);
    this.live.add(array);
    return array;
  }

  // An arena with room for `wanted` bytes if they are available, else for `bytes`.
  private newArena(routine: string, bytes: number, wanted: number): VectorArena {
    if (bytes > LIMIT)
      throw new EngineError(`${routine}: ${bytes} bytes needed, an engine has ${LIMIT} (WebAssembly memory ends at 4 GiB)`);
    try {
      return new VectorArena(this.modules, Math.min(LIMIT, wanted));
    } catch {
      try {
        return new VectorArena(this.modules, bytes);
      } catch (cause) {
        throw new EngineError(`${routine}: no memory for ${bytes} bytes`, { cause });
      }
    }
  }

  /** Free an array. Returns false if allocate() did not return it, or if it has been freed already. */
  free(array: Real | Int32Array): boolean {
    const arena = this.arenas.get(array.buffer);
    if (!arena || !this.live.delete(array)) return false;
    arena.release(array.byteOffset);
    this.reuse(arena);
    return true;
  }

  // Memory was freed in this arena: the next arrays go there. An arena that is empty and large is dropped.
  private reuse(arena: VectorArena): void {
    this.current = arena.isEmpty() && arena.buffer.byteLength > 2 * MIN_ARENA ? undefined : arena;
  }

  private addArena(arena: VectorArena): void {
    this.arenas.set(arena.buffer, arena);
    this.hasAllocated = true;
  }

  // The arena that holds an array, if one does.
  private arenaWith(data: ArrayBufferView): VectorArena | undefined {
    return this.hasAllocated ? this.arenas.get(data.buffer) : undefined;
  }

  // The arena that holds x or y, else the scratch arena.
  private arenaOf(x: Real, y: Real): VectorArena {
    if (!this.hasAllocated) return this.scratchArena;
    return this.arenas.get(x.buffer) ?? this.arenas.get(y.buffer) ?? this.scratchArena;
  }

  // Stream the vectors past a stage, chunk by chunk. Vectors in the arena are not copied, except for the last few elements, which are padded
  // with zeros in scratch memory.
  private stream(arena: VectorArena, x: Real, y: Real, stage: Stage): boolean {
    const inside = arena.holds(x) || arena.holds(y);
    const like = wider(x, y);
    let m = 0;
    for (let i = 0; i < x.length; i += m) {
      m = Math.min(layout.CHUNK, x.length - i);
      if (inside && m > 8) m -= m % 8;
      const px = arena.padded(x, i, m, layout.SCRATCH_X, like);
      const py = y === x ? px : arena.padded(y, i, m, layout.SCRATCH_Y, like);
      if (stage(px, py, (m + 7) & ~7) === false) return false;
    }
    return true;
  }
}

// The vector whose format the kernels use: vectors of different formats are both read as binary64.
function wider(x: Real, y: Real): Real {
  return y.BYTES_PER_ELEMENT === 8 ? y : x;
}

// Run a job on the calling thread, with its record in the frame.
function run<R>(arena: VectorArena, body: JobBody<R>, start: number, end: number): R {
  const steps = body(new Space(arena, start, end), arena.job);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    arena.work(layout.JOB, 0);
  }
}
