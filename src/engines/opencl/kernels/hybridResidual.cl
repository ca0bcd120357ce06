// r -= alpha A[:, block] x[block] while back substitution goes on: r is high + low, each product is split exactly into a head and a
// tail, and so is each sum of heads. As in Dot2 of Ogita, Rump and Oishi the result is as good as one in twice the working
// precision: after n terms in all the error is at most u |r| + (n u)^2 / (1 - n u)^2 |alpha A| |x|, u = 2^-53. alpha is a power of
// two that keeps entries in range.

typedef struct {
  double high, low;
} Pair;

Pair subtracted(Pair r, double head, double tail) {
  double high = r.high - head;
  double part = high - r.high;
  double rest = (r.high - (high - part)) - (head + part);
  return (Pair){high, r.low + (rest - tail)};
}

// Rows from 0 to n; entry (i, j) is A[offset + i * rowStep + j * colStep]. LANES work-items share a row of a matrix stored row
// by row, one has a row of one stored column by column: neighbours then read neighbours.
__kernel void residual(__global const REAL *A, long offset, long rowStep, long colStep, double alpha, __global const double *x, __global double *r, int n, int col, int cols) {
  __local Pair shared[ROWS][LANES];
  int lane = get_local_id(0);
  int line = get_local_id(1);
  int i = get_group_id(1) * ROWS + line;
  Pair sum = {0.0, 0.0};
  if (i < n) {
    __global const REAL *a = A + offset + i * rowStep + col * colStep;
    if (lane == 0) sum = (Pair){r[i], r[n + i]};
    for (int j = lane; j < cols; j += LANES) {
      double entry = alpha * a[j * colStep];
      double head = entry * x[col + j];
      sum = subtracted(sum, head, fma(entry, x[col + j], -head));
    }
  }
  shared[line][lane] = sum;
  for (int reach = LANES / 2; reach > 0; reach /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < reach) {
      Pair other = shared[line][lane + reach];
      shared[line][lane] = subtracted(shared[line][lane], -other.high, -other.low);
    }
  }
  if (lane == 0 && i < n) {
    r[i] = shared[line][0].high;
    r[n + i] = shared[line][0].low;
  }
}
