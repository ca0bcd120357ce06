import { newIntegers } from "../dense/vectors.ts";
import { LOOKUP } from "../engines/wasm/assembly/layout.ts";
import { startOfLines } from "./formats.ts";

// What the schedules hand out: levels, or a few lines at a time with counters of what they wait for.

// A barrier takes about as long as this many rows; levels with fewer are left to one worker, without barriers in between.
const ROWS_OF_A_BARRIER = 64;

/** Where phases begin, and the end: ~start of one that a single worker does alone, which may be many small levels. */
export function phasesOf(ilev: Int32Array, workers: number): Int32Array {
  const levels = ilev.length - 1;
  const least = workers === 1 ? Number.POSITIVE_INFINITY : ROWS_OF_A_BARRIER;
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

// Rows in a run: enough that telling of it costs little, and not so many that others wait long for their first one.
const LEAST_RUN = 2 ** LOOKUP;
const MOST_RUN = 1024;

/**
 * Runs of rows in the natural order for "gsf". A run ends where the next row does not need the one before it, at the end of
 * a grid line say, so that who takes the next run need not wait for all of this one. Of each row only the first and the last
 * entry is looked at, where a sorted row has the one before it.
 */
export class Runs {
  private readonly begins: number[] = [0];
  private start = 0;

  constructor(
    private readonly n: number,
    private readonly upper: boolean,
  ) {}

  /** Row k, whose entries are first..end. */
  add(k: number, indices: Int32Array, first: number, end: number): void {
    const length = k - this.start;
    if (length < LEAST_RUN) return;
    const last = this.upper ? this.n - k : k - 1;
    if (length < MOST_RUN && first < end && (indices[end - 1] === last || indices[first] === last)) return;
    this.begins.push(k);
    this.start = k;
  }

  /** Where the runs begin, and the end. */
  starts(): Int32Array {
    return Int32Array.from([...this.begins, this.n]);
  }

  /** The run of every 32nd row. */
  lookup(): Int32Array {
    const lookup = newIntegers("sptrsv", Math.ceil(this.n / LEAST_RUN));
    for (let block = 0, run = 0; block < lookup.length; block++) {
      while ((this.begins[run + 1] ?? this.n) <= block << LOOKUP) run++;
      lookup[block] = run;
    }
    return lookup;
  }
}

/** Which tasks wait for which: see Tasks. */
export interface Dependencies {
  readonly counts: Int32Array;
  readonly targets: Int32Array;
  readonly list: Int32Array;
}

/**
 * The dependencies between tasks of 2^shift lines. Lines depend on earlier ones only, so a task whose lines are done in
 * order waits for other tasks and never for itself. The lines are rows, which name what they wait for, or columns, which
 * name what waits for them.
 */
export function dependencies(pointers: Int32Array, indices: Int32Array, shift: number, columns: boolean): Dependencies {
  const lines = pointers.length - 1;
  const tasks = Math.ceil(lines / 2 ** shift);
  const seen = newIntegers("sptrsv", tasks).fill(-1);
  const starts = newIntegers("sptrsv", tasks + 1);
  let near = newIntegers("sptrsv", 4 * tasks + 16);
  let found = 0;
  for (let task = 0; task < tasks; task++) {
    const end = pointers[Math.min((task + 1) << shift, lines)] as number;
    for (let p = pointers[task << shift] as number; p < end; p++) {
      const other = (indices[p] as number) >> shift;
      if (seen[other] === task || other === task) continue;
      seen[other] = task;
      if (found === near.length) {
        const more = newIntegers("sptrsv", 2 * found);
        more.set(near);
        near = more;
      }
      near[found++] = other;
    }
    starts[task + 1] = found;
  }
  const counts = newIntegers("sptrsv", tasks);
  near = near.slice(0, found);
  if (columns) {
    for (const task of near) counts[task] = (counts[task] as number) + 1;
    return { counts, targets: starts, list: near };
  }
  for (let task = 0; task < tasks; task++) counts[task] = (starts[task + 1] as number) - (starts[task] as number);
  const targets = newIntegers("sptrsv", tasks + 1);
  const list = newIntegers("sptrsv", found);
  const next = startOfLines(near, targets);
  for (let task = 0, p = 0; task < tasks; task++) {
    for (; p < (starts[task + 1] as number); p++) {
      const other = near[p] as number;
      const at = next[other] as number;
      next[other] = at + 1;
      list[at] = task;
    }
  }
  return { counts, targets, list };
}
