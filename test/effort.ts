// How much the tests do, in one place: the seed of the random cases, and how many there are. `npm test` takes about a tenth of
// the cases that `npm run test:full` takes. HALFULP_SEED repeats a run; HALFULP_VECTORS, HALFULP_SYSTEMS, HALFULP_PATTERNS and
// HALFULP_ENTRIES set the length of the random campaigns (up to millions); HALFULP_LONG=1 adds cases that take hours.

const { HALFULP_SEED, HALFULP_VECTORS, HALFULP_SYSTEMS, HALFULP_PATTERNS, HALFULP_ENTRIES } = process.env;

export const LONG = process.env.HALFULP_LONG === "1";
/** Whether this is `npm run test:full`. */
export const FULL = LONG || process.env.HALFULP_TESTS === "full";
export const SEED = Number(HALFULP_SEED ?? Date.now() % 2 ** 32);

/** The number of cases: `full` in the full suite, else a tenth of that or the given number. */
export const cases = (full: number, quick = Math.ceil(full / 10)): number => (FULL ? full : quick);

/** Every element of a list in the full suite, else every `step`-th, beginning with the first. */
export const sample = <T>(list: readonly T[], step: number): T[] => list.filter((_, i) => FULL || i % step === 0);

/** Vectors in the campaign of the reductions; other campaigns of vectors are shorter in proportion. */
export const VECTORS = Number(HALFULP_VECTORS ?? cases(100_000));
/** Dense systems in the random campaign. */
export const SYSTEMS = Number(HALFULP_SYSTEMS ?? cases(20_000));
/** Sparse systems in the random campaign. */
export const PATTERNS = Number(HALFULP_PATTERNS ?? cases(5000));
/** Entries of products and of factors by residues in the campaign of matrix engines. */
export const ENTRIES = Number(HALFULP_ENTRIES ?? cases(20_000));
