// Some rows of laplacian(n, n, n), made without the others: each rank has only its own.
import { csr, laplacian } from "../../dist/index.js";

/** The rows from `first` to `end` - 1, with all columns. */
export function laplacianRows(n, first, end) {
  const order = n ** 3;
  const pointers = new Int32Array(end - first + 1);
  const indices = new Int32Array(7 * (end - first));
  let count = 0;
  for (let row = first; row < end; row++) {
    const [x, y, z] = [row % n, Math.floor(row / n) % n, Math.floor(row / n / n)];
    if (z > 0) indices[count++] = row - n * n;
    if (y > 0) indices[count++] = row - n;
    if (x > 0) indices[count++] = row - 1;
    indices[count++] = row;
    if (x < n - 1) indices[count++] = row + 1;
    if (y < n - 1) indices[count++] = row + n;
    if (z < n - 1) indices[count++] = row + n * n;
    pointers[row - first + 1] = count;
  }
  const values = new Float64Array(count).fill(-1);
  for (let row = first, p = 0; p < count; p++) {
    while (pointers[row - first + 1] <= p) row++;
    if (indices[p] === row) values[p] = 6;
  }
  return csr(end - first, order, pointers, indices.slice(0, count), values);
}

/** Throws unless the rows of a small grid, cut in two, are those of laplacian(). */
export function checkRows(n = 5) {
  const whole = laplacian(n, n, n);
  const cut = 3 * n + 1;
  const parts = [laplacianRows(n, 0, cut), laplacianRows(n, cut, n ** 3)];
  for (const name of ["indices", "values"]) {
    const joined = parts.flatMap((part) => [...part[name]]);
    if (joined.length !== whole[name].length || joined.some((v, k) => v !== whole[name][k]))
      throw new Error(`laplacianRows: ${name} differ`);
  }
  const [upper, lower] = parts.map(({ pointers }) => [...pointers]);
  const pointers = [...upper, ...lower.slice(1).map((p) => p + upper.at(-1))];
  if (pointers.some((p, i) => p !== whole.pointers[i])) throw new Error("laplacianRows: pointers differ");
}
