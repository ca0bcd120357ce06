// The state of a recurrence on the device: an array of binary64 numbers, and the cases of its kernels, stated once. sources.ts compiles
// them into the kernels; workspace.ts reads and writes the state.
import { type Finish, SCALARS, type Scalar, STATUSES, type When } from "../../krylov.ts";

/** The status, which also tells a product whether to run; the scalars; the iteration that set the status; the norms since the last look. */
export const STATUS = 0;
export const placeOf = (scalar: Scalar): number => 1 + SCALARS.indexOf(scalar);
export const AT = 1 + SCALARS.length;
/** The number of the reduction that the certificate did not decide. */
export const SEQUENCE = AT + 1;
export const NORM_COUNT = SEQUENCE + 1;
export const NORMS = NORM_COUNT + 1;
/** The maximum number of iterations between two looks. */
export const MAX_AHEAD = 32;
export const EXTRA = NORMS + MAX_AHEAD;

/** On a device a recurrence also stops at a sum that the certificate does not decide. */
export const UNDECIDED = STATUSES.length;

const FINISHES = [
  ...(["rho", "bicgRho", "ts", "cgAlpha", "cgBeta", "test", "bicgAlpha", "bicgHalf", "omega", "bicgTest", "bicgBeta"] as const),
] satisfies Finish[];
/** The number of a case: those of scalars after the others. */
export const finishNumber = (finish: Finish): number => (typeof finish === "number" ? FINISHES.length + finish : FINISHES.indexOf(finish));

const WHENS = ["running", "half", "passed"] as const satisfies When[];
export const whenNumber = (when: When): number => WHENS.indexOf(when);

const upper = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();

export const DEFINES: Readonly<Record<string, number>> = {
  ...Object.fromEntries(SCALARS.map((scalar) => [upper(scalar), placeOf(scalar)])),
  ...Object.fromEntries(STATUSES.map((status, k) => [upper(status), k])),
  ...Object.fromEntries(FINISHES.map((finish, k) => [`FINISH_${upper(finish)}`, k])),
  FINISH_EXTRA: FINISHES.length,
  UNDECIDED,
  STATUS,
  AT,
  SEQUENCE,
  NORM_COUNT,
  NORMS,
  EXTRA,
  HALF_ONLY: whenNumber("half"),
  PASSED: whenNumber("passed"),
};
