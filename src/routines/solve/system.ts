// The matrix of a system in the engine's memory, with its norm and the powers of two that scale its rows and columns: see "Scale" in
// docs/solve.md. solver.ts makes the Systems; every other file here works on them.

import { ValueError } from "../../arrays/errors.ts";
import type { StridedOperand } from "../../arrays/matrix.ts";
import { newIntegers, newVector } from "../../arrays/vectors.ts";
import type { Scaling } from "../../engines/approximate.ts";
import type { Allocation } from "../../engines/memory.ts";
import type { Routine } from "../../engines/steps.ts";
import { powerOfTwo } from "../../exact/bits.ts";
import { type HeldRows, keepRows, maximumOver, newHeldVector, shareNumbers } from "./held.ts";
import type { ScaleExponents } from "./integers.ts";
import type { Dyadic } from "./measures.ts";
import { exponent, largest, type Powers, timesPower } from "./powers.ts";
import { rowOf } from "./rows.ts";

/** A matrix on an engine, its norm and its scaling. */
export interface System {
  readonly routine: string;
  readonly n: number;
  readonly allocation: Allocation<StridedOperand>;
  readonly A: StridedOperand;
  /** A * 2^power has a norm from 1 to 2, unless 2^power would leave the range; `norm` is that norm, in ordinary arithmetic. */
  readonly power: number;
  readonly norm: number;
  /** The sums of magnitudes of the rows, in ordinary arithmetic; times 2^-OVERFLOW_SHIFT if one would overflow. */
  readonly rowSums: Float64Array;
  /** The exact norm of A, once exactNorm() has computed it. */
  exactNorm: Dyadic | undefined;
  /** All entries are multiples of 2 to this power; set by isResidualRepresentable(). */
  lastPlace: number | undefined;
  /** The powers of two that the matrix is factored with, and their exponents. */
  readonly scaling: Scaling;
  readonly rows: Powers;
  readonly cols: Powers;
  /** Set for a scaled copy: A = 2^preScale.rows (original matrix) 2^preScale.cols. */
  readonly preScale: ScaleExponents | undefined;
}

// If the exponents for rows or columns differ by more than this, the matrix is scaled in a copy: kernels scale in two steps, and what
// underflows in the first must not be magnified by the second (certificate.ts).
const MAX_RANGE = 300;

/** Whether the scales of rows or columns differ so much that a scaled copy is needed. */
export const needsScaledCopy = ({ rows, cols }: System): boolean => Math.max(rows.range, cols.range) > MAX_RANGE;

/** Exponents that bring the largest entry of each row, and then of each column, to 1 or more and below 2. */
export function* equilibrationExponents({ rows: held, data }: HeldRows, n: number): Routine<ScaleExponents> {
  const rows = new Int32Array(held.length);
  const cols = new Float64Array(n).fill(NO_ENTRY);
  for (let i = 0; i < held.length; i++) {
    const size = largest(data.subarray(i * n, (i + 1) * n));
    rows[i] = size === 0 ? 0 : -exponent(size);
    for (let j = 0; j < n; j++) {
      const v = Math.abs(data[i * n + j] as number);
      if (v > 0) cols[j] = Math.max(cols[j] as number, exponent(v) + (rows[i] as number));
    }
  }
  yield* maximumOver(cols);
  return {
    rows: Int32Array.from(yield* shareNumbers(held, rows, n)),
    cols: Int32Array.from(cols, (top) => (top === NO_ENTRY ? 0 : -top)),
  };
}
const NO_ENTRY = -(2 ** 30);

/** to := 2^rows from 2^cols for the held rows of an n by n matrix, in place or not. */
export function scaleMatrix({ rows: held, data: from }: HeldRows, n: number, { rows, cols }: ScaleExponents, to: Float64Array): void {
  for (const [k, i] of held.entries())
    for (let j = 0; j < n; j++) to[k * n + j] = timesPower(from[k * n + j] as number, (rows[i] as number) + (cols[j] as number));
}

