// C := alpha A B + beta C, one rounding an entry.

#ifdef TILE
// Of lines of n entries: the largest high word of each, and the least as in leastOf. `together` lanes have a line.
__kernel void measure(__global const REAL *M, long offset, long lineStep, long step, int lines, int n, int length, int together,
                      __global uint *sizes) {
  int l = get_local_id(0), side = get_local_size(0) / together;
  int line = get_group_id(0) * side + (step == 1 ? l / together : l % side), lane = step == 1 ? l % together : l / side;
  if (line >= lines) return;
  M += offset + line * lineStep;
  uint largest = 0, least = 0xffffffffu;
  long end = min((long)n, (long)(get_group_id(1) + 1) * length);
  for (long k = (long)get_group_id(1) * length + lane; k < end; k += together) {
    uint word = leastOf(0xffffffffu, M[k * step]);
    largest = max(largest, word + 1); // of a zero: 0
    least = min(least, word);
  }
  atomic_max(sizes + 2 * line, largest);
  atomic_min(sizes + 2 * line + 1, least);
}

// A sum on a grid: with G = 1.5 * 2^k, where 2^(k - 2) is above the sum of all magnitudes of products, `sum` starts at G and
// stays in [2^k, 2^(k + 1)), a multiple of g = 2^(k - 52). So t - sum is exact, and what t leaves of a product is at most
// g / 2 and rounds once: four operations a product, against twelve of a Filter, whose bound is sharper.
//   After i products |rest| <= i g / 2 (1 + 2^-21), for i < 2^31, and its next addition errs by U times that; the rounding of
//   what is added errs by U g / 2 (not less than 2^-1075: g >= 2^-952). In all less than U g n (n + 3) / 4 MORE.
#ifdef FILTER
typedef Filter Sum;
void addTo(Sum *f, double x, double y) {
  if (BINARY32) addTerm(f, x * y);
  else addProductTerm(f, x, y);
}
#else
typedef struct {
  double sum, rest;
} Sum;
void addTo(Sum *f, double x, double y) {
  double t = fma(x, y, f->sum);
  f->rest += fma(x, y, f->sum - t);
  f->sum = t;
}
#endif

// G for lines of these largest words, and the bound of the rest, where k <= 960; else NaN. A word's number is below
// 2^((word >> 20) - 1022), and n products of such numbers below 2^(32 - clz(n)) times both.
double gridOf(uint a, uint b, int n, double *bound) {
  int k = (int)(a >> 20) + (int)(b >> 20) - 2044 + (32 - (int)clz((uint)n)) + 2;
  *bound = 0.0;
  if (k > 960 || a >= 0x7ff00000u || b >= 0x7ff00000u) return NOT_PROVED;
  k = max(k, -900);
  if (a != 0 && b != 0) *bound = as_double((ulong)(k - 105 + 1023) << 52) * (0.25 * n) * (n + 3.0) * MORE;
  return as_double((ulong)(k + 1023) << 52 | 0x8000000000000ul);
}

#define SIDE 16 // work-items along both sides of a tile
#define EACH (TILE / SIDE)
#define DEEP 16 // products at a time
#define PASSES (TILE * DEEP / (SIDE * SIDE))

// The part of TILE lines, DEEP entries each, that a work-item loads: lanes run along the memory.
typedef struct {
  int line, at, lineGap, gap;
} Part;

Part partOf(int l, bool along) {
  Part p = {along ? l / DEEP : l % TILE, along ? l % DEEP : l / TILE, along ? SIDE * SIDE / DEEP : 0, along ? 0 : SIDE * SIDE / TILE};
  return p;
}

void fetch(double *v, Part p, __global const REAL *M, long lineStep, long step, int lines, int n) {
#pragma unroll
  for (int i = 0; i < PASSES; i++) {
    int line = p.line + i * p.lineGap, at = p.at + i * p.gap;
    v[i] = line < lines && at < n ? (double)M[line * lineStep + at * step] : 0.0;
  }
}

void keep(const double *v, Part p, __local double (*to)[TILE + 1]) {
#pragma unroll
  for (int i = 0; i < PASSES; i++) to[p.at + i * p.gap][p.line + i * p.lineGap] = v[i];
}

