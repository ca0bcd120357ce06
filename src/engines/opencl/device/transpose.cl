// Copies a strided matrix to one stored by rows, through tiles of local memory, so that both reads and writes are contiguous. Launched by
// memory.ts.
#define TILE 32
#define ROWS 8

__kernel void rowByRow(__global const WORD *from, long offset, long rowStride, long colStride, __global WORD *to, int rows, int cols) {
  __local WORD tile[TILE][TILE + 1];
  int i0 = get_group_id(1) * TILE, j0 = get_group_id(0) * TILE;
  bool across = rowStride == 1; // columns of `from` are contiguous: neighbours read along them
  for (int k = get_local_id(1); k < TILE; k += ROWS) {
    int a = get_local_id(0);
    int i = i0 + (across ? a : k), j = j0 + (across ? k : a);
    if (i < rows && j < cols) tile[i - i0][j - j0] = from[offset + i * rowStride + j * colStride];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = get_local_id(1); k < TILE; k += ROWS) {
    int i = i0 + k, j = j0 + (int)get_local_id(0);
    if (i < rows && j < cols) to[(long)i * cols + j] = tile[k][get_local_id(0)];
  }
}
