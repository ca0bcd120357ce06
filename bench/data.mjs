// The data sets. All come from seeds, so that every machine measures the same numbers.
import { dotOfCondition, sumOfCondition, uniform, WELL } from "../dist/report/measure/data.js";
import { study } from "./library.mjs";

export { uniform, WELL };

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

// A random sign, 53 random bits, and an exponent from -most to most.
function spread(n, most, seed) {
  const random = new study.Random(seed);
  return Float64Array.from({ length: n }, () => {
    const v = random.signed();
    return (v < 0 ? v - 1 : v + 1) * 2 ** (random.below(2 * most + 1) - most);
  });
}
