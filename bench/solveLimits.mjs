// The figures that solve() is held to, from the cases measured in the same run.
import { MATH_JS, ML_MATRIX } from "./solvePeers.mjs";
import { ourName } from "./solveRivals.mjs";
import { count, ratio } from "./table.mjs";

const MIXED = ourName("mixed");
const FASTER = { [ourName("double")]: 1.5, [ML_MATRIX]: 5, [MATH_JS]: 5 };
const RESIDUAL = 1;

/** Rows of { row, value, unit, limit, least }; a value is undefined where it was not measured. All with fused multiply-add. */
export function solveLimits(cases) {
  return cases.flatMap(({ n, rivals }) => [
    ...Object.entries(FASTER).map(([other, limit]) => {
      const [ours, theirs] = [MIXED, other].map((name) => rivals.find((rival) => rival.name === name)?.median);
      return { row: `mixed against ${other}, n = ${count(n)}`, value: ratio(theirs, ours), unit: " times faster", limit, least: true };
    }),
    residual(n, rivals),
  ]);
}

// "At or below 1" is what counts as converged.
function residual(n, rivals) {
  const ours = rivals.filter(({ method }) => method !== undefined);
  const value = ours.length === 0 ? undefined : Math.max(...ours.map(({ residual }) => residual));
  return { row: `the largest scaled residual of ours, n = ${count(n)}`, value, unit: "", limit: RESIDUAL };
}
