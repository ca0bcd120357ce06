// Factors a panel of P columns by one work-group, in global memory; launched by lu.ts. For devices whose work-groups need not run at the
// same time, and for more rows than fit in registers. If a barrier is in a branch, PoCL lets the first work-item decide for all, so
// all of them do every column, even after a failure.
__kernel FIXED(GROUP) void factorPanelAlone(__global REAL *W, int ld, int rows, int first, __global int *state, int moves, int pivots,
                                      __global REAL *diagonal) {
  __local Magnitude sizes[GROUP];
  __local int positions[GROUP];
  __local REAL u[P];
  __local int from[2 * P], to[2 * P];
  __local int ended;
  const int lid = get_local_id(0);
  __global REAL *A = W + first;
  if (lid == 0) ended = state[ENDED];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int p = 0; p < P; p++) {
    const int j = first + p;
    Magnitude size = 0;
    int best = rows;
    for (int i = j + lid; i < rows; i += GROUP) {
      Magnitude m = magnitudeOf(A[(long)i * ld + p]);
      if (best == rows || m > size) size = m, best = i;
    }
    sizes[lid] = size;
    positions[lid] = best;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int stride = GROUP / 2; stride > 0; stride /= 2) {
      if (lid < stride && (sizes[lid + stride] > sizes[lid] || (sizes[lid + stride] == sizes[lid] && positions[lid + stride] < positions[lid]))) {
        sizes[lid] = sizes[lid + stride];
        positions[lid] = positions[lid + stride];
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    const int pivot = positions[0];
    if (lid == 0 && ended == 0) {
      state[pivots + j] = pivot;
      diagonal[j] = A[(long)pivot * ld + p];
      if (sizes[0] == 0 || sizes[0] >= INFINITE) ended = state[ENDED] = j + 1;
    }
    for (int c = lid; c < P; c += GROUP) {
      REAL v = A[(long)pivot * ld + c];
      A[(long)pivot * ld + c] = A[(long)j * ld + c];
      A[(long)j * ld + c] = v;
      u[c] = v;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    for (int i = j + 1 + lid; i < rows; i += GROUP) {
      __global REAL *row = A + (long)i * ld;
      const REAL l = row[p] / u[p];
      row[p] = l;
      for (int c = p + 1; c < P; c++) row[c] = fma(-l, u[c], row[c]);
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  }
  // The moves of all rows that were swapped: to[k] is the new position of row from[k].
  if (lid == 0 && ended == 0) {
    int count = P;
    for (int p = 0; p < P; p++) from[p] = to[p] = first + p;
    for (int p = 0; p < P; p++) {
      int pivot = state[pivots + first + p], at = 0, other = 0;
      while (to[at] != first + p) at++;
      while (other < count && to[other] != pivot) other++;
      if (other == count) from[other] = to[other] = pivot, count++;
      to[at] = pivot;
      to[other] = first + p;
    }
    for (int k = 0; k < count; k++) writeMoves(state + moves, first, P, from[k], to[k]);
  }
}
