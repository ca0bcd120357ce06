import { newIntegers } from "../../arrays/vectors.ts";
import type { SparseTriangle } from "../../engines/kernels.ts";
import { LOOKUP_SHIFT } from "../../engines/lookup.ts";

// What the schedules hand out: phases, and runs of lines that follow each other in the order of substitution. A run does its lines
// in order, so it waits for earlier runs only and never for itself.

// A barrier takes about as long as this many rows.
export const ROWS_OF_A_BARRIER = 64;

/**
 * Where phases begin, and the end, for levels of single lines or of runs: ~start of a phase that one worker does alone, which
 * may be many levels with fewer tasks than `least`, without barriers in between.
 */
export function phasesOf(ilev: Int32Array, least: number): Int32Array {
  const levels = ilev.length - 1;
  const phases: number[] = [];
  for (let m = 0, alone = false; m < levels; m++) {
    const start = ilev[m] as number;
    const small = (ilev[m + 1] as number) - start < least;
    if (!small) phases.push(start);
    else if (!alone) phases.push(~start);
    alone = small;
  }
  return Int32Array.from([...phases, ilev[levels] as number]);
}

/** The lines of a system, without what depends on its schedule. */
export type Lines = Pick<SparseTriangle, "n" | "upper" | "begins" | "indices" | "order">;

/** Runs of lines: where each begins, and the end; and the run of every 32nd line. */
export interface Runs {
  readonly starts: Int32Array;
  readonly lookup: Int32Array;
}

// Lines in a run: enough that handing it out costs little.
const MIN_RUN = 2 ** LOOKUP_SHIFT;

/**
 * Runs of lines in the natural order. A run ends where the next unknown does not need the one before it, at the end of a grid
 * line say, so that who takes the next run need not wait for all of this one; and when it has `most` lines.
 */
class RunFinder {
  private readonly begins: number[] = [0];
  private start = 0;

  constructor(
    private readonly n: number,
    private readonly most: number,
  ) {}

  /** Line k, behind those named before, does not need the one before it. There may be none. */
  breakAt(k: number): void {
    while (k - this.start > this.most) this.begin(this.start + this.most);
    if (k - this.start >= MIN_RUN && k < this.n) this.begin(k);
  }

  private begin(k: number): void {
    this.begins.push(k);
    this.start = k;
  }

  runs(): Runs {
    this.breakAt(this.n);
    return runsAt(this.begins, this.n);
  }
}

/** The runs of lines of which bits say whether they have no entry next to their diagonal: see Triangular. */
export function runsBetween(gaps: Int32Array, n: number, upper: boolean, columns: boolean, most: number): Runs {
  const finder = new RunFinder(n, most);
  for (let k = 0; k < n; k++) {
    const line = upper ? n - 1 - k : k;
    const bit = line & 31;
    const word = gaps[line >> 5] as number;
    const ahead = upper ? word << (31 - bit) : word >>> bit;
    k += ahead === 0 ? (upper ? bit : 31 - bit) : upper ? Math.clz32(ahead) : 31 - Math.clz32(ahead & -ahead);
    if (ahead !== 0) finder.breakAt(columns ? k + 1 : k);
  }
  return finder.runs();
}

/** The same of lines that are there already. Of each only the first and the last entry is looked at: there a sorted one has its neighbour. */
export function findRuns({ n, upper, begins, indices }: Lines, columns: boolean, most: number): Runs {
  const finder = new RunFinder(n, most);
  for (let k = 0; k < n; k++) {
    const line = upper ? n - 1 - k : k;
    const neighbour = upper === columns ? line - 1 : line + 1;
    const first = begins[line] as number;
    const end = begins[line + 1] as number;
    if (first === end || (indices[end - 1] !== neighbour && indices[first] !== neighbour)) finder.breakAt(columns ? k + 1 : k);
  }
  return finder.runs();
}

/** Fewer runs, of so many lines at the least: what follows each other in memory is worked on together. */
export function merged({ starts }: Runs, least: number): Runs {
  const n = starts[starts.length - 1] as number;
  const begins = [0];
  for (const start of starts) if (start < n && start - (begins[begins.length - 1] as number) >= least) begins.push(start);
  return runsAt(begins, n);
}

/** Runs of so many lines each. */
export function equalRuns(n: number, size: number): Runs {
  return runsAt(
    Array.from({ length: Math.ceil(n / size) }, (_, run) => run * size),
    n,
  );
}

function runsAt(begins: readonly number[], n: number): Runs {
  const starts = newIntegers("sptrsv", begins.length + 1);
  starts.set(begins);
  starts[begins.length] = n;
  const lookup = newIntegers("sptrsv", Math.ceil(n / MIN_RUN));
  for (let block = 0, run = 0; block < lookup.length; block++) {
    while ((starts[run + 1] as number) <= block << LOOKUP_SHIFT) run++;
    lookup[block] = run;
  }
  return { starts, lookup };
}
