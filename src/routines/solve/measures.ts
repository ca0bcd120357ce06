// The two measures of SPEC.md, exact and rounded once: LINPACK's scaled residual and the componentwise backward error. Which rows
// have the largest residual, sum or quotient is seen from rounded numbers; only those rows, mostly one of each, are summed up exactly.

import { embedded } from "../../engines/embedded.ts";
import type { Routine } from "../../engines/steps.ts";
import { roundRational } from "../../exact/rounding.ts";
import { exponentOf, LOWEST_EXPONENT, Superaccumulator, significand } from "../../exact/superaccumulator.ts";
import { exponent, largest, timesPower } from "./powers.ts";
import { forRows } from "./rows.ts";
import type { System } from "./system.ts";

/** A number that is not negative: n * 2^e. */
export interface Size {
  readonly n: bigint;
  readonly e: number;
}

const sizeOf = (x: number): Size => ({ n: BigInt(Math.abs(significand(x))), e: exponentOf(x) });

function sizeOfSum(sum: Superaccumulator): Size {
  const { first, digits } = sum.magnitude();
  return { n: digits.reduceRight((n, digit) => (n << 32n) | BigInt(digit), 0n), e: LOWEST_EXPONENT + 32 * first };
}

const at = ({ n, e }: Size, exponent: number): bigint => n << BigInt(e - exponent);
const larger = (a: Size, b: Size): Size => (at(a, Math.min(a.e, b.e)) > at(b, Math.min(a.e, b.e)) ? a : b);
const times = (a: Size, b: Size): Size => ({ n: a.n * b.n, e: a.e + b.e });

function plus(a: Size, b: Size): Size {
  const e = Math.min(a.e, b.e);
  return { n: at(a, e) + at(b, e), e };
}

/**
 * norm(b - A x) / (2^-53 n (norm(A) norm(x) + norm(b))), rounded once. `r` is b - A x, times 2^power, each entry rounded once:
 * rounding does not change the order of numbers, so the largest is among those of the largest magnitude in r. NaN where x is not
 * finite. No residual at all is 0, also where the norms are.
 */
export function* scaledResidual(system: System, b: Float64Array, x: Float64Array, r: Float64Array, power: number): Routine<number> {
  if (!Number.isFinite(largest(x))) return Number.NaN;
  const most = largest(r);
  if (most === 0 && (yield* isNothingLost(system, b, x, power))) return 0;
  const sum = new Superaccumulator();
  let residual: Size = { n: 0n, e: 0 };
  const isLargest = (i: number): boolean => Math.abs(r[i] as number) === most;
  yield* forRows(system.routine, system.A, isLargest, (row, i) => {
    embedded().accumulate("dot", row, x, sum.clear(), true);
    residual = larger(residual, sizeOfSum(sum.negate().add(b[i] as number)));
  });
  if (residual.n === 0n) return 0;
  const norm = yield* exactNorm(system);
  const { n, e } = plus(times(norm, sizeOf(largest(x))), sizeOf(largest(b)));
  return roundRational(residual.n, n * BigInt(system.n), residual.e - e + 53, "nearest", "binary64");
}

// Whether a residual 2^power (b - A x) other than 0 is one in its rounded form too. It is a multiple of the last places of b and of products of A and x, and there is
// no other number than 0 below 2^-1074.
export function* isNothingLost(system: System, b: Float64Array, x: Float64Array, power: number): Routine<boolean> {
  if (system.lastPlace === undefined) {
    let least = Number.POSITIVE_INFINITY;
    yield* forRows(
      system.routine,
      system.A,
      () => true,
      (row) => {
        least = Math.min(least, leastOf(row));
      },
    );
    system.lastPlace = lastPlaceOf(least);
  }
  return power + Math.min(lastPlaceOf(leastOf(b)), system.lastPlace + lastPlaceOf(leastOf(x))) >= -1074;
}

function leastOf(x: Float64Array): number {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < x.length; i++) {
    const size = Math.abs(x[i] as number);
    if (size < least && size > 0) least = size;
  }
  return least;
}

// Numbers from `least` on are multiples of 2 to this power.
const lastPlaceOf = (least: number): number => (least === Number.POSITIVE_INFINITY ? 0 : Math.max(-1074, exponent(least) - 52));

