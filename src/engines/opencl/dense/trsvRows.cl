// Rows of a triangle times the unknowns that are known, and those that are coming, by groups of work-items: what a substitution
// and its residual have in common. Unknowns are numbered in the order of substitution, so that every triangle is a lower one
// with steps of either sign.
//
// BLOCK: rows of a block. SLOTS: work-items a row. BY_ROWS: rows of T are contiguous, else columns are. DEPTH: turns whose entries
// are asked for together, by rows. All are powers of two.
#define APART __attribute__((noinline))
#define INLINED __attribute__((always_inline))
// In a loop that counts arguments must stay in registers; PoCL, which puts everything between two barriers into a loop over
// the work-items, would compile them for many seconds.
#ifdef NVIDIA
#define HOT INLINED
#else
#define HOT APART
#endif
#define GROUP (BLOCK * SLOTS)
#define WIDTH (BLOCK / SLOTS) // columns of a work-item in BLOCK of them: every SLOTS-th
// A lower triangle in local memory, row after row. Numbers i (i + 1) / 2 of 2^k following i are all different modulo 2^k, also
// of every other i: work-items that read a column do not meet in a bank.
#define AT(i, j) ((i) * ((i) + 1) / 2 + (j))
#define TRIANGLE AT(BLOCK, 0)
// The row and the slot of a work-item, such that neighbours read what lies side by side.
#if BY_ROWS
#define ROW_OF(l) ((l) / SLOTS)
#define SLOT_OF(l) ((l) % SLOTS)
#else
#define ROW_OF(l) ((l) % BLOCK)
#define SLOT_OF(l) ((l) / BLOCK)
#endif
#define OPEN 0xfffffffffffffffful

// The triangle: entry (i, j) is at place.x + i place.y + j place.z.
typedef struct {
  __global const REAL *T;
  long4 place;
} Triangle;
double entryOf(Triangle A, int i, int j) { return A.T[A.place.x + i * A.place.y + j * A.place.z]; }

// Where unknown k is in a vector, from its first or from its last element on.
#define ELEMENT(k) (start + (k) * step)

// Here and below short loops are unrolled, so that their arrays are in registers.

// What waiting needs: the unknowns, how often they are asked for, and whether somebody gave up.
typedef struct {
  volatile __global const ulong *published;
  int spins;
  volatile __local int *failed;
} Waiting;

// Groups whose turn is far leave the memory to those who are next. A block takes microseconds: they come in time.
void pauseFor(int distance) {
#ifdef NVIDIA
  if (distance > 3 * BLOCK) asm volatile("nanosleep.u32 %0;" ::"r"(min(distance * 8, 4000)));
#endif
}

// Unknown j, where `bits` is what was there before; a number before the first is 0.
INLINED ulong await(Waiting way, ulong bits, int j, int distance) {
  for (int spin = 0; bits == OPEN; spin++) {
    if (spin >= way.spins || *way.failed) {
      *way.failed = 1;
      break;
    }
    pauseFor(distance);
    bits = way.published[j];
  }
  return bits;
}

// A filter in local memory, without `least`: where an error term of a product may have been rounded, its size takes the
// place of that. 2^-960 adds 2 n U 2^-960 > n 2^-1074 to the bound of n terms.
typedef struct {
  __local double *sum, *rest, *size;
} Filters;
void keep(Filters at, int k, Filter f) {
  at.sum[k] = f.sum;
  at.rest[k] = f.rest;
  at.size[k] = errorsAreExact(f.least, f.least) ? f.size : f.size + 0x1p-960;
}
Filter kept(Filters at, int k) {
  Filter f = {at.sum[k], at.rest[k], at.size[k], 0xffffffffu};
  return f;
}

void subtractProduct(Filter *f, double t, double x) {
  addProductTerm(f, -t, x);
  f->least = leastOf(f->least, t);
}

// BLOCK columns, of which some of the first may be before column 0: those of a work-item in its row, and the unknown of work-item l.
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
// A work-item an unknown waits for it, all others for them: that is easy on the memory.
INLINED void subtractBlock(Filter *f, __local double *known, const double *t, ulong bits, Waiting way, int slot, int first, int distance) {
  int l = get_local_id(0);
  if (l < BLOCK) known[l] = as_double(await(way, bits, first + l, distance));
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (int c = 0; c < WIDTH; c++) {
    double x = known[slot + c * SLOTS];
    subtractProduct(f, t[c], x);
    f->least = leastOf(f->least, x);
  }
}

