// C := alpha A B + beta C, one rounding per entry. Launched by gemm.ts: `measure` for both operands, then `gemm`, first on grids (or the
// kernels of residues.cl instead), then with FILTER for the entries that are still open.

#ifdef TILE
// The lowest bit of a number that is not zero is 2^(this - 1075).
uint lowestBit(double x) {
  ulong bits = as_ulong(x), field = bits >> 52 & 0x7ff, significand = (bits & 0xffffffffffffful) | (field == 0 ? 0ul : 0x10000000000000ul);
  return significand == 0 ? 0xffffffffu : (uint)max(field, 1ul) + 63u - (uint)clz(significand & -significand);
}

// For each line, a row of A or a column of B with n entries: the largest high word, and the smallest as in minWordOf; and the lowest
// bit. `together` work-items share a line.
__kernel void measure(__global const REAL *M, long offset, long lineStep, long step, int lines, int n, int length, int together,
                      __global uint *sizes, __global uint *lowest) {
  int l = get_local_id(0), side = get_local_size(0) / together;
  int line = get_group_id(0) * side + (step == 1 ? l / together : l % side), lane = step == 1 ? l % together : l / side;
  if (line >= lines) return;
  M += offset + line * lineStep;
  uint maxWord = 0, minWord = 0xffffffffu, bit = 0xffffffffu;
  long end = min((long)n, (long)(get_group_id(1) + 1) * length);
  for (long k = (long)get_group_id(1) * length + lane; k < end; k += together) {
    uint word = minWordOf(0xffffffffu, M[k * step]);
    maxWord = max(maxWord, word + 1); // 0 for a zero
    minWord = min(minWord, word);
    bit = min(bit, lowestBit(M[k * step]));
  }
  atomic_max(sizes + 2 * line, maxWord);
  atomic_min(sizes + 2 * line + 1, minWord);
  atomic_min(lowest + line, bit);
}

// A sum on a grid: with G = 1.5 * 2^k, where 2^(k - 2) is above the sum of all magnitudes of products, `sum` starts at G and
// stays in [2^k, 2^(k + 1)), a multiple of g = 2^(k - 52). So t - sum is exact, and the rest of a product is at most g / 2 and
// rounds once: four operations per product, against twelve of a Filter, whose bound is sharper.
//   After i products |rest| <= i g / 2 (1 + 2^-21), for i < 2^31, and the error of its next addition is U times that; the rounding
//   of what is added errs by U g / 2 (at least 2^-1075: g >= 2^-952). In all less than U g n (n + 3) / 4 MORE.
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

// G for lines with these largest words, and the bound of the rest, if k <= 960; otherwise NaN. A number with this word is below
// 2^((word >> 20) - 1022), and the sum of n products is below 2^(32 - clz(n)) times both such powers.
double gridOf(uint a, uint b, int n, double *bound) {
  int k = (int)(a >> 20) + (int)(b >> 20) - 2044 + (32 - (int)clz((uint)n)) + 2;
  *bound = 0.0;
  if (k > 960 || a >= 0x7ff00000u || b >= 0x7ff00000u) return NOT_PROVED;
  k = max(k, -900);
  if (a != 0 && b != 0) *bound = as_double((ulong)(k - 105 + 1023) << 52) * (0.25 * n) * (n + 3.0) * MORE;
  return as_double((ulong)(k + 1023) << 52 | 0x8000000000000ul);
}

// A work-group computes a tile of TILE by TILE entries of C, a work-item ROWS_EACH by COLS_EACH of them, DEEP products at a time.
#define ROW_LANES (TILE / ROWS_EACH)
#define COL_LANES (TILE / COLS_EACH)
#define GROUP (ROW_LANES * COL_LANES)
#define PASSES (TILE * DEEP / GROUP)

// The part of TILE lines, DEEP entries each, that a work-item loads: neighbours load neighbouring elements.
typedef struct {
  int line, at, lineGap, gap; // the first element, and the distance to the next
  long next;
} Part;

