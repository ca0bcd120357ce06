// Stage 1 of correct.ts: refinement in twice the working precision with exact residuals, and a proof for each component (after Oishi
// and Rump, see docs/solve.md). An approximation is h + l, two vectors. Its residual is r = RN(RN(b - A h) - A l), with an error of at
// most u (|RN(b - A h)| + |r|). The error of the approximation is at most |A^-1 r|, which the certificate of the factors bounds. In the
// end it is of the order of cond(A) 2^-106 |x|: enough for all components except zeros and those next to a tie.
import type { Routine } from "../../engines/steps.ts";
import { roundEnclosure } from "../../exact/enclosure.ts";
import { twoSum } from "../../exact/transforms.ts";
import type { Certificate } from "./certificate.ts";
import { approximateSolutions, type MethodFactors } from "./factors.ts";
import { isResidualRepresentable } from "./measures.ts";
import { largest, normalizing, sameNumbers, scaled, scaledBy, timesPower } from "./powers.ts";
import { originalSolution, type RightHandSide } from "./refine.ts";
import { exactResiduals } from "./residuals.ts";
import type { System } from "./system.ts";

/** The solution for one right-hand side, and which components are proved. */
export interface ExtendedSolution {
  readonly right: RightHandSide;
  /** The solution of the original system: correctly rounded where it is proved, approximate elsewhere. */
  x: Float64Array;
  /** Components that are not proved. */
  open: number[];
  iterations: number;
  /** RN(2^power (b - A x)), if it is known. */
  residual: Float64Array | undefined;
}

interface RefinementState extends ExtendedSolution {
  high: Float64Array;
  low: Float64Array;
  /** RN(b - A high); undefined after high has changed. */
  highResidual: Float64Array | undefined;
  r: Float64Array;
  size: number; // the norm of r that the certificate uses
  isDone: boolean;
}

// A correction must reduce the residual by this factor. If it gains fewer bits, the residual is down to its rounding errors.
const SUFFICIENT_REDUCTION = 2 ** -4;

/** Refine the solutions for all right-hand sides, and prove as many components as this precision allows. */
export function* refineExtended(
  system: System,
  factors: MethodFactors,
  certificate: Certificate,
  rights: readonly RightHandSide[],
  maxIterations: number,
): Routine<ExtendedSolution[]> {
  const starts = yield* approximateSolutions(
    system,
    factors,
    rights.map(({ scaled }) => scaled),
  );
  const all = rights.map((right, c): RefinementState => {
    const high = starts[c] as Float64Array;
    const low = new Float64Array(system.n);
    const unknown = { x: high, open: [], iterations: 0, residual: undefined, highResidual: undefined };
    return { right, high, low, r: right.scaled, size: Number.POSITIVE_INFINITY, isDone: false, ...unknown };
  });
  for (let active = all; active.length > 0; ) {
    yield* computeResiduals(system, active);
    for (const state of active) judge(system, certificate, state, maxIterations);
    active = active.filter(({ isDone }) => !isDone);
    if (active.length === 0) break;
    const corrections = yield* approximateSolutions(
      system,
      factors,
      active.map(({ r }) => r),
    );
    for (const [c, state] of active.entries()) correct(state, corrections[c] as Float64Array);
  }
  for (const state of all) yield* proveByZeroResidual(system, state);
  return all;
}

function* computeResiduals(system: System, active: readonly RefinementState[]): Routine<void> {
  const fresh = active.filter(({ highResidual }) => highResidual === undefined);
  if (fresh.length > 0) {
    const residuals = yield* exactResiduals(
      system,
      fresh.map(({ high }) => high),
      fresh.map(({ right }) => right.scaled),
    );
    for (const [c, state] of fresh.entries()) state.highResidual = residuals[c] as Float64Array;
  }
  const longer = active.filter(({ low }) => largest(low) > 0);
  for (const state of active) state.r = state.highResidual as Float64Array;
  if (longer.length === 0) return;
  const rest = yield* exactResiduals(
    system,
    longer.map(({ low }) => low),
    longer.map(({ highResidual }) => highResidual as Float64Array),
  );
  for (const [c, state] of longer.entries()) state.r = rest[c] as Float64Array;
}