/**
 * The infinity norm of A. A computed sum of n magnitudes is off by at most (n - 1) u of the true one and terms of u^2, in any
 * order (sums that end subnormal are exact; what the scaling of sums near overflow lost is far below that): rows whose sum is
 * below the largest by more than 4 n u of it have a smaller true one.
 */
export function* exactNorm(system: System): Routine<Size> {
  if (system.exactNorm) return system.exactNorm;
  const { routine, n, A, sums } = system;
  const least = largest(sums) * (1 - n * 2 ** -51);
  const sum = new Superaccumulator();
  let norm: Size = { n: 0n, e: 0 };
  const mayBeLargest = (i: number): boolean => (sums[i] as number) >= least;
  yield* forRows(routine, A, mayBeLargest, (row) => {
    embedded().accumulate("asum", row, row, sum.clear(), true);
    norm = larger(norm, sizeOfSum(sum));
  });
  system.exactNorm = norm;
  return norm;
}

// Quotients of numbers below this may have lost bits to underflow.
const SMALL = 2 ** -960;

/**
 * max_i |b - A x|_i / (|A| |x| + |b|)_i, rounded once; `r` and `power` as above. The computed quotients are off by a factor of at most
 * 1 + (n + 4) u: rows that are below the largest by more than 8 n u of it have a smaller true one. Those with a
 * small divisor are all looked at exactly, and so are all rows if scaling x lost bits.
 */
export function* backwardError(
  system: System,
  b: Float64Array,
  x: Float64Array,
  r: Float64Array,
  power: number,
  known?: Float64Array,
): Routine<number> {
  if (!Number.isFinite(largest(x))) return Number.NaN;
  if (largest(r) === 0 && (yield* isNothingLost(system, b, x, power))) return 0;
  const { routine, n, A } = system;
  const sizes = known ?? (yield* weightsOf(system, b, x, power));
  let most = 0;
  const quotients = r.map((v, i) => {
    const [above, below] = [Math.abs(v), sizes[i] as number];
    if (!(below > SMALL && below < Number.POSITIVE_INFINITY)) return Number.NaN; // which is below nothing
    if (above > SMALL) most = Math.max(most, above / below);
    return (above + Number.MIN_VALUE) / below; // a residual may be more than its subnormal form, and that of 0 is less than this
  });
  const least = most * (1 - n * 2 ** -50);
  const sum = new Superaccumulator();
  let [worst, against]: [Size, Size] = [
    { n: 0n, e: 0 },
    { n: 1n, e: 0 },
  ];
  const mayBeLargest = (i: number): boolean => !((quotients[i] as number) < least);
  yield* forRows(routine, A, mayBeLargest, (row, i) => {
    embedded().accumulate("dot", row, x, sum.clear(), true);
    const above = sizeOfSum(sum.negate().add(b[i] as number));
    if (above.n === 0n) return;
    embedded().accumulate("dot", row.map(Math.abs), x.map(Math.abs), sum.clear(), true);
    const below = sizeOfSum(sum.add(Math.abs(b[i] as number)));
    const [left, right] = [times(above, against), times(worst, below)];
    if (worst.n === 0n || larger(left, right) === left) [worst, against] = [above, below];
  });
  return worst.n === 0n ? 0 : roundRational(worst.n, against.n, worst.e - against.e, "nearest", "binary64");
}

// 2^power (|A| |x| + |b|), rounded as it comes; zeros if scaling x lost bits, which a large entry of A would bring back.
function* weightsOf({ routine, n, A }: System, b: Float64Array, x: Float64Array, power: number): Routine<Float64Array> {
  const sums = new Float64Array(n);
  const scale = x.map((v) => timesPower(Math.abs(v), power));
  if (!scale.every((v, j) => (v === 0 ? x[j] === 0 : v >= 2 ** -1022))) return sums;
  yield (kernels) => kernels.approximate.magnitudes(routine, A, scale, sums, new Float64Array(n));
  for (let i = 0; i < n; i++) sums[i] = (sums[i] as number) + timesPower(Math.abs(b[i] as number), power);
  return sums;
}
