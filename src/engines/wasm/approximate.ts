// The approximate kernels of solve() on the calling thread: the jobs of jobs/approximate.ts, and the arenas for factors, inverses and kept
// matrices. Part of the engine in index.ts; threads/approximate.ts shares the types of factors and inverses.

import { compactLike, contiguousLines, type StridedMatrix } from "../../arrays/matrix.ts";
import type { Format, Real } from "../../arrays/types.ts";
import { aligned } from "../../arrays/vectors.ts";
import type { ApproximateFactors, ApproximateInverses, ApproximateKernels, Scaling } from "../approximate.ts";
import type { Allocation } from "../memory.ts";
import type { Arena } from "./arena.ts";
import * as jobs from "./jobs/approximate.ts";
import type { Job, JobBody } from "./jobs/job.ts";
import { Space } from "./space.ts";

// An arena that has used at most this number of bytes is kept for the next call: fresh pages cost 0.5 ms/MB, and a system of order 2000
// factored in binary64 needs 70 MB.
const MAX_KEPT = 1 << 27;
// A new arena has the size of this number of matrices, for a copy, factors of either format and workspace, plus EXTRA bytes.
const MATRICES = 4;
const EXTRA = 1 << 22;

/** The arenas that the engine provides for its approximate kernels. */
export interface ArenaProvider {
  /** The arena that holds an array. */
  find(data: Real): Arena | undefined;
  /** A new arena with room for `wanted` bytes if they are available, else for `bytes`. */
  make(routine: string, bytes: number, wanted: number): Arena;
  /** The engine's scratch arena, which holds no arrays. */
  scratchArena(): Arena;
  /** Run a job in the memory from `start` to `end`. */
  run<R>(arena: Arena, body: JobBody<R>, start: number, end: number): R;
}

/** Factors in an arena. */
export class ArenaFactors implements ApproximateFactors {
  readonly n: number;
  readonly column: number;
  readonly minPivot: number;
  readonly maxPivot: number;
  readonly roundings: number;

  constructor(
    readonly arena: Arena,
    readonly at: number,
    readonly shape: jobs.Shape,
    readonly format: Format,
    outcome: jobs.FactorizationOutcome,
    readonly free: () => void,
  ) {
    this.n = shape.cols;
    this.column = outcome.column;
    this.minPivot = outcome.minPivot;
    this.maxPivot = outcome.maxPivot;
    this.roundings = roundingsOf(this.n);
  }
}

/** Inverses of factors, with the same layout. */
export class ArenaInverses implements ApproximateInverses {
  readonly n: number;
  readonly roundings: number;

  constructor(
    readonly arena: Arena,
    readonly at: number,
    readonly shape: jobs.Shape,
    readonly free: () => void,
  ) {
    this.n = shape.cols;
    this.roundings = roundingsOf(this.n);
  }
}

// A tile sums at most 64 products with one or two roundings each. An entry is then updated once for each of n / 64 panels, and at most 64
// times in its own panel. Divisions and the last rows of a block add a few more.
const roundingsOf = (n: number): number => 2 * Math.min(n, 64) + Math.min(n, Math.ceil(n / 64) + 80);

/** A function that frees something at its first call only. */
export function once(free: () => void): () => void {
  let held = true;
  return () => {
    if (held) free();
    held = false;
  };
}

/** A copy of A at an address of an arena, without gaps. */
export function copyTo(arena: Arena, A: StridedMatrix, at: number): StridedMatrix {
  const { lines, length } = contiguousLines(A);
  const width = A.data.BYTES_PER_ELEMENT;
  new Space(arena, at, at).copyLines(A, 0, lines, 0, length, at);
  const data = width === 8 ? new Float64Array(arena.buffer, at, lines * length) : new Float32Array(arena.buffer, at, lines * length);
  return compactLike(A, data);
}

/** The approximate kernels on the calling thread. */
export class WasmApproximate implements ApproximateKernels {
  private spareArena: Arena | undefined; // for kept matrices, and for factors of matrices that are in no arena or in a full one

  constructor(private readonly provider: ArenaProvider) {}

