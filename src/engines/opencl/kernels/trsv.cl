// Substitution, one kernel for the whole solve. Unknowns are numbered in the order of substitution, so that every
// triangle is a lower one with steps of either sign. Groups take blocks of BLOCK rows by an atomic counter. A group
// multiplies its rows with unknowns as they come, then solves its diagonal block, and publishes what it has proved.
// An unknown that is not there yet is a pattern of bits that no result has, so the flag and the value are one load, and
// a group waits for blocks taken before its own only.
//
// The diagonal block. With candidates c for its unknowns, the residuals R_k = b_k - (T c)_k, row k with all before it, are
// summed by all work-items in twice the precision. Differences to the candidates then need ordinary precision only:
//   x_k = RN(c_k + (R_k - sum of T_kj (x_j - c_j), j < k) / T_kk),
// three dependent operations and a broadcast an unknown. Or all rows do this at once, with the differences they had before,
// until nothing changes any more: a fixed point is the answer, and SETTLE rounds are tried before the chain. The first
// candidates come from an ordinary inverse of the block, made long before it is needed, and the first pass nearly always ends
// with every x_k proved. A pass in which the first row that is open stays open ends with that row in the superaccumulator.
// Only what is proved leaves the block.
//
// KIND: what is made of the exact sum. SETTLE: see above.
#define TICKET 0
#define FAILED 1
#define SINGULAR 2

// On NVIDIA the lanes of a block are a warp, which keeps in step by itself; elsewhere the whole group comes along.
#ifdef NVIDIA
#define IN_STEP asm volatile("bar.warp.sync 0xffffffff;" ::: "memory")
#define BY_LANES if (slot == 0)
#else
#define IN_STEP barrier(CLK_LOCAL_MEM_FENCE)
#define BY_LANES
#endif

// The value of one lane for all.
double broadcast(double v, int lane, __local double *slots) {
#ifdef NVIDIA
  uint low, high;
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(low) : "r"((uint)as_ulong(v)), "r"(lane));
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(high) : "r"((uint)(as_ulong(v) >> 32)), "r"(lane));
  return as_double((ulong)high << 32 | low);
#else
  if (get_local_id(0) == lane) slots[lane] = v;
  IN_STEP;
  return slots[lane];
#endif
}

// The first lane for which `flag` is set, or BLOCK. `found` is BLOCK before and after.
int firstOf(bool flag, __local int *found) {
#ifdef NVIDIA
  uint votes;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }" : "=r"(votes) : "r"((uint)flag));
  return votes == 0 ? BLOCK : 31 - (int)clz(votes & -votes);
#else
  if (flag) atomic_min(found, (int)get_local_id(0) % BLOCK);
  IN_STEP;
  int lane = *found;
  IN_STEP;
  if (get_local_id(0) == 0) *found = BLOCK;
  IN_STEP;
  return lane;
#endif
}

double toReal(double v) { return BINARY32 ? (double)(float)v : v; }

// A row of the diagonal block on the way to its unknown: s / d for the sum s, which is high + rest, or what is left of it
// with d c subtracted for a single rounding.
typedef struct {
  double high, rest; // high is 0 for a single rounding
  double size;       // of all that went into rest
  bool touched;      // something did
  double c, d, reciprocal;
  double weight; // the sum of the magnitudes before the diagonal
} Row;

// Right with high probability.
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
  row->touched = false;
}

// Unknown j of the block moved by m.
void follow(Row *row, double t, double m) {
  row->rest = fma(-t, m, row->rest);
  row->size = fma(fabs(t), fabs(m), row->size);
  row->touched |= m != 0;
}

// All at once, with the differences in `moves`, in four sums. The largest difference bounds what goes into them; its upper
// half and one more is not less.
void followAll(Row *row, __local const double *D, __local const double *moves, int lane) {
  double rest[4] = {0.0, 0.0, 0.0, 0.0};
  uint largest = 0;
#pragma unroll
  for (int j = 0; j < BLOCK - 1; j++) {
    double m = moves[j];
    rest[j & 3] = j < lane ? fma(-D[lane * PITCH + j], m, rest[j & 3]) : rest[j & 3];
    largest = max(largest, (uint)(as_ulong(m) >> 32) & 0x7fffffffu);
    row->touched |= m != 0;
  }
  row->rest += (rest[0] + rest[1]) + (rest[2] + rest[3]);
  row->size += row->weight * as_double((ulong)(largest + 1u) << 32);
}

// Distance of a number that is not zero to the one before it towards zero: no neighbour is nearer.
double gapOf(double x) {
  return BINARY32 ? (double)as_float(as_uint((float)x)) - (double)as_float(as_uint((float)x) - 1u) : x - as_double(as_ulong(x) - 1ul);
}

// Whether x is the unknown of its row, given that those before it are what they are, and `moved` = x - c.
//
// row.rest took at most BLOCK + 1 fused operations and the rounding of h: with size, the sum of all magnitudes in it, they
// lose less than (BLOCK + 8) U size (1 + 2^-20), and 2^-1075 each if they underflow. `bound` is what the filter may have lost.
// For a single rounding, s - d x = rest - d moved with one more operation, and x is nearest to s / d if
// |s - d x| < |d| gap / 2. With d gap / 2 above 2^-960 (a product with a power of two, so exact) the underflows, below
// 2^-1068 together, are less than what MORE leaves. A zero is proved if nothing was ever rounded.
HOT bool isProved(Row row, Filter f, double bound, double x, double moved) {
  bool exact = !row.touched && f.size == 0;
  if (x - x != 0 || twoSumError(x, -row.c, moved) != 0) return false;
  if (x == 0) return exact && f.sum == 0 && row.c == 0;
  if (KIND != SINGLE) {
    double lost = exact ? 0.0 : (BLOCK + 8) * U * row.size * MORE + bound + TINY;
    return certifiedEntry(row.high, row.rest, lost, KIND, row.d) == x;
  }
  double w = fabs(fma(-row.d, moved, row.rest)), size = row.size + fabs(row.d * moved) + w;
  double half_gap = fabs(row.d) * (0.5 * fabs(gapOf(x)));
  return (w + ((BLOCK + 8) * U * size * MORE + bound)) * MORE < half_gap && half_gap > 0x1p-960 && half_gap < LARGE;
}

