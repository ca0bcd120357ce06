// The filter of reductions, launched by reduce.ts: one pass over the terms of a sum that yields LEVELS numbers and a bound. The exact
// sum is the sum of the levels, up to the rounding errors of the last one. A work-item adds its terms to grids, with a few
// operations per term, and each block of terms to a cascade; then the cascades of all work-items are added. Each level allows
// another 44 bits of cancellation.
//
// In a cascade all levels but the last are added to with TwoSum and pass their errors to the next (SumK of Rump, Ogita and Oishi,
// with a running bound of the last level).
//
// Bound. Let t_j be the terms that reach the last level, D the maximum number of additions that any t_j goes through there, and
// `size` the computed sum of the |t_j|, or of upper bounds of them, with as many additions. Then the error of the last level is at
// most ((1 + U)^D - 1) sum |t_j|, and so is that of size: D U size (1 + 2^-20) covers both for D < 2^31. The host knows D. `size` is
// 0 if and only if all t_j are 0: then the levels are exact. The error of a product's error term that is not exact is below
// 2^-1074; `minWordX` and `minWordY` tell whether there can be one.
#define SUM 0
#define ASUM 1
#define DOT 2
#define SQUARE 3
#define PRODUCTS (OP >= DOT)
// Products of binary32 numbers are exact.
#define ERRORS (PRODUCTS && !BINARY32)

// Loads are 16 bytes wide.
#define VECTOR VECTOR_OF(REAL, WIDTH)
#if WIDTH == 2
#define SPREAD(v, u, from) ((v)[2 * (u)] = (from).s0, (v)[2 * (u) + 1] = (from).s1)
#else
#define SPREAD(v, u, from) \
  ((v)[4 * (u)] = (from).s0, (v)[4 * (u) + 1] = (from).s1, (v)[4 * (u) + 2] = (from).s2, (v)[4 * (u) + 3] = (from).s3)
#endif
// Elements of a work-item per iteration.
#define PER_ITERATION (UNROLL * WIDTH)

// A record in memory: the levels, size, and the minimum words of both factors as numbers.
#define RECORD (LEVELS + 3)

typedef struct {
  double level[LEVELS];
  double size;
  uint minWordX, minWordY;
} Cascade;

void clearCascade(Cascade *c) {
#pragma unroll
  for (int k = 0; k < LEVELS; k++) c->level[k] = 0.0;
  c->size = 0.0;
  c->minWordX = c->minWordY = 0xffffffffu;
}

// Add t at this level.
void addAt(Cascade *c, int from, double t) {
#pragma unroll
  for (int k = from; k < LEVELS - 1; k++) {
    double s = c->level[k] + t;
    t = twoSumError(c->level[k], t, s);
    c->level[k] = s;
  }
  c->level[LEVELS - 1] += t;
  c->size += fabs(t);
}

double termOf(double x, double y) { return PRODUCTS ? x * y : OP == ASUM ? fabs(x) : x; }

void addMinWords(Cascade *c, double x, double y) {
  if (!ERRORS) return;
  c->minWordX = minWordOf(c->minWordX, x);
  if (OP == DOT) c->minWordY = minWordOf(c->minWordY, y);
}

// Add d to c: LEVELS additions to the last level.
void addCascade(Cascade *c, const Cascade *d) {
#pragma unroll
  for (int k = 0; k < LEVELS - 1; k++) addAt(c, k, d->level[k]);
  c->level[LEVELS - 1] += d->level[LEVELS - 1];
  c->size += d->size;
  c->minWordX = min(c->minWordX, d->minWordX);
  c->minWordY = min(c->minWordY, d->minWordY);
}

