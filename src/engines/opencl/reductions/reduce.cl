// One pass over the terms of a sum, which leaves LEVELS numbers and a bound: the exact sum is that of the levels, but for
// the rounding errors of the last one. A work-item adds its terms to grids, a few operations each, and a block of them to a
// cascade; then the cascades of all work-items are added up. Each level is good for another 44 bits of cancellation.
//
// In a cascade every level but the last is added to with TwoSum and hands its errors to the next (Rump, Ogita and Oishi's
// SumK, with the last level's bound gathered on the way).
//
// Bound. Let t_j be what reaches the last level, D the most additions that any t_j goes through there, and `size` the
// computed sum of the |t_j|, or of more, which go through as many. Then the last level is off by at most
// ((1 + U)^D - 1) sum |t_j|, and size by as much: D U size (1 + 2^-20) covers it for D < 2^31. The host knows D. `size` is 0
// if and only if all t_j are: then the levels are exact. An error term of a product that is not exact is off by less than
// 2^-1074; `least` knows.
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
#if WIDTH == 2
#define SPREAD(v, u, from) ((v)[2 * (u)] = (from).s0, (v)[2 * (u) + 1] = (from).s1)
#else
#define SPREAD(v, u, from) \
  ((v)[4 * (u)] = (from).s0, (v)[4 * (u) + 1] = (from).s1, (v)[4 * (u) + 2] = (from).s2, (v)[4 * (u) + 3] = (from).s3)
#endif
// Elements that a work-item takes at a time.
#define TURN (UNROLL * WIDTH)

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

// The grids: every level but the last is kept in a binade of its own, above all that is added to it (extraction against a
// power of two, as in the WebAssembly engine's ladder), which takes three operations for TwoSum's six. With s in
// [2^K, 2^(K+1)) and t = RN(s + x) there too, t - s is exact, and so is the rest x - (t - s), at most 2^(K-53).
// A block is at most BLOCK = 2^ROOM terms, all below 2^E: so are the sums of level 0 within 2^(K-1) if K = E + ROOM + 1, and
// it starts from 1.5 * 2^K. Each next level takes two rests a term of at most 2^(K-53) (the error term of a product, which
// enters here, is less), and stays within its half binade if its own K is STEP = 51 - ROOM less.
// At the end of a block, or when a larger term comes, the levels are added to a cascade in local memory. What reached the
// last one, m terms of at most h = 2^(K-53) for the last K, counts with m h in `size`.
#define ROOM 7
#define BLOCK (1 << ROOM)
#define STEP (51 - ROOM)
#define HEADROOM 4
// At 2^LOWEST_E the last level's rests are still doubles: LOWEST_E + ROOM + 1 - 2 STEP - 53 > -1074 for 4 levels.
#define LOWEST_E (-860)

double powerOfTwo(int k) { return as_double((ulong)(k + 1023) << 52); }

typedef struct {
  double s[LEVELS - 1];
  double last;
  ulong seen; // all bits that reached the last level
  uint limit; // of the high words of |terms|, doubled
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

// Add the levels to the cascade of this work-item, and go on above terms of which `top` is the largest. Those that are
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

uint doubledWord(double p) { return (uint)(as_ulong(p) >> 32) << 1; }

// The terms of TURN elements of each operand.
void takeTurn(Cascade *c, Ladder *l, __local double *slot, const REAL *v, const REAL *w) {
  double p[TURN];
  uint top = 0;
#pragma unroll
  for (int u = 0; u < TURN; u++) {
    p[u] = termOf(v[u], w[u]);
    top = max(top, doubledWord(p[u]));
    addLeast(c, v[u], w[u]);
  }
  if (top > l->limit || l->room < TURN) close(l, slot, top);
  l->room -= TURN;
#pragma unroll
  for (int u = 0; u < TURN; u++) addLadder(l, v[u], w[u], p[u]);
}

// The n elements of x from `fromX` on and of y from `fromY` on, multiples of WIDTH. `memory` is a counter, which is 0 and is
// so again at the end, then records of the groups: the group that is through last adds them up, and leaves record number
// `at` of `sums`. The terms that the last turn lacks are zeros.
__kernel void cascade(long fromX, long fromY, long n, const __global REAL *x, const __global REAL *y, __local double *pool,
                      volatile __global double *memory, volatile __global double *sums, int at) {
  __local int last;
  int me = get_local_id(0), groups = get_num_groups(0);
  volatile __global int *counter = (volatile __global int *)memory;
  volatile __global double *records = memory + 1;
  __local double *slot = pool + me;
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
    REAL v[TURN], w[TURN];
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
      SPREAD(v, u, a[u]);
      SPREAD(w, u, b[u]);
    }
    takeTurn(&c, &l, slot, v, w);
  }
  // What is left is one turn at most; a branch in the loop would cost 2 to 3 % of the bandwidth of an H200.
  if (i * WIDTH < n) {
    REAL v[TURN], w[TURN];
#pragma unroll
    for (int u = 0; u < TURN; u++) {
      long j = (i + u / WIDTH * items) * WIDTH + u % WIDTH;
      v[u] = j < n ? x[j] : 0;
      w[u] = OP != DOT ? v[u] : j < n ? y[j] : 0;
    }
    takeTurn(&c, &l, slot, v, w);
  }
  close(&l, slot, 0);
#pragma unroll
  for (int k = 0; k < LEVELS; k++) c.level[k] = slot[k * get_local_size(0)];
  c.size = slot[LEVELS * get_local_size(0)];
  barrier(CLK_LOCAL_MEM_FENCE);

  gather(&c, pool);
  if (me == 0) {
    writeRecord(records + get_group_id(0) * RECORD, &c);
    PUBLISH();
    last = atomic_inc(counter) == groups - 1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (!last) return;
  PUBLISH();
  clearCascade(&c);
  for (int g = me; g < groups; g += get_local_size(0)) {
    volatile __global double *record = records + g * RECORD;
    Cascade d;
#pragma unroll
    for (int k = 0; k < LEVELS; k++) d.level[k] = record[k];
    d.size = record[LEVELS];
    d.leastX = (uint)record[LEVELS + 1];
    d.leastY = (uint)record[LEVELS + 2];
    addCascade(&c, &d);
  }
  gather(&c, pool);
  if (me == 0) {
    writeRecord(sums + at * RECORD, &c);
    if (ERRORS) sums[at * RECORD + LEVELS + 1] = errorsAreExact(c.leastX, OP == DOT ? c.leastY : c.leastX);
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