  /** EngineMemory.keepMatrix() in the arenas of the factors. */
  keepMatrix(routine: string, A: StridedMatrix, lasting: boolean): Allocation<StridedMatrix> {
    if (!lasting && this.provider.find(A.data)) return { value: A, isCollected: true, free() {} };
    const bytes = matrixBytes(A);
    const { arena, starts } = this.allocate(routine, [this.spareArena], () => [bytes], MATRICES * bytes);
    const at = starts[0] as number;
    const copy = copyTo(arena, A, at);
    const { data } = copy; // owns the block, because every user of the copy refers to it
    arena.own(data, at);
    return { value: copy, isCollected: true, free: once(() => this.release(arena, [at], data)) };
  }

  magnitudes(routine: string, A: StridedMatrix, scale: Float64Array, sums: Float64Array, largest: Float64Array): void {
    const bytesIn = (arena: Arena): number => jobs.magnitudesBytes(arena, A);
    this.inSpace(routine, this.arenasFor(A), bytesIn, (space, job) => jobs.magnitudes(space, job, A, scale, sums, largest));
  }

  factorize(
    routine: string,
    A: StridedMatrix,
    scaling: Scaling,
    format: Format,
    b: Float64Array,
    k: number,
    x: Float64Array,
  ): ArenaFactors {
    const shape = jobs.shapeOf(A.rows, A.cols, k, format);
    // Factors come with space for one right-hand side: their arena may be full when a caller solves with them.
    const bytesIn = (arena: Arena): number[] => [jobs.factorizeBytes(arena, A, shape), shape.bytes + jobs.substituteBytes(arena, shape, 1)];
    const { arena, starts, ends } = this.allocate(routine, this.arenasFor(A), bytesIn, MATRICES * matrixBytes(A));
    const [work, at] = starts as [number, number];
    let done = false;
    try {
      const run = (space: Space, job: Job) => jobs.factorize(space, job, A, scaling, b, x, shape, at);
      const outcome = this.provider.run(arena, run, work, ends[0] as number);
      done = true;
      const free = once(() => this.release(arena, [at], factors));
      const factors = new ArenaFactors(arena, at, shape, format, outcome, free);
      arena.own(factors, at);
      return factors;
    } finally {
      this.release(arena, done ? [work] : starts);
    }
  }

  substitute(_routine: string, factors: ApproximateFactors, b: Float64Array, k: number, x: Float64Array): void {
    const { arena, shape, at } = factors as ArenaFactors;
    const solve = (start: number, right: Float64Array, count: number, to: Float64Array): void => {
      const run = (space: Space, job: Job) => jobs.substitute(space, job, shape, at, right, count, to);
      this.provider.run(arena, run, start, start + jobs.substituteBytes(arena, shape, count));
    };
    const own = at + shape.bytes;
    const start = k === 1 ? own : arena.allocate(jobs.substituteBytes(arena, shape, k), false);
    if (start !== 0) {
      solve(start, b, k, x);
      if (start !== own) arena.release(start);
      return;
    }
    const out = new Float64Array(shape.rows);
    for (let r = 0; r < k; r++) {
      solve(
        own,
        Float64Array.from(out, (_, i) => b[i * k + r] as number),
        1,
        out,
      );
      for (const [i, v] of out.entries()) x[i * k + r] = v;
    }
  }

  residual(routine: string, alpha: number, A: StridedMatrix, x: Float64Array, b: Float64Array, k: number, r: Float64Array): void {
    const bytesIn = (arena: Arena): number => jobs.residualBytes(arena, A, k, 1);
    this.inSpace(routine, this.arenasFor(A), bytesIn, (space, job) => jobs.residual(space, job, alpha, A, x, b, k, r, 1));
  }

  invert(routine: string, factors: ApproximateFactors): ArenaInverses {
    const { arena: own, shape, at } = factors as ArenaFactors;
    const toShape = jobs.shapeOf(shape.rows, shape.cols, 0, "binary64");
    // A kernel sees one memory: if the arena of the factors has no room for the inverses, the factors are copied to one that has.
    const bytesIn = (arena: Arena): number[] => [
      toShape.bytes + jobs.weighBytes(toShape),
      jobs.invertBytes(arena, shape, 1),
      ...(arena === own ? [] : [shape.bytes]),
    ];
    const { arena, starts, ends } = this.allocate(routine, [own, this.spareArena], bytesIn, 0);
    const [to, work, copy = at] = starts as [number, number, number?];
    if (copy !== at || arena !== own) new Uint8Array(arena.buffer, copy, shape.bytes).set(new Uint8Array(own.buffer, at, shape.bytes));
    let done = false;
    try {
      const run = (space: Space, job: Job) => jobs.invert(space, job, shape, copy, toShape, to, 1);
      this.provider.run(arena, run, work, ends[1] as number);
      done = true;
    } finally {
      this.release(arena, done ? starts.slice(1) : starts);
    }
    return new ArenaInverses(
      arena,
      to,
      toShape,
      once(() => this.release(arena, [to])),
    );
  }

