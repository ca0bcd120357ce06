// y := alpha A x + beta y, one rounding per entry, launched by gemv.ts.

// A work-group has ROW_LANES by COL_LANES work-items; neighbours read contiguous elements. Each has ROWS_EACH rows, ROW_LANES apart,
// and every COL_LANES-th column of its group, or WIDE adjacent columns in place of each: 16 bytes, if rows are contiguous and
// the host knows that all of them are aligned. DEEP of these are loaded at a time.
#ifdef ROW_LANES
#define GROUP (ROW_LANES * COL_LANES)
#define SLOTS ((COL_LANES > 4 ? (COL_LANES + 1) / 2 : COL_LANES > 1 ? 2 : 1) * ROW_LANES)
#define PARTS 4 // 64-bit words of a partial sum

typedef struct {
  Filter rows[ROWS_EACH];
  uint minWordA, minWordX; // over all rows
} Sums;

typedef struct {
  double x[DEEP * WIDE], a[DEEP * WIDE][ROWS_EACH];
} Columns;

#if WIDE > 1
typedef VECTOR_OF(REAL, WIDE) Wide;
#else
typedef REAL Wide;
#endif
typedef union {
  Wide all;
  REAL each[WIDE];
} WideEntries;

// A is read once, but x by every group: on NVIDIA, entries of A bypass the L1 cache, so that x stays there.
WideEntries loadOnce(__global const REAL *from) {
  WideEntries e;
#if defined(NVIDIA) && WIDE == 2
  asm volatile("ld.global.L1::no_allocate.v2.f64 {%0, %1}, [%2];" : "=d"(e.each[0]), "=d"(e.each[1]) : "l"(from));
#elif defined(NVIDIA) && WIDE == 4
  asm volatile("ld.global.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(e.each[0]), "=f"(e.each[1]), "=f"(e.each[2]), "=f"(e.each[3])
               : "l"(from));
#else
  e.all = *(__global const Wide *)from;
#endif
  return e;
}

void fetch(Columns *c, __global const REAL *const *A, long step, __global const REAL *x, long column) {
#pragma unroll
  for (int k = 0; k < DEEP; k++) {
    long at = column + k * COL_LANES * WIDE;
    WideEntries e = {*(__global const Wide *)(x + at)};
#pragma unroll
    for (int w = 0; w < WIDE; w++) c->x[k * WIDE + w] = e.each[w];
#pragma unroll
    for (int r = 0; r < ROWS_EACH; r++) {
      e = loadOnce(A[r] + at * step);
#pragma unroll
      for (int w = 0; w < WIDE; w++) c->a[k * WIDE + w][r] = e.each[w];
    }
  }
}

void addColumn(Sums *f, const double *a, double x) {
  if (!BINARY32) f->minWordX = minWordOf(f->minWordX, x);
#pragma unroll
  for (int r = 0; r < ROWS_EACH; r++) {
    if (BINARY32) addTerm(&f->rows[r], a[r] * x);
    else {
      f->minWordA = minWordOf(f->minWordA, a[r]);
      addProductTerm(&f->rows[r], a[r], x);
    }
  }
}

// The sums of a work-item in local memory.
void storeSums(__local double (*shared)[SLOTS], __local uint (*minWords)[SLOTS], int slot, const Sums *f) {
#pragma unroll
  for (int r = 0; r < ROWS_EACH; r++) {
    shared[3 * r][slot] = f->rows[r].sum;
    shared[3 * r + 1][slot] = f->rows[r].rest;
    shared[3 * r + 2][slot] = f->rows[r].size;
  }
  minWords[0][slot] = f->minWordA;
  minWords[1][slot] = f->minWordX;
}
void addStored(Sums *f, const __local double (*shared)[SLOTS], const __local uint (*minWords)[SLOTS], int slot) {
#pragma unroll
  for (int r = 0; r < ROWS_EACH; r++) {
    Filter g = {shared[3 * r][slot], shared[3 * r + 1][slot], shared[3 * r + 2][slot], 0xffffffffu};
    addFilter(&f->rows[r], g);
  }
  f->minWordA = min(f->minWordA, minWords[0][slot]);
  f->minWordX = min(f->minWordX, minWords[1][slot]);
}

// The bound of a sum of products. `depth` is the number of additions to each partial rest, plus two for each merge.
double boundOfProducts(Filter f, double depth, double products, uint minWordA, uint minWordX) {
  return boundOf(f, depth, true) + (BINARY32 || errorsAreExact(minWordA, minWordX) ? 0.0 : products * 0x1p-1074);
}

