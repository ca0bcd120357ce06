// The columns of a block, one row per work-item; see luBlocked.cl. For each column: the pivot of the previous column, which every
// work-group finds itself among the candidates of all; then L in that column, U in that row, and the sums of this column. The last
// step is a separate launch: it finishes the last column, stores L in A and lists the rows that must move. Until then A is
// unchanged, so that a block can be started again.
//
// A launch does one column; or all but the last step (RESIDENT), if all work-groups run at the same time. Then the time of a column is
// latency, and these make it short (on an H200, n = 4096: 6.5 microseconds, 10 without them):
// - L, U and the candidates are UNWRITTEN at first, and what another group writes is read until it is not: there is no other
//   synchronization, and no fence, which would take 1.5 microseconds. A group whose wait times out sets STUCK, and everything after it is
//   skipped.
// - The candidate of each group comes with the sum of the next column in its row, so far: every group finishes that entry of U with one
//   more product. The other entries of U in the row are needed a column later: UPPER_LANES work-items without a row compute them while
//   the rest begin that column.
// - What an entry starts with is loaded a column ahead.
#define LANES (GROUP + UPPER_LANES)

// A candidate in CANDIDATE doubles: its sum s; its position and row as integers; and its entry in the next column so far, with the factor
// l of that entry's last product. The row has the bit TINY_ROW if some factor of that entry is tiny.
typedef struct {
  double s, sum, rest, size, bound, l;
  int row, position;
} Candidate;
#define TINY_ROW 0x40000000

// A number that no arithmetic returns.
#define UNWRITTEN 0xfffffffffffffff5ul

// Read what another group writes.
double awaited(const volatile __global double *from, volatile __global int *out, Shape z, volatile __local int *stuck) {
  double v = *from;
  for (int spins = 0; as_ulong(v) == UNWRITTEN && *stuck == 0; spins++) {
    if (spins >= z.spins || (spins % 64 == 63 && out[STUCK] != 0)) *stuck = out[STUCK] = 1 + z.first;
    v = *from;
  }
  return v;
}

