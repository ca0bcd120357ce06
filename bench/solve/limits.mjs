// The limits of solve(), from the cases of solve.mjs measured in the same run.

import { count, ratio } from "../harness/table.mjs";
import { MATH_JS, ML_MATRIX } from "../peers/solve.mjs";
import { ourName } from "./rivals.mjs";

const MIXED = ourName("mixed");
const FASTER = { [ourName("double")]: 1.5, [ML_MATRIX]: 5, [MATH_JS]: 5 };
const RESIDUAL = 1;

/** Rows of { row, value, unit, limit, atLeast }; a value is undefined where it was not measured. All with fused multiply-add. */
export function solveLimits(cases) {
  return cases.flatMap(({ n, rivals }) => [
    ...Object.entries(FASTER).map(([other, limit]) => {
      const [ours, theirs] = [MIXED, other].map((name) => rivals.find((rival) => rival.name === name)?.median);
      return { row: `mixed against ${other}, n = ${count(n)}`, value: ratio(theirs, ours), unit: " times faster", limit, atLeast: true };
    }),
    residual(n, rivals),
  ]);
}

// A scaled residual of at most 1 counts as converged.
function residual(n, rivals) {
  const ours = rivals.filter(({ method }) => method !== undefined);
  const value = ours.length === 0 ? undefined : Math.max(...ours.map(({ residual }) => residual));
  return { row: `the largest scaled residual of ours, n = ${count(n)}`, value, unit: "", limit: RESIDUAL };
}