/** The system of a scaled copy of a matrix. Bits below 2^-1074 are lost: factors are those of the copy, proofs hold for the matrix. */
export function* scaledSystem(routine: string, held: HeldRows, n: number, preScale: ScaleExponents): Routine<System> {
  const data = yield* newHeldVector(routine, held.data.length);
  scaleMatrix(held, n, preScale, data);
  const allocation = yield* keepRows(routine, { rows: held.rows, data }, n, n);
  try {
    return { ...(yield* systemOf(routine, allocation)), preScale };
  } catch (error) {
    allocation.free();
    throw error;
  }
}

// If a row sum overflows, all are summed times 2^-64. What underflows then is negligible: at most 2^53 times 2^-1074, next to 2^960.
const OVERFLOW_SHIFT = 64;

/** The system of a matrix on the engine: its norm and its scaling. Throws for an entry that is not finite. */
export function* systemOf(routine: string, allocation: Allocation<StridedOperand>): Routine<System> {
  const A = allocation.value;
  const n = A.rows;
  const vector = (): Float64Array => newVector(routine, new Float64Array(0), n);
  const [ones, sums, largestEntries] = [vector().fill(1), vector(), vector()];
  yield (kernels) => kernels.approximate.magnitudes(routine, A, ones, sums, largestEntries);
  yield* checkFinite(routine, A, largestEntries);
  let shift = 0;
  if (largest(sums) === Number.POSITIVE_INFINITY) {
    shift = OVERFLOW_SHIFT;
    yield (kernels) => kernels.approximate.magnitudes(routine, A, vector().fill(2 ** -shift), sums, vector());
  }
  const sum = largest(sums);
  const power = sum === 0 ? 0 : Math.max(-1022, Math.min(1023, -exponent(sum) - shift));
  const rows = powersFor(routine, largestEntries);
  const scales = scalesOf(rows);
  const transposed = { ...A, rowStride: A.colStride, colStride: A.rowStride };
  yield (kernels) => kernels.approximate.magnitudes(routine, transposed, scales, vector(), largestEntries);
  const cols = powersFor(routine, largestEntries, 0);
  const scaling = { rows: scales, cols: scalesOf(cols) };
  return {
    routine,
    n,
    allocation,
    A,
    power,
    norm: timesPower(sum, shift + power),
    rowSums: sums,
    exactNorm: undefined,
    lastPlace: undefined,
    scaling,
    rows,
    cols,
    preScale: undefined,
  };
}

// Rows (or columns) whose largest entries are within 2^SAME_SCALE of each other share one power: partial pivoting copes with such
// differences, binary32 has enough range for the products, and scaling would change the choice of pivots.
const SAME_SCALE = 8;

// The exponents that bring the largest entry of each row (or column) to 1 or more and below 2; if they are similar, one for all, the least
// or `commonIfSimilar`. The powers themselves and the scaled entries stay in range.
function powersFor(routine: string, largestEntries: Float64Array, commonIfSimilar?: number): Powers {
  const each = newIntegers(routine, largestEntries.length);
  let [low, high] = [MAX_POWER, MIN_POWER];
  for (let i = 0; i < largestEntries.length; i++) {
    const size = largestEntries[i] as number;
    if (size === 0) continue;
    const power = Math.max(MIN_POWER, Math.min(MAX_POWER, -exponent(size)));
    each[i] = power;
    low = Math.min(low, power);
    high = Math.max(high, power);
  }
  const range = Math.max(0, high - low);
  if (range > SAME_SCALE) return { each, common: undefined, range };
  const common = commonIfSimilar ?? (low > high ? 0 : low);
  return { each: each.fill(common), common, range };
}
const MIN_POWER = -1022;
const MAX_POWER = 1021;

function scalesOf({ each, common }: Powers): Float64Array {
  const scales = new Float64Array(each.length);
  if (common !== undefined) return scales.fill(powerOfTwo(common));
  for (let i = 0; i < each.length; i++) scales[i] = powerOfTwo(each[i] as number);
  return scales;
}

function* checkFinite(routine: string, A: StridedOperand, largestEntries: Float64Array): Routine<void> {
  const i = largestEntries.findIndex((v) => !Number.isFinite(v));
  if (i < 0) return;
  const row = yield* rowOf(routine, A, i);
  const j = row.findIndex((v) => !Number.isFinite(v));
  throw new ValueError(`${routine}: entry (${i}, ${j}) of A is ${row[j]}, expected a finite number`, i, j);
}
