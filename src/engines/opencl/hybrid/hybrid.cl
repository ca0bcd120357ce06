// What CPU and GPU need to share a factorisation: panels without gaps for the transfer, and vectors updated block by block.

// A block of a matrix that is stored row by row, from one place to another.
__kernel void moveBlock(__global const float *from, long fromAt, int fromStep, __global float *to, long toAt, int toStep, int rows, int cols) {
  int j = get_global_id(0);
  int i = get_global_id(1);
  if (i < rows && j < cols) to[toAt + (long)i * toStep + j] = from[fromAt + (long)i * fromStep + j];
}

// The diagonal blocks of order W one after another, the last one filled up with zeros.
__kernel void diagonalBlocks(__global const float *T, int step, int n, __global float *to) {
  int j = get_global_id(0);
  int i = get_global_id(1);
  if (i >= n) return;
  int col = i / W * W + j;
  to[(long)i * W + j] = col < n ? T[(long)i * step + col] : 0.0f;
}

// v[i] -= sum of T[i][j] * z[j], j from one column on, for so many rows from a row on; LANES work-items share a row.
__kernel void updateVector(__global const float *T, int step, __global const float *z, __global float *v, int row, int rows, int col, int cols) {
  __local float shared[ROWS][LANES];
  int lane = get_local_id(0);
  int line = get_local_id(1);
  int i = get_group_id(1) * ROWS + line;
  float sum = 0.0f;
  if (i < rows) {
    __global const float *t = T + (long)(row + i) * step + col;
    for (int j = lane; j < cols; j += LANES) sum = fma(t[j], z[col + j], sum);
  }
  shared[line][lane] = sum;
  for (int reach = LANES / 2; reach > 0; reach /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < reach) shared[line][lane] += shared[line][lane + reach];
  }
  if (lane == 0 && i < rows) v[row + i] -= shared[line][0];
}
