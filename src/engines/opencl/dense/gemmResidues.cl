// The last step of a product by residues for exgemm, launched by gemmResidues.ts; see residues.cl.

// Entries of C from their residues, four neighbours in a row per work-item. See gemm.cl for `open` and the list.
__kernel void combine(__global const uint *T, int pitch, long batch, __constant const int *table, int count, __global REAL *C, long cOffset,
                      long cRow, long cCol, int M, int N, double alpha, double beta, __global const uint *rowSizes, int from,
                      __global const uint *colSizes, __global const uint *rowCuts, __global const uint *colCuts, int rowBits, int colBits,
                      __global uchar *open, __global uint *list) {
  const int i = get_global_id(1), j0 = 4 * get_global_id(0);
  if (i >= M || j0 >= N) return;
  Remainders r[4];
#pragma unroll
  for (int q = 0; q < 4; q++) r[q] = noRemainders();
  T += (long)i * pitch + get_global_id(0);
  for (int c = 0; c < count; c++) addRemainders(r, T[c * batch], table + c * RECORD);
  const int top = (int)(rowSizes[2 * (from + i)] >> 20) - 2044 - rowBits - colBits;
  const double rowHalves = rowCuts[from + i] * powerOfTwo(colBits - 1);
#pragma unroll
  for (int q = 0; q < 4; q++) {
    const int j = j0 + q;
    if (j >= N) break;
    double low = 0, bound = 0;
    double halves = rowHalves + colCuts[j] * powerOfTwo(rowBits - 1);
    double high = scaledSum(r[q], table + count * RECORD, top + (int)(colSizes[2 * j] >> 20), halves, &low, &bound);
    __global REAL *to = C + cOffset + i * cRow + j * cCol;
    double v = high != high ? high : certifiedCombination(high, low, bound, alpha, beta, beta == 0 ? 0.0 : *to);
    long e = (long)i * N + j;
    open[e] = settled(v, to, (uint)e, list) ? 0 : 1;
  }
}
