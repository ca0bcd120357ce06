// The exact stages: nothing here knows what a condition number is. They work on the matrix as it was given, row by row, on the host;
// what takes n^2 operations a step or more is done by the engine.

import { SingularError } from "../../arrays/errors.ts";
import { rowMajor } from "../../arrays/matrix.ts";
import type { Routine } from "../../engines/steps.ts";
import { roundRational } from "../../exact/rounding.ts";
import { keepMatrix } from "../transfer.ts";
import type { Certificate } from "./certificate.ts";
import type { Factorization } from "./factors.ts";
import { type KeptSlices, lastBit, lastBits, partOf, type Scale, type Slices, slicesOf, wholeScale, wholeVector } from "./integers.ts";
import { type LiftedSystem, liftNumerically, type TieBound } from "./lifting.ts";
import { type Dependent, digitPrimes, invertModulo, isDependent, type ModularInverse, residuesOf } from "./modular.ts";
import { type Fractions, liftModulo } from "./padic.ts";
import { exponent } from "./powers.ts";
import type { Progress } from "./progress.ts";
import { determiningRows, perfectMatching } from "./structure.ts";
import type { System } from "./system.ts";

/** The given matrix, row by row, and what the exact stages have made of it and keep for the next right-hand side. */
export interface ExactMatrix {
  readonly routine: string;
  readonly n: number;
  readonly data: Float64Array;
  /** See perfectMatching(), once it is needed. */
  matching: Int32Array | undefined;
  lifted: { readonly system: System; readonly slices: KeptSlices } | undefined;
  modular: { readonly scale: Scale; readonly slices: KeptSlices; readonly inverse: ModularInverse } | undefined;
}

export function exactMatrix(routine: string, n: number, data: Float64Array): ExactMatrix {
  return { routine, n, data, matching: undefined, lifted: undefined, modular: undefined };
}

export function freeExact({ lifted, modular }: ExactMatrix): void {
  lifted?.slices.kept.free();
  modular?.slices.kept.free();
  modular?.inverse.kept.free();
}

function* keepSlices(routine: string, slices: Slices): Routine<KeptSlices> {
  return { ...slices, kept: yield* keepMatrix(routine, rowMajor(slices.data, slices.count * slices.n, slices.n), true) };
}

/** The powers of two that the factors of a system were made with. */
export function scaleOf({ rows, cols, outer }: System): Scale {
  const total = (each: Int32Array, more: Int32Array | undefined): Int32Array => (more ? each.map((v, i) => v + (more[i] as number)) : each);
  return { rows: total(rows.each, outer?.rows), cols: total(cols.each, outer?.cols) };
}

/** What corrects a residual, and what bounds the error that is left: factors with their proof, or a product. */
export type Corrector = Pick<LiftedSystem, "weights" | "words" | "correct">;

/** Certified factors: one word of a residual is as much as they can make use of. */
export function correctorOf(factors: Factorization, { weights }: Certificate): Corrector {
  return {
    weights,
    words: 1,
    *correct([word]) {
      return { d: yield* factors.substitute(word as Float64Array, 1), size: 1 };
    },
  };
}

/** Decide open components by corrections; returns those that are left. */
export function* decideByCorrections(
  matrix: ExactMatrix,
  system: System,
  corrector: Corrector,
  b: Float64Array,
  x: Float64Array,
  open: readonly number[],
  progress: Progress,
): Routine<number[]> {
  const { routine, n, data } = matrix;
  const scale = scaleOf(system);
  let slices = matrix.lifted?.system === system ? matrix.lifted.slices : undefined;
  if (!slices) {
    slices = yield* keepSlices(routine, slicesOf(routine, data, lastBits(data), n, scale));
    matrix.lifted ??= { system, slices };
  }
  const left = new Set(open);
  try {
    const lifted = { routine, scale, slices, ...corrector, tieBound: tieBounds(matrix, scale, b) };
    yield* liftNumerically(lifted, wholeVector(b, scale.rows), open, progress, (j, value) => {
      x[j] = value;
      left.delete(j);
    });
  } finally {
    if (matrix.lifted?.slices !== slices) slices.kept.free(); // another call was quicker, or works on another form
  }
  return [...left];
}