Candidate loadCandidate(const volatile __global double *from, volatile __global int *out, Shape z, volatile __local int *stuck) {
  double v[7];
#ifdef RESIDENT
#pragma unroll
  for (int q = 0; q < 7; q++) v[q] = from[q]; // all at once
#pragma unroll
  for (int q = 0; q < 7; q++)
    if (as_ulong(v[q]) == UNWRITTEN) v[q] = awaited(from + q, out, z, stuck);
#else
  v[0] = from[0], v[1] = from[1], v[2] = v[3] = v[4] = v[5] = v[6] = 0;
#endif
  int2 place = as_int2(v[1]);
  Candidate c = {v[0], v[2], v[3], v[4], v[5], v[6], place.y, place.x};
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
                  volatile __local int *openCount, bool exactly) {
  for (; c < z.width; c += step) {
    Filter f;
    double bound = startWith(&f, start);
    if (c + step < z.width) start = loadStart(A, T, area, z, pivotRow, c + step);
#pragma unroll 8
    for (int i = 0; i < k; i++) addProductTerm(&f, -pivotL[i], block[i * W + c]);
    double v = certified(f.sum, f.rest, boundOf(f, k + z.parts + 3, exactly) + bound);
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
  __local int open[GROUP > W ? GROUP : W], openCount, tinySeen, stuck;
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
  volatile __global double *shared = work + LOWER(z), *U_ = work + UPPER(z), *candidates = work + CANDIDATES(z);
  __global double *L = work + LOWER(z), *sums = work + SUMS(z);
  __global int *positionsOf = out + POSITIONS(z);
  if (lid == 0) openCount = hasEnded(out, z), tinySeen = out[TINY_SEEN], stuck = 0; // one decision for the group: others go on meanwhile
  barrier(CLK_LOCAL_MEM_FENCE);
  int active = openCount == 0;
  int tiny = 0;
  int position = z.step == 0 ? row : row < z.rows ? positionsOf[row] : 0;
  if (z.step == 0 && row == z.first) out[MOVES] = 0;

#ifdef RESIDENT
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
    volatile __global double *to = candidates + CANDIDATE * z.groups * p, *from = to - CANDIDATE * z.groups; // of this column and the previous one
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
    if (hasPivot && upperLane >= 0)
      for (int q = 0; q < 2; q++) {
        int k = upperLane + q * UPPER_LANES;
        if (k >= p - 2) continue;
        if (as_ulong(rowL[q]) == UNWRITTEN) rowL[q] = awaited(shared + (size_t)k * z.rows + pivotRow, out, z, &stuck);
        pivotL[k] = rowL[q];
        if (isTiny(rowL[q])) tinySeen = 1;
      }
    if (lid == 0) openCount = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (hasPivot && upperLane >= 0)
      upperEntries(A, T, area, U_, out, z, pivotRow, p - 2, p + group + upperLane * z.groups, UPPER_LANES * z.groups, upper, pivotL, block, open, &openCount, tinySeen == 0);
    barrier(CLK_LOCAL_MEM_FENCE);
    settleUpper(A, shared, U_, out, z, pivotRow, p - 2, column, block, open, openCount, &settling);
#endif
    const int j = z.first + p;

    // The pivot of the previous column.
    if (lid < GROUP) {
      sizes[lid] = 0;
      positions[lid] = z.rows;
      at[lid] = lid;
      for (int g = lid; g < z.groups && p > 0; g += GROUP) {
        Candidate c = loadCandidate(from + CANDIDATE * g, out, z, &stuck);
        if (g == lid || isBetter(magnitudeOf(c.s), c.position, sizes[lid], positions[lid]))
          sizes[lid] = magnitudeOf(c.s), positions[lid] = c.position, found[lid] = c;
      }
    }
    // The rest of U in the block: only columns from p on are read again.
    for (int e = known * W + lid; e < (p - 1) * W && p < z.width; e += LANES) {
      if (e % W < p || e % W >= z.width) continue;
      block[e] = awaited(U_ + e, out, z, &stuck);
      if (isTiny(block[e])) tinySeen = 1;
    }
    findBest(sizes, positions, at, GROUP);
    const int pivotPosition = positions[0];
    const __local Candidate *best = found + at[0];
    const double pivot = best->s;
    pivotRow = best->row & ~TINY_ROW;
    active = active && stuck == 0;
    if (tinySeen) tiny = 1;
    const int zero = p > 0 && pivot == 0, before = p > 0 && active && !zero; // whether there is a previous column to finish
    if (row == z.first && active && p > 0) out[PIVOTS + j - 1] = pivotPosition;
    if (row == z.first && active && zero) out[INFO] = j;
    if (before && row == pivotRow) position = j - 1;
    else if (before && position == j - 1) position = pivotPosition;
#ifndef RESIDENT
    if (row < z.rows && active) positionsOf[row] = position;
    if (before)
      for (int k = lid; k < p - 1; k += LANES) {
        pivotL[k] = shared[(size_t)k * z.rows + pivotRow];
        if (isTiny(pivotL[k])) tinySeen = 1;
      }
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
      double v = certified(f.sum, f.rest, boundOf(f, p + z.parts + 2, tinySeen == 0 && (best->row & TINY_ROW) == 0) + bound);
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
#ifdef RESIDENT
      for (int k = lid; k < p - 1; k += LANES) awaited(shared + (size_t)k * z.rows + pivotRow, out, z, &stuck);
#endif
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
      to[CANDIDATE * group + 1] = as_double((int2)(positions[0], tiny ? row | TINY_ROW : row));
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
      upperEntries(A, T, area, U_, out, z, pivotRow, p - 1, c, UPPER_LANES * z.groups, loadStart(A, T, area, z, pivotRow, c), pivotL, block, open, &openCount, tinySeen == 0);
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