// Blocks of ROW_LANES * ROWS_EACH rows (dimension 0) and chunks of `length` columns (dimension 1). With one chunk, entries are
// finished here; otherwise their sums go to `partials`: word p of row i in chunk c is (c PARTS + p) rows + i.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void gemv(
    __global const REAL *A, long offset, long rowStride, long colStride, __global const REAL *x, int rows, int cols, int length,
    double alpha, double beta, __global REAL *y, int yOffset, double depth, __global ulong *partials, __global uint *list) {
  y += yOffset;
  __local double shared[3 * ROWS_EACH][SLOTS];
  __local uint minWords[2][SLOTS];
  int l = get_local_id(0), u = BY_ROWS ? l / COL_LANES : l % ROW_LANES, v = BY_ROWS ? l % COL_LANES : l / ROW_LANES;
  long step = BY_ROWS ? 1 : colStride, end = min((long)cols, (long)(get_group_id(1) + 1) * length);
  int first = get_group_id(0) * ROW_LANES * ROWS_EACH + u;
  __global const REAL *a[ROWS_EACH];
  Sums f;
  f.minWordA = f.minWordX = 0xffffffffu;
#pragma unroll
  for (int r = 0; r < ROWS_EACH; r++) {
    a[r] = A + offset + min(first + r * ROW_LANES, rows - 1) * rowStride; // rows past the end are read as the last, and not stored
    f.rows[r] = emptyFilter();
  }
  // Columns are loaded one iteration before they are added.
  const int perIteration = DEEP * COL_LANES * WIDE, reach = perIteration - (COL_LANES - 1) * WIDE;
  long j = (long)get_group_id(1) * length + v * WIDE;
  bool more = j + reach <= end;
  Columns next;
  if (more) fetch(&next, a, step, x, j);
  while (more) {
    Columns c = next;
    j += perIteration;
    more = j + reach <= end;
    if (more) fetch(&next, a, step, x, j);
#pragma unroll
    for (int k = 0; k < DEEP * WIDE; k++) addColumn(&f, c.a[k], c.x[k]);
  }
  for (; j < end; j += COL_LANES * WIDE)
    for (long k = j; k < min(j + WIDE, end); k++) {
      double last[ROWS_EACH];
#pragma unroll
      for (int r = 0; r < ROWS_EACH; r++) last[r] = a[r][k * step];
      addColumn(&f, last, x[k]);
    }

  for (int lanes = COL_LANES, kept; lanes > 2; lanes = kept) {
    kept = (lanes + 1) / 2;
    bool gives = v >= kept && v < lanes;
    int w = gives ? v - kept : v, slot = BY_ROWS ? u * ((COL_LANES + 1) / 2) + w : w * ROW_LANES + u;
    if (gives) storeSums(shared, minWords, slot, &f);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (v + kept < lanes) addStored(&f, shared, minWords, slot);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  // Neighbours finish neighbouring rows: with a row every COL_LANES work-items, warps would be nearly empty.
  if (COL_LANES > 1) {
    if (v < 2) storeSums(shared, minWords, v * ROW_LANES + u, &f);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l >= ROW_LANES) return;
    f.minWordA = f.minWordX = 0xffffffffu;
#pragma unroll
    for (int r = 0; r < ROWS_EACH; r++) f.rows[r] = emptyFilter();
    addStored(&f, shared, minWords, l);
    addStored(&f, shared, minWords, ROW_LANES + l);
    first = get_group_id(0) * ROW_LANES * ROWS_EACH + l;
  }

  bool whole = get_num_groups(1) == 1;
  __global ulong *words = partials + (long)get_group_id(1) * PARTS * rows;
#pragma unroll
  for (int r = 0; r < ROWS_EACH; r++) {
    int i = first + r * ROW_LANES;
    if (i >= rows) continue;
    Filter g = f.rows[r];
    if (whole) {
      double bound = boundOfProducts(g, depth, cols, f.minWordA, f.minWordX);
      settled(certifiedCombination(g.sum, g.rest, bound, alpha, beta, beta == 0 ? 0.0 : y[i]), y + i, i, list);
    } else {
      words[i] = as_ulong(g.sum);
      words[(long)rows + i] = as_ulong(g.rest);
      words[2l * rows + i] = as_ulong(g.size);
      words[3l * rows + i] = (ulong)f.minWordA << 32 | f.minWordX;
    }
  }
}

// Entries from the partial sums of all chunks, one per work-item.
__kernel void gemvMerge(__global const ulong *partials, int rows, int cols, int chunks, double alpha, double beta, __global REAL *y,
                        int yOffset, double depth, __global uint *list) {
  int i = get_global_id(0);
  if (i >= rows) return;
  y += yOffset;
  Filter f = emptyFilter();
  uint minWordA = 0xffffffffu, minWordX = 0xffffffffu;
#pragma unroll 4
  for (int c = 0; c < chunks; c++) {
    __global const ulong *words = partials + (long)c * PARTS * rows + i;
    ulong minWords = words[3l * rows];
    Filter g = {as_double(words[0]), as_double(words[rows]), as_double(words[2l * rows]), 0xffffffffu};
    addFilter(&f, g);
    minWordA = min(minWordA, (uint)(minWords >> 32));
    minWordX = min(minWordX, (uint)minWords);
  }
  double bound = boundOfProducts(f, depth, cols, minWordA, minWordX);
  settled(certifiedCombination(f.sum, f.rest, bound, alpha, beta, beta == 0 ? 0.0 : y[i]), y + i, i, list);
}
#endif
