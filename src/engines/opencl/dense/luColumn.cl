// The columns of a block, one row per work-item; see luBlocked.cl. For each column: the pivot of the previous column, which every
// work-group finds itself among the candidates of all; then L in that column, U in that row, and the sums of this column. The last
// step is a separate launch: it finishes the last column, stores L in A and lists the rows that must move. Until then A is
// unchanged, so that a block can be started again.
//
// A launch does one column; or all but the last step (RESIDENT), if all work-groups run at the same time: they synchronize at the
// start of each column. A group whose wait times out sets STUCK, and everything after it is skipped.
#ifdef RESIDENT
int synchronized(volatile __global int *out, int target, Shape z, __local int *arrived) {
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if (get_local_id(0) == 0) {
    FENCE;
    atomic_inc(out + ARRIVED);
    int spins = 0;
    while (out[ARRIVED] < target && out[STUCK] == 0 && spins < z.spins) spins++;
    *arrived = out[ARRIVED] >= target;
    if (*arrived == 0) out[STUCK] = 1 + z.first;
    FENCE;
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  return *arrived;
}
#endif

__kernel FIXED(GROUP) void luColumn(__global REAL *A, const __global double *T, __global double *work, __global int *out, Shape z) {
  __local Settling settling;
  __local ulong sizes[GROUP];
  __local int positions[GROUP], at[GROUP];
  __local double column[W], upper[W], pivotL[W], block[W * W]; // block: the known part of U in the block
  __local int open[GROUP > W ? GROUP : W], openCount;
  const int lid = get_local_id(0), group = get_group_id(0);
  const int row = z.first + group * GROUP + lid, below = z.rows - z.first;
  const size_t area = (size_t)W * below;
  volatile __global ulong *failed = (volatile __global ulong *)out;
  // Volatile: other groups write it while this one runs, so it must not be read from this group's cache.
  volatile __global double *shared = work, *U_ = work + UPPER(z);
  __global double *L = work, *sums = work + SUMS(z);
  __global int *positionsOf = out + POSITIONS(z);
  if (lid == 0) openCount = hasEnded(out, z); // one decision for the group: another may find a zero pivot meanwhile
  barrier(CLK_LOCAL_MEM_FENCE);
  int active = openCount == 0;
  int tiny = 0;
  int position = z.step == 0 ? row : row < z.rows ? positionsOf[row] : 0;
  if (z.step == 0 && row == z.first) out[MOVES] = 0;
  if (z.step == z.width && row == z.first) out[ARRIVED] = 0;

#ifdef RESIDENT
  for (int p = z.step; p < z.last && active; p++) {
    const int known = max(p - 2, 0); // rows of U that are in `block`: their products are added before the wait
#else
  {
    const int p = z.step, known = 0;
#endif
    Filter mine = emptyFilter();
    double startBound = 0;
    if (row < z.rows && p < z.width) {
      startBound = startEntry(&mine, A[(size_t)row * z.cols + z.first + p], T, area, (size_t)p * below + row - z.first, z.parts);
#pragma unroll 8
      for (int k = 0; k < known; k++) addProductTerm(&mine, -L[(size_t)k * z.rows + row], block[k * W + p]);
    }
#ifdef RESIDENT
    active = synchronized(out, z.groups * (p - z.step + 1), z, &openCount);
#endif
    const int j = z.first + p;
    volatile __global double *candidates = shared + CANDIDATES(z);
    volatile __global double *from = candidates + 2 * z.groups * (1 - (p & 1)), *to = candidates + 2 * z.groups * (p & 1);

    if (((volatile __global int *)out)[TINY_SEEN] != 0) tiny = 1;

    // The pivot of the previous column.
    ulong size = 0;
    int best = z.rows, where = 0;
    for (int g = lid; g < z.groups && p > 0; g += GROUP) {
      double s = from[2 * g];
      int2 candidate = as_int2(from[2 * g + 1]);
      if (isBetter(magnitudeOf(s), candidate.x, size, best)) size = magnitudeOf(s), best = candidate.x, where = g;
    }
    sizes[lid] = size;
    positions[lid] = best;
    at[lid] = where;
    for (int e = known * W + lid; e < (p - 1) * W && p < z.width; e += GROUP) block[e] = U_[e];
    findBest(sizes, positions, at);
    const int pivotPosition = positions[0];
    const double pivot = from[2 * at[0]];
    const int pivotRow = as_int2(from[2 * at[0] + 1]).y;
    const int zero = p > 0 && pivot == 0, before = p > 0 && active && !zero; // whether there is a previous column to finish
    if (row == z.first && active && p > 0) out[PIVOTS + j - 1] = pivotPosition;
    if (row == z.first && active && zero) out[INFO] = j;
    if (before && row == pivotRow) position = j - 1;
    else if (before && position == j - 1) position = pivotPosition;
    if (row < z.rows && active) positionsOf[row] = position;
    if (before && row < z.rows && position >= j) {
      double l = divide(sums[row - z.first], pivot);
      L[(size_t)(p - 1) * z.rows + row] = l;
      if (isTiny(l)) tiny = 1, out[TINY_SEEN] = 1;
    }
    if (before)
      for (int k = lid; k < p - 1; k += GROUP) pivotL[k] = shared[(size_t)k * z.rows + pivotRow];
    if (lid == 0) openCount = 0;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);

    // U in that row: each group computes the entry that it needs in this column, and all share the others.
    const int end = before ? z.width : 0;
    for (int c = lid == 0 ? p : p + (group == 0 ? z.groups : group) + (lid - 1) * z.groups; c < end; c += (GROUP - 1) * z.groups) {
      Filter f;
      double bound = startEntry(&f, A[(size_t)pivotRow * z.cols + z.first + c], T, area, (size_t)c * below + pivotRow - z.first, z.parts);
#pragma unroll 8
      for (int k = 0; k < p - 1; k++) addProductTerm(&f, -pivotL[k], block[k * W + c]);
      double v = certified(f.sum, f.rest, boundOf(f, p + z.parts + 2, ((volatile __global int *)out)[TINY_SEEN] == 0) + bound);
      if (v != v) open[atomic_inc(&openCount)] = c;
      else U_[(p - 1) * W + c] = upper[c] = finiteEntry(v, failed, j - 1, z.first + c);
      if (isTiny(v)) out[TINY_SEEN] = 1;
      if (lid == 0) break;
    }
    if (group == 0 && lid == 0 && before) {
      U_[(p - 1) * (W + 1)] = pivot;
      if (isTiny(pivot)) out[TINY_SEEN] = 1;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const int openEntries = openCount;
    for (int o = 0; o < openEntries; o++) {
      int c = open[o];
      for (int k = lid; k < p - 1; k += GROUP) column[k] = block[k * W + c];
      double v = settled(A, z.cols, pivotRow, z.first + c, z.first, shared + pivotRow, z.rows, p - 1, column, &settling);
      if (lid == 0) {
        upper[c] = finiteEntry(v, failed, j - 1, z.first + c);
        U_[(p - 1) * W + c] = upper[c];
        if (isTiny(upper[c])) out[TINY_SEEN] = 1;
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }

    // This column.
    const int wanted = row < z.rows && position >= j && active && !zero && p < z.width;
    if (lid == 0) openCount = 0;
    for (int k = lid; k < p && p < z.width; k += GROUP) column[k] = k == p - 1 ? upper[p] : block[k * W + p];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    double s = 0;
    if (wanted) {
#pragma unroll 8
      for (int k = known; k < p; k++) addProductTerm(&mine, -L[(size_t)k * z.rows + row], column[k]);
      if (p > 0 && isTiny(column[p - 1])) tiny = 1;
      s = certified(mine.sum, mine.rest, boundOf(mine, p + z.parts + 2, !tiny) + startBound);
      if (s != s) open[atomic_inc(&openCount)] = lid;
      else s = finiteEntry(s, failed, position, j);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const int count = openCount;
    for (int o = 0; o < count; o++) {
      int i = z.first + group * GROUP + open[o];
      double v = settled(A, z.cols, i, j, z.first, L + i, z.rows, p, column, &settling);
      if (open[o] == lid) s = finiteEntry(v, failed, position, j);
      EDGE
    }
    if (wanted) sums[row - z.first] = s;
    sizes[lid] = magnitudeOf(s);
    positions[lid] = wanted ? position : z.rows;
    at[lid] = lid;
    findBest(sizes, positions, at);
    if (lid == at[0] && p < z.width) {
      to[2 * group] = s;
      to[2 * group + 1] = as_double((int2)(positions[0], row));
    }
    if (zero) active = 0;
  }

  if (active && z.step == z.width && row < z.rows) {
    const int mine = min(position - z.first, z.width); // entries of L in this row
    for (int k = 0; k < mine; k++) A[(size_t)row * z.cols + z.first + k] = (REAL)L[(size_t)k * z.rows + row];
    if (position != row) {
      int m = atomic_inc(out + MOVES);
      out[MOVED(z) + 2 * m] = row;
      out[MOVED(z) + 2 * m + 1] = position;
    }
  }
}