// A tile of C, of M by N entries. `open` gets 1 where an entry is not proved; with FILTER only such are computed.
__kernel __attribute__((reqd_work_group_size(SIDE, SIDE, 1))) void gemm(
    __global const REAL *A, long aOffset, long aRow, long aCol, __global const REAL *B, long bOffset, long bRow, long bCol,
    __global REAL *C, long cOffset, long cRow, long cCol, int M, int N, int K, double alpha, double beta,
    __global const uint *rowSizes, __global const uint *colSizes, __global uchar *open, __global uint *list) {
  // One more than a line, against bank conflicts. Two of each: while one is read the other is written, and one barrier does.
  __local double a[2][DEEP][TILE + 1], b[2][DEEP][TILE + 1];
  int tx = get_local_id(0), ty = get_local_id(1), l = ty * SIDE + tx;
  int i0 = get_group_id(1) * TILE, j0 = get_group_id(0) * TILE;
  Sum sums[EACH][EACH];
  double bound;
#ifdef FILTER
  __local int any;
  if (l == 0) any = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
#pragma unroll
  for (int r = 0; r < EACH; r++)
#pragma unroll
    for (int c = 0; c < EACH; c++) {
      int i = i0 + ty + SIDE * r, j = j0 + tx + SIDE * c;
#ifdef FILTER
      sums[r][c] = emptyFilter();
      if (i < M && j < N && open[(long)i * N + j] != 0) any = 1;
#else
      sums[r][c].sum = i < M && j < N ? gridOf(rowSizes[2 * i], colSizes[2 * j], K, &bound) : 1.5;
      sums[r][c].rest = 0.0;
#endif
    }
#ifdef FILTER
  barrier(CLK_LOCAL_MEM_FENCE);
  if (any == 0) return;
#endif
  A += aOffset + i0 * aRow;
  B += bOffset + j0 * bCol;
  Part ours = partOf(l, aCol == 1), theirs = partOf(l, bRow == 1);
  double nextA[PASSES], nextB[PASSES];
  fetch(nextA, ours, A, aRow, aCol, M - i0, K);
  fetch(nextB, theirs, B, bCol, bRow, N - j0, K);
  for (int k = 0, turn = 0; k < K; k += DEEP, turn ^= 1) {
    keep(nextA, ours, a[turn]);
    keep(nextB, theirs, b[turn]);
    barrier(CLK_LOCAL_MEM_FENCE);
    A += DEEP * aCol;
    B += DEEP * bRow;
    fetch(nextA, ours, A, aRow, aCol, M - i0, K - k - DEEP);
    fetch(nextB, theirs, B, bCol, bRow, N - j0, K - k - DEEP);
#pragma unroll 4
    for (int d = 0; d < DEEP; d++) {
      double x[EACH], y[EACH];
#pragma unroll
      for (int r = 0; r < EACH; r++) x[r] = a[turn][d][ty + SIDE * r];
#pragma unroll
      for (int c = 0; c < EACH; c++) y[c] = b[turn][d][tx + SIDE * c];
#pragma unroll
      for (int r = 0; r < EACH; r++)
#pragma unroll
        for (int c = 0; c < EACH; c++) addTo(&sums[r][c], x[r], y[c]);
    }
  }
#pragma unroll
  for (int r = 0; r < EACH; r++)
#pragma unroll
    for (int c = 0; c < EACH; c++) {
      int i = i0 + ty + SIDE * r, j = j0 + tx + SIDE * c;
      if (i >= M || j >= N) continue;
      long e = (long)i * N + j;
      double high = sums[r][c].sum, low = sums[r][c].rest;
#ifdef FILTER
      if (open[e] == 0) continue;
      bool exactly = BINARY32 || errorsAreExact(rowSizes[2 * i + 1], colSizes[2 * j + 1]);
      bound = boundOf(sums[r][c], K, exactly);
#else
      high -= gridOf(rowSizes[2 * i], colSizes[2 * j], K, &bound);
#endif
      __global REAL *to = C + cOffset + i * cRow + j * cCol;
      double v = certifiedCombination(high, low, bound, alpha, beta, beta == 0 ? 0.0 : *to);
      open[e] = settled(v, to, (uint)e, list) ? 0 : 1;
    }
}
#endif

#ifdef DIGITS
double signOf(double v) { return v > 0 ? 1.0 : v < 0 ? -1.0 : v; }

// Terms of one entry, exactly. With an alpha that is not finite their signs and zeros are all that counts.
void addTermOf(double *a, __local long *acc, double alpha, double x, double y) {
  if (!isFinite(alpha)) addSpecial(acc, alpha * signOf(x) * signOf(y));
  else accumulate(a, acc, x, alpha == -1 ? -y : y);
}

// Entries of the list from `from` on, a work-group each, through expansions into STRIDE accumulators and then into one. An alpha
// of 1, -1 or one that is not finite is in the terms already, and the entry is finished here. For others the host does it: it
// gets the digits, the counters, and the old entry, RECORD numbers in all.
#define RECORD (ACCUMULATOR + 1)
__kernel void exactEntries(__global const uint *list, int from, __global const REAL *A, long aOffset, long aRow, long aCol,
                           __global const REAL *B, long bOffset, long bRow, long bCol, __global REAL *C, long cOffset, long cRow,
                           long cCol, int N, int K, double alpha, double beta, __global double *records) {
  __local long acc[ACCUMULATOR * STRIDE];
  int l = get_local_id(0), size = get_local_size(0), at = get_group_id(0);
  uint e = list[1 + from + at], i = e / N, j = e % N;
  for (int k = l; k < ACCUMULATOR * STRIDE; k += size) acc[k] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  A += aOffset + i * aRow;
  B += bOffset + j * bCol;
  double a[COMPONENTS + 1];
  for (int k = 0; k < COMPONENTS; k++) a[k] = 0.0;
  for (int k = l; k < K; k += size) addTermOf(a, acc + l % STRIDE, alpha, A[k * aCol], B[k * bRow]);
  for (int k = 0; k < COMPONENTS; k++) spill(acc + l % STRIDE, a[k]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = l; k < ACCUMULATOR; k += size)
    for (int c = 1; c < STRIDE; c++) acc[k * STRIDE] += acc[k * STRIDE + c];
  barrier(CLK_LOCAL_MEM_FENCE);
  __global REAL *to = C + cOffset + i * cRow + j * cCol;
  if (fabs(alpha) == 1 || !isFinite(alpha)) {
    if (l != 0) return;
    if (beta != 0) addProduct(acc, beta, *to);
    put(to, rounded(acc));
    return;
  }
  if (l == 0) carry(acc);
  barrier(CLK_LOCAL_MEM_FENCE);
  records += (long)at * RECORD;
  for (int k = l; k < ACCUMULATOR; k += size) records[k] = (double)acc[k * STRIDE];
  if (l == 0) records[ACCUMULATOR] = beta == 0 ? 0.0 : *to;
}

// Entries of the list from `from` on, as the host made them.
__kernel void putListed(__global const uint *list, int from, int count, __global const double *values, __global REAL *C, long cOffset,
                        long cRow, long cCol, int N) {
  int at = get_global_id(0);
  if (at >= count) return;
  uint e = list[1 + from + at];
  put(C + cOffset + (e / N) * cRow + (e % N) * cCol, values[at]);
}
#endif
