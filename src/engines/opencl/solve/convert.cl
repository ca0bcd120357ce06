// R A C in the factors' format, and the right-hand sides b, through tiles of local memory, so that both sides are read and written
// along their lines. FROM is the format of A; powers of two scale without error.
#define TILE 32
#define LINES 8

__kernel void plainConvert(const __global FROM *A, long offset, long rowStride, long colStride, const __global double *rowScale,
                           const __global double *colScale, int n, const __global double *b, int k, __global REAL *W, int ld, int padded) {
  __local double tile[TILE][TILE + 1];
  const int i0 = get_group_id(1) * TILE, j0 = get_group_id(0) * TILE, a = get_local_id(0);
  const bool across = rowStride == 1; // neighbours read along the lines of A
  for (int l = get_local_id(1); l < TILE; l += LINES) {
    int i = i0 + (across ? a : l), j = j0 + (across ? l : a);
    if (i < n && j < n) tile[i - i0][j - j0] = A[offset + i * rowStride + j * colStride];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int l = get_local_id(1); l < TILE; l += LINES) {
    int i = i0 + l, j = j0 + a;
    double v = i == j ? 1.0 : 0.0;
    if (i < n && j < n) v = rowScale[i] * tile[l][a] * colScale[j];
    if (j >= padded) v = i < n && j - padded < k ? b[(long)i * k + j - padded] : 0.0;
    W[(long)i * ld + j] = (REAL)v;
  }
}
