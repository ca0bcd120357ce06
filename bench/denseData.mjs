// The matrices. All come from seeds, and hard products and triangles are hard in every entry of the result: a routine that
// computes most of them quickly and some slowly would look better than it is.
import { uniform } from "./data.mjs";

export { dominant, HARD, hardMatrix, hardProduct, hardTriangle } from "../dist/report/measure/data.js";

/** Square matrices of order n, one after another, entries in (-1, 1). */
export function square(n, seed, count = 1) {
  return uniform(count * n * n, seed);
}

/** The transposes of square matrices, one after another. */
export function transposed(data, n) {
  const result = new Float64Array(data.length);
  for (let first = 0; first < data.length; first += n * n)
    for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) result[first + j * n + i] = data[first + i * n + j];
  return result;
}