// TieBound of each component, when it is asked for. The determinant is at most the product of the lengths of rows (Hadamard).
function tieBounds(matrix: ExactMatrix, { cols }: Scale, b: Float64Array): (j: number) => TieBound {
  const { n, data } = matrix;
  const known = new Map<number, TieBound>();
  const boundOf = (j: number): TieBound => {
    matrix.matching ??= perfectMatching(matrix);
    const { matching } = matrix;
    const determining = matching ? determiningRows(matrix, matching, j) : Int32Array.from({ length: n }, (_, i) => i);
    let [unit, denominator] = [0, 0];
    for (const i of determining) {
      let [least, most, count] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0];
      for (let k = 0; k < n; k++) {
        const v = data[i * n + k] as number;
        if (v === 0) continue;
        least = Math.min(least, lastBit(v) + (cols[k] as number));
        most = Math.max(most, exponent(Math.abs(v)) + 1 + (cols[k] as number));
        count++;
      }
      denominator += most - least + 0.5 * Math.log2(count);
      if (b[i] !== 0) unit = Math.min(unit, lastBit(b[i] as number) - least);
    }
    return { unit, denominator: Math.ceil(denominator * (1 + 2 ** -40)) + 1 };
  };
  return (j) => {
    const bound = known.get(j) ?? boundOf(j);
    known.set(j, bound);
    return bound;
  };
}

/** Decide all components by p-adic lifting. Throws a SingularError for a singular matrix. False if it was aborted. */
export function* decideModulo(matrix: ExactMatrix, b: Float64Array, x: Float64Array, progress: Progress): Routine<boolean> {
  const modular = yield* modularOf(matrix, progress);
  if (!modular) return false;
  const { scale, slices, inverse } = modular;
  const { whole, grid } = wholeVector(b, scale.rows);
  const found = yield* liftModulo(matrix.routine, slices, inverse, whole, progress);
  if (!found) return false;
  const { numerators, denominator } = found;
  for (let j = 0; j < matrix.n; j++)
    x[j] = roundRational(numerators[j] as bigint, denominator, (scale.cols[j] as number) - grid, "nearest", "binary64") + 0;
  return true;
}

/** Prove that the matrix is regular, or throw a SingularError that is proved too. False if it was aborted. */
export function* proveRegular(matrix: ExactMatrix, progress: Progress): Routine<boolean> {
  if (matrix.modular) return true;
  const found = yield* invertExactly(matrix, progress);
  found?.inverse.kept.free();
  return found !== undefined;
}

/** The same, and keep what decideModulo() needs. */
export function* prepareModulo(matrix: ExactMatrix, progress: Progress): Routine<boolean> {
  return (yield* modularOf(matrix, progress)) !== undefined;
}

function* modularOf(matrix: ExactMatrix, progress: Progress): Routine<ExactMatrix["modular"]> {
  if (matrix.modular) return matrix.modular;
  const found = yield* invertExactly(matrix, progress);
  if (!found) return undefined;
  let slices: KeptSlices | undefined;
  try {
    slices = yield* keepSlices(matrix.routine, found.slices);
    matrix.modular ??= { ...found, slices };
    return matrix.modular;
  } finally {
    // It failed, or another call was quicker.
    if (matrix.modular?.inverse !== found.inverse) {
      slices?.kept.free();
      found.inverse.kept.free();
    }
  }
}

/**
 * The matrix as whole numbers, with its inverse modulo a prime; undefined if it was aborted. A determinant that is not zero modulo one prime is not zero. A column that
 * depends on those before it does so modulo every prime: of several primes the one that gets farthest shows a candidate, which is
 * the first dependent column if a vector v with A v = 0 is found; if there is none, another prime will get farther.
 */
