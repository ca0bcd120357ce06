// The columns of a block, one row per work-item; see luBlocked.cl. For each column: the pivot of the previous column, which every
// work-group finds itself among the candidates of all; then L in that column, U in that row, and the sums of this column. The last
// step is a separate launch: it finishes the last column, stores L in A and lists the rows that must move. Until then A is
// unchanged, so that a block can be started again.
//
// A launch does one column; or all but the last step (RESIDENT), if all work-groups run at the same time: they synchronize at the
// start of each column, when they read each other's candidates. A group whose wait times out sets STUCK, and everything after it is
// skipped.
//
// RESIDENT, the time of a column is latency, so little is left to do after the pivot is known. The candidate of each group comes with
// the sum of the next column in its row, so far: every group finishes that entry of U with one more product. The other entries of U in
// the row are needed a column later: UPPER_LANES work-items without a row compute them while the rest begin that column.
#define LANES (GROUP + UPPER_LANES)

// A candidate in CANDIDATE doubles: its sum s; its position and row as integers; its entry in the next column so far, and the factor l of
// that entry's last product; last, which column it is for, written after the rest. Two of them alternate.
typedef struct {
  double s, sum, rest, size, bound, l;
  int row, position;
} Candidate;

Candidate loadCandidate(const volatile __global double *from) {
  int2 place = as_int2(from[1]);
  Candidate c = {from[0], from[2], from[3], from[4], from[5], from[6], place.y, place.x};
  return c;
}

// The start of entry (row, first + c).
Start loadStart(const __global REAL *A, const __global double *T, size_t area, Shape z, int row, int c) {
  return startOf(A[(size_t)row * z.cols + z.first + c], T, area, (size_t)c * (z.rows - z.first) + row - z.first, z.parts);
}

// Entries of U in the pivot row, number k of the block, in its columns from c on, every step-th; those that are not proved are listed.
// The first starts with `start`.
void upperEntries(const __global REAL *A, const __global double *T, size_t area, volatile __global double *U_, __global int *out, Shape z,
                  int pivotRow, int k, int c, int step, Start start, const __local double *pivotL, const __local double *block, __local int *open,
                  volatile __local int *openCount) {
  for (; c < z.width; c += step) {
    Filter f;
    double bound = startWith(&f, start);
    if (c + step < z.width) start = loadStart(A, T, area, z, pivotRow, c + step);
#pragma unroll 8
    for (int i = 0; i < k; i++) addProductTerm(&f, -pivotL[i], block[i * W + c]);
    double v = certified(f.sum, f.rest, boundOf(f, k + z.parts + 3, ((volatile __global int *)out)[TINY_SEEN] == 0) + bound);
    if (v != v) open[atomic_inc(openCount)] = c;
    else U_[k * W + c] = finiteEntry(v, (volatile __global ulong *)out, z.first + k, z.first + c);
    if (isTiny(v)) out[TINY_SEEN] = 1;
  }
}

// The listed entries exactly, by the whole work-group.
void settleUpper(const __global REAL *A, const volatile __global double *shared, volatile __global double *U_, __global int *out, Shape z, int pivotRow,
                 int k, __local double *column, const __local double *block, const __local int *open, int count, __local Settling *settling) WITH_BARRIERS;
