// The rows of a block; see luBlocked.cl. luSwap moves rows to where the pivots put them, one strip of columns per work-group, and stores
// the U of the block in A.
__kernel FIXED(STRIP * 8) void luSwap(__global REAL *A, const __global double *T, const __global double *work, const __global int *out, Shape z) {
  __local REAL kept[2 * W][STRIP];
  const bool ended = hasEnded(out, z);
  const int lane = get_local_id(0) % STRIP, slot = get_local_id(0) / STRIP, moves = ended ? 0 : out[MOVES];
  const int j = get_group_id(0) * STRIP + lane;
  const __global int *moved = out + MOVED(z);
  for (int m = slot; m < moves && j < z.cols; m += 8) kept[m][lane] = A[(size_t)moved[2 * m] * z.cols + j];
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int m = slot; m < moves && j < z.cols; m += 8) A[(size_t)moved[2 * m + 1] * z.cols + j] = kept[m][lane];
  barrier(CLK_GLOBAL_MEM_FENCE);
  const int c = j - z.first;
  if (!ended && c >= 0 && c < z.width)
    for (int i = slot; i <= c; i += 8) A[(size_t)(z.first + i) * z.cols + j] = (REAL)work[UPPER(z) + i * W + c];
}

// U in the rows of the block, in columns to the right of it: 32 columns per work-group, 8 work-items per column, each with every eighth row. Row by
// row: the work-item of the row rounds its sum, the others subtract the products with it.
#define ROWS (W / 8)
__kernel FIXED(GROUP) void luRow(__global REAL *A, const __global double *T, __global double *work, __global int *out, Shape z) {
  __local Settling settling;
  __local double l[W][W + 1];
  __local double u[2][STRIP];
  __local int open[STRIP], openCount[3]; // of three rows in rotation: that of the row after next is cleared while unused
  const int width = hasEnded(out, z) ? 0 : z.width;
  const int lid = get_local_id(0), lane = lid % STRIP, slot = lid / STRIP;
  const int right = z.right, columns = z.end - right;
  const int at = get_group_id(0) * STRIP + lane, j = right + at;
  const bool inside = at < columns;
  const size_t area = (size_t)W * columns;
  volatile __global ulong *failed = (volatile __global ulong *)out;
  bool tiny = out[TINY_SEEN] != 0;
  for (int e = lid; e < W * W; e += GROUP) {
    int i = e / W, k = e % W;
    l[i][k] = i < width && k < i ? (double)A[(size_t)(z.first + i) * z.cols + z.first + k] : 0.0;
  }
  if (lid < 3) openCount[lid] = 0;
  Filter f[ROWS];
  double bound[ROWS], size = 0;
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    int i = slot + 8 * r;
    f[r] = emptyFilter();
    bound[r] = 0;
    if (inside && i < width)
      bound[r] = startWith(&f[r], startOf(A[(size_t)(z.first + i) * z.cols + j], T, area, (size_t)i * columns + at, z.parts));
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = 0; k < width; k++) {
    const int i = z.first + k;
    __global REAL *stored = A + (size_t)i * z.cols + right;
    if (slot == k % 8) {
      Filter own = f[0];
      double startBound = bound[0];
#pragma unroll
      for (int r = 1; r < ROWS; r++)
        if (r == k / 8) own = f[r], startBound = bound[r]; // registers cannot be indexed
      double v = inside ? certified(own.sum, own.rest, boundOf(own, k + z.parts + 2, !tiny) + startBound) : 0.0;
      if (v != v) open[atomic_inc(&openCount[k % 3])] = lane;
      else v = finiteEntry(v, failed, i, j);
      u[k & 1][lane] = v;
      if (v == v && inside) stored[at] = (REAL)v;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const int count = openCount[k % 3];
    if (lid == 0) openCount[(k + 2) % 3] = 0;
    for (int o = 0; o < count; o++) {
      int c = get_group_id(0) * STRIP + open[o];
      double v = settled(A, z.cols, i, right + c, i, work, 0, 0, u[0], &settling);
      if (lid == 0) {
        u[k & 1][open[o]] = finiteEntry(v, failed, i, right + c);
        stored[c] = (REAL)u[k & 1][open[o]];
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const double v = u[k & 1][lane];
    if (slot == 0) size += fabs(v);
    if (isTiny(v)) tiny = true, out[TINY_SEEN] = 1;
#pragma unroll
    for (int r = 0; r < ROWS; r++)
      if (slot + 8 * r > k) addProductTerm(&f[r], -l[slot + 8 * r][k], v);
    EDGE
  }
  if (slot == 0 && inside && width > 0) work[SIZES(z) + j] += size;
}
