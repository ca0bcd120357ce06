// Rows of a triangle times the unknowns, known or still to come, by work-groups: common to substitution (trsv.cl) and its residual
// (trsvResidual.cl). Unknowns are numbered in the order of substitution, so every triangle is lower, with strides of either sign.
//
// BLOCK: rows of a block. SLOTS: work-items per row. BY_ROWS: rows of T are contiguous, otherwise columns. DEPTH: iterations whose
// entries are loaded together, with BY_ROWS. All are powers of two.
#define NOT_INLINED __attribute__((noinline))
#define INLINED __attribute__((always_inline))
// In hot loops arguments must stay in registers; PoCL, which turns the code between two barriers into a loop over work-items, would
// compile inlined functions for many seconds.
#ifdef NVIDIA
#define HOT INLINED
#else
#define HOT NOT_INLINED
#endif
#define GROUP (BLOCK * SLOTS)
#define WIDTH (BLOCK / SLOTS) // columns of a work-item among BLOCK: every SLOTS-th
// A lower triangle in local memory, packed by rows. For 2^k consecutive i the numbers i (i + 1) / 2 are all different modulo 2^k, and
// so they are for every other i: work-items that read a column use different banks.
#define AT(i, j) ((i) * ((i) + 1) / 2 + (j))
#define TRIANGLE AT(BLOCK, 0)
// The row and the slot of a work-item: neighbours read adjacent elements.
#if BY_ROWS
#define ROW_OF(l) ((l) / SLOTS)
#define SLOT_OF(l) ((l) % SLOTS)
#else
#define ROW_OF(l) ((l) % BLOCK)
#define SLOT_OF(l) ((l) / BLOCK)
#endif

// The triangle: entry (i, j) is at place.x + i place.y + j place.z.
typedef struct {
  __global const REAL *T;
  long4 place;
} Triangle;
double entryOf(Triangle A, int i, int j) { return A.T[A.place.x + i * A.place.y + j * A.place.z]; }

// The element of unknown k in a vector, counted from its first or from its last element.
#define ELEMENT(k) (start + (k) * step)

// Short loops are unrolled here and below, so that their arrays are in registers.

// For waits: the unknowns, the number of looks after which a wait is abandoned, and whether one was.
typedef struct {
  volatile __global const ulong *published;
  int spins;
  volatile __local int *failed;
} Waiting;

// Groups far from their turn poll less, to leave memory bandwidth to the next ones. A block takes microseconds: they are not late.
void pauseFor(int distance) {
#ifdef NVIDIA
  if (distance > 3 * BLOCK) asm volatile("nanosleep.u32 %0;" ::"r"(min(distance * 8, 4000)));
#endif
}

// Wait for unknown j; `bits` is its last known value. Unknowns before the first are 0.
INLINED ulong await(Waiting way, ulong bits, int j, int distance) {
  for (int spin = 0; bits == UNKNOWN; spin++) {
    if (spin >= way.spins || *way.failed) {
      *way.failed = 1;
      break;
    }
    pauseFor(distance);
    bits = way.published[j];
  }
  return bits;
}

// A filter in local memory, without `minWord`: if an error term of a product may have been rounded, its size is increased instead.
// 2^-960 adds 2 n U 2^-960 > n 2^-1074 to the bound of n terms.
typedef struct {
  __local double *sum, *rest, *size;
} Filters;
void storeFilter(Filters at, int k, Filter f) {
  at.sum[k] = f.sum;
  at.rest[k] = f.rest;
  at.size[k] = errorsAreExact(f.minWord, f.minWord) ? f.size : f.size + 0x1p-960;
}
Filter loadFilter(Filters at, int k) {
  Filter f = {at.sum[k], at.rest[k], at.size[k], 0xffffffffu};
  return f;
}

void subtractProduct(Filter *f, double t, double x) {
  addProductTerm(f, -t, x);
  f->minWord = minWordOf(f->minWord, t);
}