void settleUpper(const __global REAL *A, const volatile __global double *shared, volatile __global double *U_, __global int *out, Shape z, int pivotRow,
                 int k, __local double *column, const __local double *block, const __local int *open, int count, __local Settling *settling) {
  const int lid = get_local_id(0);
  for (int o = 0; o < count; o++) {
    int c = open[o];
    for (int i = lid; i < k; i += LANES) column[i] = block[i * W + c];
    double v = settled(A, z.cols, pivotRow, z.first + c, z.first, shared + pivotRow, z.rows, k, column, settling);
    if (lid == 0) {
      v = finiteEntry(v, (volatile __global ulong *)out, z.first + k, z.first + c);
      U_[k * W + c] = v;
      if (isTiny(v)) out[TINY_SEEN] = 1;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  }
}

__kernel FIXED(LANES) void luColumn(__global REAL *A, const __global double *T, __global double *work, __global int *out, Shape z) {
  __local Settling settling;
  __local ulong sizes[GROUP];
  __local int positions[GROUP], at[GROUP];
  __local Candidate found[GROUP];
  __local double column[W], pivotL[2 * UPPER_LANES], block[W * W]; // block: the known part of U in the block
  __local int open[GROUP > W ? GROUP : W], openCount;
  const int lid = get_local_id(0), group = get_group_id(0), upperLane = lid - GROUP;
  const int row = lid < GROUP ? z.first + group * GROUP + lid : z.rows, below = z.rows - z.first;
  const size_t area = (size_t)W * below;
#ifdef LOCAL_L
  // After a fence nothing is left in the cache.
  __local double ownL[W][GROUP];
#define OWN_L(k) ownL[k][lid]
#define KEEP_L(k, l) ownL[k][lid] = l
#else
#define OWN_L(k) L[(size_t)(k)*z.rows + row]
#define KEEP_L(k, l)
#endif
  volatile __global ulong *failed = (volatile __global ulong *)out;
  // Volatile: other groups write it while this one runs, so it must not be read from this group's cache.
  volatile __global double *shared = work, *U_ = work + UPPER(z), *candidates = work + CANDIDATES(z);
  __global double *L = work, *sums = work + SUMS(z);
  __global int *positionsOf = out + POSITIONS(z);
  if (lid == 0) openCount = hasEnded(out, z); // one decision for the group: another may find a zero pivot meanwhile
  barrier(CLK_LOCAL_MEM_FENCE);
  int active = openCount == 0;
  int tiny = 0;
  int position = z.step == 0 ? row : row < z.rows ? positionsOf[row] : 0;
  if (z.step == 0 && row == z.first) out[MOVES] = 0;

#ifdef RESIDENT
  __local int stuck;
  int pivotRow = 0, isCandidate = 0, hasPivot = 0;
  double rowL[2] = {0, 0}; // of the pivot row, for pivotL
  double s = 0;
  Start next = row < z.rows ? loadStart(A, T, area, z, row, z.step) : NO_START, upper = NO_START;
  for (int p = z.step; p < z.last && active; p++) {
    const int known = max(p - 2, 0); // rows of U that are in `block`: their products are added before the wait
#else
  {
    int pivotRow = 0;
    const int p = z.step, known = 0;
    double s = row < z.rows ? sums[row - z.first] : 0;
#endif
    volatile __global double *from = candidates + CANDIDATE * z.groups * (1 - (p & 1)), *to = candidates + CANDIDATE * z.groups * (p & 1);
    Filter mine = emptyFilter();
    double startBound = 0;
    if (row < z.rows && p < z.width) {
#ifdef RESIDENT
      startBound = startWith(&mine, next);
      if (p + 1 < z.width) next = loadStart(A, T, area, z, row, p + 1); // long before it is needed
#else
      startBound = startWith(&mine, loadStart(A, T, area, z, row, p));
#endif
#pragma unroll 8
      for (int k = 0; k < known; k++) addProductTerm(&mine, -OWN_L(k), block[k * W + p]);
    }
#ifdef RESIDENT
    if (isCandidate) {
      volatile __global double *own = from + CANDIDATE * group;
      own[2] = mine.sum;
      own[3] = mine.rest;
      own[4] = mine.size;
      own[5] = startBound;
      own[6] = p > 1 ? OWN_L(p - 2) : 0.0;
    }
    // U in the row of the last pivot but one.
    if (upperLane >= 0) pivotL[upperLane] = rowL[0], pivotL[upperLane + UPPER_LANES] = rowL[1];
    if (lid == 0) openCount = stuck = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (hasPivot && upperLane >= 0)
      upperEntries(A, T, area, U_, out, z, pivotRow, p - 2, p + group + upperLane * z.groups, UPPER_LANES * z.groups, upper, pivotL, block, open, &openCount);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    settleUpper(A, shared, U_, out, z, pivotRow, p - 2, column, block, open, openCount, &settling);
    const double turn = z.first + p; // the same in no other column
    if (lid == 0) {
      FENCE;
      from[CANDIDATE * group + 7] = turn;
    }
#endif
    const int j = z.first + p;

    // The pivot of the previous column.
    if (lid < GROUP) {
      sizes[lid] = 0;
      positions[lid] = z.rows;
      at[lid] = lid;
      for (int g = lid; g < z.groups && p > 0; g += GROUP) {
        const volatile __global double *theirs = from + CANDIDATE * g;
#ifdef RESIDENT
        int spins = 0;
        while (theirs[7] != turn && spins < z.spins && (spins % 64 != 63 || ((volatile __global int *)out)[STUCK] == 0)) spins++;
        if (theirs[7] != turn) stuck = out[STUCK] = 1 + z.first;
        FENCE;
#endif
        Candidate c = loadCandidate(theirs);
        if (g == lid || isBetter(magnitudeOf(c.s), c.position, sizes[lid], positions[lid]))
          sizes[lid] = magnitudeOf(c.s), positions[lid] = c.position, found[lid] = c;
      }
    }
#ifdef RESIDENT
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    active = stuck == 0;
#endif
    if (((volatile __global int *)out)[TINY_SEEN] != 0) tiny = 1;
    for (int e = known * W + lid; e < (p - 1) * W && p < z.width; e += LANES) block[e] = U_[e];
    findBest(sizes, positions, at, GROUP);
    const int pivotPosition = positions[0];
    const __local Candidate *best = found + at[0];
    const double pivot = best->s;
    pivotRow = best->row;
    const int zero = p > 0 && pivot == 0, before = p > 0 && active && !zero; // whether there is a previous column to finish
    if (row == z.first && active && p > 0) out[PIVOTS + j - 1] = pivotPosition;
    if (row == z.first && active && zero) out[INFO] = j;
    if (before && row == pivotRow) position = j - 1;
    else if (before && position == j - 1) position = pivotPosition;
#ifndef RESIDENT
    if (row < z.rows && active) positionsOf[row] = position;
#endif
#ifndef RESIDENT
    if (before)
      for (int k = lid; k < p - 1; k += LANES) pivotL[k] = shared[(size_t)k * z.rows + pivotRow];
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    // L in that column.
    if (before && row < z.rows && position >= j) {
      double l = divide(s, pivot);
      L[(size_t)(p - 1) * z.rows + row] = l;
      KEEP_L(p - 1, l);
      if (isTiny(l)) tiny = 1, out[TINY_SEEN] = 1;
    }
    // U in that row: each group computes the entry that it needs in this column.
    for (int k = lid; k < p - 1 && p < z.width; k += LANES) column[k] = block[k * W + p];
    if (upperLane == 0) openCount = 0;
    if (upperLane == 0 && before && p < z.width) {
      Filter f;
#ifdef RESIDENT
      f.sum = best->sum, f.rest = best->rest, f.size = best->size;
      double bound = best->bound;
      if (p > 1) addProductTerm(&f, -best->l, block[(p - 2) * W + p]);
#else
      double bound = startWith(&f, loadStart(A, T, area, z, pivotRow, p));
      for (int k = 0; k < p - 1; k++) addProductTerm(&f, -pivotL[k], block[k * W + p]);
#endif
      double v = certified(f.sum, f.rest, boundOf(f, p + z.parts + 2, ((volatile __global int *)out)[TINY_SEEN] == 0) + bound);
      if (v != v) openCount = 1;
      else v = finiteEntry(v, failed, j - 1, j);
      column[p - 1] = v;
    }
#ifdef RESIDENT
    // For the next column, so that nothing waits for it in this one.
    const int ahead = p + 1 + group + upperLane * z.groups;
    if (before && upperLane >= 0) {
      for (int q = 0; q < 2; q++) {
        int k = upperLane + q * UPPER_LANES;
        rowL[q] = k < p - 1 ? shared[(size_t)k * z.rows + pivotRow] : 0.0;
      }
      if (ahead < z.width) upper = loadStart(A, T, area, z, pivotRow, ahead);
    }
#endif
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const int isOpen = openCount;
    for (int o = 0; o < isOpen; o++) {
      double v = settled(A, z.cols, pivotRow, j, z.first, shared + pivotRow, z.rows, p - 1, column, &settling);
      if (lid == 0) column[p - 1] = finiteEntry(v, failed, j - 1, j);
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (group == 0 && lid == 0 && before) {
      U_[(p - 1) * (W + 1)] = pivot;
      if (p < z.width) U_[(p - 1) * W + p] = column[p - 1];
      if (isTiny(pivot) || (p < z.width && isTiny(column[p - 1]))) out[TINY_SEEN] = 1;
    }

    // This column.
    const int wanted = row < z.rows && position >= j && active && !zero && p < z.width;
    if (lid == 0) openCount = 0;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    s = 0;
    if (wanted) {
#pragma unroll 8
      for (int k = known; k < p; k++) addProductTerm(&mine, -OWN_L(k), column[k]);
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
    if (lid < GROUP) {
      sizes[lid] = magnitudeOf(s);
      positions[lid] = wanted ? position : z.rows;
      at[lid] = lid;
    }
    findBest(sizes, positions, at, GROUP);
    if (lid == at[0] && p < z.width) {
      to[CANDIDATE * group] = s;
      to[CANDIDATE * group + 1] = as_double((int2)(positions[0], row));
    }
#ifdef RESIDENT
    isCandidate = lid == at[0];
    hasPivot = before;
    if (p == z.last - 1 && wanted) sums[row - z.first] = s;
    if (p == z.last - 1 && row < z.rows) positionsOf[row] = position;
#else
    if (wanted) sums[row - z.first] = s;
    if (lid == 0) openCount = 0;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const int c = p + 1 + group + upperLane * z.groups;
    if (before && upperLane >= 0 && c < z.width)
      upperEntries(A, T, area, U_, out, z, pivotRow, p - 1, c, UPPER_LANES * z.groups, loadStart(A, T, area, z, pivotRow, c), pivotL, block, open, &openCount);
    barrier(CLK_LOCAL_MEM_FENCE);
    settleUpper(A, shared, U_, out, z, pivotRow, p - 1, column, block, open, openCount, &settling);
#endif
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