function* invertExactly(
  matrix: ExactMatrix,
  progress: Progress,
): Routine<{ readonly scale: Scale; readonly slices: Slices; readonly inverse: ModularInverse } | undefined> {
  const { routine, n, data } = matrix;
  const last = lastBits(data);
  const scale = wholeScale(last, n);
  const slices = slicesOf(routine, data, last, n, scale);
  let best: Dependent | undefined;
  let tried = 0;
  for (const p of digitPrimes(n)) {
    const found = yield* invertModulo(routine, residuesOf(slices, p), n, p, progress);
    if (!found) return undefined;
    if (!isDependent(found)) return { scale, slices, inverse: found };
    if (!best || found.column > best.column) best = found;
    if (++tried < 2) continue;
    const isProved = yield* provesSingular(matrix, { scale, slices }, best, progress);
    if (isProved === undefined) return undefined;
    if (isProved) throw singular(routine, best.column);
  }
  throw new Error(`${routine}: halfulp ran out of primes`);
}

export const singular = (routine: string, column: number): SingularError =>
  new SingularError(`${routine}: column ${column} of A depends on those before it, expected a matrix of full rank`, column);

/**
 * Whether a column is a combination of those before it, exactly. Those have pivots in `rows` modulo p, so that the square matrix B of
 * these rows and columns is regular: the only candidate is the solution of B v = a, which the other rows must satisfy too.
 */
function* provesSingular(
  { routine, n, data }: ExactMatrix,
  whole: { readonly scale: Scale; readonly slices: Slices },
  { p, column, rows }: Dependent,
  progress: Progress,
): Routine<boolean | undefined> {
  if (column === 0) return data.every((v, e) => e % n !== 0 || v === 0);
  const slices = partOf(whole.slices, rows);
  const { cols } = whole.scale;
  const inverse = yield* invertModulo(routine, residuesOf(slices, p), column, p, progress);
  if (!inverse) return undefined;
  if (isDependent(inverse)) return false;
  let kept: KeptSlices | undefined;
  try {
    kept = yield* keepSlices(routine, slices);
    const right = Float64Array.from(rows, (row) => data[row * n + column] as number);
    const { whole: c, grid } = wholeVector(
      right,
      Int32Array.from(rows, (row) => whole.scale.rows[row] as number),
    );
    const found = yield* liftModulo(routine, kept, inverse, c, progress);
    if (!found) return undefined;
    const isUsed = new Set(rows);
    const holds = (i: number): boolean => isUsed.has(i) || satisfies(data.subarray(i * n, i * n + column + 1), found, cols, grid);
    for (let i = 0; i < n; i++) if (!holds(i)) return false;
    return true;
  } finally {
    kept?.kept.free();
    inverse.kept.free();
  }
}

// Whether sum_j a_j v_j = a_last for v_j = 2^(cols[j] - grid) numerators[j] / denominator, exactly.
function satisfies(row: Float64Array, { numerators, denominator }: Fractions, cols: Int32Array, grid: number): boolean {
  const last = row.length - 1;
  const powers = new Int32Array(last + 1);
  for (let j = 0; j < last; j++) powers[j] = (cols[j] as number) - grid;
  let [sum, scale] = [0n, 0];
  for (let j = 0; j <= last; j++) {
    if (row[j] === 0) continue;
    const factor = j < last ? (numerators[j] as bigint) : -denominator;
    const { whole, grid: own } = wholeVector(row.subarray(j, j + 1), powers.subarray(j, j + 1));
    const term = (whole[0] as bigint) * factor;
    if (own > scale) {
      sum <<= BigInt(own - scale);
      scale = own;
    }
    sum += term << BigInt(scale - own);
  }
  return sum === 0n;
}