// From BLOCK columns, the first of which may be before column 0: the entries of a work-item in its row, and the unknown of work-item l.
INLINED void loadBlock(double *t, ulong *bits, Triangle A, Waiting way, int i, int slot, int first) {
#pragma unroll
  for (int c = 0; c < WIDTH; c++) {
    int j = first + slot + c * SLOTS;
    double v = entryOf(A, i, max(j, 0));
    t[c] = j < 0 ? 0.0 : v;
  }
  int j = first + (int)get_local_id(0);
  *bits = j >= 0 && get_local_id(0) < BLOCK ? way.published[j] : 0;
}
// One work-item waits for each unknown, all others for these work-items: few loads.
INLINED void subtractBlock(Filter *f, __local double *known, const double *t, ulong bits, Waiting way, int slot, int first, int distance) {
  int l = get_local_id(0);
  if (l < BLOCK) known[l] = as_double(await(way, bits, first + l, distance));
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (int c = 0; c < WIDTH; c++) {
    double x = known[slot + c * SLOTS];
    subtractProduct(f, t[c], x);
    f->minWord = minWordOf(f->minWord, x);
  }
}

#if BY_ROWS
// Far from the diagonal block, a work-item has one of COLUMNS columns and TALL rows: DEPTH such iterations at a time, while the next
// are loaded. Memory bandwidth is the limit there.
#define COLUMNS (GROUP < 32 ? GROUP : 32)
#define TALL (COLUMNS / SLOTS)
INLINED void loadColumns(double *t, ulong *bits, Triangle A, Waiting way, int i, int rows, int first, int j, int end) {
#pragma unroll
  for (int d = 0; d < DEPTH; d++) {
    int k = j + d * COLUMNS, at = max(min(k, end - 1), 0);
#pragma unroll
    for (int c = 0; c < TALL; c++) {
      double v = entryOf(A, i + min(first + c, rows - 1), at);
      t[d * TALL + c] = k < end ? v : 0.0;
    }
    ulong x = way.published[at];
    bits[d] = k < end ? x : 0;
  }
}
// The sums are then redistributed to (row, slot): `part` takes one row of each work-item at a time.
INLINED void subtractColumns(Filter *mine, Filters part, Triangle A, Waiting way, int i, int rows, int end) {
  int l = get_local_id(0), column = l % COLUMNS, first = l / COLUMNS * TALL;
  Filter f[TALL];
  double t[DEPTH * TALL], next[DEPTH * TALL];
  ulong bits[DEPTH], coming[DEPTH];
  uint minWord = 0xffffffffu;
#pragma unroll
  for (int c = 0; c < TALL; c++) f[c] = emptyFilter();
  loadColumns(next, coming, A, way, i, rows, first, column, end);
  for (int j = column; j < end; j += DEPTH * COLUMNS) {
#pragma unroll
    for (int k = 0; k < DEPTH * TALL; k++) t[k] = next[k];
#pragma unroll
    for (int d = 0; d < DEPTH; d++) bits[d] = coming[d];
    loadColumns(next, coming, A, way, i, rows, first, j + DEPTH * COLUMNS, end);
#pragma unroll
    for (int d = 0; d < DEPTH; d++) {
      int k = j + d * COLUMNS;
      double x = as_double(await(way, bits[d], k, i - k));
      minWord = minWordOf(minWord, x);
#pragma unroll
      for (int c = 0; c < TALL; c++) subtractProduct(&f[c], t[d * TALL + c], x);
    }
  }
  int row = ROW_OF(l), from = row / TALL * COLUMNS + SLOT_OF(l) * TALL;
#ifdef NVIDIA
#pragma unroll
#endif
  for (int c = 0; c < TALL; c++) {
    f[c].minWord = min(f[c].minWord, minWord);
    storeFilter(part, l, f[c]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (row % TALL == c)
      for (int k = 0; k < TALL; k++) addFilter(mine, loadFilter(part, from + k));
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
#endif

// Subtract everything before the block, by (row, slot). `known` has room for the unknowns of two blocks.
INLINED void subtractBefore(Filter *f, Filters part, __local double *known, Triangle A, Waiting way, int begin, int rows) {
  int l = get_local_id(0), slot = SLOT_OF(l), i = begin + min(ROW_OF(l), rows - 1);
  ulong bits;
  double t[WIDTH];
#if BY_ROWS
  int near = begin - BLOCK;
  subtractColumns(f, part, A, way, begin, rows, near);
  loadBlock(t, &bits, A, way, i, slot, near);
  subtractBlock(f, known, t, bits, way, slot, near, 0);
#else
  ulong coming;
  double next[WIDTH];
  int blocks = (begin + BLOCK - 1) / BLOCK, first = begin - blocks * BLOCK;
  loadBlock(next, &coming, A, way, i, slot, first);
  for (int k = 0; k < blocks; k++, first += BLOCK) {
#pragma unroll
    for (int c = 0; c < WIDTH; c++) t[c] = next[c];
    bits = coming;
    if (k + 1 < blocks) loadBlock(next, &coming, A, way, i, slot, first + BLOCK);
    subtractBlock(f, known + k % 2 * BLOCK, t, bits, way, slot, first, begin - first - BLOCK);
  }
#endif
}

// Add the share of a work-item in the terms of row i to the accumulator: those with unknowns before the block, and with the first
// `count` of the block.
NOT_INLINED void depositShare(__local long *acc, Triangle A, Waiting way, __local const double *row, __local const double *own, int count,
                        int i, int before, int l) {
  for (int j = l; j < before + count; j += GROUP)
    addProduct(acc, j < before ? -entryOf(A, i, j) : -row[j - before], j < before ? as_double(way.published[j]) : own[j - before]);
}
// The same by all work-items, if `wanted`: if a barrier is in one branch only, PoCL lets work-item 0 through twice. One work-item then
// calls entryOfSum.
INLINED void depositRow(bool wanted, __local long *acc, Triangle A, Waiting way, __local const double *row, __local const double *own,
                        int count, int i, int before) {
  int l = get_local_id(0);
  if (wanted)
    for (int k = l; k < ACCUMULATOR; k += GROUP) acc[k] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (wanted) depositShare(acc, A, way, row, own, count, i, before, l);
  barrier(CLK_LOCAL_MEM_FENCE);
}
NOT_INLINED double entryOfSum(__local long *acc, double b, int kind, double d) {
  addNumber(acc, b);
  return exactEntry(acc, kind, d);
}

// The diagonal block in local memory, with ones on the diagonal if T is unit, and in rows past the end.
void loadDiagonal(__local double *D, Triangle A, int begin, int rows, int unit) {
  for (int e = get_local_id(0); e < BLOCK * BLOCK; e += GROUP) {
    int i = BY_ROWS ? e / BLOCK : e % BLOCK, j = BY_ROWS ? e % BLOCK : e / BLOCK;
    if (j > i) continue;
    bool there = i < rows && (unit ? j < i : true);
    D[AT(i, j)] = there ? entryOf(A, begin + i, begin + j) : i == j ? 1.0 : 0.0;
  }
}

// The share of a slot in a row of the block times `c`, with the diagonal if `diagonal` is 1. Entries outside are zeros, so that all loads
// are issued at once.
Filter blockShare(__local const double *D, __local const double *c, int row, int slot, int diagonal) {
  Filter f = emptyFilter();
#pragma unroll
  for (int k = 0; k < WIDTH; k++) {
    int j = slot + k * SLOTS;
    double v = D[AT(row, min(j, row))], t = j < row + diagonal ? v : 0.0;
    subtractProduct(&f, t, c[j]);
    f.minWord = minWordOf(f.minWord, c[j]);
  }
  return f;
}

// Store the share of (row, slot), and add the shares of a row.
void storeShare(Filters part, Filter f) {
  int l = get_local_id(0);
  storeFilter(part, SLOT_OF(l) * BLOCK + ROW_OF(l), f);
}
Filter merged(Filters part, int row) {
  Filter f = loadFilter(part, row);
#pragma unroll
  for (int s = 1; s < SLOTS; s++) addFilter(&f, loadFilter(part, s * BLOCK + row));
  return f;
}

#define LOCALS                                                                       \
  __local double D[TRIANGLE], c[BLOCK], slots[BLOCK], known[2 * BLOCK], sums[GROUP], rests[GROUP], sizes[GROUP]; \
  volatile __local int failed;                                                       \
  Filters part = {sums, rests, sizes};                                               \
  Triangle A = {T, place};                                                           \
  Waiting way = {published, spins, &failed};                                         \
  int l = get_local_id(0), row = ROW_OF(l), slot = SLOT_OF(l)

// The maximum number of additions to the filter of a row: its products, b, and the merges.
#define ADDITIONS(begin) ((begin) + 8.0 * BLOCK + 16.0)
