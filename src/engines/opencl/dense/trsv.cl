// Substitution, one kernel for the whole solve, launched by trsv.ts; see the triangular paper. Unknowns are numbered in the order of
// substitution, so every triangle is lower, with strides of either sign. Work-groups take blocks of BLOCK rows by an atomic counter.
// A group multiplies its rows by unknowns as they are published, then solves its diagonal block, and publishes what it has proved.
// An unknown that is not yet known is a bit pattern that no result has, so one load returns flag and value. A group waits only for
// blocks taken before its own.
//
// The diagonal block. With candidates c for its unknowns, the residuals R_k = b_k - (T c)_k, row k with all before it, are summed by
// all work-items in twice the precision. The differences to the candidates then need only ordinary precision:
//   x_k = RN(c_k + (R_k - sum of T_kj (x_j - c_j), j < k) / T_kk),
// which is a chain. The candidates come from an approximate inverse of the block, computed long before it is needed: multiplying by
// it takes no longer than a few steps of the chain. The first pass nearly always proves every x_k. If a pass does not prove the
// first open row, that row is computed in the superaccumulator. Only proved unknowns leave the block.
//
// For a single rounding the inverse is applied once more, to R: the candidates are then those of the exact solution of the block, and x_k
// differs from c_k only if the roundings of earlier unknowns matter to it. The chain has a step for each such difference, or, if there
// are many, for each unknown.
//
// KIND: how an entry is computed from the exact sum, see certificate.cl. BLOCK is 32 on NVIDIA: one warp computes the chain.

// On NVIDIA the lanes of a block are one warp, which needs no barrier; elsewhere the whole group takes part.
#ifdef NVIDIA
#define SYNCHRONIZE asm volatile("bar.warp.sync 0xffffffff;" ::: "memory")
#define BY_LANES if (l < BLOCK)
#else
#define SYNCHRONIZE barrier(CLK_LOCAL_MEM_FENCE)
#define BY_LANES
#endif

// The value of one lane, for all lanes.
INLINED double broadcast(double v, int lane, __local double *slot) {
#ifdef NVIDIA
  uint low, high;
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(low) : "r"((uint)as_ulong(v)), "r"(lane));
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(high) : "r"((uint)(as_ulong(v) >> 32)), "r"(lane));
  return as_double((ulong)high << 32 | low);
#else
  if (get_local_id(0) == lane) *slot = v;
  SYNCHRONIZE;
  return *slot;
#endif
}

// The first lane whose `flag` is set, or BLOCK. `found` is BLOCK before and after.
INLINED int firstOf(bool flag, __local int *found) {
#ifdef NVIDIA
  uint votes;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }" : "=r"(votes) : "r"((uint)flag));
  return votes == 0 ? BLOCK : 31 - (int)clz(votes & -votes);
#else
  if (flag) atomic_min(found, (int)get_local_id(0));
  SYNCHRONIZE;
  int lane = *found;
  SYNCHRONIZE;
  if (get_local_id(0) == 0) *found = BLOCK;
  SYNCHRONIZE;
  return lane;
#endif
}

// A row of the diagonal block: s / d for the sum s, which is high + rest; for a single rounding, high + rest is s - d c.
typedef struct {
  double high, rest; // high is 0 for a single rounding
  double size;       // the sum of magnitudes added to rest
  ulong moved;       // the union of the bits of the differences: all were 0 if no bit but the sign is set
  double c, d, reciprocal;
} Row;

// The likely value of the unknown.
double unknownOf(Row row) {
  if (KIND == SINGLE) return toReal(fma(row.rest, row.reciprocal, row.c));
  double s = toReal(row.high + row.rest), q = s * row.reciprocal;
  q = toReal(fma(fma(-q, row.d, s), row.reciprocal, q));
  return KIND == PAPER ? q : toReal(q + toReal(((row.high - s) + row.rest) * row.reciprocal));
}

void setResidual(Row *row, Filter f) {
  double h = f.sum + f.rest;
  row->high = KIND == SINGLE ? 0.0 : h;
  row->rest = KIND == SINGLE ? h : twoSumError(f.sum, f.rest, h);
  row->size = fabs(row->rest);
  row->moved = 0;
}

