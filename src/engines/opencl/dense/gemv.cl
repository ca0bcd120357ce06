// y := alpha A x + beta y, one rounding an entry.

// A work-group has ROW_LANES by COL_LANES work-items, the lanes along the memory next to each other. Each has ROWS_EACH rows,
// ROW_LANES apart, and every COL_LANES-th column of its group's, or WIDE columns next to each other for each: 16 bytes, where
// rows are together and the host knows that all of them are aligned. DEEP of these are loaded at a time.
#ifdef ROW_LANES
#define GROUP (ROW_LANES * COL_LANES)
#define SLOTS (((COL_LANES + 1) / 2) * ROW_LANES)
#define PARTS 4 // 64-bit words of a partial sum

typedef struct {
  Filter rows[ROWS_EACH];
  uint leastA, leastX; // of all rows together
} Sums;

typedef struct {
  double x[DEEP * WIDE], a[DEEP * WIDE][ROWS_EACH];
} Columns;

#if WIDE > 1
#define JOINED(type, n) type##n
#define VECTOR(type, n) JOINED(type, n)
typedef VECTOR(REAL, WIDE) Wide;
#else
typedef REAL Wide;
#endif
typedef union {
  Wide all;
  REAL each[WIDE];
} StridedMatrix;

// A is read once, but x by every group: on NVIDIA A's entries are kept from pushing x out of the nearest cache.
StridedMatrix loadOnce(__global const REAL *from) {
  StridedMatrix e;
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
    StridedMatrix e = {*(__global const Wide *)(x + at)};
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
  if (!BINARY32) f->leastX = leastOf(f->leastX, x);
#pragma unroll
  for (int r = 0; r < ROWS_EACH; r++) {
    if (BINARY32) addTerm(&f->rows[r], a[r] * x);
    else {
      f->leastA = leastOf(f->leastA, a[r]);
      addProductTerm(&f->rows[r], a[r], x);
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
    __global const REAL *A, long offset, long rowStride, long colStride, __global const REAL *x, int rows, int cols, int length,
    double alpha, double beta, __global REAL *y, int yOffset, double depth, __global ulong *partials, __global uint *list) {
  y += yOffset;
  __local double shared[3 * ROWS_EACH][SLOTS];
  __local uint leasts[2][SLOTS];
  int l = get_local_id(0), u = BY_ROWS ? l / COL_LANES : l % ROW_LANES, v = BY_ROWS ? l % COL_LANES : l / ROW_LANES;
  long step = BY_ROWS ? 1 : colStride, end = min((long)cols, (long)(get_group_id(1) + 1) * length);
  int first = get_group_id(0) * ROW_LANES * ROWS_EACH + u;
  __global const REAL *a[ROWS_EACH];
  Sums f;
  f.leastA = f.leastX = 0xffffffffu;
#pragma unroll
  for (int r = 0; r < ROWS_EACH; r++) {
    a[r] = A + offset + min(first + r * ROW_LANES, rows - 1) * rowStride; // one too many is read again, and not stored
    f.rows[r] = emptyFilter();
  }
  // What is added was loaded a turn before, and what comes is under way meanwhile.
  const int turn = DEEP * COL_LANES * WIDE, reach = turn - (COL_LANES - 1) * WIDE;
  long j = (long)get_group_id(1) * length + v * WIDE;
  bool more = j + reach <= end;
  Columns next;
  if (more) fetch(&next, a, step, x, j);
  while (more) {
    Columns c = next;
    j += turn;
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

// StridedMatrix from the partial sums of all chunks, a work-item each.
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
