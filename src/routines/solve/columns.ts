// Several vectors as the columns of one row-major matrix, as the kernels take right-hand sides. One vector is passed through without a
// copy. Called wherever solve() passes several vectors to an engine.

/** The row-major matrix whose columns are these vectors of length n. */
export function joinColumns(vectors: readonly Float64Array[], n: number): Float64Array {
  const k = vectors.length;
  const [only] = vectors;
  if (only && k === 1) return only;
  const matrix = new Float64Array(n * k);
  for (let c = 0; c < k; c++) {
    const vector = vectors[c] as Float64Array;
    for (let i = 0; i < n; i++) matrix[i * k + c] = vector[i] as number;
  }
  return matrix;
}

/** The k columns of a row-major matrix. */
export function splitColumns(matrix: Float64Array, n: number, k: number): Float64Array[] {
  if (k === 1) return [matrix];
  const vectors = Array.from({ length: k }, () => new Float64Array(n));
  for (let c = 0; c < k; c++) {
    const vector = vectors[c] as Float64Array;
    for (let i = 0; i < n; i++) vector[i] = matrix[i * k + c] as number;
  }
  return vectors;
}
