// Kernels for a factorization divided between CPU and GPU, launched by kernels.ts: panels copied without gaps for the transfer, and vectors
// updated block by block.

// Copy a block between matrices stored by rows.
__kernel void moveBlock(__global const float *from, long fromFirst, int fromStride, __global float *to, long toFirst, int toStride, int rows, int cols) {
  int j = get_global_id(0);
  int i = get_global_id(1);
  if (i < rows && j < cols) to[toFirst + (long)i * toStride + j] = from[fromFirst + (long)i * fromStride + j];
}

// Copy the diagonal blocks of order W, one after another; the last is padded with zeros.
__kernel void diagonalBlocks(__global const float *T, int rowStride, int n, __global float *to) {
  int j = get_global_id(0);
  int i = get_global_id(1);
  if (i >= n) return;
  int col = i / W * W + j;
  to[(long)i * W + j] = col < n ? T[(long)i * rowStride + col] : 0.0f;
}

// v[i] -= sum of T[i][j] * z[j] for `rows` rows from `row` and `cols` columns from `col`. LANES work-items share a row.
__kernel void updateVector(__global const float *T, int rowStride, __global const float *z, __global float *v, int row, int rows, int col, int cols) {
  __local float shared[ROWS][LANES];
  int lane = get_local_id(0);
  int localRow = get_local_id(1);
  int i = get_group_id(1) * ROWS + localRow;
  float sum = 0.0f;
  if (i < rows) {
    __global const float *t = T + (long)(row + i) * rowStride + col;
    for (int j = lane; j < cols; j += LANES) sum = fma(t[j], z[col + j], sum);
  }
  shared[localRow][lane] = sum;
  for (int reach = LANES / 2; reach > 0; reach /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < reach) shared[localRow][lane] += shared[localRow][lane + reach];
  }
  if (lane == 0 && i < rows) v[row + i] -= shared[localRow][0];
}
