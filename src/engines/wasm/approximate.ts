import type { Format, Real } from "../../arrays/types.ts";
import type { ApproximateFactors, ApproximateInverses, ApproximateKernels, Kept, Scaling } from "../approximate.ts";
import type { StridedMatrix } from "../kernels.ts";
import type { Arena } from "./arena.ts";
import * as jobs from "./jobs/approximate.ts";
import type { Job } from "./jobs/jobs.ts";
import { aligned, linesOf, Space } from "./space.ts";

// Memory that was used once is kept for the next call up to this: fresh pages cost 0.5 ms/MB, and a system of order 2000 needs
// 70 MB where it is factored in binary64.
const MAX_KEPT = 1 << 27;
// What an arena is to have room for, as a multiple of the matrix: a copy, factors of either format, and space to work in.
const ROOM = 4;
const SMALL = 1 << 22;

type Routine<R> = (space: Space, job: Job) => Generator<void, R, void>;

/** What the embedded engine lends to its plain kernels. */
export interface Lender {
  /** The arena that holds an array. */
  find(data: Real): Arena | undefined;
  /** A new one with room for so many bytes, and for more if that can be had. */
  make(routine: string, bytes: number, wanted: number): Arena;
  /** The arena of the engine's own, which holds no arrays. */
  home(): Arena;
  run<R>(arena: Arena, routine: Routine<R>, start: number, end: number): R;
}

/** The factors of an engine whose memory is an arena. */
export class ArenaFactors implements ApproximateFactors {
  readonly n: number;
  readonly column: number;
  readonly least: number;
  readonly largest: number;
  readonly roundings: number;
  private freed = false;

  constructor(
    readonly arena: Arena,
    readonly at: number,
    readonly shape: jobs.Shape,
    readonly format: Format,
    outcome: jobs.Outcome,
    private readonly release: () => void,
  ) {
    this.n = shape.cols;
    this.column = outcome.column;
    this.least = outcome.least;
    this.largest = outcome.largest;
    this.roundings = roundingsOf(this.n);
  }

  free(): void {
    if (!this.freed) this.release();
    this.freed = true;
  }
}

/** Their inverses, stored the same way. */
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

// Sums of a tile have at most 64 products of one or two roundings each. An entry is then updated once for each of n / 64 panels, and in
// its own panel at most 64 times; a few more come with divisions and with the last rows of a block.
const roundingsOf = (n: number): number => 2 * Math.min(n, 64) + Math.min(n, Math.ceil(n / 64) + 80);

/** A copy of A at an address of an arena, line by line without gaps. */
export function copyTo(arena: Arena, A: StridedMatrix, at: number): StridedMatrix {
  const { byRows, lines, length } = linesOf(A);
  const width = A.data.BYTES_PER_ELEMENT;
  new Space(arena, at, at).copyLines(A, 0, lines, 0, length, at);
  const data = width === 8 ? new Float64Array(arena.buffer, at, lines * length) : new Float32Array(arena.buffer, at, lines * length);
  const [rowStride, colStride] = byRows ? [length, 1] : [1, length];
  return { data, offset: 0, rows: A.rows, cols: A.cols, rowStride, colStride };
}

/** The plain kernels on the calling thread. */
export class WasmApproximate implements ApproximateKernels {
  private shelf: Arena | undefined; // for what is kept, and for factors of what lies where there is no room

  constructor(private readonly lender: Lender) {}

  keep(routine: string, A: StridedMatrix, lasting: boolean): Kept {
    if (!lasting && this.lender.find(A.data)) return { A, isCollected: true, free() {} };
    const bytes = matrixBytes(A);
    const { arena, places } = this.allocate(routine, [this.shelf], () => [bytes], ROOM * bytes);
    const at = places[0] as number;
    const copy = copyTo(arena, A, at);
    const { data } = copy; // whoever uses the copy has this array
    arena.own(data, at);
    let kept = true;
    const free = (): void => {
      if (kept) this.release(arena, [at], data);
      kept = false;
    };
    return { A: copy, isCollected: true, free };
  }

  magnitudes(routine: string, A: StridedMatrix, scale: Float64Array, sums: Float64Array, largest: Float64Array): void {
    const bytesIn = (arena: Arena): number => jobs.magnitudesBytes(arena, A);
    this.inSpace(routine, this.near(A), bytesIn, (space, job) => jobs.magnitudes(space, job, A, scale, sums, largest));
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
    // Factors have space for one right-hand side of their own: their arena may be full by then.
    const bytesIn = (arena: Arena): number[] => [jobs.factorizeBytes(arena, A, shape), shape.bytes + jobs.substituteBytes(arena, shape, 1)];
    const { arena, places, ends } = this.allocate(routine, this.near(A), bytesIn, ROOM * matrixBytes(A));
    const [work, at] = places as [number, number];
    let done = false;
    try {
      const run = (space: Space, job: Job) => jobs.factorize(space, job, A, scaling, b, x, shape, at);
      const outcome = this.lender.run(arena, run, work, ends[0] as number);
      done = true;
      const factors: ArenaFactors = new ArenaFactors(arena, at, shape, format, outcome, () => this.release(arena, [at], factors));
      arena.own(factors, at);
      return factors;
    } finally {
      this.release(arena, done ? [work] : places);
    }
  }

