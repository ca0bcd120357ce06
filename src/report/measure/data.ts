// The data sets of the measurements. All come from seeds, so every machine measures the same numbers. Hard products and triangles are hard
// in every entry of the result: otherwise a routine that computes most entries quickly would look better than it is.

import { Random } from "../../arrays/random.ts";
import { twoProd } from "../../exact/transforms.ts";
import { exdot, exsum } from "../../index.ts";
import { illConditionedDot } from "../../problems/illConditionedDot.ts";
import { illConditionedMatrix } from "../../problems/illConditionedMatrix.ts";

export const WELL_CONDITIONED = "well-conditioned";
export const HARD = "condition 1e30";

/** Uniform random numbers in (-1, 1). */
export function uniform(n: number, seed: number): Float64Array {
  const random = new Random(seed);
  return Float64Array.from({ length: n }, () => random.signed());
}

/** A dot product with this condition, within a factor of 10. */
export function dotOfCondition(n: number, condition: number): { x: Float64Array; y: Float64Array } {
  const { x, y } = illConditionedDot(n, condition, 3);
  const size = x.reduce((sum, v, i) => sum + Math.abs(v * (y[i] as number)), 0);
  return checked({ x, y }, (2 * size) / Math.abs(exdot(x, y)), condition);
}

/**
 * A sum with this condition: the products of a dot product and their rounding errors, shuffled. The exact sum equals the dot product.
 * The condition of a dot product counts magnitudes twice, that of a sum once.
 */
export function sumOfCondition(n: number, condition: number): Float64Array {
  const { x, y } = illConditionedDot(n >> 1, 2 * condition, 4);
  const terms = new Float64Array(n);
  for (let i = 0; i < x.length; i++) {
    const [a, b] = [x[i] as number, y[i] as number];
    terms[2 * i] = a * b;
    terms[2 * i + 1] = twoProd(a, b, a * b);
  }
  shuffle(terms, new Random(5));
  const size = terms.reduce((sum, v) => sum + Math.abs(v), 0);
  return checked(terms, size / Math.abs(exsum(terms)), condition);
}

function shuffle(a: Float64Array, random: Random): void {
  for (let i = a.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    const v = a[i] as number;
    a[i] = a[j] as number;
    a[j] = v;
  }
}

function checked<T>(data: T, reached: number, condition: number): T {
  if (!(reached > condition / 10 && reached < condition * 10)) throw new Error(`data of condition ${reached}, expected ${condition}`);
  return data;
}

/** A matrix whose triangles are both well-conditioned: the off-diagonal entries of a row add up to less than the diagonal. */
export function dominant(n: number): Float64Array {
  const T = uniform(n * n, 11).map((v) => v / n);
  for (let k = 0; k < n; k++) T[k * n + k] = 1 + Math.abs(T[k * n + k] as number) * n;
  return T;
}

/** Rows that are u times powers of two and columns that are v times powers of two, where u v is a dot product of condition 1e30. */
export function hardProduct(n: number): { rows: Float64Array; columns: Float64Array; vector: Float64Array } {
  const { x: u, y: v } = illConditionedDot(n, 1e30, 12);
  const random = new Random(13);
  const scales = (): Float64Array => Float64Array.from({ length: n }, () => 2 ** (random.below(21) - 10));
  const [rows, cols] = [scales(), scales()];
  return {
    rows: Float64Array.from({ length: n * n }, (_, i) => (rows[Math.floor(i / n)] as number) * (u[i % n] as number)),
    columns: Float64Array.from({ length: n * n }, (_, i) => (cols[i % n] as number) * (v[Math.floor(i / n)] as number)),
    vector: v,
  };
}

/**
 * A lower triangular system with a representable solution x whose products cancel in every row: those of columns 2 i and
 * 2 i + 1 are opposite, and the remainder, T_kk x_k, is 2^-90 of one of them.
 */
export function hardTriangle(n: number): { T: Float64Array; b: Float64Array; x: Float64Array } {
  const random = new Random(14);
  const x = Float64Array.from({ length: n }, () => 1 + Math.abs(random.signed()));
  const T = new Float64Array(n * n);
  const b = new Float64Array(n);
  for (let k = 0; k < n; k++) {
    for (let j = 0; j + 1 < k; j += 2) {
      const scale = (random.below(2) === 0 ? 1 : -1) * 2 ** (random.below(21) - 10);
      T[k * n + j] = scale * (x[j + 1] as number);
      T[k * n + j + 1] = -scale * (x[j] as number);
    }
    T[k * n + k] = 2 ** -90;
    b[k] = 2 ** -90 * (x[k] as number);
  }
  return { T, b, x };
}

/** A matrix of condition 1e30. Its factors are not hard entry by entry: only the last pivots cancel. */
export function hardMatrix(n: number): Float64Array {
  return illConditionedMatrix(n, 1e30, 15).data;
}