// Whether x is the unknown of its row, given the unknowns before it, and `moved` = x - c.
//
// row.rest took at most 2 BLOCK + 4 operations and the rounding of h: with size, the sum of all magnitudes in it, they lose less than
// ROUNDINGS U size (1 + 2^-20), and 2^-1075 each if they underflow. `bound` is what the filter may have lost. For a single
// rounding, s - d x = rest - d moved with one more operation, and x is nearest to s / d if |s - d x| < |d| gap / 2. With d gap / 2
// above 2^-960 (a product with a power of two, so exact) the underflows, below 2^-1068 together, are less than the margin of MORE.
// A zero is proved if nothing was ever rounded.
#define ROUNDINGS (2 * BLOCK + 12)
HOT bool isProved(Row row, Filter f, double bound, double x, double moved) {
  bool exact = (row.moved << 1) == 0 && f.size == 0;
  if (x - x != 0 || twoSumError(x, -row.c, moved) != 0) return false;
  if (x == 0) return exact && f.sum == 0 && row.c == 0;
  if (KIND != SINGLE) {
    double lost = exact ? 0.0 : ROUNDINGS * U * row.size * MORE + bound + TINY;
    return certifiedEntry(row.high, row.rest, lost, KIND, row.d) == x;
  }
  double w = fabs(fma(-row.d, moved, row.rest)), size = row.size + fabs(row.d * moved) + w;
  double half_gap = fabs(row.d) * (0.5 * fabs(gapOf(x)));
  return (w + (ROUNDINGS * U * size * MORE + bound)) * MORE < half_gap && half_gap > 0x1p-960 && half_gap < LARGE;
}

// A candidate must be finite: then a pass is at worst an ordinary solve.
double finiteOr0(double v) { return v - v == 0 ? v : 0.0; }

// The inverse of the block, in ordinary arithmetic, which is enough for candidates. The size of the diagonal blocks doubles each time,
//   (A 0; B C)^-1 = (A^-1 0; -C^-1 B A^-1 C^-1):
// B A^-1 by entries, and the product with -C^-1 by columns, from the bottom, in place.
INLINED void invert(__local const double *D, __local double *inverse) {
  int l = get_local_id(0);
  for (int i = l; i < BLOCK; i += GROUP) inverse[AT(i, i)] = 1.0 / D[AT(i, i)];
  for (int s = 1; s < BLOCK; s *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int e = l; e < BLOCK / 2 * s; e += GROUP) {
      int corner = e / (s * s) * 2 * s, i = corner + s + e / s % s, j = corner + e % s;
      double sum = 0.0;
      for (int k = j; k < corner + s; k++) sum = fma(D[AT(i, k)], inverse[AT(k, j)], sum);
      inverse[AT(i, j)] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int e = l; e < BLOCK / 2; e += GROUP) {
      int corner = e / s * 2 * s, j = corner + e % s;
      for (int i = corner + 2 * s - 1; i >= corner + s; i--) {
        double sum = 0.0;
        for (int k = corner + s; k <= i; k++) sum = fma(-inverse[AT(i, k)], inverse[AT(k, j)], sum);
        inverse[AT(i, j)] = sum;
      }
    }
  }
}

// The share of a slot in a row of the inverse times v.
double inverseShare(__local const double *inverse, __local const double *v, int row, int slot) {
  double share = 0.0;
#pragma unroll
  for (int k = 0; k < WIDTH; k++) {
    int j = slot + k * SLOTS;
    double t = inverse[AT(row, min(j, row))];
    share = fma(j <= row ? t : 0.0, finiteOr0(v[j]), share);
  }
  return share;
}

// The sum of the shares of a row.
double totalOf(__local const double *shares, int row) {
  double total = 0.0;
#pragma unroll
  for (int s = 0; s < SLOTS; s++) total += shares[s * BLOCK + row];
  return total;
}

// Unknown k differs from its candidate by m.
INLINED void move(Row *row, __local const double *D, int k, double m, int lane) {
  double v = D[AT(lane, min(k, lane))], t = k < lane ? v : 0.0;
  row->rest = fma(-t, m, row->rest);
  row->size = fma(fabs(t), fabs(m), row->size);
  row->moved |= k < lane ? as_ulong(m) : 0;
}

