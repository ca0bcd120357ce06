// R A C in the format of the factors, and the right-hand sides b, through tiles of local memory, so that both reads and writes are
// contiguous; launched by approximate.ts. FROM is the format of A. The scales are powers of two, so scaling is exact.
#define TILE 32
#define ROWS 8

__kernel void convertMatrix(const __global FROM *A, long offset, long rowStride, long colStride, const __global double *rowScale,
                           const __global double *colScale, int n, const __global double *b, int k, __global REAL *W, int ld, int padded) {
  __local double tile[TILE][TILE + 1];
  const int i0 = get_group_id(1) * TILE, j0 = get_group_id(0) * TILE, a = get_local_id(0);
  const bool across = rowStride == 1; // columns of A are contiguous: neighbours read along them
  for (int l = get_local_id(1); l < TILE; l += ROWS) {
    int i = i0 + (across ? a : l), j = j0 + (across ? l : a);
    if (i < n && j < n) tile[i - i0][j - j0] = A[offset + i * rowStride + j * colStride];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int l = get_local_id(1); l < TILE; l += ROWS) {
    int i = i0 + l, j = j0 + a;
    double v = i == j ? 1.0 : 0.0;
    if (i < n && j < n) v = rowScale[i] * tile[l][a] * colScale[j];
    if (j >= padded) v = i < n && j - padded < k ? b[(long)i * k + j - padded] : 0.0;
    W[(long)i * ld + j] = (REAL)v;
  }
}
