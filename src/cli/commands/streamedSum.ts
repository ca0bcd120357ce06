import { ShapeError } from "../../arrays/errors.ts";
import type { Format, Real, Reduction, Rounding } from "../../arrays/types.ts";
import type { Backend } from "../../engines/backend.ts";
import { embedded } from "../../engines/embedded.ts";
import { roundSum, settleWithin } from "../../exact/certify.ts";
import { enclosure } from "../../exact/enclosure.ts";
import { Superaccumulator } from "../../exact/superaccumulator.ts";
import { onlyNegativeZeros } from "../../routines/level1.ts";
import type { Numbers } from "../input/numbers.ts";

// Reductions over files. The stages of a reduction in memory (routines/reduce.ts), each a pass over all chunks: an enclosure of every
// chunk's sum, the ladder with its bound, the superaccumulator. High and low of the enclosures are added exactly, their bounds are
// added up, and the sum is settled if everything within that bound rounds to one number. The first pass takes 0.3 ns a number, the
// second 0.8, the last 1.9, and reading from the page cache 0.8: nearly always the time is that of reading once. What comes only
// once, a pipe, must be added exactly at once.

export interface Reduced {
  readonly value: number;
  /** How many numbers, or pairs of them. */
  readonly count: number;
  /** How many rows were left out for want of a value. */
  readonly skipped: number;
  /** How many times the file was read. */
  readonly passes: number;
}

/** How the chunks are added up: into the accumulator, with a bound of what was lost. */
type Add = (x: Real, y: Real, into: Superaccumulator) => number | Promise<number>;

/** A reduction over one file or two; on an engine, if one is given, else on this thread. */
export async function reduceFiles(
  op: Reduction,
  x: Numbers,
  y: Numbers | undefined,
  root: boolean,
  mode: Rounding,
  format: Format,
  engine: Backend | undefined,
  report: (count: number) => void,
): Promise<Reduced> {
  const stages = engine
    ? [onEngine(engine, op)]
    : x.repeatable && (y?.repeatable ?? true)
      ? [filter(op), ladder(op), exact(op)]
      : [exact(op)];
  for (const [k, add] of stages.entries()) {
    const sum = new Superaccumulator();
    let bound = 0;
    let rows = 0;
    let skipped = 0;
    let empty = op === "sum"; // no term but -0 so far
    for await (const [left, right] of pairs(x, y)) {
      skipped += skipGaps(x, y, left, right);
      bound += await add(left, right, sum);
      empty &&= onlyNegativeZeros(left);
      rows += left.length;
      report(rows);
    }
    const value = empty ? -0 : k === stages.length - 1 ? roundSum(sum, root, mode, format) : settleWithin(sum, bound, root, mode, format);
    if (value !== undefined) return { value, count: rows - skipped, skipped, passes: k + 1 };
  }
  throw new Error("the last stage settles every sum");
}

// A bound of NaN says that the filter knows nothing: then these few are added exactly.
function filter(op: Reduction): Add {
  return (x, y, into) => {
    embedded().enclose(op, x, y);
    const [high, low, bound] = enclosure as unknown as [number, number, number];
    if (!(bound < Number.POSITIVE_INFINITY)) return embedded().accumulate(op, x, y, into, true);
    into.add(high).add(low);
    return bound;
  };
}

function ladder(op: Reduction): Add {
  return (x, y, into) => embedded().accumulate(op, x, y, into, false);
}

function exact(op: Reduction): Add {
  return (x, y, into) => embedded().accumulate(op, x, y, into, true);
}

function onEngine(engine: Backend, op: Reduction): Add {
  return async (x, y, into) => {
    await engine.accumulate(op, x, y, into);
    return 0;
  };
}

// A row without a value in one of the files counts in neither: both have -0 there, and neither -0 nor the product of two changes a
// sum. Returns how many such rows there are.
function skipGaps(x: Numbers, y: Numbers | undefined, left: Real, right: Real): number {
  if (y === undefined) return x.gaps.length;
  for (const place of x.gaps) right[place] = -0;
  for (const place of y.gaps) left[place] = -0;
  return new Set([...x.gaps, ...y.gaps]).size;
}

// The chunks of one file, twice, or those of two files side by side.
async function* pairs(x: Numbers, y: Numbers | undefined): AsyncGenerator<[Real, Real]> {
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
  return new ShapeError(`${y.name} has ${fewer ? "fewer" : "more"} numbers than ${x.name}, expected as many`);
}
