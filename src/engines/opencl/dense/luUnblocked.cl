// The left-looking factorization of the LU paper, column by column, launched by luUnblocked.ts: U above the diagonal by substitution,
// the sums of the rows below, the pivot. A work-group computes each entry. `first` is the column.

__kernel FIXED(GROUP) void luAbove(__global REAL *A, __global int *out, Shape z) {
  __local Settling settling;
  const int j = z.first, end = hasEnded(out, z) ? 0 : min(j, z.rows);
  for (int i = 0; i < end; i++) {
    double v = settled(A, z.cols, i, j, i, 0, 0, 0, 0, &settling);
    if (get_local_id(0) == 0) A[(size_t)i * z.cols + j] = (REAL)finiteEntry(v, (volatile __global ulong *)out, i, j);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  }
}

__kernel FIXED(GROUP) void luBelow(__global REAL *A, __global int *out, Shape z) {
  __local Settling settling;
  const int j = z.first, i = j + get_group_id(0);
  const int ended = hasEnded(out, z);
  double v = settled(A, z.cols, i, j, ended ? 0 : j, 0, 0, 0, 0, &settling);
  if (get_local_id(0) == 0 && !ended) A[(size_t)i * z.cols + j] = (REAL)finiteEntry(v, (volatile __global ulong *)out, i, j);
}

__kernel FIXED(GROUP) void luPivot(__global REAL *A, __global int *out, Shape z) {
  __local ulong sizes[GROUP];
  __local int positions[GROUP], from[GROUP];
  const int lid = get_local_id(0), j = z.first, ended = hasEnded(out, z);
  ulong size = 0;
  int best = z.rows;
  for (int i = j + lid; i < z.rows; i += GROUP) {
    ulong candidate = magnitudeOf(A[(size_t)i * z.cols + j]);
    if (isBetter(candidate, i, size, best)) size = candidate, best = i;
  }
  sizes[lid] = size;
  positions[lid] = best;
  from[lid] = 0;
  findBest(sizes, positions, from, get_local_size(0));
  const int pivot = positions[0], active = !ended && sizes[0] != 0;
  if (lid == 0 && !ended) {
    out[PIVOTS + j] = pivot;
    if (!active) out[INFO] = 1 + j;
  }
  for (int c = lid; c < z.cols && active && pivot != j; c += GROUP) {
    REAL kept = A[(size_t)j * z.cols + c];
    A[(size_t)j * z.cols + c] = A[(size_t)pivot * z.cols + c];
    A[(size_t)pivot * z.cols + c] = kept;
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  const double u = A[(size_t)j * z.cols + j];
  for (int i = j + 1 + lid; i < z.rows && active; i += GROUP) A[(size_t)i * z.cols + j] = (REAL)divide(A[(size_t)i * z.cols + j], u);
}