Part partOf(int l, long lineStep, long step) {
  bool along = step == 1;
  Part p = {along ? l / DEEP : l % TILE, along ? l % DEEP : l / TILE, along ? GROUP / DEEP : 0, along ? 0 : GROUP / TILE, 0};
  p.next = p.lineGap * lineStep + p.gap * step;
  return p;
}

void fetch(double *v, Part p, __global const REAL *M, int lines, int n) {
#pragma unroll
  for (int i = 0; i < PASSES; i++) v[i] = p.line + i * p.lineGap < lines && p.at + i * p.gap < n ? (double)M[i * p.next] : 0.0;
}

void storeLocal(const double *v, Part p, __local double (*to)[TILE + 1]) {
#pragma unroll
  for (int i = 0; i < PASSES; i++) to[p.at + i * p.gap][p.line + i * p.lineGap] = v[i];
}

// A tile of C, which has M by N entries. `open` becomes 1 for an entry that is not proved; with FILTER only such entries are computed.
__kernel __attribute__((reqd_work_group_size(COL_LANES, ROW_LANES, 1))) void gemm(
    __global const REAL *A, long aOffset, long aRow, long aCol, __global const REAL *B, long bOffset, long bRow, long bCol,
    __global REAL *C, long cOffset, long cRow, long cCol, int M, int N, int K, double alpha, double beta,
    __global const uint *rowSizes, __global const uint *colSizes, int from, __global uchar *open, __global uint *list) {
  // Padded by one against bank conflicts. Two buffers each, one read while the other is written: one barrier is enough.
  __local double a[2][DEEP][TILE + 1], b[2][DEEP][TILE + 1];
  int tx = get_local_id(0), ty = get_local_id(1), l = ty * COL_LANES + tx;
  int i0 = get_group_id(1) * TILE, j0 = get_group_id(0) * TILE;
  rowSizes += 2 * from; // of the first row of this block
  Sum sums[ROWS_EACH][COLS_EACH];
  double bound;
#ifdef FILTER
  __local int any;
  if (l == 0) any = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
#pragma unroll
  for (int r = 0; r < ROWS_EACH; r++)
#pragma unroll
    for (int c = 0; c < COLS_EACH; c++) {
      int i = i0 + ty + ROW_LANES * r, j = j0 + tx + COL_LANES * c;
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
  Part ours = partOf(l, aRow, aCol), theirs = partOf(l, bCol, bRow);
  A += aOffset + (i0 + ours.line) * aRow + ours.at * aCol;
  B += bOffset + (j0 + theirs.line) * bCol + theirs.at * bRow;
  double nextA[PASSES], nextB[PASSES];
  fetch(nextA, ours, A, M - i0, K);
  fetch(nextB, theirs, B, N - j0, K);
  for (int k = 0, buffer = 0; k < K; k += DEEP, buffer ^= 1) {
    storeLocal(nextA, ours, a[buffer]);
    storeLocal(nextB, theirs, b[buffer]);
    barrier(CLK_LOCAL_MEM_FENCE);
    A += DEEP * aCol;
    B += DEEP * bRow;
    fetch(nextA, ours, A, M - i0, K - k - DEEP);
    fetch(nextB, theirs, B, N - j0, K - k - DEEP);
#pragma unroll 4
    for (int d = 0; d < DEEP; d++) {
      double x[ROWS_EACH], y[COLS_EACH];
#pragma unroll
      for (int r = 0; r < ROWS_EACH; r++) x[r] = a[buffer][d][ty + ROW_LANES * r];
#pragma unroll
      for (int c = 0; c < COLS_EACH; c++) y[c] = b[buffer][d][tx + COL_LANES * c];
#pragma unroll
      for (int r = 0; r < ROWS_EACH; r++)
#pragma unroll
        for (int c = 0; c < COLS_EACH; c++) addTo(&sums[r][c], x[r], y[c]);
    }
  }
#pragma unroll
  for (int r = 0; r < ROWS_EACH; r++)
#pragma unroll
    for (int c = 0; c < COLS_EACH; c++) {
      int i = i0 + ty + ROW_LANES * r, j = j0 + tx + COL_LANES * c;
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
