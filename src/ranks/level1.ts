// Sums, dot products and norms of vectors that are spread over ranks. Each rank sums its part, not yet rounded; the digits of all parts
// are added by one exchange of integers, and every rank rounds the same sum. If an enclosure does not decide the result, the next stage
// follows with another exchange: the stages are those of engines/reduce.ts.
import { Accumulator } from "../api/accumulator.ts";
import { checkLength, checkVector } from "../arrays/checks.ts";
import type { Format, Real, Reduction, Rounding } from "../arrays/types.ts";
import { embeddedVectors } from "../engines/embeddedVectors.ts";
import { settleWithin } from "../exact/certify.ts";
import { enclosure } from "../exact/enclosure.ts";
import { Superaccumulator } from "../exact/superaccumulator.ts";
import { onlyNegativeZeros, type Reductions, reductions } from "../routines/level1.ts";
import { type Context, PAYLOAD } from "./context.ts";
import { readDigits, readSum, SUM_WORDS, writeDigits, writeSum } from "./digits.ts";

// The words of an exchange: the sum, the digits of the bound on what was lost, a binary64 number, and two numbers of ranks.
const FIRST_BOUND = 69;
const BOUND_DIGITS = 69;
const FLAGS = SUM_WORDS + BOUND_DIGITS;
const NOT_EMPTY = FLAGS; // with terms other than -0
const UNKNOWN = FLAGS + 1; // without an enclosure
if (UNKNOWN >= PAYLOAD) throw new Error("halfulp: the digits of a sum do not fit into an exchange");

/** A reduction whose arguments have been checked. */
interface Spec {
  readonly op: Reduction;
  readonly x: Real;
  readonly y: Real;
  readonly root: boolean;
  readonly mode: Rounding;
  readonly format: Format;
}

/** The sum of a part, or of all: exact up to `lost`, which is NaN if nothing is known. */
export interface Part {
  readonly sum: Superaccumulator;
  readonly lost: number;
}

/** The certified filter, the ladder and the superaccumulator. On an engine that is not on this thread, only the last. */
type Stage = "filter" | "ladder" | "exact";
const firstStage = ({ backend }: Context): Stage => (backend.kind === "wasm" ? "filter" : "exact");
const NEXT: Readonly<Record<Stage, Stage>> = { filter: "ladder", ladder: "exact", exact: "exact" };

/** The reductions of Ranks. */
export function rankReductions(context: Context): Reductions<Real, Promise<number>> {
  // The routines check the arguments and return what is to be reduced. For an exsum of nothing but -0 they return nothing.
  const checked = reductions<Spec | undefined>(
    (op, x, y, root, mode, format) => ({ op, x: x as Real, y: y as Real, root, mode, format }),
    () => undefined,
  );
  const call = (name: keyof Reductions<Real>, args: [Real, ...never[]], spec: () => Spec | undefined): Promise<number> =>
    context.call(name, () => {
      const options = args.at(-1) as { round?: Rounding } | undefined;
      const [x] = args;
      const reduction = spec() ?? { op: "sum", x, y: x, root: false, mode: options?.round ?? "nearest", format: formatOf(x) };
      return reduced(context, name, reduction);
    });
  return {
    exsum: (x, options) => call("exsum", [x, options as never], () => checked.exsum(x, options)),
    exasum: (x, options) => call("exasum", [x, options as never], () => checked.exasum(x, options)),
    exdot: (x, y, options) => call("exdot", [x, y as never, options as never], () => checked.exdot(x, y, options)),
    exnrm2: (x, options) => call("exnrm2", [x, options as never], () => checked.exnrm2(x, options)),
  };
}

const formatOf = (x: Real): Format => (x.BYTES_PER_ELEMENT === 8 ? "binary64" : "binary32");

function reduced(context: Context, name: string, spec: Spec) {
  const { op, x, y, mode, format } = spec;
  const part = localSum(context, firstStage(context), op, x, y);
  const isEmpty = name === "exsum" && onlyNegativeZeros(x);
  return {
    facts: { precision: format, round: mode },
    async payload(halves: Int32Array) {
      writePart(halves, await part, isEmpty);
    },
    async body(halves: Int32Array): Promise<number> {
      return name === "exsum" && readPart(halves).isEmpty ? -0 : settled(context, spec, halves);
    },
  };
}

// The result of a reduction, from the sums of its first exchange.
async function settled(context: Context, { op, x, y, root, mode, format }: Spec, halves: Int32Array): Promise<number> {
  let sums = halves;
  for (let stage: Stage = "filter"; ; stage = NEXT[stage]) {
    const { sum, lost } = readPart(sums);
    const result = lost !== lost ? undefined : settleWithin(sum, lost, root, mode, format);
    if (result !== undefined) return result;
    sums = await exchange(context, await localSum(context, NEXT[stage], op, x, y));
  }
}

/** Ranks that asked to stop: how many, and the sum of their numbers. */
export interface Stopped {
  readonly count: number;
  readonly ranks: number;
}

/**
 * A dot product, or with `root` a norm, inside a call: all ranks are known to make it. The exchange also tells whether a rank asks to stop
 * (`stop`). Then there is no result.
 */
