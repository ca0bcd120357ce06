// One pass over the terms of a sum, which leaves LEVELS numbers and a bound: the exact sum is that of the levels, but for
// the rounding errors of the last one. Every level but the last is added to with TwoSum and hands its errors to the next
// (Rump, Ogita and Oishi's SumK, with the last level's bound gathered on the way); the error term of a product enters at
// the second level. Two levels are the compensated sum; each more is good for another 53 bits of cancellation.
//
// Bound. Let t_j be what reaches the last level, D the most additions that any t_j goes through there, and `size` the
// computed sum of the |t_j|, which go through as many. Then the last level is off by at most ((1 + U)^D - 1) sum |t_j|, and
// size by as much: D U size (1 + 2^-20) covers it for D < 2^31. The host knows D. `size` is 0 if and only if all t_j are:
// then the levels are exact. An error term of a product that is not exact is off by less than 2^-1074; `least` knows.
#define SUM 0
#define ASUM 1
#define DOT 2
#define SQUARE 3
#define PRODUCTS (OP >= DOT)
// Products of binary32 numbers are exact.
#define ERRORS (PRODUCTS && !BINARY32)

// Loads are 16 bytes wide.
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define VECTOR JOIN(REAL, WIDTH)
// Element u of several such vectors.
#if WIDTH == 2
#define ELEMENT(v, u) ((u) % 2 ? (v)[(u) / 2].s1 : (v)[(u) / 2].s0)
#else
#define ELEMENT(v, u) ((u) % 4 < 2 ? ((u) % 2 ? (v)[(u) / 4].s1 : (v)[(u) / 4].s0) : ((u) % 2 ? (v)[(u) / 4].s3 : (v)[(u) / 4].s2))
#endif

// A record in memory: the levels, size, and least of both factors as numbers.
#define RECORD (LEVELS + 3)

// Seen by other work-groups after the counter is.
#ifdef NVIDIA
#define PUBLISH() asm volatile("membar.gl;" ::: "memory")
#else
#define PUBLISH() mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif

typedef struct {
  double level[LEVELS];
  double size;
  uint leastX, leastY;
} Cascade;

