// What the programs of the tests share: the ranks, random numbers that are the same on every rank, cuts of vectors, comparison of bits, and
// expected errors.
import { openRanks } from "../../../dist/mpi.js";

/** The ranks of this job. HALFULP_TEST_ENGINES lists engines, for rank 0, rank 1 and so on, from the beginning again after the last. */
export function openJob() {
  const engines = process.env.HALFULP_TEST_ENGINES?.split(",") ?? ["wasm"];
  const engine = engines[Number(process.env.OMPI_COMM_WORLD_RANK ?? process.env.PMI_RANK ?? 0) % engines.length];
  return openRanks({ engine, ...(engine === "threads" && { threads: 2 }) });
}

const SPECIALS = [Number.NaN, Infinity, -Infinity, 0, -0, 5e-324, -Number.MAX_VALUE, Number.MAX_VALUE];

/** Random numbers from a seed (Marsaglia's xorshift). */
export function generator(seed) {
  let s = (Math.imul(seed, 0x9e3779b1) ^ 0x9e3779b9) >>> 0 || 1;
  const word = () => {
    s ^= s << 13;
    s ^= s >>> 17;
    s ^= s << 5;
    s >>>= 0;
    return s;
  };
  for (let k = 0; k < 16; k++) word(); // seeds that differ in a few bits begin alike
  const next = () => word() / 2 ** 32;
  const integer = (n) => Math.floor(next() * n);
  const pick = (list) => list[integer(list.length)];
  const view = new DataView(new ArrayBuffer(8));
  const unit = () => word() / 2 ** 31 - 1 + word() / 2 ** 63;
  return {
    next,
    /** A whole number from 0 to n - 1. */
    integer,
    /** A whole number from `from` to `to`. */
    between: (from, to) => from + integer(to - from + 1),
    /** True once in n times. */
    oneIn: (n) => integer(n) === 0,
    pick,
    /** A number between -1 and 1. */
    unit,
    /** A number of any sign and exponent, NaN and infinities included. */
    anyBits() {
      view.setUint32(0, word());
      view.setUint32(4, word());
      return view.getFloat64(0);
    },
    /** A number of either sign with this exponent. */
    near: (exponent) => (1 + word() / 2 ** 32 + word() / 2 ** 64) * 2 ** exponent * (integer(2) === 0 ? 1 : -1),
    /** Most often a number between -1 and 1. */
    special: () => (integer(12) === 0 ? pick(SPECIALS) : unit()),
  };
}

/** Numbers whose sum is close to the middle of two others, beyond what two numbers can hold, in random order among zeros. */
export function nearTie(n, { integer, pick }) {
  const list = new Float64Array(n);
  const scale = 2 ** (integer(40) - 20);
  const free = Array.from(list.keys());
  for (const v of [1, 2 ** -53, pick([1, 0, -1]) * 2 ** (-60 - integer(800))])
    if (free.length > 0) list[free.splice(integer(free.length), 1)[0]] = v * scale;
  return list;
}

/** Where the parts of a vector of length n begin, and the end: even, on one rank, or random. Some are empty. */
export function cutsOf(n, parts, { integer }) {
  const kind = integer(4);
  if (kind === 0) return Array.from({ length: parts + 1 }, (_, r) => Math.floor((r * n) / parts));
  if (kind === 1) {
    const owner = integer(parts);
    return Array.from({ length: parts + 1 }, (_, r) => (r <= owner ? 0 : n));
  }
  const inner = Array.from({ length: parts - 1 }, () => integer(n + 1)).sort((a, b) => a - b);
  return [0, ...inner, n];
}

/** How two results differ, bit by bit, in words; undefined if they do not. All NaNs count as the same. */
export function differenceOf(found, expected) {
  if (typeof expected === "number" || typeof expected === "boolean" || typeof expected === "string")
    return Object.is(found, expected) ? undefined : `${found}, expected ${expected}`;
  if (found.length !== expected.length) return `of length ${found.length}, expected ${expected.length}`;
  for (let i = 0; i < expected.length; i++)
    if (!Object.is(found[i], expected[i])) return `${found[i]} at ${i} of ${expected.length}, expected ${expected[i]}`;
  return undefined;
}

/** What a call returns or throws. */
export async function outcomeOf(call) {
  try {
    return await call();
  } catch (error) {
    return error;
  }
}

/** Calls that must fail on this rank, with an error of this name whose message has this text. Counts them. */
export function refusals(ranks) {
  const refused = async (call, name, text) => {
    const error = await outcomeOf(call);
    if (error?.name !== name || !error.message.includes(text))
      throw new Error(`rank ${ranks.rank}: ${error?.name}: ${error?.message}, expected ${name}: ${text}`, { cause: error });
    refused.count++;
    return error;
  };
  refused.count = 0;
  return refused;
}
