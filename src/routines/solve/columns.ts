// Several vectors as the columns of one matrix, row by row.

/** Vectors of length n, as the columns of a matrix. */
export function beside(vectors: readonly Float64Array[], n: number): Float64Array {
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

/** The k columns of such a matrix. */
export function apart(matrix: Float64Array, n: number, k: number): Float64Array[] {
  if (k === 1) return [matrix];
  const vectors = Array.from({ length: k }, () => new Float64Array(n));
  for (let c = 0; c < k; c++) {
    const vector = vectors[c] as Float64Array;
    for (let i = 0; i < n; i++) vector[i] = matrix[i * k + c] as number;
  }
  return vectors;
}
