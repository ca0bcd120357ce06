// y := alpha A x + beta y, one rounding an entry.

// RN(alpha s + beta y) for the s within `bound` of high + low, or NaN. What beta = 0 multiplies is given as 0.
//   p + ep = alpha high, b + eb = beta y and s + es = p + b, so that es + ep + eb + alpha low is all that s leaves. Its last
//   product rounds once and its three additions once each, where no partial sum exceeds |es| + |ep| + |eb| + |a| by more
//   than a few U: less than 4 U of that in all. What underflows, ep, eb and a, loses 2^-1075 each; none of them does where
//   factors are 1 or what they multiply is 0, so that exact zeros of such combinations are proved.
__attribute__((noinline)) double certifiedCombination(double high, double low, double bound, double alpha, double beta, double y) {
  if (alpha == 1 && beta == 0) return certified(high, low, bound);
  double p = alpha * high, ep = fma(alpha, high, -p), a = alpha * low;
  double b = beta * y, eb = fma(beta, y, -b), s = p + b, es = twoSumError(p, b, s);
  bool whole = (fabs(alpha) == 1 || (high == 0 && low == 0 && bound == 0)) && (fabs(beta) == 1 || y == 0);
  double more = 4 * U * (fabs(es) + fabs(ep) + fabs(eb) + fabs(a)) + (whole ? 0.0 : TINY);
  return certified(s, ((es + ep) + eb) + a, fabs(alpha) * bound * MORE + more);
}

// Store an entry that is proved, and put one that is not on the list, behind its length: it keeps what it was.
bool settled(double v, __global REAL *to, uint entry, volatile __global uint *list) {
  if (v == v) put(to, v);
  else list[1 + atomic_inc(list)] = entry;
  return v == v;
}

// A work-group has ROW_LANES by COL_LANES work-items, the lanes along the memory next to each other. Each has ROWS_EACH rows,
// ROW_LANES apart, and every COL_LANES-th column of its group's, DEEP of them loaded at a time.
#ifdef ROW_LANES
#define GROUP (ROW_LANES * COL_LANES)
#define SLOTS (((COL_LANES + 1) / 2) * ROW_LANES)
#define PARTS 4 // 64-bit words of a partial sum

typedef struct {
  Filter rows[ROWS_EACH];
  uint leastA, leastX; // of all rows together
} Sums;

void addColumns(Sums *f, __global const REAL *const *A, long step, __global const REAL *x, long column, int count) {
  double t[DEEP], a[DEEP][ROWS_EACH];
#pragma unroll
  for (int k = 0; k < count; k++) {
    t[k] = x[column + k * COL_LANES];
#pragma unroll
    for (int r = 0; r < ROWS_EACH; r++) a[k][r] = A[r][(column + k * COL_LANES) * step];
  }
#pragma unroll
  for (int k = 0; k < count; k++) {
    if (!BINARY32) f->leastX = leastOf(f->leastX, t[k]);
#pragma unroll
    for (int r = 0; r < ROWS_EACH; r++) {
      if (BINARY32) addTerm(&f->rows[r], a[k][r] * t[k]);
      else {
        f->leastA = leastOf(f->leastA, a[k][r]);
        addProductTerm(&f->rows[r], a[k][r], t[k]);
      }
    }
  }
}

// The bound of a sum of so many products: `depth` additions to each of the rests that were added up, two more for each time.
double boundOfProducts(Filter f, double depth, double products, uint leastA, uint leastX) {
  return boundOf(f, depth, true) + (BINARY32 || errorsAreExact(leastA, leastX) ? 0.0 : products * 0x1p-1074);
}

