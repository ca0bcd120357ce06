// Entries of a sparse matrix that share their place, added exactly and rounded once. Called by coordinates.ts.
import { store } from "../exact/store.ts";
import { Superaccumulator } from "../exact/superaccumulator.ts";

/**
 * Makes one entry of all with the same row and column. Columns ascend in each row. Moves the pointers; returns the arrays that are left.
 */
export function addDuplicates(
  pointers: Int32Array,
  indices: Int32Array,
  values: Float64Array,
): { readonly indices: Int32Array; readonly values: Float64Array } {
  let left = 0; // entries so far
  let next = 0;
  for (let i = 0; i + 1 < pointers.length; i++) {
    const end = pointers[i + 1] as number;
    while (next < end) {
      const first = next++;
      while (next < end && indices[next] === indices[first]) next++;
      const value = next === first + 1 ? (values[first] as number) : sum(values.subarray(first, next));
      indices[left] = indices[first] as number;
      store(values, left, value);
      left++;
    }
    pointers[i + 1] = left;
  }
  return left === values.length ? { indices, values } : { indices: indices.slice(0, left), values: values.slice(0, left) };
}

const accumulator = new Superaccumulator();

function sum(terms: Float64Array): number {
  if (terms.every((term) => Object.is(term, -0))) return -0;
  accumulator.clear();
  for (const term of terms) accumulator.add(term);
  return accumulator.round();
}
