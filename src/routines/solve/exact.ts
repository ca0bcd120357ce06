// The exact stages of solve(), 3 to 5 in correct.ts, and the proofs that a matrix is regular or singular. They work on the rows of the
// original matrix that this process holds (held.ts), on the host; everything that takes n^2 or more operations per step runs on the engine.

import { SingularError } from "../../arrays/errors.ts";
import type { Routine } from "../../engines/steps.ts";
import { roundRational } from "../../exact/rounding.ts";
import type { Certificate } from "./certificate.ts";
import type { MethodFactors } from "./factors.ts";
import { allRows, type HeldRows, onAny, shareNumbers } from "./held.ts";
import {
  type EngineSlices,
  integerScale,
  integerVector,
  keepSlices,
  lastBit,
  lastBits,
  type ScaleExponents,
  type Slices,
  slicesOf,
  slicesOfRows,
} from "./integers.ts";
import { type LiftedSystem, liftNumerically, type TieBound } from "./lifting.ts";
import { type Dependent, digitPrimes, invertModulo, isDependent, type ModularInverse, residuesOf } from "./modular.ts";
import { type Fractions, liftModulo } from "./padic.ts";
import { exponent } from "./powers.ts";
import type { Progress } from "./progress.ts";
import { determiningRows, Pattern, perfectMatching } from "./structure.ts";
import type { System } from "./system.ts";

/** The held rows of the original matrix, and what the exact stages keep for the next right-hand side. */
export interface ExactMatrix extends HeldRows {
  readonly routine: string;
  readonly n: number;
  /** See structureOf(). */
  structure: { readonly pattern: Pattern; readonly matching: Int32Array | undefined } | undefined;
  /** For decideByCorrections(). */
  lifted: { readonly system: System; readonly slices: EngineSlices } | undefined;
  /** For decideModulo(). */
  modular: { readonly scale: ScaleExponents; readonly slices: EngineSlices; readonly inverse: ModularInverse } | undefined;
}

export function exactMatrix(routine: string, n: number, { rows, data }: HeldRows): ExactMatrix {
  return { routine, n, rows, data, structure: undefined, lifted: undefined, modular: undefined };
}

/** The pattern of the matrix and its perfect matching, computed on first use. */
export function* structureOf(matrix: ExactMatrix): Routine<Exclude<ExactMatrix["structure"], undefined>> {
  if (!matrix.structure) {
    const pattern = yield* Pattern.of(matrix, matrix.n);
    matrix.structure ??= { pattern, matching: perfectMatching(pattern) };
  }
  return matrix.structure;
}

export function freeExactMatrix({ lifted, modular }: ExactMatrix): void {
  lifted?.slices.allocation.free();
  modular?.slices.allocation.free();
  modular?.inverse.allocation.free();
}

/** The exponents that take the original matrix to the one that is factored. */
export function factorScale({ rows, cols, preScale }: System): ScaleExponents {
  const total = (each: Int32Array, more: Int32Array | undefined): Int32Array => (more ? each.map((v, i) => v + (more[i] as number)) : each);
  return { rows: total(rows.each, preScale?.rows), cols: total(cols.each, preScale?.cols) };
}

/** Approximate solutions for residuals, with a bound on the error: from factors with their proof, or from a product. */
export type Corrector = Pick<LiftedSystem, "weights" | "words" | "correct">;

/** The corrector of certified factors. More than one word of a residual would not improve their solution. */
export function correctorOf(factors: MethodFactors, { weights }: Certificate): Corrector {
  return {
    weights,
    words: 1,
    *correct([word]) {
      return { d: yield* factors.substitute(word as Float64Array, 1), size: 1 };
    },
  };
}

/** Decide open components by numerical lifting (lifting.ts) and write them to x. Returns those that stay open. */
export function* decideByCorrections(
  matrix: ExactMatrix,
  system: System,
  corrector: Corrector,
  b: Float64Array,
  x: Float64Array,
  open: readonly number[],
  progress: Progress,
): Routine<number[]> {
  const { routine, n, rows, data } = matrix;
  const scale = factorScale(system);
  let slices = matrix.lifted?.system === system ? matrix.lifted.slices : undefined;
  if (!slices) {
    slices = yield* keepSlices(routine, yield* slicesOf(routine, data, lastBits(data), n, scale, rows));
    matrix.lifted ??= { system, slices };
  }
  const stillOpen = new Set(open);
  try {
    const lifted = { routine, scale, slices, ...corrector, tieBound: tieBounds(matrix, scale, b) };
    yield* liftNumerically(lifted, integerVector(b, scale.rows), open, progress, (j, value) => {
      x[j] = value;
      stillOpen.delete(j);
    });
  } finally {
    if (matrix.lifted?.slices !== slices) slices.allocation.free(); // another call keeps its own, perhaps with other scale factors
  }
  return [...stillOpen];
}

