// The two measures of a solution, exact and rounded once (SPEC.md): LINPACK's scaled residual and the componentwise backward error.
// Rounded numbers show which rows may have the largest residual, sum or quotient. Only those, usually one of each, are summed exactly.
// Called by refine.ts.

import { embedded } from "../../engines/embedded.ts";
import type { Routine } from "../../engines/steps.ts";
import { roundRational } from "../../exact/rounding.ts";
import { exponentOf, LOWEST_EXPONENT, Superaccumulator, significand } from "../../exact/superaccumulator.ts";
import { distributedRows, largestOver } from "./held.ts";
import { exponent, largest, timesPower } from "./powers.ts";
import { visitRows } from "./rows.ts";
import type { System } from "./system.ts";

/** A nonnegative number n * 2^e. */
export interface Dyadic {
  readonly n: bigint;
  readonly e: number;
}

const dyadic = (x: number): Dyadic => ({ n: BigInt(Math.abs(significand(x))), e: exponentOf(x) });

function dyadicSum(sum: Superaccumulator): Dyadic {
  const { first, digits } = sum.magnitude();
  return { n: digits.reduceRight((n, digit) => (n << 32n) | BigInt(digit), 0n), e: LOWEST_EXPONENT + 32 * first };
}

const integerAt = ({ n, e }: Dyadic, exponent: number): bigint => n << BigInt(e - exponent);
const larger = (a: Dyadic, b: Dyadic): Dyadic => (integerAt(a, Math.min(a.e, b.e)) > integerAt(b, Math.min(a.e, b.e)) ? a : b);
const times = (a: Dyadic, b: Dyadic): Dyadic => ({ n: a.n * b.n, e: a.e + b.e });

function plus(a: Dyadic, b: Dyadic): Dyadic {
  const e = Math.min(a.e, b.e);
  return { n: integerAt(a, e) + integerAt(b, e), e };
}

/**
 * norm(b - A x) / (2^-53 n (norm(A) norm(x) + norm(b))), rounded once. `r` is 2^power (b - A x), each entry rounded once. Rounding does
 * not change the order of numbers, so the largest residual is among those of the largest magnitude in r. NaN if x is not finite. A zero
 * residual gives 0, even if the norms are zero.
 */
export function* scaledResidual(system: System, b: Float64Array, x: Float64Array, r: Float64Array, power: number): Routine<number> {
  if (!Number.isFinite(largest(x))) return Number.NaN;
  const maxResidual = largest(r);
  if (maxResidual === 0 && (yield* isResidualRepresentable(system, b, x, power))) return 0;
  const sum = new Superaccumulator();
  let residual: Dyadic = { n: 0n, e: 0 };
  const isLargest = (i: number): boolean => Math.abs(r[i] as number) === maxResidual;
  yield* visitRows(system.routine, system.A, isLargest, (row, i) => {
    embedded().accumulate("dot", row, x, sum.clear(), true);
    residual = larger(residual, dyadicSum(sum.negate().add(b[i] as number)));
  });
  if (residual.n === 0n) return 0;
  const norm = yield* exactNorm(system);
  const { n, e } = plus(times(norm, dyadic(largest(x))), dyadic(largest(b)));
  return roundRational(residual.n, n * BigInt(system.n), residual.e - e + 53, "nearest", "binary64");
}

/**
 * Whether a nonzero residual 2^power (b - A x) cannot round to zero. It is a multiple of the last places of b and of the products of A
 * and x: if that unit is 2^-1074 or more, the residual is zero or at smallest 2^-1074.
 */
export function* isResidualRepresentable(system: System, b: Float64Array, x: Float64Array, power: number): Routine<boolean> {
  if (system.lastPlace === undefined) {
    system.lastPlace = lastPlaceOf(yield* smallestEntry(system));
  }
  return power + Math.min(lastPlaceOf(smallestNonzero(b)), system.lastPlace + lastPlaceOf(smallestNonzero(x))) >= -1074;
}

// The smallest magnitude in A that is not zero.
function* smallestEntry({ routine, A }: System): Routine<number> {
  const held = yield* distributedRows(A);
  let smallest = held ? smallestNonzero(held.data) : Number.POSITIVE_INFINITY;
  if (held) return -(yield* largestOver(-smallest));
  const visit = (row: Float64Array): void => {
    smallest = Math.min(smallest, smallestNonzero(row));
  };
  yield* visitRows(routine, A, () => true, visit);
  return smallest;
}