#if BY_ROWS
// Far from the diagonal block, a work-item has one of COLUMNS columns and TALL rows: DEPTH such turns at a time, and the next of
// them on their way. Memory is what counts there.
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
// Row and slot get theirs: `part` takes a row of each work-item at a time.
INLINED void subtractColumns(Filter *mine, Filters part, Triangle A, Waiting way, int i, int rows, int end) {
  int l = get_local_id(0), column = l % COLUMNS, first = l / COLUMNS * TALL;
  Filter f[TALL];
  double t[DEPTH * TALL], next[DEPTH * TALL];
  ulong bits[DEPTH], coming[DEPTH];
  uint least = 0xffffffffu;
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
      least = leastOf(least, x);
#pragma unroll
      for (int c = 0; c < TALL; c++) subtractProduct(&f[c], t[d * TALL + c], x);
    }
  }
  int row = ROW_OF(l), from = row / TALL * COLUMNS + SLOT_OF(l) * TALL;
#ifdef NVIDIA
#pragma unroll
#endif
  for (int c = 0; c < TALL; c++) {
    f[c].least = min(f[c].least, least);
    keep(part, l, f[c]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (row % TALL == c)
      for (int k = 0; k < TALL; k++) addFilter(mine, kept(part, from + k));
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
#endif

// Everything before the block, in shares of (row, slot). `known` is room for unknowns of two blocks.
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

// The share of a work-item in the terms of row i, those with unknowns before the block and those with the first `count` of it.
APART void depositShare(__local long *acc, Triangle A, Waiting way, __local const double *row, __local const double *own, int count,
                        int i, int before, int l) {
  for (int j = l; j < before + count; j += GROUP)
    addProduct(acc, j < before ? -entryOf(A, i, j) : -row[j - before], j < before ? as_double(way.published[j]) : own[j - before]);
}
// Those of all work-items, if they are wanted: where a barrier is in one branch only, PoCL lets work-item 0 through twice. What is
// made of them is for one work-item, by entryOfSum.
INLINED void depositRow(bool wanted, __local long *acc, Triangle A, Waiting way, __local const double *row, __local const double *own,
                        int count, int i, int before) {
  int l = get_local_id(0);
  if (wanted)
    for (int k = l; k < ACCUMULATOR; k += GROUP) acc[k] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (wanted) depositShare(acc, A, way, row, own, count, i, before, l);
  barrier(CLK_LOCAL_MEM_FENCE);
}
APART double entryOfSum(__local long *acc, double b, int kind, double d) {
  addNumber(acc, b);
  return exactEntry(acc, kind, d);
}

// The diagonal block in local memory, ones on the diagonal where T has them or has no rows.
void loadDiagonal(__local double *D, Triangle A, int begin, int rows, int unit) {
  for (int e = get_local_id(0); e < BLOCK * BLOCK; e += GROUP) {
    int i = BY_ROWS ? e / BLOCK : e % BLOCK, j = BY_ROWS ? e % BLOCK : e / BLOCK;
    if (j > i) continue;
    bool there = i < rows && (unit ? j < i : true);
    D[AT(i, j)] = there ? entryOf(A, begin + i, begin + j) : i == j ? 1.0 : 0.0;
  }
}

// A row of the block times `c`, the share of a slot; with the diagonal if that is asked for. Zeros stand for what is not there, so
// that all loads are on their way at once.
Filter blockShare(__local const double *D, __local const double *c, int row, int slot, int diagonal) {
  Filter f = emptyFilter();
#pragma unroll
  for (int k = 0; k < WIDTH; k++) {
    int j = slot + k * SLOTS;
    double v = D[AT(row, min(j, row))], t = j < row + diagonal ? v : 0.0;
    subtractProduct(&f, t, c[j]);
    f.least = leastOf(f.least, c[j]);
  }
  return f;
}

// Shares of (row, slot), and what those of a row make.
void keepShare(Filters part, Filter f) {
  int l = get_local_id(0);
  keep(part, SLOT_OF(l) * BLOCK + ROW_OF(l), f);
}
Filter merged(Filters part, int row) {
  Filter f = kept(part, row);
#pragma unroll
  for (int s = 1; s < SLOTS; s++) addFilter(&f, kept(part, s * BLOCK + row));
  return f;
}

#define LOCALS                                                                       \
  __local double D[TRIANGLE], c[BLOCK], slots[BLOCK], known[2 * BLOCK], sums[GROUP], rests[GROUP], sizes[GROUP]; \
  volatile __local int failed;                                                       \
  Filters part = {sums, rests, sizes};                                               \
  Triangle A = {T, place};                                                           \
  Waiting way = {published, spins, &failed};                                         \
  int l = get_local_id(0), row = ROW_OF(l), slot = SLOT_OF(l)

// Additions that a filter of a row has seen at most: its products, b, and those of merging.
#define ADDITIONS(begin) ((begin) + 8.0 * BLOCK + 16.0)
