import { ValueError } from "../../arrays/errors.ts";
import { rowMajor, type StridedOperand } from "../../arrays/matrix.ts";
import { newIntegers, newVector } from "../../arrays/vectors.ts";
import type { Scaling } from "../../engines/approximate.ts";
import type { Allocation } from "../../engines/memory.ts";
import type { Routine } from "../../engines/steps.ts";
import { powerOfTwo } from "../../exact/bits.ts";
import { keepMatrix } from "../transfer.ts";
import type { Scale } from "./integers.ts";
import type { Size } from "./measures.ts";
import { exponent, largest, type Powers, timesPower } from "./powers.ts";
import { rowOf } from "./rows.ts";

/** A matrix on an engine, and what is known of it. */
export interface System {
  readonly routine: string;
  readonly n: number;
  readonly kept: Allocation<StridedOperand>;
  readonly A: StridedOperand;
  /** A * 2^power has a norm from 1 to 2, as far as powers reach; `norm` is that, rounded as it came. */
  readonly power: number;
  readonly norm: number;
  /** The sums of magnitudes in rows, times 2^-shift, rounded as they came. */
  readonly sums: Float64Array;
  /** Exactly, once somebody has asked. */
  exactNorm: Size | undefined;
  /** All entries are multiples of 2 to this power, once somebody has asked. */
  lastPlace: number | undefined;
  readonly scaling: Scaling;
  /** Their exponents. */
  readonly rows: Powers;
  readonly cols: Powers;
  /** What was multiplied into the matrix that was given: A = 2^rows (that matrix) 2^cols, unless they are the same. */
  readonly outer: Scale | undefined;
}

// Rows or columns that are more unlike than this are scaled in a copy: kernels scale in two steps, and what underflows in the first
// must not come back in the second (certificate.ts).
const MAX_RANGE = 300;

/** Whether rows or columns are so unlike that only a scaled copy will do. */
export const isWide = ({ rows, cols }: System): boolean => Math.max(rows.range, cols.range) > MAX_RANGE;

/** Powers of two that bring the largest entries of rows, and then of columns, to 1 or a little more. */
export function largestPowers(data: Float64Array, n: number): Scale {
  const rows = new Int32Array(n);
  const cols = new Int32Array(n).fill(NONE);
  for (let i = 0; i < n; i++) {
    const size = largest(data.subarray(i * n, (i + 1) * n));
    rows[i] = size === 0 ? 0 : -exponent(size);
    for (let j = 0; j < n; j++) {
      const v = Math.abs(data[i * n + j] as number);
      if (v > 0) cols[j] = Math.max(cols[j] as number, exponent(v) + (rows[i] as number));
    }
  }
  return { rows, cols: cols.map((top) => (top === NONE ? 0 : -top)) };
}
const NONE = -(2 ** 30);

/** The system of a copy of an n by n matrix, scaled. What is below 2^-1074 there is lost: `factors` are of that copy, proofs of the matrix. */
export function* scaledSystem(routine: string, data: Float64Array, n: number, outer: Scale): Routine<System> {
  const copy = newVector(routine, data, n * n);
  for (let i = 0; i < n; i++)
    for (let j = 0; j < n; j++)
      copy[i * n + j] = timesPower(data[i * n + j] as number, (outer.rows[i] as number) + (outer.cols[j] as number));
  const kept = yield* keepMatrix(routine, rowMajor(copy, n, n), true);
  try {
    return { ...(yield* systemOf(routine, kept)), outer };
  } catch (error) {
    kept.free();
    throw error;
  }
}

/** Entries below this fraction of the largest make no difference to a sum that overflows: 2^-1074 beside 2^1024, 2^53 of them. */
const DOWN = 64;

/** The system of a matrix that is kept: its norm and its scaling. Throws for an entry that is not finite. */
export function* systemOf(routine: string, kept: Allocation<StridedOperand>): Routine<System> {
  const A = kept.value;
  const n = A.rows;
  const vector = (): Float64Array => newVector(routine, new Float64Array(0), n);
  const [ones, sums, most] = [vector().fill(1), vector(), vector()];
  yield (kernels) => kernels.approximate.magnitudes(routine, A, ones, sums, most);
  yield* checkFinite(routine, A, most);
  let shift = 0;
  if (largest(sums) === Number.POSITIVE_INFINITY) {
    shift = DOWN;
    yield (kernels) => kernels.approximate.magnitudes(routine, A, vector().fill(2 ** -shift), sums, vector());
  }
  const sum = largest(sums);
  const power = sum === 0 ? 0 : Math.max(-1022, Math.min(1023, -exponent(sum) - shift));
  const rows = powersFor(routine, most);
  const scales = scalesOf(rows);
  const across = { ...A, rowStride: A.colStride, colStride: A.rowStride };
  yield (kernels) => kernels.approximate.magnitudes(routine, across, scales, vector(), most);
  const cols = powersFor(routine, most, 0);
  const scaling = { rows: scales, cols: scalesOf(cols) };
  return {
    routine,
    n,
    kept,
    A,
    power,
    norm: timesPower(sum, shift + power),
    sums,
    exactNorm: undefined,
    lastPlace: undefined,
    scaling,
    rows,
    cols,
    outer: undefined,
  };
}

// Lines whose largest entries are within so many powers of two of each other are left as they are to each other: partial
// pivoting copes with that, binary32 has range enough for the products, and scaling would change which pivots it finds.
const SAME_SCALE = 8;

// The exponents that bring the largest entry of each line to 1 or a little more; one for all where they are alike. The powers
// themselves and what they multiply stay in range.
function powersFor(routine: string, most: Float64Array, alike?: number): Powers {
  const each = newIntegers(routine, most.length);
  let [low, high] = [MAX, MIN];
  for (let i = 0; i < most.length; i++) {
    const size = most[i] as number;
    if (size === 0) continue;
    const power = Math.max(MIN, Math.min(MAX, -exponent(size)));
    each[i] = power;
    low = Math.min(low, power);
    high = Math.max(high, power);
  }
  const range = Math.max(0, high - low);
  if (range > SAME_SCALE) return { each, common: undefined, range };
  const common = alike ?? (low > high ? 0 : low);
  return { each: each.fill(common), common, range };
}
const MIN = -1022;
const MAX = 1021;

function scalesOf({ each, common }: Powers): Float64Array {
  const scales = new Float64Array(each.length);
  if (common !== undefined) return scales.fill(powerOfTwo(common));
  for (let i = 0; i < each.length; i++) scales[i] = powerOfTwo(each[i] as number);
  return scales;
}

function* checkFinite(routine: string, A: StridedOperand, most: Float64Array): Routine<void> {
  const i = most.findIndex((v) => !Number.isFinite(v));
  if (i < 0) return;
  const row = yield* rowOf(routine, A, i);
  const j = row.findIndex((v) => !Number.isFinite(v));
  throw new ValueError(`${routine}: entry (${i}, ${j}) of A is ${row[j]}, expected a finite number`, i, j);
}
