// The systems of sparse.mjs and gpu.mjs: lower triangles of Laplacians, with right-hand sides.
import { uniform } from "../harness/data.mjs";
import { main, study } from "../harness/library.mjs";
import { count } from "../harness/table.mjs";

/** Grids as { sizes, points }: those to which the limits apply, the first two in space, and one small enough for math.js. */
export function gridsFor(quick) {
  const [side, length] = quick ? [24, 96] : [128, 1024];
  return {
    grids: [
      { sizes: [side, side, side], points: 7 },
      { sizes: [side, side, side], points: 27 },
      { sizes: [length, length], points: 5 },
    ],
    small: { sizes: [64, 64], points: 5 },
  };
}

export function titleOf({ sizes, points }) {
  return `${sizes.map(count).join(" x ")}, ${points} points`;
}

export function laplacianOf({ sizes: [nx, ny, nz], points }) {
  return main.laplacian(nx, ny, nz, points);
}

/** L + D of this grid by rows and by columns, a right-hand side with entries in (-1, 1), and an integer system with its solution. */
export function systemOf(grid) {
  const byRows = lowerTriangle(laplacianOf(grid));
  return { grid, byRows, byColumns: main.toCsc(byRows), b: uniform(byRows.rows, 2), integers: integerSystem(byRows) };
}

// Indices ascend in a row: entries on or below the diagonal come first.
function lowerTriangle({ rows, cols, pointers, indices, values }) {
  const starts = new Int32Array(rows + 1);
  for (let i = 0; i < rows; i++) {
    let end = pointers[i];
    while (end < pointers[i + 1] && indices[end] <= i) end++;
    starts[i + 1] = starts[i] + end - pointers[i];
  }
  const part = (array) => {
    const chosen = new array.constructor(starts[rows]);
    for (let i = 0; i < rows; i++) {
      const from = pointers[i] - starts[i];
      for (let p = starts[i]; p < starts[i + 1]; p++) chosen[p] = array[from + p];
    }
    return chosen;
  };
  return main.csr(rows, cols, starts, part(indices), part(values));
}

// All intermediate sums and quotients are integers far below 2^53: nothing is rounded, in any order.
function integerSystem({ rows, pointers, indices, values }) {
  const random = new study.Random(3);
  const solution = Float64Array.from({ length: rows }, () => random.below(2001) - 1000);
  const b = new Float64Array(rows);
  for (let i = 0; i < rows; i++) for (let p = pointers[i]; p < pointers[i + 1]; p++) b[i] += values[p] * solution[indices[p]];
  return { b, solution };
}

export function bytesOf({ pointers, indices, values }) {
  return pointers.byteLength + indices.byteLength + values.byteLength;
}

/** The bytes that every solve must move: the matrix, b and x. */
export function traffic(A) {
  return bytesOf(A) + 2 * A.values.BYTES_PER_ELEMENT * A.rows;
}