// Rows by blocks of ROW_LANES * ROWS_EACH (dimension 0), columns by chunks of `length` (dimension 1). With one chunk
// entries are finished here, else their sums are left in `partials`: word p of row i in chunk c is (c PARTS + p) rows + i.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void gemv(
    __global const REAL *A, long offset, long rowStep, long colStep, __global const REAL *x, int rows, int cols, int length,
    double alpha, double beta, __global REAL *y, int yOffset, double depth, __global ulong *partials, __global uint *list) {
  y += yOffset;
  __local double shared[3 * ROWS_EACH][SLOTS];
  __local uint leasts[2][SLOTS];
  int l = get_local_id(0), u = BY_ROWS ? l / COL_LANES : l % ROW_LANES, v = BY_ROWS ? l % COL_LANES : l / ROW_LANES;
  long step = BY_ROWS ? 1 : colStep, end = min((long)cols, (long)(get_group_id(1) + 1) * length);
  int first = get_group_id(0) * ROW_LANES * ROWS_EACH + u;
  __global const REAL *a[ROWS_EACH];
  Sums f;
  f.leastA = f.leastX = 0xffffffffu;
#pragma unroll
  for (int r = 0; r < ROWS_EACH; r++) {
    a[r] = A + offset + min(first + r * ROW_LANES, rows - 1) * rowStep; // one too many is read again, and not stored
    f.rows[r] = emptyFilter();
  }
  long j = (long)get_group_id(1) * length + v;
  for (; j + (DEEP - 1) * COL_LANES < end; j += DEEP * COL_LANES) addColumns(&f, a, step, x, j, DEEP);
  for (; j < end; j += COL_LANES) addColumns(&f, a, step, x, j, 1);

  for (int lanes = COL_LANES, kept; lanes > 1; lanes = kept) {
    kept = (lanes + 1) / 2;
    bool gives = v >= kept && v < lanes;
    int w = gives ? v - kept : v, slot = BY_ROWS ? u * ((COL_LANES + 1) / 2) + w : w * ROW_LANES + u;
    if (gives) {
#pragma unroll
      for (int r = 0; r < ROWS_EACH; r++) {
        shared[3 * r][slot] = f.rows[r].sum;
        shared[3 * r + 1][slot] = f.rows[r].rest;
        shared[3 * r + 2][slot] = f.rows[r].size;
      }
      leasts[0][slot] = f.leastA;
      leasts[1][slot] = f.leastX;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (v + kept < lanes) {
#pragma unroll
      for (int r = 0; r < ROWS_EACH; r++) {
        Filter g = {shared[3 * r][slot], shared[3 * r + 1][slot], shared[3 * r + 2][slot], 0xffffffffu};
        addFilter(&f.rows[r], g);
      }
      f.leastA = min(f.leastA, leasts[0][slot]);
      f.leastX = min(f.leastX, leasts[1][slot]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (v != 0) return;

  bool whole = get_num_groups(1) == 1;
  __global ulong *words = partials + (long)get_group_id(1) * PARTS * rows;
#pragma unroll
  for (int r = 0; r < ROWS_EACH; r++) {
    int i = first + r * ROW_LANES;
    if (i >= rows) continue;
    Filter g = f.rows[r];
    if (whole) {
      double bound = boundOfProducts(g, depth, cols, f.leastA, f.leastX);
      settled(certifiedCombination(g.sum, g.rest, bound, alpha, beta, beta == 0 ? 0.0 : y[i]), y + i, i, list);
    } else {
      words[i] = as_ulong(g.sum);
      words[(long)rows + i] = as_ulong(g.rest);
      words[2l * rows + i] = as_ulong(g.size);
      words[3l * rows + i] = (ulong)f.leastA << 32 | f.leastX;
    }
  }
}

// Entries from the partial sums of all chunks, a work-item each.
__kernel void gemvMerge(__global const ulong *partials, int rows, int cols, int chunks, double alpha, double beta, __global REAL *y,
                        int yOffset, double depth, __global uint *list) {
  int i = get_global_id(0);
  if (i >= rows) return;
  y += yOffset;
  Filter f = emptyFilter();
  uint leastA = 0xffffffffu, leastX = 0xffffffffu;
#pragma unroll 4
  for (int c = 0; c < chunks; c++) {
    __global const ulong *words = partials + (long)c * PARTS * rows + i;
    ulong leasts = words[3l * rows];
    Filter g = {as_double(words[0]), as_double(words[rows]), as_double(words[2l * rows]), 0xffffffffu};
    addFilter(&f, g);
    leastA = min(leastA, (uint)(leasts >> 32));
    leastX = min(leastX, (uint)leasts);
  }
  double bound = boundOfProducts(f, depth, cols, leastA, leastX);
  settled(certifiedCombination(f.sum, f.rest, bound, alpha, beta, beta == 0 ? 0.0 : y[i]), y + i, i, list);
}
#endif