export async function reduceParts(context: Context, x: Real, y: Real, root: boolean, stop: boolean): Promise<number | Stopped> {
  const spec: Spec = { op: "dot", x, y, root, mode: "nearest", format: "binary64" };
  let part: Part = { sum: new Superaccumulator(), lost: 0 };
  let failure: { readonly error: unknown } | undefined; // told to the others in the exchange
  try {
    part = await localSum(context, firstStage(context), "dot", x, y);
  } catch (error) {
    failure = { error };
  }
  const halves = await exchange(context, part, { stop: stop || failure !== undefined });
  if (failure) throw failure.error;
  const count = halves[2 * NOT_EMPTY + 1] as number;
  return count > 0 ? { count, ranks: halves[2 * UNKNOWN + 1] as number } : settled(context, spec, halves);
}

/** The sum of all parts, exact and not yet rounded: see Ranks.accumulate. */
export function accumulate(context: Context, x: Real, y?: Real): Promise<Accumulator> {
  return context.call("accumulate", () => {
    checkVector("accumulate", "x", x);
    if (y !== undefined) {
      checkVector("accumulate", "y", y);
      checkLength("accumulate", x, y);
    }
    const part = localSum(context, "exact", y ? "dot" : "sum", x, y ?? x);
    const isEmpty = y ? x.length === 0 : onlyNegativeZeros(x);
    return {
      facts: { terms: y ? "products" : "numbers" },
      async payload(halves) {
        writePart(halves, await part, isEmpty);
      },
      body(halves) {
        const { sum, isEmpty: allEmpty } = readPart(halves);
        return Accumulator.of(sum, allEmpty);
      },
    };
  });
}

// The sum of the part of this rank by one stage. It has read the part when it returns. It may fail before a call waits for it.
function localSum(context: Context, stage: Stage, op: Reduction, x: Real, y: Real): Promise<Part> {
  const part = sumOfPart(context, stage, op, x, y);
  part.catch(() => undefined);
  return part;
}

async function sumOfPart({ backend }: Context, stage: Stage, op: Reduction, x: Real, y: Real): Promise<Part> {
  const sum = new Superaccumulator();
  if (x.length === 0) return { sum, lost: 0 };
  if (backend.kind !== "wasm") {
    await backend.accumulate(op, x, y, sum);
    return { sum, lost: 0 };
  }
  const kernels = embeddedVectors();
  if (stage !== "filter") return { sum, lost: kernels.accumulate(op, x, y, sum, stage === "exact") };
  kernels.enclose(op, x, y);
  const [high, low, bound] = enclosure as unknown as [number, number, number];
  if (!(bound >= 0 && bound < Number.POSITIVE_INFINITY && high - high === 0 && low - low === 0)) return { sum, lost: Number.NaN };
  return { sum: sum.add(high).add(low), lost: bound === 0 ? 0 : bound + UNDERFLOW };
}

// More than a bound can have lost to underflow itself: 2^-1071 for each of up to 2^53 terms. On one machine the certificate refuses small
// sums for that reason; here the parts may be small and their sum not.
const UNDERFLOW = 2 ** -1000;

/** The sum of the parts of all ranks; `isEmpty` tells that there are no terms but -0. */
export async function sumOverRanks(context: Context, part: Part, isEmpty: boolean): Promise<Part & { isEmpty: boolean }> {
  return readPart(await exchange(context, part, { isEmpty }));
}

// Flags are counts of at most 2^15 ranks, so the upper halves of their words are free, and nothing is carried into them. Two of them tell
// which ranks ask to stop.
async function exchange({ comm }: Context, part: Part, { isEmpty = false, stop = false } = {}): Promise<Int32Array> {
  const words = new BigInt64Array(PAYLOAD);
  const halves = new Int32Array(words.buffer);
  writePart(halves, part, isEmpty);
  if (stop) {
    halves[2 * NOT_EMPTY + 1] = 1;
    halves[2 * UNKNOWN + 1] = comm.rank;
  }
  await comm.sum(words).wait();
  return halves;
}

function writePart(halves: Int32Array, { sum, lost }: Part, isEmpty: boolean): void {
  writeSum(halves, 0, sum);
  if (lost > 0) writeDigits(halves, SUM_WORDS, new Superaccumulator().add(lost).digits, FIRST_BOUND, BOUND_DIGITS);
  const flag = (at: number, set: boolean): void => {
    halves[2 * at] = set ? 1 : 0;
  };
  flag(NOT_EMPTY, !isEmpty);
  flag(UNKNOWN, lost !== lost);
}

function readPart(halves: Int32Array): Part & { isEmpty: boolean } {
  const isSet = (at: number): boolean => halves[2 * at] !== 0;
  const bound = new Superaccumulator();
  readDigits(halves, SUM_WORDS, bound.digits, FIRST_BOUND, BOUND_DIGITS);
  return { sum: readSum(halves, 0), lost: isSet(UNKNOWN) ? Number.NaN : bound.normalize().round("up"), isEmpty: !isSet(NOT_EMPTY) };
}
