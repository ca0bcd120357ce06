// The data sets. All come from seeds, so that every machine measures the same numbers.
import { exdot, exsum, illConditionedDot, study } from "./library.mjs";

export const WELL = "well-conditioned";
const CONDITIONS = { "condition 1e16": 1e16, "condition 1e30": 1e30 };
const SPREADS = { "exponents ±20": 20, "exponents ±300": 300 };

/** The kinds of data on which an operation is measured. Terms that are all positive have condition 1 whatever they are. */
export function kindsFor(op) {
  const cancels = op === "dot" || op === "sum";
  return [WELL, ...(cancels ? Object.keys(CONDITIONS) : []), ...Object.keys(SPREADS)];
}

/** x, and y where the operation takes two vectors. */
export function vectors(kind, op, n) {
  if (kind in CONDITIONS) return op === "dot" ? dotOfCondition(n, CONDITIONS[kind]) : { x: sumOfCondition(n, CONDITIONS[kind]) };
  const make = kind === WELL ? uniform : (length, seed) => spread(length, SPREADS[kind], seed);
  return op === "dot" ? { x: make(n, 1), y: make(n, 2) } : { x: make(n, 1) };
}

/** Numbers in (-1, 1). */
export function uniform(n, seed) {
  const random = new study.Random(seed);
  return Float64Array.from({ length: n }, () => random.signed());
}

// A random sign, 53 random bits, and an exponent from -most to most.
function spread(n, most, seed) {
  const random = new study.Random(seed);
  return Float64Array.from({ length: n }, () => {
    const v = random.signed();
    return (v < 0 ? v - 1 : v + 1) * 2 ** (random.below(2 * most + 1) - most);
  });
}

function dotOfCondition(n, condition) {
  const { x, y } = illConditionedDot(n, condition, 3);
  const size = x.reduce((sum, v, i) => sum + Math.abs(v * y[i]), 0);
  return checked({ x, y }, (2 * size) / Math.abs(exdot(x, y)), condition);
}

// The products of a dot product and their errors, shuffled, have its exact value for their sum. Its condition counts
// magnitudes twice, that of a sum once.
function sumOfCondition(n, condition) {
  const { x, y } = illConditionedDot(n >> 1, 2 * condition, 4);
  const terms = new Float64Array(n);
  for (let i = 0; i < x.length; i++) {
    terms[2 * i] = x[i] * y[i];
    terms[2 * i + 1] = study.twoProd(x[i], y[i], terms[2 * i]);
  }
  shuffle(terms, new study.Random(5));
  const size = terms.reduce((sum, v) => sum + Math.abs(v), 0);
  return checked(terms, size / Math.abs(exsum(terms)), condition);
}

function shuffle(a, random) {
  for (let i = a.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [a[i], a[j]] = [a[j], a[i]];
  }
}

function checked(data, reached, condition) {
  if (!(reached > condition / 10 && reached < condition * 10)) throw new Error(`data of condition ${reached}, expected ${condition}`);
  return data;
}