/**
 * The TieBound of a component. The determinant is at most the product of the 2-norms of the rows (Hadamard). Each process finds the
 * last and first bits of the rows that it holds.
 */
function tieBounds(matrix: ExactMatrix, { cols }: ScaleExponents, b: Float64Array): (j: number) => Routine<TieBound> {
  let extents: RowExtents | undefined;
  const known = new Map<number, TieBound>();
  return function* (j) {
    const before = known.get(j);
    if (before) return before;
    const { pattern, matching } = yield* structureOf(matrix);
    extents ??= yield* rowExtents(matrix, cols);
    const bound = tieBoundOf(matching ? determiningRows(pattern, matching, j) : allRows(matrix.n), extents, b);
    known.set(j, bound);
    return bound;
  };
}

/** For each row, with its columns scaled: the exponents of its last bit and above its first, and the number of its entries. */
interface RowExtents {
  readonly minBit: Float64Array;
  readonly maxTop: Float64Array;
  readonly count: Float64Array;
}

function* rowExtents({ n, rows, data }: ExactMatrix, cols: Int32Array): Routine<RowExtents> {
  const minBit = new Float64Array(rows.length).fill(Number.POSITIVE_INFINITY);
  const maxTop = new Float64Array(rows.length).fill(Number.NEGATIVE_INFINITY);
  const count = new Float64Array(rows.length);
  for (let i = 0; i < rows.length; i++) {
    for (let k = 0; k < n; k++) {
      const v = data[i * n + k] as number;
      if (v === 0) continue;
      minBit[i] = Math.min(minBit[i] as number, lastBit(v) + (cols[k] as number));
      maxTop[i] = Math.max(maxTop[i] as number, exponent(Math.abs(v)) + 1 + (cols[k] as number));
      count[i] = (count[i] as number) + 1;
    }
  }
  return {
    minBit: yield* shareNumbers(rows, minBit, n),
    maxTop: yield* shareNumbers(rows, maxTop, n),
    count: yield* shareNumbers(rows, count, n),
  };
}

function tieBoundOf(determining: Int32Array, { minBit, maxTop, count }: RowExtents, b: Float64Array): TieBound {
  let [unit, denominator] = [0, 0];
  for (const i of determining) {
    denominator += (maxTop[i] as number) - (minBit[i] as number) + 0.5 * Math.log2(count[i] as number);
    if (b[i] !== 0) unit = Math.min(unit, lastBit(b[i] as number) - (minBit[i] as number));
  }
  return { unit, denominator: Math.ceil(denominator * (1 + 2 ** -40)) + 1 };
}

/** Decide all components by p-adic lifting (padic.ts). Throws a SingularError for a singular matrix. False if the call was aborted. */
export function* decideModulo(matrix: ExactMatrix, b: Float64Array, x: Float64Array, progress: Progress): Routine<boolean> {
  const modular = yield* modularInverseOf(matrix, progress);
  if (!modular) return false;
  const { scale, slices, inverse } = modular;
  const { integers, shift } = integerVector(b, scale.rows);
  const found = yield* liftModulo(matrix.routine, slices, inverse, integers, progress);
  if (!found) return false;
  const { numerators, denominator } = found;
  for (let j = 0; j < matrix.n; j++)
    x[j] = roundRational(numerators[j] as bigint, denominator, (scale.cols[j] as number) - shift, "nearest", "binary64") + 0;
  return true;
}

/** Prove that the matrix is regular, or throw a SingularError, which is proved too. False if the call was aborted. */
export function* proveRegular(matrix: ExactMatrix, progress: Progress): Routine<boolean> {
  if (matrix.modular) return true;
  const found = yield* invertExactly(matrix, progress);
  found?.inverse.allocation.free();
  return found !== undefined;
}

/** The same, and keep the inverse for decideModulo(). */
export function* prepareModulo(matrix: ExactMatrix, progress: Progress): Routine<boolean> {
  return (yield* modularInverseOf(matrix, progress)) !== undefined;
}

function* modularInverseOf(matrix: ExactMatrix, progress: Progress): Routine<ExactMatrix["modular"]> {
  if (matrix.modular) return matrix.modular;
  const found = yield* invertExactly(matrix, progress);
  if (!found) return undefined;
  let slices: EngineSlices | undefined;
  try {
    slices = yield* keepSlices(matrix.routine, found.slices);
    matrix.modular ??= { ...found, slices };
    return matrix.modular;
  } finally {
    // It failed, or another call has finished meanwhile.
    if (matrix.modular?.inverse !== found.inverse) {
      slices?.allocation.free();
      found.inverse.allocation.free();
    }
  }
}

