// The panel factorization of cpu.ts on the calling thread, for callers that cannot wait for worker threads.

/** P A = L U of a binary32 panel, stored by rows, in place; see Panel in cpu.ts. */
export function panelOnHost(data: Float32Array, rows: number, cols: number, pivots: Int32Array): number {
  for (let k = 0; k < cols; k++) {
    const pivot = largestIn(data, rows, cols, k);
    pivots[k] = pivot;
    const [row, other] = [data.subarray(k * cols, (k + 1) * cols), data.subarray(pivot * cols, (pivot + 1) * cols)];
    const kept = row.slice();
    row.set(other);
    other.set(kept);
    const size = Math.abs(row[k] as number);
    if (!(size > 0 && size < Number.POSITIVE_INFINITY)) return k;
    for (let i = k + 1; i < rows; i++) {
      const below = data.subarray(i * cols, (i + 1) * cols);
      below[k] = (below[k] as number) / (row[k] as number);
      const factor = below[k] as number;
      for (let j = k + 1; j < cols; j++) below[j] = (below[j] as number) - factor * (row[j] as number);
    }
  }
  return -1;
}

// The first row, from k on, with the largest magnitude in column k; a value that is not finite counts as larger than all others.
function largestIn(data: Float32Array, rows: number, cols: number, k: number): number {
  let [best, size] = [k, -1];
  for (let i = k; i < rows; i++) {
    const magnitude = Math.abs(data[i * cols + k] as number);
    if (!(magnitude < Number.POSITIVE_INFINITY)) return i;
    if (magnitude > size) [best, size] = [i, magnitude];
  }
  return best;
}