  weigh(
    _routine: string,
    triangles: ApproximateFactors | ApproximateInverses,
    part: "lower" | "upper",
    v: Float64Array,
    out: Float64Array,
  ): void {
    const { arena, shape, at } = triangles as ArenaFactors | ArenaInverses;
    // In the workspace that factorize() and invert() reserve behind the triangles and the row swaps.
    const own = at + shape.bytes;
    this.provider.run(
      arena,
      (space, job) => jobs.weigh(space, job, shape, at, part === "upper", v, out),
      own,
      own + jobs.weighBytes(shape),
    );
  }

  subtractModulo(routine: string, C: StridedMatrix, P: Float64Array, Q: Float64Array, depth: number, p: number): void {
    const bytesIn = (arena: Arena): number => jobs.modularBytes(arena, C, depth, 1);
    this.inSpace(routine, this.arenasFor(C), bytesIn, (space, job) => jobs.subtractModulo(space, job, C, P, Q, depth, p, 1));
  }

  /** See ThreadApproximate.panel. */
  panel(data: Float32Array, rows: number, cols: number, pivots: Int32Array): number {
    const shape = jobs.shapeOf(rows, cols, 0, "binary32");
    const bytesIn = (arena: Arena): number => jobs.panelBytes(arena, shape);
    return this.inSpace("panel", [this.spareArena], bytesIn, (space, job) => jobs.panel(space, job, data, shape, pivots));
  }

  // Run a job whose memory is freed at the end.
  private inSpace<R>(routine: string, arenas: (Arena | undefined)[], bytesIn: (arena: Arena) => number, body: JobBody<R>): R {
    const { arena, starts, ends } = this.allocate(routine, arenas, (arena) => [bytesIn(arena)], 0);
    try {
      return this.provider.run(arena, body, starts[0] as number, ends[0] as number);
    } finally {
      this.release(arena, starts);
    }
  }

  // The arenas to try for work on A.
  private arenasFor(A: StridedMatrix): (Arena | undefined)[] {
    return [this.provider.find(A.data), this.spareArena];
  }

  // Blocks of these sizes in one of these arenas, or in a new spare arena.
  private allocate(routine: string, arenas: (Arena | undefined)[], bytesIn: (arena: Arena) => number[], wanted: number): Blocks {
    for (const arena of arenas) {
      const found = arena && tryAllocate(arena, bytesIn(arena));
      if (found) return found;
    }
    const needed = bytesIn(this.provider.scratchArena()).reduce((sum, bytes) => sum + aligned(bytes), 0);
    const spareArena = this.provider.make(routine, needed, Math.max(wanted, needed) + EXTRA);
    spareArena.onCollected = () => this.release(spareArena, []);
    this.spareArena = spareArena;
    return tryAllocate(spareArena, bytesIn(spareArena)) as Blocks;
  }

  private release(arena: Arena, starts: readonly number[], owner?: object): void {
    if (owner) arena.disown(owner);
    for (const at of starts) arena.release(at);
    if (arena === this.spareArena && arena.isEmpty() && arena.touched > MAX_KEPT) this.spareArena = undefined;
  }
}

// Blocks of an arena, by their first byte and the end of each.
interface Blocks {
  readonly arena: Arena;
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

function matrixBytes(A: StridedMatrix): number {
  return A.rows * A.cols * A.data.BYTES_PER_ELEMENT;
}

// Allocate blocks of all these sizes, or none.
function tryAllocate(arena: Arena, sizes: number[]): Blocks | undefined {
  const starts: number[] = [];
  for (const bytes of sizes) {
    const at = arena.allocate(bytes, false);
    if (at === 0) {
      for (const start of starts) arena.release(start);
      return undefined;
    }
    starts.push(at);
  }
  return { arena, starts, ends: starts.map((at, i) => at + (sizes[i] as number)) };
}
