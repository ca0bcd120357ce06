// r -= alpha A[:, block] x[block], for all columns or block by block during back substitution; launched by residual.ts. r is high + low;
// each product is split exactly into a head and a tail, and so is each sum of heads. As in Dot2 of Ogita, Rump and Oishi the result is
// as accurate as in twice the working precision: after n terms in all, the error is at most
// u |r| + (n u)^2 / (1 - n u)^2 |alpha A| |x|, u = 2^-53. alpha is a power of two that keeps entries in range.

typedef struct {
  double high, low;
} Pair;

Pair subtracted(Pair r, double head, double tail) {
  double high = r.high - head;
  double part = high - r.high;
  double rest = (r.high - (high - part)) - (head + part);
  return (Pair){high, r.low + (rest - tail)};
}

// Rows from 0 to n; entry (i, j) is A[offset + i * rowStride + j * colStride]. LANES work-items share a row if A is stored by rows; a
// work-item has its own row if A is stored by columns: neighbours always read adjacent elements. x and r have `sides` columns, stored by
// rows; this kernel does K of them, from `side`, in one pass over A.
__kernel void residual(__global const REAL *A, long offset, long rowStride, long colStride, double alpha, __global const double *x,
                       __global double *r, int n, int col, int cols, int sides, int side) {
  __local Pair shared[ROWS][LANES][K];
  int lane = get_local_id(0);
  int localRow = get_local_id(1);
  int i = get_group_id(1) * ROWS + localRow;
  Pair sum[K];
  for (int c = 0; c < K; c++) sum[c] = (Pair){0.0, 0.0};
  __global double *high = r + (long)i * sides + side, *low = high + (long)n * sides;
  if (i < n) {
    __global const REAL *a = A + offset + i * rowStride + col * colStride;
    for (int c = 0; c < K && lane == 0; c++) sum[c] = (Pair){high[c], low[c]};
    for (int j = lane; j < cols; j += LANES) {
      double entry = alpha * a[j * colStride];
      __global const double *v = x + (long)(col + j) * sides + side;
      for (int c = 0; c < K; c++) {
        double head = entry * v[c];
        sum[c] = subtracted(sum[c], head, fma(entry, v[c], -head));
      }
    }
  }
  for (int c = 0; c < K; c++) shared[localRow][lane][c] = sum[c];
  for (int reach = LANES / 2; reach > 0; reach /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int c = 0; c < K && lane < reach; c++) {
      Pair other = shared[localRow][lane + reach][c];
      shared[localRow][lane][c] = subtracted(shared[localRow][lane][c], -other.high, -other.low);
    }
  }
  for (int c = 0; c < K && lane == 0 && i < n; c++) {
    high[c] = shared[localRow][0][c].high;
    low[c] = shared[localRow][0][c].low;
  }
}