// The sum over the work-group, in its first work-item. In each step the second half passes its cascades to the first half.
void gather(Cascade *c, __local double *pool) {
  int id = get_local_id(0), n = get_local_size(0), pitch = (n + 1) / 2;
  while (n > 1) {
    int half_ = (n + 1) / 2;
    if (id >= half_ && id < n) {
      __local double *to = pool + (id - half_);
#pragma unroll
      for (int k = 0; k < LEVELS; k++) to[k * pitch] = c->level[k];
      to[LEVELS * pitch] = c->size;
      to[(LEVELS + 1) * pitch] = c->minWordX;
      to[(LEVELS + 2) * pitch] = c->minWordY;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id < n - half_) {
      Cascade d;
#pragma unroll
      for (int k = 0; k < LEVELS; k++) d.level[k] = pool[id + k * pitch];
      d.size = pool[id + LEVELS * pitch];
      d.minWordX = (uint)pool[id + (LEVELS + 1) * pitch];
      d.minWordY = (uint)pool[id + (LEVELS + 2) * pitch];
      addCascade(c, &d);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    n = half_;
  }
}

void writeRecord(volatile __global double *to, const Cascade *c) {
#pragma unroll
  for (int k = 0; k < LEVELS; k++) to[k] = c->level[k];
  to[LEVELS] = c->size;
  to[LEVELS + 1] = c->minWordX;
  to[LEVELS + 2] = c->minWordY;
}

// The grids: each level but the last stays in a binade above everything added to it (extraction against a power of two, as in the
// ladder of the WebAssembly engine), which takes three operations instead of TwoSum's six. With s in [2^K, 2^(K+1)) and
// t = RN(s + x) there too, t - s is exact, and so is the rest x - (t - s), at most 2^(K-53).
// A block has at most BLOCK = 2^ROOM terms, all below 2^E, so with K = E + ROOM + 1 the sums of level 0 stay within 2^(K-1) of
// 1.5 * 2^K, where it starts. Each further level takes two rests per term of at most 2^(K-53) (the error term of a product, which
// enters here, is smaller), and stays within its half binade if its own K is STEP = 51 - ROOM less.
// At the end of a block, or before a term that is too large, the levels are added to a cascade in local memory. The m terms that
// reached the last one, of at most h = 2^(K-53) for the last K, add m h to `size`.
#define ROOM 7
#define BLOCK (1 << ROOM)
#define STEP (51 - ROOM)
#define HEADROOM 4
// At 2^LOWEST_E the rests of the last level are still exact: LOWEST_E + ROOM + 1 - 2 STEP - 53 > -1074 for 4 levels.
#define LOWEST_E (-860)

double powerOfTwo(int k) { return as_double((ulong)(k + 1023) << 52); }

typedef struct {
  double s[LEVELS - 1];
  double last;
  ulong seen; // the union of all bits that reached the last level
  uint limit; // the largest high word of |terms| that fits, doubled
  int room;   // terms until the block ends
} Ladder;

void place(Ladder *l, int e) {
#pragma unroll
  for (int k = 0; k < LEVELS - 1; k++) l->s[k] = 1.5 * powerOfTwo(e + ROOM + 1 - k * STEP);
  l->last = 0.0;
  l->seen = 0;
  l->limit = ((uint)(e + 1023) << 21) - 1;
  l->room = BLOCK;
}

// Add the levels to the cascade of this work-item, and start again on grids above `top`, the largest of the next terms. Terms that are
// too large or not finite make its size NaN: then nothing is known.
void close(Ladder *l, __local double *slot, uint top) {
  int pitch = get_local_size(0);
  Cascade c;
#pragma unroll
  for (int k = 0; k < LEVELS; k++) c.level[k] = slot[k * pitch];
  c.size = slot[LEVELS * pitch];
  int e = (int)((l->limit + 1) >> 21) - 1023;
#pragma unroll
  for (int k = 0; k < LEVELS - 1; k++) addAt(&c, k, l->s[k] - 1.5 * powerOfTwo(e + ROOM + 1 - k * STEP));
  c.level[LEVELS - 1] += l->last;
  if ((l->seen << 1) != 0) c.size += (ERRORS ? 2 : 1) * (BLOCK - l->room) * powerOfTwo(e + ROOM + 1 - (LEVELS - 2) * STEP - 53);
  if (top > l->limit) e = (int)(top >> 21) - 1022 + HEADROOM;
  if (e > 1000) {
    c.size = NAN;
    e = 1000;
  }
#pragma unroll
  for (int k = 0; k < LEVELS; k++) slot[k * pitch] = c.level[k];
  slot[LEVELS * pitch] = c.size;
  place(l, e);
}

double ontoGrid(Ladder *l, int k, double x) {
  double t = l->s[k] + x, rest = x - (t - l->s[k]);
  l->s[k] = t;
  return rest;
}

void addLadder(Ladder *l, double x, double y, double p) {
  double r = ontoGrid(l, 0, p), e = ERRORS ? fma(x, y, -p) : 0.0;
#pragma unroll
  for (int k = 1; k < LEVELS - 1; k++) {
    r = ontoGrid(l, k, r);
    if (ERRORS) e = ontoGrid(l, k, e);
  }
  l->last += ERRORS ? r + e : r;
  l->seen |= as_ulong(r) | as_ulong(e);
}

uint doubledWord(double p) { return (uint)(as_ulong(p) >> 32) << 1; }

// Add the terms of PER_ITERATION elements of each operand.
void addElements(Cascade *c, Ladder *l, __local double *slot, const REAL *v, const REAL *w) {
  double p[PER_ITERATION];
  uint top = 0;
#pragma unroll
  for (int u = 0; u < PER_ITERATION; u++) {
    p[u] = termOf(v[u], w[u]);
    top = max(top, doubledWord(p[u]));
    addMinWords(c, v[u], w[u]);
  }
  if (top > l->limit || l->room < PER_ITERATION) close(l, slot, top);
  l->room -= PER_ITERATION;
#pragma unroll
  for (int u = 0; u < PER_ITERATION; u++) addLadder(l, v[u], w[u], p[u]);
}

// Add n elements of x from `fromX` and of y from `fromY`, multiples of WIDTH. `memory` has a counter, 0 before and after, and a
// record per work-group: the last group to finish adds them and writes record `at` of `sums`, or with FINISH completes a reduction of
// the iterative solvers (krylov/finish.cl). The last iteration is padded with zeros.
#ifdef FINISH
#define RESULT volatile __global double *state, double depth, int finish, int iteration, int sequence
#else
#define RESULT volatile __global double *sums, int at
#endif
__kernel void cascade(long fromX, long fromY, long n, const __global REAL *x, const __global REAL *y, __local double *pool,
                      volatile __global double *memory, RESULT) {
#ifdef FINISH
  if (!isRunning(state)) return;
#endif
  __local int last;
  int id = get_local_id(0), groups = get_num_groups(0);
  volatile __global int *counter = (volatile __global int *)memory;
  volatile __global double *records = memory + 1;
  __local double *slot = pool + id;
#pragma unroll
  for (int k = 0; k <= LEVELS; k++) slot[k * get_local_size(0)] = 0.0;
  Cascade c;
  clearCascade(&c);
  Ladder l;
  place(&l, LOWEST_E);
  x += fromX;
  y += fromY;
  const __global VECTOR *px = (const __global VECTOR *)x;
  const __global VECTOR *py = (const __global VECTOR *)y;
  long whole = n / WIDTH, items = get_global_size(0);
  long i = get_global_id(0);
  for (; i + (UNROLL - 1) * items < whole; i += UNROLL * items) {
    VECTOR a[UNROLL], b[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
      a[u] = px[i + u * items];
      b[u] = OP == DOT ? py[i + u * items] : a[u];
    }
    REAL v[PER_ITERATION], w[PER_ITERATION];
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
      SPREAD(v, u, a[u]);
      SPREAD(w, u, b[u]);
    }
    addElements(&c, &l, slot, v, w);
  }
  // At most one iteration is left; a branch in the loop would cost 2 to 3 % of the bandwidth of an H200.
  if (i * WIDTH < n) {
    REAL v[PER_ITERATION], w[PER_ITERATION];
#pragma unroll
    for (int u = 0; u < PER_ITERATION; u++) {
      long j = (i + u / WIDTH * items) * WIDTH + u % WIDTH;
      v[u] = j < n ? x[j] : 0;
      w[u] = OP != DOT ? v[u] : j < n ? y[j] : 0;
    }
    addElements(&c, &l, slot, v, w);
  }
  close(&l, slot, 0);
#pragma unroll
  for (int k = 0; k < LEVELS; k++) c.level[k] = slot[k * get_local_size(0)];
  c.size = slot[LEVELS * get_local_size(0)];
  barrier(CLK_LOCAL_MEM_FENCE);

  gather(&c, pool);
  if (id == 0) {
    writeRecord(records + get_group_id(0) * RECORD, &c);
    FENCE;
    last = atomic_inc(counter) == groups - 1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (!last) return;
  FENCE;
  clearCascade(&c);
  for (int g = id; g < groups; g += get_local_size(0)) {
    volatile __global double *record = records + g * RECORD;
    Cascade d;
#pragma unroll
    for (int k = 0; k < LEVELS; k++) d.level[k] = record[k];
    d.size = record[LEVELS];
    d.minWordX = (uint)record[LEVELS + 1];
    d.minWordY = (uint)record[LEVELS + 2];
    addCascade(&c, &d);
  }
  gather(&c, pool);
  if (id == 0) {
    bool exactly = !ERRORS || errorsAreExact(c.minWordX, OP == DOT ? c.minWordY : c.minWordX);
#ifdef FINISH
    double bound = c.size == 0 ? 0.0 : depth * U * c.size * MORE + 0x1p-1074;
    if (!exactly) bound += n * 0x1p-1074;
    double v = bound < LARGE ? provedSum(c.level, bound, OP == SQUARE) : NOT_PROVED;
    finishReduction(state, v, finish, iteration, sequence);
#else
    writeRecord(sums + at * RECORD, &c);
    if (ERRORS) sums[at * RECORD + LEVELS + 1] = exactly;
#endif
    *counter = 0;
  }
}

// Set *flag if one of the n elements is not -0.
__kernel void anyOther(long n, const __global REAL *x, __global int *flag) {
  bool other = false;
  for (long i = get_global_id(0); i < n && !other; i += get_global_size(0)) {
    double v = x[i];
    other = as_ulong(v) != 0x8000000000000000ul;
  }
  if (other) *flag = 1;
}
