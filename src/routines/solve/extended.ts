// Refinement in twice the working precision with exact residuals, and a proof for each component. An approximation is h + l, two
// vectors; its residual is RN(RN(b - A h) - A l), off by u (|RN(b - A h)| + |r|). What it is from the solution is at most
// |A^-1 r|, for which the certificate of the factors has a bound. It is on the order of cond(A) 2^-106 |x| in the end: enough for
// all components but those next to a tie, and those that are zero.
import type { Routine } from "../../engines/steps.ts";
import { roundEnclosure } from "../../exact/enclosure.ts";
import { twoSum } from "../../exact/transforms.ts";
import type { Certificate } from "./certificate.ts";
import { type Factorization, solved } from "./factors.ts";
import { isNothingLost } from "./measures.ts";
import { largest, normalizing, sameNumbers, scaled, scaledBy, timesPower } from "./powers.ts";
import { type Right, unscaledSolution } from "./refine.ts";
import { exactResiduals } from "./residuals.ts";
import type { System } from "./system.ts";

/** How far this came with one right-hand side. */
export interface Extended {
  readonly right: Right;
  /** The solution of the system that was given, rounded once where it is proved, nearly elsewhere. */
  x: Float64Array;
  /** Components that are not proved. */
  open: number[];
  iterations: number;
  /** RN(2^power (b - A x)), if it is known. */
  residual: Float64Array | undefined;
}

interface Running extends Extended {
  high: Float64Array;
  low: Float64Array;
  /** RN(b - A high), while high does not change. */
  first: Float64Array | undefined;
  r: Float64Array;
  size: number; // of r, in the norm of the certificate
  ended: boolean;
}

// The least gain of a correction, as a factor: fewer bits, and the residual is as small as its rounding errors.
const GAIN = 2 ** -4;

export function* refineExtended(
  system: System,
  factors: Factorization,
  certificate: Certificate,
  rights: readonly Right[],
  mostIterations: number,
): Routine<Extended[]> {
  const starts = yield* solved(
    system,
    factors,
    rights.map(({ scaled }) => scaled),
  );
  const all = rights.map((right, c): Running => {
    const high = starts[c] as Float64Array;
    const low = new Float64Array(system.n);
    const nothing = { x: high, open: [], iterations: 0, residual: undefined, first: undefined };
    return { right, high, low, r: right.scaled, size: Number.POSITIVE_INFINITY, ended: false, ...nothing };
  });
  for (let active = all; active.length > 0; ) {
    yield* takeResiduals(system, active);
    for (const running of active) judge(system, certificate, running, mostIterations);
    active = active.filter(({ ended }) => !ended);
    if (active.length === 0) break;
    const corrections = yield* solved(
      system,
      factors,
      active.map(({ r }) => r),
    );
    for (const [c, running] of active.entries()) correct(running, corrections[c] as Float64Array);
  }
  for (const running of all) yield* proveExact(system, running);
  return all;
}

function* takeResiduals(system: System, active: readonly Running[]): Routine<void> {
  const fresh = active.filter(({ first }) => first === undefined);
  if (fresh.length > 0) {
    const residuals = yield* exactResiduals(
      system,
      fresh.map(({ high }) => high),
      fresh.map(({ right }) => right.scaled),
    );
    for (const [c, running] of fresh.entries()) running.first = residuals[c] as Float64Array;
  }
  const longer = active.filter(({ low }) => largest(low) > 0);
  for (const running of active) running.r = running.first as Float64Array;
  if (longer.length === 0) return;
  const rest = yield* exactResiduals(
    system,
    longer.map(({ low }) => low),
    longer.map(({ first }) => first as Float64Array),
  );
  for (const [c, running] of longer.entries()) running.r = rest[c] as Float64Array;
}

// high + low := high + low + d. What is rounded here is no error: the next residual is that of what is stored.
function correct(running: Running, d: Float64Array): void {
  const { high, low } = running;
  const [nextHigh, nextLow] = [new Float64Array(high.length), new Float64Array(high.length)];
  let isSame = true;
  for (let j = 0; j < high.length; j++) {
    const [h, l] = [high[j] as number, (low[j] as number) + (d[j] as number)];
    const sum = h + l;
    nextHigh[j] = sum;
    nextLow[j] = twoSum(h, l, sum);
    if (sum !== h) isSame = false;
  }
  running.high = nextHigh;
  running.low = nextLow;
  if (!isSame) running.first = undefined;
  running.iterations++;
}

const TINY = 2 ** -1070; // above what underflow can do to a residual of two steps

/**
 * The rounded components, and those that cannot be rounded yet. With A' = 2^power A, F = R A C the certified matrix and weights w,
 * the error is |A'^-1 r| = 2^-power |C F^-1 R r| <= 2^-power C w norm(R r).
 */
function judge(system: System, { weights }: Certificate, running: Running, mostIterations: number): void {
  const { rows, cols, power, n } = system;
  const { right, high, low, r, first } = running;
  // StridedMatrix of a scaled copy may have lost up to 2^-1074 each.
  const tiny = system.outer ? TINY + n * 2 ** -1072 * largest(high) : TINY;
  const errors = r.map(
    (v, i) => (Math.abs(v) + 2 ** -53 * (Math.abs(v) + Math.abs((first as Float64Array)[i] as number))) * (1 + 2 ** -50) + tiny,
  );
  const s = normalizing(errors, rows);
  const size = largest(scaledBy(errors, rows, s)) * (1 + 2 ** -50); // times 2^-s
  if (!Number.isFinite(size) || !Number.isFinite(largest(high))) {
    running.ended = true;
    running.open = Array.from({ length: n }, (_, j) => j);
    running.x = unscaledSolution(system, right, high);
    return;
  }
  const open: number[] = [];
  const x = unscaledSolution(system, right, high);
  for (let j = 0; j < n; j++) {
    const error = timesPower((weights[j] as number) * size, (cols.each[j] as number) - power - s) + Number.MIN_VALUE;
    const value = roundEnclosure(high[j] as number, low[j] as number, error, "nearest", "binary64");
    const result = Math.abs(x[j] as number);
    if (value === high[j] && result > SMALL && result < LARGE) continue;
    open.push(j);
  }
  running.x = x;
  running.open = right.exact ? open : Array.from({ length: n }, (_, j) => j);
  running.residual = first;
  const norm = timesPower(size, -s);
  running.ended = open.length === 0 || running.iterations === mostIterations || !(norm < running.size * GAIN);
  running.size = norm;
}

// Within these a power of two rounds nothing.
const SMALL = 2 ** -1000;
const LARGE = 2 ** 1000;

// What is not proved may be zeros beside components that are stored exactly: then the residual of the rounded solution is nothing,
// which proves all of them.
function* proveExact(system: System, running: Running): Routine<void> {
  const { right, high, open } = running;
  if (open.length === 0 || system.outer || !right.exact) return;
  const candidate = high.slice();
  const top = largest(high);
  for (const j of open) if (Math.abs(high[j] as number) < top * 2 ** -60) candidate[j] = 0;
  const [r] = (yield* exactResiduals(system, [candidate], [right.scaled])) as [Float64Array];
  const x = unscaledSolution(system, right, candidate);
  if (largest(r) !== 0 || !sameNumbers(scaled(x, right.power - system.power), candidate)) return;
  if (!(yield* isNothingLost(system, right.b, x, right.power))) return;
  Object.assign(running, { high: candidate, x, open: [], residual: r });
}