/**
 * The matrix as integers, with its inverse modulo a prime; undefined if the call was aborted. A determinant that is nonzero modulo one
 * prime is nonzero. A column that depends on those before it does so modulo every prime. So of several primes, the one for which
 * elimination gets farthest yields a candidate. It is the first dependent column if a vector v with A v = 0 is found; if there is none,
 * another prime will get farther.
 */
function* invertExactly(
  matrix: ExactMatrix,
  progress: Progress,
): Routine<{ readonly scale: ScaleExponents; readonly slices: Slices; readonly inverse: ModularInverse } | undefined> {
  const { routine, n, rows, data } = matrix;
  const last = lastBits(data);
  const scale = yield* integerScale(last, n, rows);
  const slices = yield* slicesOf(routine, data, last, n, scale, rows);
  let best: Dependent | undefined;
  let tried = 0;
  for (const p of digitPrimes(n)) {
    const found = yield* invertModulo(routine, residuesOf(slices, p), n, p, progress, rows);
    if (!found) return undefined;
    if (!isDependent(found)) return { scale, slices, inverse: found };
    if (!best || found.column > best.column) best = found;
    if (++tried < 2) continue;
    const isProved = yield* provesSingular(matrix, { scale, slices }, best, progress);
    if (isProved === undefined) return undefined;
    if (isProved) throw singularError(routine, best.column);
  }
  throw new Error(`${routine}: halfulp ran out of primes`);
}

const singularError = (routine: string, column: number): SingularError =>
  new SingularError(`${routine}: column ${column} of A depends on those before it, expected a matrix of full rank`, column);

/**
 * Whether a column is exactly a linear combination of those before it; undefined if the call was aborted. Those have pivots in `rows`
 * modulo p, so the square matrix B of these rows and columns is regular: the only candidate is the solution of B v = a, which must
 * satisfy the other rows too.
 */
function* provesSingular(
  { routine, n, rows: held, data }: ExactMatrix,
  full: { readonly scale: ScaleExponents; readonly slices: Slices },
  { p, column, rows }: Dependent,
  progress: Progress,
): Routine<boolean | undefined> {
  const ownColumn = Float64Array.from(held, (_, k) => data[k * n + column] as number);
  const a = yield* shareNumbers(held, ownColumn, n);
  if (column === 0) return a.every((v) => v === 0);
  const slices = slicesOfRows(full.slices, rows);
  const { cols } = full.scale;
  const inverse = yield* invertModulo(routine, residuesOf(slices, p), column, p, progress, slices.rows);
  if (!inverse) return undefined;
  if (isDependent(inverse)) return false;
  let engineSlices: EngineSlices | undefined;
  try {
    engineSlices = yield* keepSlices(routine, slices);
    const right = Float64Array.from(rows, (row) => a[row] as number);
    const { integers: c, shift } = integerVector(
      right,
      Int32Array.from(rows, (row) => full.scale.rows[row] as number),
    );
    const found = yield* liftModulo(routine, engineSlices, inverse, c, progress);
    if (!found) return undefined;
    const isUsed = new Set(rows);
    const fails = (i: number, k: number): boolean =>
      !isUsed.has(i) && !satisfies(data.subarray(k * n, k * n + column + 1), found, cols, shift);
    return !(yield* onAny(held.some(fails)));
  } finally {
    engineSlices?.allocation.free();
    inverse.allocation.free();
  }
}

// Whether sum_j a_j v_j = a_last exactly, for v_j = 2^(cols[j] - shift) numerators[j] / denominator.
function satisfies(row: Float64Array, { numerators, denominator }: Fractions, cols: Int32Array, shift: number): boolean {
  const last = row.length - 1;
  const powers = new Int32Array(last + 1);
  for (let j = 0; j < last; j++) powers[j] = (cols[j] as number) - shift;
  let [sum, scale] = [0n, 0];
  for (let j = 0; j <= last; j++) {
    if (row[j] === 0) continue;
    const factor = j < last ? (numerators[j] as bigint) : -denominator;
    const { integers, shift: own } = integerVector(row.subarray(j, j + 1), powers.subarray(j, j + 1));
    const term = (integers[0] as bigint) * factor;
    if (own > scale) {
      sum <<= BigInt(own - scale);
      scale = own;
    }
    sum += term << BigInt(scale - own);
  }
  return sum === 0n;
}
