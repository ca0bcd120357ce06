import type { Format, Real } from "../../types.ts";
import type { Entries } from "../kernels.ts";
import type { Kept, PlainFactors, PlainKernels, Scaling } from "../plain.ts";
import type { Arena } from "./arena.ts";
import type { Job } from "./jobs.ts";
import * as jobs from "./plainJobs.ts";
import { aligned, linesOf, Space } from "./space.ts";

// Memory that was used once is kept for the next call up to this: fresh pages cost 0.5 ms/MB, and a system of order 2000 needs
// 70 MB where it is factored in binary64.
const MOST_KEPT = 1 << 27;
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
export class ArenaFactors implements PlainFactors {
  readonly n: number;
  readonly column: number;
  readonly least: number;
  readonly largest: number;
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
  }

  free(): void {
    if (!this.freed) this.release();
    this.freed = true;
  }
}

/** A copy of A at an address of an arena, line by line without gaps. */
export function copyTo(arena: Arena, A: Entries, at: number): Entries {
  const { byRows, lines, length } = linesOf(A);
  const width = A.data.BYTES_PER_ELEMENT;
  new Space(arena, at, at).copyLines(A, 0, lines, 0, length, at);
  const data = width === 8 ? new Float64Array(arena.buffer, at, lines * length) : new Float32Array(arena.buffer, at, lines * length);
  const [rowStep, colStep] = byRows ? [length, 1] : [1, length];
  return { data, offset: 0, rows: A.rows, cols: A.cols, rowStep, colStep };
}

/** The plain kernels on the calling thread. */
export class WasmPlain implements PlainKernels {
  private shelf: Arena | undefined; // for what is kept, and for factors of what lies where there is no room

  constructor(private readonly lender: Lender) {}

  keep(routine: string, A: Entries, lasting: boolean): Kept {
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

  magnitudes(routine: string, A: Entries, scale: Float64Array, sums: Float64Array, largest: Float64Array): void {
    const bytesIn = (arena: Arena): number => jobs.magnitudesBytes(arena, A);
    this.inSpace(routine, this.near(A), bytesIn, (space, job) => jobs.magnitudes(space, job, A, scale, sums, largest));
  }

  factorize(routine: string, A: Entries, scaling: Scaling, format: Format, b: Float64Array, k: number, x: Float64Array): ArenaFactors {
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

  substitute(_routine: string, factors: PlainFactors, b: Float64Array, k: number, x: Float64Array): void {
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

  residual(routine: string, alpha: number, A: Entries, x: Float64Array, b: Float64Array, k: number, r: Float64Array): void {
    const bytesIn = (arena: Arena): number => jobs.residualBytes(arena, A, k, 1);
    this.inSpace(routine, this.near(A), bytesIn, (space, job) => jobs.residual(space, job, alpha, A, x, b, k, r, 1));
  }

  /** See ThreadPlain.panel. */
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
  private near(A: Entries): (Arena | undefined)[] {
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
    if (arena === this.shelf && arena.isEmpty() && arena.touched > MOST_KEPT) this.shelf = undefined;
  }
}

function matrixBytes(A: Entries): number {
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
