// Reductions as jobs, for a pool of workers, and the vector updates of the iterative solvers. Called by threads/index.ts and, for updates, by
// wasm/index.ts, which calls the vector kernels directly for reductions; the kernels are in assembly/level1/.

import type { Format, Real, Reduction, Rounding } from "../../../arrays/types.ts";
import { aligned } from "../../../arrays/vectors.ts";
import { certify, roundSum, settleWithin } from "../../../exact/certify.ts";
import { addEnclosure, startEnclosure } from "../../../exact/enclosure.ts";
import { Superaccumulator } from "../../../exact/superaccumulator.ts";
import type { Combination } from "../../kernels.ts";
import type { Arena } from "../arena.ts";
import * as layout from "../assembly/layout.ts";
import type { Space } from "../space.ts";
import type { Job, JobSteps } from "./job.ts";

const { PIECE } = layout;
const STAGES = { filter: layout.FILTER, ladder: layout.LADDER, exact: layout.EXACT } as const;
const OPERATIONS = { sum: layout.SUM, asum: layout.ASUM, dot: layout.DOT } as const;

export function reduceBytes(arena: Arena, x: Real, y: Real, workers: number): number {
  const results = Math.max(Math.ceil(x.length / PIECE) * layout.ENCLOSURE, 8 * layout.DIGIT_COUNT + 8);
  const padded = (v: Real): number => aligned((v.length + 8) * v.BYTES_PER_ELEMENT);
  return (arena.holds(x) && x.length % 8 === 0 ? 0 : padded(x)) + (y === x ? 0 : padded(y)) + aligned(results) + aligned(8 * workers);
}

/** The stages of engines/reduce.ts, one job each. */
export function* reduce(
  space: Space,
  job: Job,
  op: Reduction,
  x: Real,
  y: Real,
  root: boolean,
  mode: Rounding,
  format: Format,
  workers: number,
): JobSteps<number> {
  const stage = stages(space, job, op, x, y, workers);
  const records = yield* stage.filter();
  startEnclosure();
  for (let i = 0; i < records.length; i += layout.ENCLOSURE / 8)
    addEnclosure(records[i] as number, records[i + 1] as number, records[i + 2] as number);
  const certified = certify(root, mode, format);
  if (certified === certified) return certified;
  const sum = new Superaccumulator();
  const settled = settleWithin(sum, yield* stage.accumulate("ladder", sum), root, mode, format);
  if (settled !== undefined) return settled;
  yield* stage.accumulate("exact", sum.clear());
  return roundSum(sum, root, mode, format);
}

/** Add all terms to an accumulator, exactly. */
export function* accumulate(space: Space, job: Job, op: Reduction, x: Real, y: Real, workers: number, into: Superaccumulator): JobSteps {
  yield* stages(space, job, op, x, y, workers).accumulate("exact", into);
}

function stages(space: Space, job: Job, op: Reduction, x: Real, y: Real, workers: number) {
  const { arena } = space;
  const X = space.padded(x);
  const Y = y === x ? X : space.padded(y);
  const pieces = Math.ceil(x.length / PIECE);
  const digits = 8 * layout.DIGIT_COUNT;
  const out = space.reserve(Math.max(pieces * layout.ENCLOSURE, digits + 8));
  const bounds = space.reserve(8 * workers);
  const start = (stage: keyof typeof STAGES): void => {
    job
      .start(layout.REDUCE, x)
      .set(layout.JOB_A, X)
      .set(layout.JOB_B, Y)
      .set(layout.JOB_K, x.length)
      .set(layout.JOB_OUT, out)
      .set(layout.JOB_WORK, bounds);
    job.set(layout.JOB_FINISH, OPERATIONS[op]).set(layout.JOB_REFINE, STAGES[stage]);
  };
  return {
    /** The enclosures of all pieces. */
    *filter(): JobSteps<Float64Array> {
      start("filter");
      yield;
      return arena.binary64.slice(out / 8, out / 8 + (pieces * layout.ENCLOSURE) / 8);
    },
    /** Add all terms to an accumulator. Returns a bound on what was lost. */
    *accumulate(stage: "ladder" | "exact", into: Superaccumulator): JobSteps<number> {
      start(stage);
      arena.zero(out, digits + 8);
      yield;
      // Every worker has added digits below 2^32, and a last digit that carries the sign.
      const words = arena.words.subarray(out / 4, out / 4 + digits / 4 + 1);
      const digit = (i: number): number => (words[2 * i + 1] as number) * 2 ** 32 + ((words[2 * i] as number) >>> 0);
      into.addDigits(
        Float64Array.from({ length: layout.DIGIT_COUNT }, (_, i) => digit(i)),
        0,
      );
      into.normalize();
      into.addSpecials(words[digits / 4] as number);
      return arena.binary64.subarray(bounds / 8, bounds / 8 + workers).reduce((a, b) => a + b, 0);
    },
  };
}

const COMBINATIONS: Record<Combination, number> = {
  axpy: layout.AXPY,
  invscal: layout.INVSCAL,
  xpay: layout.XPAY,
  direction: layout.DIRECTION,
  quotient: layout.QUOTIENT,
  sum: layout.ADD,
};

/** y := a Combination of vectors that are in the arena, in place. */
export function* combine(job: Job, op: Combination, a: number, b: number, x: Real, y: Real, z: Real): JobSteps {
  if (op === "axpy" && a === 0) return;
  job.start(layout.COMBINE, y).set(layout.JOB_FINISH, COMBINATIONS[op]).set(layout.JOB_K, y.length);
  job.set(layout.JOB_X, x.byteOffset).set(layout.JOB_Y, y.byteOffset).set(layout.JOB_B, z.byteOffset).scalars(a, b);
  yield;
}
