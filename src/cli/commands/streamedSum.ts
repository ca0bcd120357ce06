// Reductions over files, for sum, asum, dot and nrm2. The stages are those of engines/reduce.ts, each a pass over all chunks, and
// exact/certify.ts decides the result of each: first the sum of the enclosures of all chunks (high and low parts added exactly, bounds
// added up), then the ladder with its bound, then the superaccumulator. A number costs 0.3 ns in the first pass, 0.8 ns in the second,
// 1.9 ns in the last, and 0.8 ns to read from the page cache: the total is nearly always the time to read the file once. A pipe can be
// read only once, so its numbers are added exactly at once.
import { ShapeError } from "../../arrays/errors.ts";
import type { Format, Real, Reduction, Rounding } from "../../arrays/types.ts";
import type { Backend } from "../../engines/backend.ts";
import { embedded } from "../../engines/embedded.ts";
import { roundSum, settleWithin } from "../../exact/certify.ts";
import { enclosure } from "../../exact/enclosure.ts";
import { Superaccumulator } from "../../exact/superaccumulator.ts";
import { onlyNegativeZeros } from "../../routines/level1.ts";
import type { Numbers } from "../input/numbers.ts";

export interface Reduced {
  readonly value: number;
  /** The number of elements, or of pairs. */
  readonly count: number;
  /** The number of rows skipped because a value is missing. */
  readonly skipped: number;
  /** How often the file was read. */
  readonly passes: number;
}

/** Adds a chunk to the accumulator; returns a bound on the error. */
type Stage = (x: Real, y: Real, into: Superaccumulator) => number | Promise<number>;

/** Makes one sum of the sums of all ranks, each with a bound on its error. `pass` reads the part of this rank. */
export type Combine = (pass: () => Promise<Pass>) => Promise<Pass>;

/** One pass over the files. */
export interface Pass {
  readonly sum: Superaccumulator;
  readonly bound: number;
  readonly rows: number;
  readonly skipped: number;
  /** All terms are -0. */
  readonly empty: boolean;
}

/** A reduction over one file or two, on the given engine or on this thread. */
export async function reduceFiles(
  op: Reduction,
  x: Numbers,
  y: Numbers | undefined,
  root: boolean,
  mode: Rounding,
  format: Format,
  engine: Backend | undefined,
  onProgress: (count: number) => void,
  combine: Combine = (pass) => pass(),
): Promise<Reduced> {
  const stages = engine
    ? [onEngine(engine, op)]
    : x.repeatable && (y?.repeatable ?? true)
      ? [filter(op), ladder(op), exact(op)]
      : [exact(op)];
  for (const [k, add] of stages.entries()) {
    const pass = async (): Promise<Pass> => {
      const sum = new Superaccumulator();
      let bound = 0;
      let rows = 0;
      let skipped = 0;
      let empty = op === "sum"; // all terms so far are -0
      for await (const [left, right] of pairs(x, y)) {
        skipped += skipGaps(x, y, left, right);
        bound += await add(left, right, sum);
        empty &&= onlyNegativeZeros(left);
        rows += left.length;
        onProgress(rows);
      }
      return { sum, bound, rows, skipped, empty };
    };
    const { sum, bound, rows, skipped, empty } = await combine(pass);
    const value = empty ? -0 : k === stages.length - 1 ? roundSum(sum, root, mode, format) : settleWithin(sum, bound, root, mode, format);
    if (value !== undefined) return { value, count: rows - skipped, skipped, passes: k + 1 };
  }
  throw new Error("the last stage settles every sum");
}

// The filter fails on a chunk if its bound is NaN or infinite. Such a chunk is added exactly.
function filter(op: Reduction): Stage {
  return (x, y, into) => {
    embedded().enclose(op, x, y);
    const [high, low, bound] = enclosure as unknown as [number, number, number];
    if (!(bound < Number.POSITIVE_INFINITY)) return embedded().accumulate(op, x, y, into, true);
    into.add(high).add(low);
    return bound;
  };
}

function ladder(op: Reduction): Stage {
  return (x, y, into) => embedded().accumulate(op, x, y, into, false);
}

function exact(op: Reduction): Stage {
  return (x, y, into) => embedded().accumulate(op, x, y, into, true);
}

function onEngine(engine: Backend, op: Reduction): Stage {
  return async (x, y, into) => {
    await engine.accumulate(op, x, y, into);
    return 0;
  };
}

/**
 * A row with a missing value in either file is skipped in both: -0 replaces both values, and neither -0 nor (-0) (-0) changes a sum.
 * Returns the number of such rows.
 */
export function skipGaps(x: Numbers, y: Numbers | undefined, left: Real, right: Real): number {
  if (y === undefined) return x.gaps.length;
  for (const i of x.gaps) right[i] = -0;
  for (const i of y.gaps) left[i] = -0;
  return new Set([...x.gaps, ...y.gaps]).size;
}

/** Pairs of chunks: of one file with itself, or of two files. */
export async function* pairs(x: Numbers, y: Numbers | undefined): AsyncGenerator<[Real, Real]> {
  if (y === undefined) {
    for await (const chunk of x.chunks()) yield [chunk, chunk];
    return;
  }
  const others = y.chunks();
  try {
    for await (const chunk of x.chunks()) {
      const { done, value } = await others.next();
      if (done === true || value.length !== chunk.length) throw unequal(x, y, done === true || value.length < chunk.length);
      yield [chunk, value];
    }
    if ((await others.next()).done !== true) throw unequal(x, y, false);
  } finally {
    await others.return(undefined);
  }
}

function unequal(x: Numbers, y: Numbers, fewer: boolean): ShapeError {
  return new ShapeError(`${y.name} has ${fewer ? "fewer" : "more"} numbers than ${x.name}, expected the same number`);
}