function smallestNonzero(x: Float64Array): number {
  let smallest = Number.POSITIVE_INFINITY;
  for (let i = 0; i < x.length; i++) {
    const size = Math.abs(x[i] as number);
    if (size < smallest && size > 0) smallest = size;
  }
  return smallest;
}

// Doubles of magnitude `smallest` or more are multiples of 2 to this power.
const lastPlaceOf = (smallest: number): number => (smallest === Number.POSITIVE_INFINITY ? 0 : Math.max(-1074, exponent(smallest) - 52));

/**
 * The infinity norm of A. The relative error of a computed sum of n magnitudes is at most (n - 1) u plus terms of u^2, in any order.
 * (Sums that end subnormal are exact; what the scaling of sums near overflow loses is far smaller.) So if a computed row sum is below
 * the largest one by more than 4 n u of it, the exact one is smaller too.
 */
export function* exactNorm(system: System): Routine<Dyadic> {
  if (system.exactNorm) return system.exactNorm;
  const { routine, n, A, rowSums } = system;
  const minSum = largest(rowSums) * (1 - n * 2 ** -51);
  const sum = new Superaccumulator();
  let norm: Dyadic = { n: 0n, e: 0 };
  const mayBeLargest = (i: number): boolean => (rowSums[i] as number) >= minSum;
  yield* visitRows(routine, A, mayBeLargest, (row) => {
    embedded().accumulate("asum", row, row, sum.clear(), true);
    norm = larger(norm, dyadicSum(sum));
  });
  system.exactNorm = norm;
  return norm;
}

// Below this, underflow may have affected a quotient.
const SMALL = 2 ** -960;

/**
 * max_i |b - A x|_i / (|A| |x| + |b|)_i, rounded once; `r` and `power` as above. `known` are the divisors times 2^power in ordinary
 * arithmetic, if known. The computed quotients are accurate up to a factor of 1 + (n + 4) u: if one is below the largest by more than
 * 8 n u of it, the exact one is smaller too. All rows with a small divisor are evaluated exactly, and all rows if scaling x lost bits.
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
  if (largest(r) === 0 && (yield* isResidualRepresentable(system, b, x, power))) return 0;
  const { routine, n, A } = system;
  const sizes = known ?? (yield* absoluteSums(system, b, x, power));
  let maxQuotient = 0;
  const quotients = r.map((v, i) => {
    const [above, below] = [Math.abs(v), sizes[i] as number];
    if (!(below > SMALL && below < Number.POSITIVE_INFINITY)) return Number.NaN; // compares false: evaluated exactly
    if (above > SMALL) maxQuotient = Math.max(maxQuotient, above / below);
    return (above + Number.MIN_VALUE) / below; // a subnormal or zero residual may have been rounded down
  });
  const minQuotient = maxQuotient * (1 - n * 2 ** -50);
  const sum = new Superaccumulator();
  let [worst, against]: [Dyadic, Dyadic] = [
    { n: 0n, e: 0 },
    { n: 1n, e: 0 },
  ];
  const mayBeLargest = (i: number): boolean => !((quotients[i] as number) < minQuotient);
  yield* visitRows(routine, A, mayBeLargest, (row, i) => {
    embedded().accumulate("dot", row, x, sum.clear(), true);
    const above = dyadicSum(sum.negate().add(b[i] as number));
    if (above.n === 0n) return;
    embedded().accumulate("dot", row.map(Math.abs), x.map(Math.abs), sum.clear(), true);
    const below = dyadicSum(sum.add(Math.abs(b[i] as number)));
    const [left, right] = [times(above, against), times(worst, below)];
    if (worst.n === 0n || larger(left, right) === left) [worst, against] = [above, below];
  });
  return worst.n === 0n ? 0 : roundRational(worst.n, against.n, worst.e - against.e, "nearest", "binary64");
}

// 2^power (|A| |x| + |b|) in ordinary arithmetic; zeros if scaling x lost bits, since a large entry of A could magnify the loss.
function* absoluteSums({ routine, n, A }: System, b: Float64Array, x: Float64Array, power: number): Routine<Float64Array> {
  const sums = new Float64Array(n);
  const scale = x.map((v) => timesPower(Math.abs(v), power));
  if (!scale.every((v, j) => (v === 0 ? x[j] === 0 : v >= 2 ** -1022))) return sums;
  yield (kernels) => kernels.approximate.magnitudes(routine, A, scale, sums, new Float64Array(n));
  for (let i = 0; i < n; i++) sums[i] = (sums[i] as number) + timesPower(Math.abs(b[i] as number), power);
  return sums;
}