// A candidate must be a number: then a pass is an ordinary solve at worst.
double finiteOr0(double v) { return v - v == 0 ? v : 0.0; }

// Column l of the inverse of the block, for work-item l < BLOCK: candidates need no more than ordinary arithmetic.
APART void invert(__local const double *D, __local const double *reciprocals, __local double *inverse, int l) {
  for (int i = 0; i < BLOCK; i++) {
    double sum = i == l ? 1.0 : 0.0;
    for (int j = l; j < i; j++) sum = fma(-D[i * PITCH + j], inverse[j * PITCH + l], sum);
    inverse[i * PITCH + l] = i < l ? 0.0 : sum * reciprocals[i];
  }
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void trsv(__global const REAL *T, long4 place, __global const REAL *b,
    __global REAL *x, volatile __global ulong *published, volatile __global int *state, int from, int to,
    int start, int step, int unit, int spins) {
  LOCALS;
  __local double inverse[BLOCK * PITCH];
  __local int ticket, found, proved;
  if (l == 0) {
    ticket = atomic_inc(state + TICKET);
    failed = state[FAILED] != 0 || state[SINGULAR] != 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (failed) return;
  int begin = from + ticket * BLOCK, rows = min(BLOCK, to - begin);
  loadDiagonal(D, A, begin, rows, unit);
  if (l == 0) found = BLOCK;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (slot == 0) slots[lane] = 1.0 / D[lane * PITCH + lane];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (slot == 0) invert(D, slots, inverse, lane);

  bool mine = slot == 0 && lane < rows;
  Row row;
  row.d = D[lane * PITCH + lane];
  row.reciprocal = slots[lane];
  row.weight = 0.0;
  for (int j = 0; j < lane; j++) row.weight += fabs(D[lane * PITCH + j]);
  Filter f = emptyFilter();
  addTerm(&f, mine ? (double)b[ELEMENT(begin + lane)] : 0.0);
  subtractBefore(&f, part, A, way, begin, rows, lane, slot);
  keep(part, l, f);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (failed) {
    if (l == 0) state[FAILED] = 1;
    return;
  }

  Filter before;
  if (slot == 0) {
    before = merged(part, lane);
    c[lane] = before.sum + before.rest;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  double candidate = 0.0;
#pragma unroll
  for (int k = 0; k < WIDTH; k++) {
    int j = slot * WIDTH + k;
    if (j <= lane) candidate = fma(inverse[lane * PITCH + j], c[j], candidate);
  }
  sums[l] = candidate;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (slot == 0) {
#pragma unroll
    for (int s = 1; s < SLOTS; s++) candidate += sums[s * BLOCK + lane];
    c[lane] = finiteOr0(toReal(candidate));
  }

  int done = 0; // so many unknowns of the block are proved
  for (int pass = 0; done < rows; pass++) {
    barrier(CLK_LOCAL_MEM_FENCE);
    f = blockShare(D, c, lane, slot, KIND == SINGLE);
    keep(part, l, f);
    barrier(CLK_LOCAL_MEM_FENCE);
    BY_LANES {
      row.c = c[lane];
      if (slot == 0) {
        f = before;
        addFilter(&f, merged(part, lane));
      }
      setResidual(&row, f);
      Row base = row;
      bool still = lane < done || lane >= rows;
      double moved = still ? 0.0 : unknownOf(row) - row.c;
      bool open = true;
      for (int round = 0; round < SETTLE && open; round++) {
        if (slot == 0) slots[lane] = moved;
        IN_STEP;
        row = base;
        followAll(&row, D, slots, lane);
        double now = still ? 0.0 : unknownOf(row) - row.c;
        open = firstOf(mine && now != moved, &found) < BLOCK;
        moved = now;
      }
      if (open) {
        row = base;
#ifdef NVIDIA
#pragma unroll 8
#endif
        for (int j = done; j < rows; j++) {
          double m = broadcast(unknownOf(row) - row.c, j, slots), t = D[lane * PITCH + j];
          if (j < lane) follow(&row, t, m);
        }
      }
      double v = lane < done ? row.c : unknownOf(row);
      bool sure = lane < done || isProved(row, f, boundOf(f, ADDITIONS(begin), true), v, v - row.c);
      int count = firstOf(mine && !sure, &found);
      if (mine && lane >= done && lane < count) {
        published[begin + lane] = bitsOf(v + 0.0); // an exact zero has no sign
        put(x + ELEMENT(begin + lane), v + 0.0);
      }
      if (slot == 0 && lane >= done) c[lane] = finiteOr0(v);
      if (l == 0) proved = min(count, rows);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    int now = proved;
    if (now == done && pass > 0) {
      double right = b[ELEMENT(begin + done)], d = D[done * PITCH + done];
      double exact = exactRow(acc, A, way, D + done * PITCH, c, done, begin + done, begin, right, KIND, d);
      if (l == 0) {
        published[begin + done] = bitsOf(exact);
        put(x + ELEMENT(begin + done), exact);
        c[done] = exact;
      }
      now = done + 1;
    }
    done = now;
  }
}
