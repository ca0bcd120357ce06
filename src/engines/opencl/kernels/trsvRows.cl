// Rows of a triangle times the unknowns that are known, and those that are coming, by groups of work-items: what a substitution
// and its residual have in common. Unknowns are numbered in the order of substitution, so that every triangle is a lower one
// with steps of either sign.
//
// BLOCK: rows of a block (32 on NVIDIA). SLOTS: work-items a row. BY_ROWS: rows of T are contiguous, else columns are.
// DEPTH: blocks of columns whose entries are asked for together.
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
#define WIDTH (BLOCK / SLOTS) // of the share of a work-item in BLOCK columns (or rows)
#define PITCH (BLOCK + 1)     // against conflicts of banks
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

// A place that exists, instead of j: loads without a branch around each can be on their way together.
int within(int j, int end) { return max(min(j, end - 1), 0); }

// `count` unknowns from j on, as far as they are before `end`; they are asked for together, so that they cost one latency.
INLINED bool askFor(Waiting way, ulong *bits, int j, int count, int end) {
  ulong largest = 0;
#pragma unroll
  for (int c = 0; c < count; c++) {
    ulong v = way.published[within(j + c, end)];
    bits[c] = j + c < end ? v : 0;
    largest = max(largest, bits[c]);
  }
  return largest == OPEN;
}
INLINED void await(Waiting way, ulong *bits, int j, int count, int end, int distance) {
  for (int spin = 0; askFor(way, bits, j, count, end); spin++) {
    if (spin >= way.spins || *way.failed) {
      *way.failed = 1;
      return;
    }
    pauseFor(distance);
  }
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

// A work-item's share of row i in BLOCK columns: WIDTH entries side by side.
INLINED void loadShare(double *t, Triangle A, int i, int j, int end) {
#pragma unroll
  for (int c = 0; c < WIDTH; c++) {
    double v = entryOf(A, i, within(j + c, end));
    t[c] = j + c < end ? v : 0.0;
  }
}
INLINED void subtractShare(Filter *f, Waiting way, const double *t, int j, int end) {
  ulong bits[WIDTH];
  await(way, bits, j, WIDTH, end, 0);
#pragma unroll
  for (int c = 0; c < WIDTH; c++) {
    subtractProduct(f, t[c], as_double(bits[c]));
    f->least = leastOf(f->least, as_double(bits[c]));
  }
}

// Far from the diagonal block, DEPTH blocks of columns at a time, the next of them on their way: memory is what counts there.
#if BY_ROWS
// Entries of WIDTH rows in one column of BLOCK. `rows` of the block exist.
INLINED void loadColumns(double *t, ulong *bits, Triangle A, Waiting way, int i, int rows, int first, int j, int end) {
#pragma unroll
  for (int d = 0; d < DEPTH; d++) {
    int k = j + d * BLOCK;
#pragma unroll
    for (int c = 0; c < WIDTH; c++) {
      double v = entryOf(A, i + min(first + c, rows - 1), within(k, end));
      t[d * WIDTH + c] = k < end ? v : 0.0;
    }
    askFor(way, bits + d, k, 1, end);
  }
}
HOT void subtractColumns(Filters part, Triangle A, Waiting way, int i, int rows, int slot, int lane, int end) {
  Filter f[WIDTH];
  double t[DEPTH * WIDTH], next[DEPTH * WIDTH];
  ulong bits[DEPTH], coming[DEPTH];
  uint least = 0xffffffffu;
#pragma unroll
  for (int c = 0; c < WIDTH; c++) f[c] = emptyFilter();
  loadColumns(next, coming, A, way, i, rows, slot * WIDTH, lane, end);
  for (int j = lane; j < end; j += DEPTH * BLOCK) {
#pragma unroll
    for (int k = 0; k < DEPTH * WIDTH; k++) t[k] = next[k];
#pragma unroll
    for (int d = 0; d < DEPTH; d++) bits[d] = coming[d];
    loadColumns(next, coming, A, way, i, rows, slot * WIDTH, j + DEPTH * BLOCK, end);
#pragma unroll
    for (int d = 0; d < DEPTH; d++) {
      if (bits[d] == OPEN) await(way, bits + d, j + d * BLOCK, 1, end, i - j);
      double x = as_double(bits[d]);
      least = leastOf(least, x);
#pragma unroll
      for (int c = 0; c < WIDTH; c++) subtractProduct(&f[c], t[d * WIDTH + c], x);
    }
  }
#pragma unroll
  for (int c = 0; c < WIDTH; c++) {
    f[c].least = min(f[c].least, least);
    keep(part, (slot * WIDTH + c) * PITCH + lane, f[c]);
  }
}
#define PARTS (BLOCK * PITCH)
#else
INLINED void loadShares(double *t, ulong *bits, Triangle A, Waiting way, int i, int j, int end) {
#pragma unroll
  for (int d = 0; d < DEPTH; d++) {
    loadShare(t + d * WIDTH, A, i, j + d * BLOCK, end);
    askFor(way, bits + d * WIDTH, j + d * BLOCK, WIDTH, end);
  }
}
HOT void subtractShares(Filter *f, Triangle A, Waiting way, int i, int slot, int end) {
  double t[DEPTH * WIDTH], next[DEPTH * WIDTH];
  ulong bits[DEPTH * WIDTH], coming[DEPTH * WIDTH];
  loadShares(next, coming, A, way, i, slot * WIDTH, end);
  for (int j = slot * WIDTH; j < end; j += DEPTH * BLOCK) {
#pragma unroll
    for (int k = 0; k < DEPTH * WIDTH; k++) {
      t[k] = next[k];
      bits[k] = coming[k];
    }
    loadShares(next, coming, A, way, i, j + DEPTH * BLOCK, end);
#pragma unroll
    for (int d = 0; d < DEPTH; d++) {
      int first = j + d * BLOCK;
      ulong largest = 0;
#pragma unroll
      for (int c = 0; c < WIDTH; c++) largest = max(largest, bits[d * WIDTH + c]);
      if (largest == OPEN) await(way, bits + d * WIDTH, first, WIDTH, end, end - first);
#pragma unroll
      for (int c = 0; c < WIDTH; c++) {
        double x = as_double(bits[d * WIDTH + c]);
        subtractProduct(f, t[d * WIDTH + c], x);
        f->least = leastOf(f->least, x);
      }
    }
  }
}
#define PARTS GROUP
#endif

// The share of a work-item in the terms of row i, those with unknowns before the block and those with the first `count` of it.
APART void depositShare(__local long *acc, Triangle A, Waiting way, __local const double *row, __local const double *own, int count,
                                            int i, int before) {
  int l = get_local_id(0);
  for (int j = l; j < before + count; j += GROUP)
    addProduct(acc, j < before ? -entryOf(A, i, j) : -row[j - before], j < before ? as_double(way.published[j]) : own[j - before]);
}
APART double entryOfSum(__local long *acc, double b, int kind, double d) {
  addNumber(acc, b);
  return exactEntry(acc, kind, d);
}

// The entry that is made of b - these terms, for work-item 0. All work-items of a group.
double exactRow(__local long *acc, Triangle A, Waiting way, __local const double *row, __local const double *own, int count, int i,
                int before, double b, int kind, double d) {
  int l = get_local_id(0);
  for (int k = l; k < ACCUMULATOR; k += GROUP) acc[k] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  depositShare(acc, A, way, row, own, count, i, before);
  barrier(CLK_LOCAL_MEM_FENCE);
  return l == 0 ? entryOfSum(acc, b, kind, d) : 0.0;
}

// The diagonal block in local memory, ones on the diagonal where T has them, and zeros where there is nothing.
void loadDiagonal(__local double *D, Triangle A, int begin, int rows, int unit) {
  for (int e = get_local_id(0); e < BLOCK * BLOCK; e += GROUP) {
    int i = BY_ROWS ? e / BLOCK : e % BLOCK, j = BY_ROWS ? e % BLOCK : e / BLOCK;
    double t = i == j ? 1.0 : 0.0;
    if (i < rows && (unit ? j < i : j <= i)) t = entryOf(A, begin + i, begin + j);
    D[i * PITCH + j] = t;
  }
}

// Row `lane` of the block times the candidates, the share of one of SLOTS work-items; with the diagonal if that is asked for.
Filter blockShare(__local const double *D, __local const double *c, int lane, int slot, int diagonal) {
  Filter f = emptyFilter();
#pragma unroll
  for (int k = 0; k < WIDTH; k++) {
    int j = slot * WIDTH + k;
    if (j < lane + diagonal) {
      subtractProduct(&f, D[lane * PITCH + j], c[j]);
      f.least = leastOf(f.least, c[j]);
    }
  }
  return f;
}

// What the work-items of a row have.
Filter merged(Filters part, int lane) {
  Filter f = kept(part, lane);
#pragma unroll
  for (int s = 1; s < SLOTS; s++) addFilter(&f, kept(part, s * BLOCK + lane));
  return f;
}

// Everything before the block, in shares of (lane, slot). The entries that come last are asked for first.
INLINED void subtractBefore(Filter *f, Filters part, Triangle A, Waiting way, int begin, int rows, int lane, int slot) {
  int row = begin + min(lane, rows - 1), near = max(begin - BLOCK, 0);
  double t[WIDTH];
  loadShare(t, A, row, near + slot * WIDTH, begin);
#if BY_ROWS
  subtractColumns(part, A, way, begin, rows, slot, lane, near);
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (int c = 0; c < WIDTH; c++) addFilter(f, kept(part, lane * PITCH + slot * WIDTH + c));
  barrier(CLK_LOCAL_MEM_FENCE);
#else
  subtractShares(f, A, way, row, slot, near);
#endif
  subtractShare(f, way, t, near + slot * WIDTH, begin);
}

#define LOCALS                                                                        \
  __local double D[BLOCK * PITCH], c[BLOCK], slots[BLOCK], sums[PARTS], rests[PARTS], sizes[PARTS]; \
  __local long acc[ACCUMULATOR];                                                      \
  volatile __local int failed;                                                          \
  Filters part = {sums, rests, sizes};                                                \
  Triangle A = {T, place};                                                            \
  Waiting way = {published, spins, &failed};                                          \
  int l = get_local_id(0), lane = l % BLOCK, slot = l / BLOCK

// Additions that a filter of a row has seen at most: its products, b, and those of merging.
#define ADDITIONS(begin) ((begin) + 4.0 * BLOCK + 16.0)

