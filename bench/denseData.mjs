// The matrices. All come from seeds, and hard products and triangles are hard in every entry of the result: a routine that
// computes most of them quickly and some slowly would look better than it is.
import { uniform } from "./data.mjs";
import { illConditionedDot, illConditionedMatrix, study } from "./library.mjs";

export const HARD = "condition 1e30";

/** Square matrices of order n, one after another, entries in (-1, 1). */
export function square(n, seed, count = 1) {
  return uniform(count * n * n, seed);
}

/** Both triangles are well-conditioned: the other entries of a row add up to less than the diagonal. */
export function dominant(n) {
  const T = uniform(n * n, 11).map((v) => v / n);
  for (let k = 0; k < n; k++) T[k * n + k] = 1 + Math.abs(T[k * n + k]) * n;
  return T;
}

/** Rows u times powers of two and columns v times powers of two, where u v is a dot product of condition 1e30. */
export function hardProduct(n) {
  const { x: u, y: v } = illConditionedDot(n, 1e30, 12);
  const random = new study.Random(13);
  const scales = () => Float64Array.from({ length: n }, () => 2 ** (random.below(21) - 10));
  const [rows, cols] = [scales(), scales()];
  return {
    rows: Float64Array.from({ length: n * n }, (_, i) => rows[Math.floor(i / n)] * u[i % n]),
    columns: Float64Array.from({ length: n * n }, (_, i) => cols[i % n] * v[Math.floor(i / n)]),
    vector: v,
  };
}

/**
 * A lower triangle whose solution x is representable and whose products cancel in every row: those of columns 2 i and
 * 2 i + 1 are opposite numbers, and what is left, T_kk x_k, is 2^-90 of one of them.
 */
export function hardTriangle(n) {
  const random = new study.Random(14);
  const x = Float64Array.from({ length: n }, () => 1 + Math.abs(random.signed()));
  const T = new Float64Array(n * n);
  const b = new Float64Array(n);
  for (let k = 0; k < n; k++) {
    for (let j = 0; j + 1 < k; j += 2) {
      const scale = (random.below(2) === 0 ? 1 : -1) * 2 ** (random.below(21) - 10);
      T[k * n + j] = scale * x[j + 1];
      T[k * n + j + 1] = -scale * x[j];
    }
    T[k * n + k] = 2 ** -90;
    b[k] = 2 ** -90 * x[k];
  }
  return { T, b, x };
}

/** A matrix of condition 1e30. Its factors are not hard entry by entry: only the last pivots cancel. */
export function hardMatrix(n) {
  return illConditionedMatrix(n, 1e30, 15).data;
}

/** The transposes of square matrices, one after another. */
export function transposed(data, n) {
  const result = new Float64Array(data.length);
  for (let first = 0; first < data.length; first += n * n)
    for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) result[first + j * n + i] = data[first + i * n + j];
  return result;
}