  substitute(_routine: string, factors: ApproximateFactors, b: Float64Array, k: number, x: Float64Array): void {
    const { arena, shape, at } = factors as ArenaFactors;
    const solve = (start: number, right: Float64Array, count: number, to: Float64Array): void => {
      const run = (space: Space, job: Job) => jobs.substitute(space, job, shape, at, right, count, to);
      this.lender.run(arena, run, start, start + jobs.substituteBytes(arena, shape, count));
    };
    const own = at + shape.bytes;
    const place = k === 1 ? own : arena.allocate(jobs.substituteBytes(arena, shape, k), false);
    if (place !== 0) {
      solve(place, b, k, x);
      if (place !== own) arena.release(place);
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
    this.inSpace(routine, this.near(A), bytesIn, (space, job) => jobs.residual(space, job, alpha, A, x, b, k, r, 1));
  }

  invert(routine: string, factors: ApproximateFactors): ArenaInverses {
    const { arena: own, shape, at } = factors as ArenaFactors;
    const toShape = jobs.shapeOf(shape.rows, shape.cols, 0, "binary64");
    // A kernel sees one memory: where there is no room beside the factors, they are copied to where there is.
    const bytesIn = (arena: Arena): number[] => [
      toShape.bytes + jobs.weighBytes(toShape),
      jobs.invertBytes(arena, shape, 1),
      ...(arena === own ? [] : [shape.bytes]),
    ];
    const { arena, places, ends } = this.allocate(routine, [own, this.shelf], bytesIn, 0);
    const [to, work, copy = at] = places as [number, number, number?];
    if (copy !== at || arena !== own) new Uint8Array(arena.buffer, copy, shape.bytes).set(new Uint8Array(own.buffer, at, shape.bytes));
    let done = false;
    try {
      const run = (space: Space, job: Job) => jobs.invert(space, job, shape, copy, toShape, to, 1);
      this.lender.run(arena, run, work, ends[1] as number);
      done = true;
    } finally {
      this.release(arena, done ? places.slice(1) : places);
    }
    let held = true;
    return new ArenaInverses(arena, to, toShape, () => {
      if (held) this.release(arena, [to]);
      held = false;
    });
  }

  weigh(
    _routine: string,
    triangles: ApproximateFactors | ApproximateInverses,
    part: "lower" | "upper",
    v: Float64Array,
    out: Float64Array,
  ): void {
    const { arena, shape, at } = triangles as ArenaFactors | ArenaInverses;
    // The row swaps behind the triangles are not read: inverses have none, and what follows those of factors is their own.
    const own = at + shape.bytes;
    this.lender.run(arena, (space, job) => jobs.weigh(space, job, shape, at, part === "upper", v, out), own, own + jobs.weighBytes(shape));
  }

  subtractModulo(routine: string, C: StridedMatrix, P: Float64Array, Q: Float64Array, depth: number, p: number): void {
    const bytesIn = (arena: Arena): number => jobs.modularBytes(arena, C, depth, 1);
    this.inSpace(routine, this.near(C), bytesIn, (space, job) => jobs.subtractModulo(space, job, C, P, Q, depth, p, 1));
  }

  /** See ThreadApproximate.panel. */
  panel(data: Float32Array, rows: number, cols: number, pivots: Int32Array): number {
    const shape = jobs.shapeOf(rows, cols, 0, "binary32");
    const bytesIn = (arena: Arena): number => jobs.panelBytes(arena, shape);
    return this.inSpace("panel", [this.shelf], bytesIn, (space, job) => jobs.panel(space, job, data, shape, pivots));
  }

  // Run a routine that leaves nothing behind.
  private inSpace<R>(routine: string, arenas: (Arena | undefined)[], bytesIn: (arena: Arena) => number, run: Routine<R>): R {
    const { arena, places, ends } = this.allocate(routine, arenas, (place) => [bytesIn(place)], 0);
    try {
      return this.lender.run(arena, run, places[0] as number, ends[0] as number);
    } finally {
      this.release(arena, places);
    }
  }

  // Where to look for room beside A.
  private near(A: StridedMatrix): (Arena | undefined)[] {
    return [this.lender.find(A.data), this.shelf];
  }

  // Memory in one of these arenas, or in a new one.
  private allocate(
    routine: string,
    arenas: (Arena | undefined)[],
    bytesIn: (arena: Arena) => number[],
    wanted: number,
  ): { arena: Arena; places: number[]; ends: number[] } {
    for (const arena of arenas) {
      const found = arena && tryAllocate(arena, bytesIn(arena));
      if (found) return found;
    }
    const needed = bytesIn(this.lender.home()).reduce((sum, bytes) => sum + aligned(bytes), 0);
    const shelf = this.lender.make(routine, needed, Math.max(wanted, needed) + SMALL);
    shelf.collected = () => this.release(shelf, []);
    this.shelf = shelf;
    return tryAllocate(shelf, bytesIn(shelf)) as { arena: Arena; places: number[]; ends: number[] };
  }

  private release(arena: Arena, places: readonly number[], owner?: object): void {
    if (owner) arena.disown(owner);
    for (const at of places) arena.release(at);
    if (arena === this.shelf && arena.isEmpty() && arena.touched > MAX_KEPT) this.shelf = undefined;
  }
}

function matrixBytes(A: StridedMatrix): number {
  return A.rows * A.cols * A.data.BYTES_PER_ELEMENT;
}

// All of these pieces, or none.
function tryAllocate(arena: Arena, sizes: number[]): { arena: Arena; places: number[]; ends: number[] } | undefined {
  const places: number[] = [];
  for (const bytes of sizes) {
    const at = arena.allocate(bytes, false);
    if (at === 0) {
      for (const place of places) arena.release(place);
      return undefined;
    }
    places.push(at);
  }
  return { arena, places, ends: places.map((at, i) => at + (sizes[i] as number)) };
}
