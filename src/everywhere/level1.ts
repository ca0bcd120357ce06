// The level 1 part of the corpus: reductions in four rounding modes, elementwise routines, and the bytes of accumulators.
import { Accumulator } from "../api/accumulator.ts";
import { ROUNDINGS } from "../arrays/checks.ts";
import type { Format } from "../arrays/types.ts";
import type { CorpusRoutines, CorpusRow } from "./corpus.ts";
import type { Digest } from "./digest.ts";
import { Inputs, KINDS, type Kind } from "./inputs.ts";

const LENGTHS = [0, 1, 2, 3, 5, 8, 17, 32, 33, 100, 700];
// Past the blocks of the filter, past the chunks in which host arrays are streamed, and more than one chunk for each of 16 workers.
export const LONG = [8191, 65539, 200_001];
export const LONG_KINDS = ["wide", "cancelling", "subnormal", "zeros"] as const;
const SCALARS = [1, -1, 0.1, 1 / 3, 2, -0, Number.NaN, Number.NEGATIVE_INFINITY, Number.MAX_VALUE, Number.MIN_VALUE];

/** A row for each format. */
export function inBothFormats(seed: number, name: string, row: (inputs: (part: number) => Inputs) => CorpusRow): Record<string, CorpusRow> {
  const of = (format: Format, at: number) => row((part) => new Inputs(8 * seed + 2 * part + at, format));
  return { [name]: of("binary64", 0), [`${name}, binary32`]: of("binary32", 1) };
}

type Terms = readonly [x: Float64Array, y: Float64Array];

function terms(inputs: Inputs, n: number, kind: Kind): Terms {
  const [x, y] = [inputs.vector(n, kind), inputs.vector(n, kind)];
  if (kind === "cancelling") for (let i = n >> 1; i < n; i++) y[i] = y[i - (n >> 1)] as number; // so that products cancel too
  return [x, y];
}

type ReductionName = "exsum" | "exasum" | "exdot" | "exnrm2";

function reduction(seed: number, name: ReductionName): Record<string, CorpusRow> {
  const call = async (
    routines: CorpusRoutines,
    out: Digest,
    [x, y]: Terms,
    modes: readonly (typeof ROUNDINGS)[number][],
  ): Promise<void> => {
    for (const round of modes) out.number(await (name === "exdot" ? routines.exdot(x, y, { round }) : routines[name](x, { round })));
  };
  return inBothFormats(seed, name, (begin) => ({
    async short(routines, out) {
      const inputs = begin(0);
      for (const kind of KINDS) for (const n of LENGTHS) await call(routines, out, terms(inputs, n, kind), ROUNDINGS);
      const [x, y] = terms(inputs, 68, "wide");
      for (let from = 0; from < 4; from++) await call(routines, out, [x.subarray(from, from + 64), y.subarray(1, 65)], ["nearest"]);
    },
    async full(routines, out) {
      const inputs = begin(1);
      for (const kind of LONG_KINDS) for (const n of LONG) await call(routines, out, terms(inputs, n, kind), ["nearest", "up"]);
    },
    async large(routines, out) {
      const inputs = begin(2);
      for (const kind of ["wide", "cancelling"] as const) await call(routines, out, terms(inputs, 3_000_017, kind), ["nearest"]);
    },
  }));
}

function elementwise(seed: number, name: "exaxpy" | "exscal" | "exinvscal"): Record<string, CorpusRow> {
  const call = async (routines: CorpusRoutines, out: Digest, alpha: number, [x, y]: Terms): Promise<void> => {
    if (name === "exaxpy") await routines.exaxpy(alpha, x, y);
    else await routines[name](alpha, y);
    out.array(y);
  };
  return inBothFormats(seed, name, (begin) => ({
    async short(routines, out) {
      const inputs = begin(0);
      for (const kind of KINDS)
        for (const n of [0, 1, 9, 130])
          for (const alpha of [...SCALARS, ...inputs.vector(3, "bits")]) await call(routines, out, alpha, terms(inputs, n, kind));
    },
    async full(routines, out) {
      const inputs = begin(1);
      for (const kind of KINDS) await call(routines, out, inputs.vector(1, "narrow")[0] as number, terms(inputs, 70_001, kind));
    },
  }));
}

async function accumulated(routines: CorpusRoutines, x: Float64Array, y?: Float64Array): Promise<Accumulator> {
  if (routines.accumulate) return routines.accumulate(x, y);
  return y ? new Accumulator().addProduct(x, y) : new Accumulator().add(x);
}

// The bytes; those after a way through bytes and through a merge of two halves; and the sum, in all roundings and formats.
async function accumulator(routines: CorpusRoutines, out: Digest, x: Float64Array, y: Float64Array): Promise<void> {
  const half = x.length >> 1;
  for (const other of [undefined, y]) {
    const whole = await accumulated(routines, x, other);
    out.array(whole.toBytes());
    const upper = await accumulated(routines, x.subarray(half), other?.subarray(half));
    const lower = await accumulated(routines, x.subarray(0, half), other?.subarray(0, half));
    const merged = Accumulator.fromBytes(upper.toBytes()).merge(lower);
    out.array(merged.toBytes());
    for (const round of ROUNDINGS) for (const format of ["binary64", "binary32"] as const) out.number(merged.value(round, format));
  }
}

export const level1: Readonly<Record<string, CorpusRow>> = {
  ...reduction(1, "exsum"),
  ...reduction(2, "exasum"),
  ...reduction(3, "exdot"),
  ...reduction(4, "exnrm2"),
  ...elementwise(5, "exaxpy"),
  ...elementwise(6, "exscal"),
  ...elementwise(7, "exinvscal"),
  ...inBothFormats(8, "accumulate", (begin) => ({
    async short(routines, out) {
      const inputs = begin(0);
      for (const kind of KINDS) for (const n of [0, 1, 2, 40, 333]) await accumulator(routines, out, ...terms(inputs, n, kind));
      const [x, y] = [inputs.vector(100, "wide"), Float32Array.from(inputs.vector(100, "narrow"))];
      await accumulator(routines, out, x, y as unknown as Float64Array); // of two widths
    },
    async full(routines, out) {
      const inputs = begin(1);
      for (const kind of LONG_KINDS) await accumulator(routines, out, ...terms(inputs, 100_003, kind));
    },
  })),
};