// high + low := high + low + d. Rounding here causes no error in the proof: the next residual is computed for what is stored.
function correct(state: RefinementState, d: Float64Array): void {
  const { high, low } = state;
  const [nextHigh, nextLow] = [new Float64Array(high.length), new Float64Array(high.length)];
  let isSame = true;
  for (let j = 0; j < high.length; j++) {
    const [h, l] = [high[j] as number, (low[j] as number) + (d[j] as number)];
    const sum = h + l;
    nextHigh[j] = sum;
    nextLow[j] = twoSum(h, l, sum);
    if (sum !== h) isSame = false;
  }
  state.high = nextHigh;
  state.low = nextLow;
  if (!isSame) state.highResidual = undefined;
  state.iterations++;
}

const TINY = 2 ** -1070; // exceeds the effect of underflow on the two steps of a residual

/**
 * Round the components that can be proved, and decide whether to stop. With A' = 2^power A, F = R A C the certified matrix and w its
 * weights, the error is |A'^-1 r| = 2^-power |C F^-1 R r| <= 2^-power C w norm(R r).
 */
function judge(system: System, { weights }: Certificate, state: RefinementState, maxIterations: number): void {
  const { rows, cols, power, n } = system;
  const { right, high, low, r, highResidual } = state;
  // Entries of a scaled copy may have lost up to 2^-1074 each.
  const tiny = system.preScale ? TINY + n * 2 ** -1072 * largest(high) : TINY;
  const errors = r.map(
    (v, i) => (Math.abs(v) + 2 ** -53 * (Math.abs(v) + Math.abs((highResidual as Float64Array)[i] as number))) * (1 + 2 ** -50) + tiny,
  );
  const s = normalizing(errors, rows);
  const size = largest(scaledBy(errors, rows, s)) * (1 + 2 ** -50); // times 2^-s
  if (!Number.isFinite(size) || !Number.isFinite(largest(high))) {
    state.isDone = true;
    state.open = Array.from({ length: n }, (_, j) => j);
    state.x = originalSolution(system, right, high);
    return;
  }
  const open: number[] = [];
  const x = originalSolution(system, right, high);
  for (let j = 0; j < n; j++) {
    const error = timesPower((weights[j] as number) * size, (cols.each[j] as number) - power - s) + Number.MIN_VALUE;
    const value = roundEnclosure(high[j] as number, low[j] as number, error, "nearest", "binary64");
    const result = Math.abs(x[j] as number);
    if (value === high[j] && result > SMALL && result < LARGE) continue;
    open.push(j);
  }
  state.x = x;
  state.open = right.isExact ? open : Array.from({ length: n }, (_, j) => j);
  state.residual = highResidual;
  const norm = timesPower(size, -s);
  state.isDone = open.length === 0 || state.iterations === maxIterations || !(norm < state.size * SUFFICIENT_REDUCTION);
  state.size = norm;
}

// Between these bounds scaling x by a power of two is exact.
const SMALL = 2 ** -1000;
const LARGE = 2 ** 1000;

// The open components may be zeros, and all others representable. Then the residual of the rounded solution is zero, which proves it.
function* proveByZeroResidual(system: System, state: RefinementState): Routine<void> {
  const { right, high, open } = state;
  if (open.length === 0 || system.preScale || !right.isExact) return;
  const candidate = high.slice();
  const top = largest(high);
  for (const j of open) if (Math.abs(high[j] as number) < top * 2 ** -60) candidate[j] = 0;
  const [r] = (yield* exactResiduals(system, [candidate], [right.scaled])) as [Float64Array];
  const x = originalSolution(system, right, candidate);
  if (largest(r) !== 0 || !sameNumbers(scaled(x, right.power - system.power), candidate)) return;
  if (!(yield* isResidualRepresentable(system, right.b, x, right.power))) return;
  Object.assign(state, { high: candidate, x, open: [], residual: r });
}