// The unknowns one after another: a lane uses its value of step k = lane. No branches: after its own step a row subtracts zeros. At first,
// `skips` times, to the next unknown that differs from its candidate: those before it are final. A skip takes as long as two steps.
INLINED void chain(Row *row, __local const double *D, __local double *slots, int lane, int skips, __local int *found) {
  int k = 0;
  for (; skips > 0 && k < BLOCK - 1; skips--, k++) {
    double m = unknownOf(*row) - row->c;
    k = firstOf(get_local_id(0) < BLOCK && lane >= k && m != 0, found);
    if (k < BLOCK - 1) move(row, D, k, broadcast(m, k, slots + k), lane);
  }
#ifdef NVIDIA
#pragma unroll 8
#endif
  for (; k < BLOCK - 1; k++) move(row, D, k, broadcast(unknownOf(*row) - row->c, k, slots + k), lane);
}
#define SKIPS (KIND == SINGLE ? 6 : 0)

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void trsv(__global const REAL *T, long4 place, __global const REAL *b,
    __global REAL *x, volatile __global ulong *published, volatile __global int *state, int from, int to,
    int start, int step, int unit, int spins, __local long *acc) {
  LOCALS;
  __local double inverse[TRIANGLE], change[BLOCK]; // change: residuals, then differences to the candidates before
  __local int ticket, found, proved;
  if (l == 0) {
    ticket = atomic_inc(state + TICKET);
    failed = state[FAILED] != 0 || state[SINGULAR] != 0;
    found = BLOCK;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (failed) return; // PoCL: between such a return and the next barrier, work-item 0 may do everything twice
  int begin = from + ticket * BLOCK, rows = min(BLOCK, to - begin);
  loadDiagonal(D, A, begin, rows, unit);
  barrier(CLK_LOCAL_MEM_FENCE);
  invert(D, inverse);
  barrier(CLK_LOCAL_MEM_FENCE);

  int lane = l % BLOCK;
  Row unknown;
  unknown.d = D[AT(lane, lane)];
  double reciprocal = inverse[AT(lane, lane)], right = lane < rows ? b[ELEMENT(begin + lane)] : 0.0;
  Filter f = emptyFilter();
  subtractBefore(&f, part, known, A, way, begin, rows);
  storeShare(part, f);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (failed) {
    if (l == 0) state[FAILED] = 1;
    return;
  }
  Filter before;
  BY_LANES {
    before = merged(part, lane);
    addTerm(&before, right);
    if (l < BLOCK) c[lane] = before.sum + before.rest;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  sums[slot * BLOCK + row] = inverseShare(inverse, c, row, slot);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l < BLOCK) c[l] = finiteOr0(toReal(totalOf(sums, l)));

  int done = 0; // unknowns of the block that are proved
  for (int pass = 0; done < rows; pass++) {
    barrier(CLK_LOCAL_MEM_FENCE);
    storeShare(part, blockShare(D, c, row, slot, KIND == SINGLE));
    barrier(CLK_LOCAL_MEM_FENCE);
    // Rows that are proved, or past the end, do not change.
    bool fixed = lane < done || lane >= rows;
    Filter sum;
    BY_LANES {
      sum = before;
      addFilter(&sum, merged(part, lane));
      setResidual(&unknown, sum);
      unknown.c = c[lane];
      unknown.reciprocal = reciprocal;
      if (fixed) unknown.high = unknown.rest = unknown.c = unknown.reciprocal = 0.0;
      if (KIND == SINGLE && l < BLOCK) change[lane] = unknown.rest;
    }
    if (KIND == SINGLE) {
      barrier(CLK_LOCAL_MEM_FENCE);
      sums[slot * BLOCK + row] = inverseShare(inverse, change, row, slot);
      barrier(CLK_LOCAL_MEM_FENCE);
      BY_LANES {
        double v = toReal(unknown.c + totalOf(sums, lane)), m = v - unknown.c;
        bool changes = !fixed && v - v == 0 && twoSumError(v, -unknown.c, m) == 0;
        if (changes) unknown.c = v;
        if (l < BLOCK) change[lane] = changes ? m : 0.0;
        unknown.moved = firstOf(l < BLOCK && changes && m != 0, &found) < BLOCK ? 2 : 0;
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      double share = 0.0, size = 0.0;
#pragma unroll
      for (int k = 0; k < WIDTH; k++) {
        int j = slot + k * SLOTS;
        double v = D[AT(row, min(j, row))], t = j <= row ? v : 0.0;
        share = fma(t, change[j], share);
        size = fma(fabs(t), fabs(change[j]), size);
      }
      sums[slot * BLOCK + row] = share;
      sizes[slot * BLOCK + row] = size;
      barrier(CLK_LOCAL_MEM_FENCE);
      BY_LANES {
        unknown.rest -= fixed ? 0.0 : totalOf(sums, lane);
        unknown.size += totalOf(sizes, lane);
      }
    }
    BY_LANES {
      chain(&unknown, D, slots, lane, SKIPS, &found);
      double v = unknownOf(unknown);
      bool isSure = fixed || isProved(unknown, sum, boundOf(sum, ADDITIONS(begin), true), v, v - unknown.c);
      int count = min(rows, firstOf(l < BLOCK && !isSure, &found));
      if (l < BLOCK && !fixed && lane < count) {
        published[begin + lane] = bitsOf(v + 0.0); // an exact zero has no sign
        put(x + ELEMENT(begin + lane), v + 0.0);
      }
      if (l < BLOCK && !fixed) c[lane] = finiteOr0(v);
      if (l == 0) proved = count;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    int now = proved;
    bool stuck = now == done && pass > 0;
    depositRow(stuck, acc, A, way, D + AT(done, 0), c, done, begin + done, begin);
    if (stuck && l == 0) {
      double exact = entryOfSum(acc, b[ELEMENT(begin + done)], KIND, D[AT(done, done)]);
      published[begin + done] = bitsOf(exact);
      put(x + ELEMENT(begin + done), exact);
      c[done] = exact;
    }
    done = stuck ? done + 1 : now;
  }
}