void clearCascade(Cascade *c) {
#pragma unroll
  for (int k = 0; k < LEVELS; k++) c->level[k] = 0.0;
  c->size = 0.0;
  c->leastX = c->leastY = 0xffffffffu;
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

void addLeast(Cascade *c, double x, double y) {
  if (!ERRORS) return;
  c->leastX = leastOf(c->leastX, x);
  if (OP == DOT) c->leastY = leastOf(c->leastY, y);
}

void addElements(Cascade *c, double x, double y) {
  double p = termOf(x, y);
  addAt(c, 0, p);
  if (!ERRORS) return;
  addAt(c, 1, fma(x, y, -p));
  addLeast(c, x, y);
}

void addVectors(Cascade *c, VECTOR x, VECTOR y) {
  addElements(c, x.s0, y.s0);
  addElements(c, x.s1, y.s1);
#if WIDTH == 4
  addElements(c, x.s2, y.s2);
  addElements(c, x.s3, y.s3);
#endif
}

// The sum of both: LEVELS additions to the last level.
void addCascade(Cascade *c, const Cascade *d) {
#pragma unroll
  for (int k = 0; k < LEVELS - 1; k++) addAt(c, k, d->level[k]);
  c->level[LEVELS - 1] += d->level[LEVELS - 1];
  c->size += d->size;
  c->leastX = min(c->leastX, d->leastX);
  c->leastY = min(c->leastY, d->leastY);
}

// The sum of all work-items of the group, in the first. The second half of them lay theirs down for the first.
void gather(Cascade *c, __local double *pool) {
  int me = get_local_id(0), n = get_local_size(0), pitch = (n + 1) / 2;
  while (n > 1) {
    int half_ = (n + 1) / 2;
    if (me >= half_ && me < n) {
      __local double *to = pool + (me - half_);
#pragma unroll
      for (int k = 0; k < LEVELS; k++) to[k * pitch] = c->level[k];
      to[LEVELS * pitch] = c->size;
      to[(LEVELS + 1) * pitch] = c->leastX;
      to[(LEVELS + 2) * pitch] = c->leastY;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me < n - half_) {
      Cascade d;
#pragma unroll
      for (int k = 0; k < LEVELS; k++) d.level[k] = pool[me + k * pitch];
      d.size = pool[me + LEVELS * pitch];
      d.leastX = (uint)pool[me + (LEVELS + 1) * pitch];
      d.leastY = (uint)pool[me + (LEVELS + 2) * pitch];
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
  to[LEVELS + 1] = c->leastX;
  to[LEVELS + 2] = c->leastY;
}

#ifdef GRIDS
// The same levels with three operations for TwoSum's six: every level but the last is kept in a binade of its own, above
// all that is added to it (extraction against a power of two, as in the WebAssembly engine's ladder). With s in
// [2^K, 2^(K+1)) and t = RN(s + x) there too, t - s is exact, and so is the rest x - (t - s), at most 2^(K-53).
// A block is at most BLOCK = 2^ROOM pairs, all products below 2^E: so are the sums of level 0 below 2^(K-1) if
// K = E + ROOM + 1 and it starts from 1.5 * 2^K. Each next level takes two rests a pair of at most 2^(K-53) (the error term
// of a product is less), and stays within its half binade if its own K is STEP = 51 - ROOM less.
// At the end of a block, or when a larger term comes, the levels are added to a cascade in local memory. What reached the
// last one, m terms of at most h = 2^(K-53) for the last K, counts with m h in `size`.
#define ROOM 7
#define BLOCK (1 << ROOM)
#define STEP (51 - ROOM)
#define HEADROOM 4
// At 2^LOWEST_E the last level's rests are still doubles: LOWEST_E + ROOM + 1 - 3 STEP - 53 > -1074.
#define LOWEST_E (-860)

double powerOfTwo(int k) { return as_double((ulong)(k + 1023) << 52); }

typedef struct {
  double s[LEVELS - 1];
  double last;
  ulong seen; // all bits that reached the last level
  uint limit; // of the high words of |products|, doubled
  int room;   // pairs until the block ends
} Ladder;

void place(Ladder *l, int e) {
#pragma unroll
  for (int k = 0; k < LEVELS - 1; k++) l->s[k] = 1.5 * powerOfTwo(e + ROOM + 1 - k * STEP);
  l->last = 0.0;
  l->seen = 0;
  l->limit = ((uint)(e + 1023) << 21) - 1;
  l->room = BLOCK;
}

// Add the levels to the cascade of this work-item, and go on above products of which `top` is the largest. Those that are
// too large, or not finite, make its size NaN: nothing is known then.
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
#endif

uint doubledWord(double p) { return (uint)(as_ulong(p) >> 32) << 1; }

// The n elements of x from `fromX` on and of y from `fromY` on, multiples of WIDTH. `memory` is a counter, which is 0 and is
// so again at the end, then records: that of the sum is number `at`, those of the groups begin with number `first`. The
// group that is through last adds them up.
__kernel void cascade(long fromX, long fromY, long n, const __global REAL *x, const __global REAL *y, __local double *pool,
                      volatile __global double *memory, int at, int first) {
  __local int last;
  Cascade c[ACCUMULATORS];
  for (int a = 0; a < ACCUMULATORS; a++) clearCascade(c + a);
  int me = get_local_id(0), groups = get_num_groups(0);
#ifdef GRIDS
  Ladder l;
  place(&l, LOWEST_E);
#pragma unroll
  for (int k = 0; k <= LEVELS; k++) pool[k * get_local_size(0) + me] = 0.0;
#endif
  volatile __global int *counter = (volatile __global int *)memory;
  volatile __global double *records = memory + 1 + first * RECORD;
  const __global VECTOR *px = (const __global VECTOR *)(x + fromX);
  const __global VECTOR *py = (const __global VECTOR *)(y + fromY);
  long vectors = n / WIDTH, items = get_global_size(0), i = get_global_id(0);
  for (; i + (UNROLL - 1) * items < vectors; i += UNROLL * items) {
    VECTOR a[UNROLL], b[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
      a[u] = px[i + u * items];
      b[u] = OP == DOT ? py[i + u * items] : a[u];
    }
#ifdef GRIDS
    double p[UNROLL * WIDTH];
    uint top = 0;
#pragma unroll
    for (int u = 0; u < UNROLL * WIDTH; u++) {
      p[u] = termOf(ELEMENT(a, u), ELEMENT(b, u));
      top = max(top, doubledWord(p[u]));
      addLeast(c, ELEMENT(a, u), ELEMENT(b, u));
    }
    if (top > l.limit || l.room < UNROLL * WIDTH) close(&l, pool + me, top);
    l.room -= UNROLL * WIDTH;
#pragma unroll
    for (int u = 0; u < UNROLL * WIDTH; u++) addLadder(&l, ELEMENT(a, u), ELEMENT(b, u), p[u]);
#else
#pragma unroll
    for (int u = 0; u < UNROLL; u++) addVectors(c + u % ACCUMULATORS, a[u], b[u]);
#endif
  }
#ifdef GRIDS
  close(&l, pool + me, 0);
#pragma unroll
  for (int k = 0; k < LEVELS; k++) c->level[k] = pool[k * get_local_size(0) + me];
  c->size = pool[LEVELS * get_local_size(0) + me];
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  for (; i < vectors; i += items) addVectors(c, px[i], OP == DOT ? py[i] : px[i]);
  for (i = vectors * WIDTH + get_global_id(0); i < n; i += items)
    addElements(c, x[fromX + i], OP == DOT ? y[fromY + i] : x[fromX + i]);
  for (int a = 1; a < ACCUMULATORS; a++) addCascade(c, c + a);

  gather(c, pool);
  if (me == 0) {
    writeRecord(records + get_group_id(0) * RECORD, c);
    PUBLISH();
    last = atomic_inc(counter) == groups - 1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (!last) return;
  PUBLISH();
  clearCascade(c);
  for (int g = me; g < groups; g += get_local_size(0)) {
    volatile __global double *record = records + g * RECORD;
    Cascade d;
#pragma unroll
    for (int k = 0; k < LEVELS; k++) d.level[k] = record[k];
    d.size = record[LEVELS];
    d.leastX = (uint)record[LEVELS + 1];
    d.leastY = (uint)record[LEVELS + 2];
    addCascade(c, &d);
  }
  gather(c, pool);
  if (me == 0) {
    writeRecord(memory + 1 + at * RECORD, c);
    if (ERRORS) memory[1 + at * RECORD + LEVELS + 1] = errorsAreExact(c->leastX, OP == DOT ? c->leastY : c->leastX);
    *counter = 0;
  }
}

// Set *flag if there is an element other than -0 among n.
__kernel void anyOther(long n, const __global REAL *x, __global int *flag) {
  bool other = false;
  for (long i = get_global_id(0); i < n && !other; i += get_global_size(0)) {
    double v = x[i];
    other = as_ulong(v) != 0x8000000000000000ul;
  }
  if (other) *flag = 1;
}
