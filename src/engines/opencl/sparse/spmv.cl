// y := alpha A x + beta y for a sparse matrix by rows, one rounding per entry; launched by spmv.ts. A is divided along the path that
// passes each row, then its entries: blocks of STEP steps each. (Merrill and Garland, Merge-based parallel sparse matrix-vector
// multiplication, SC 2016.) A work-group copies the entries of a block to local memory; then a lane, or a few, add the products of each
// row. Rows of at most UNCUT entries belong to the block where they begin. Longer ones may be cut at the
// end of a block; spmvFinish adds their parts, and computes exactly the entries of y that no certificate proves.

// With GATED, a product does nothing unless the first number of its last argument is 0: the state of a recurrence that goes on
// (krylov/layout.ts).
#ifdef GATED
#define GATE , volatile __global const double *gate
#define RETURN_IF_CLOSED if (gate[0] != 0) return
#else
#define GATE
#define RETURN_IF_CLOSED
#endif

// The exact sum differs from sum + rest by at most `lost`, as computed: all additions to `rest` return their errors, and only the sum of
// the magnitudes of these is rounded. In sums of a few numbers of similar size nothing is lost, so ties are decided here: they are
// frequent in such sums, one in eight for the Laplace operator on a grid. 2 n additions to `lost` lose less than 2^-20 of it, for
// n < 2^31.
typedef struct {
  double sum, rest, lost;
} Sum;

Sum emptySum() {
  Sum f = {0.0, 0.0, 0.0};
  return f;
}

void addExactly(Sum *f, double p) {
  double s = f->sum + p, r = twoSumError(f->sum, p, s), t = f->rest + r;
  f->lost += fabs(twoSumError(f->rest, r, t));
  f->sum = s;
  f->rest = t;
}
// Add p + q.
void addPair(Sum *f, double p, double q) {
  double s = f->sum + p, r = twoSumError(f->sum, p, s), t = q + r, u = f->rest + t;
  f->lost += fabs(twoSumError(q, r, t)) + fabs(twoSumError(f->rest, t, u));
  f->sum = s;
  f->rest = u;
}
void addSum(Sum *f, Sum g) {
  addPair(f, g.sum, g.rest);
  f->lost += g.lost;
}

// A product p of at least 2^-960 has an exact error term. Otherwise, unless a factor is 0, that is rounded, by 2^-1075 at most.
#define ROUNDED 0x1p-1074
bool isSmall(double p) { return ((uint)(as_ulong(p) >> 32) & 0x7fffffffu) < 0x03f00000u; }
bool isTiny(double p, double a, double x) { return isSmall(p) && a != 0 && x != 0; }
void addProductOf(Sum *f, double a, double x) {
  double p = a * x;
  addPair(f, p, fma(a, x, -p));
  if (isTiny(p, a, x)) f->lost += ROUNDED;
}

// An entry of A times one of x; *small tells whether an error term may be rounded. Products of two binary32 numbers are exact.
void addEntry(Sum *f, double a, double x, bool *small) {
  double p = a * x;
  if (BINARY32) addExactly(f, p);
  else {
    addPair(f, p, fma(a, x, -p));
    *small |= isSmall(p);
  }
}

// RN(alpha s + beta y), or NaN if it is not proved. If alpha, beta or a term is not finite, then rest is NaN. Not inlined: most products
// need neither alpha nor beta.
__attribute__((noinline)) Sum combined(Sum s, double alpha, double beta, double y) {
  Sum f = s;
  if (alpha != 1) {
    f = emptySum();
    addProductOf(&f, alpha, s.sum);
    addProductOf(&f, alpha, s.rest);
    if (s.lost != 0) f.lost += fabs(alpha) * s.lost * MORE + ROUNDED;
  }
  if (beta != 0) addProductOf(&f, beta, y);
  return f;
}
double provedEntry(Sum f, double alpha, double beta, __global const REAL *y) {
  if (alpha != 1 || beta != 0) f = combined(f, alpha, beta, beta == 0 ? 0.0 : *y);
  return certified(f.sum, f.rest, f.lost * MORE);
}

// A sum in memory, of three numbers.
void putSum(__global double *to, Sum f) {
  to[0] = f.sum;
  to[1] = f.rest;
  to[2] = f.lost;
}
Sum sumAt(__global const double *from) {
  Sum f = {from[0], from[1], from[2]};
  return f;
}

// Where blocks begin: the first row that begins in each; the first with entries in it; and the first entry. Row i takes the steps from pointers[i] + i on: one for
// itself, then its entries, and the path ends with step pointers[rows] + rows. Rows that are cut get on a list, each with its first block
// and its last.
#ifdef STEP
__kernel void spmvDivide(int rows, int blocks, __global const int *pointers, __global int4 *bounds, __global int *longs,
                         volatile __global int *words) {
  int b = (int)get_global_id(0);
  if (b > blocks) return;
  long d = (long)b * STEP;
  int low = 0, high = rows; // the first row from step d on, or `rows`
  while (low < high) {
    int middle = low + (high - low) / 2;
    if ((long)pointers[middle] + middle < d) low = middle + 1;
    else high = middle;
  }
  int edge = pointers[low];
  int begin = low;
  if (low > 0 && (long)edge + low > d && edge - pointers[low - 1] > UNCUT) {
    long opening = (long)pointers[low - 1] + (low - 1), last = (long)edge + low - 1;
    edge = (int)(d - low);
    begin--;
    if (opening / STEP == b - 1) {
      int k = 3 * atomic_inc(words + LONGS);
      longs[k] = low - 1;
      longs[k + 1] = b - 1;
      longs[k + 2] = (int)(last / STEP);
    }
  }
  bounds[b] = (int4)(low, begin, edge, 0);
}

#define CAPACITY (STEP + UNCUT)

// Lanes of a warp share a row where they can exchange sums without barriers.
#ifdef NVIDIA
double fromLane(double v, int distance) {
  uint low, high;
  asm volatile("shfl.sync.down.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(low) : "r"((uint)as_ulong(v)), "r"(distance));
  asm volatile("shfl.sync.down.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(high) : "r"((uint)(as_ulong(v) >> 32)), "r"(distance));
  return as_double((ulong)high << 32 | low);
}
// The sum over `lanes` lanes, a power of two, in the first of them. All lanes of the warp call it.
void addLanes(Sum *f, int lanes) {
  for (int distance = lanes / 2; distance > 0; distance /= 2) {
    Sum g = {fromLane(f->sum, distance), fromLane(f->rest, distance), fromLane(f->lost, distance)};
    addSum(f, g);
  }
}
// As many for each row as there are, up to a warp.
int lanesFor(int rows) {
  int lanes = 1;
  while (lanes < 32 && 2 * lanes * rows <= GROUP) lanes *= 2;
  return lanes;
}
#define PASSES 2
#else
#define addLanes(f, lanes)
#define lanesFor(rows) 1
#define PASSES 1
#endif

// A block: its entries of A in the order of memory, all lanes at once; then its rows, so that lanes next to each other read entries of x
// next to each other where A has bands.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void spmvBlocks(
    __global const int *pointers, __global const int *indices, __global const REAL *values, __global const int4 *bounds,
    __global const REAL *x, double alpha, double beta, __global REAL *y, int reads, __global double *partials, volatile __global int *words,
    __global int *list GATE) {
  RETURN_IF_CLOSED;
  __local REAL a[CAPACITY];
  __local int columns[CAPACITY];
  __local int left;
  __local int4 rowsLeft[CAPACITY / 8 + 1];
  int l = (int)get_local_id(0), b = (int)get_group_id(0);
  int4 here = bounds[b], next = bounds[b + 1];
  int begin = here.s1, rows = next.s0 - begin, from = here.s2, count = reads ? next.s2 - from : 0, lanes = lanesFor(rows);
  int4 row = (int4)(0); // its number, where it begins, and where it ends
  if (rows > 0) {
    row.s0 = begin + min(l / lanes, rows - 1);
    row.s1 = pointers[row.s0];
    row.s2 = pointers[row.s0 + 1];
  }
  if (l == 0) left = 0;

  for (int base = l; base < count; base += DEEP * GROUP) {
    int column[DEEP];
    REAL value[DEEP];
#pragma unroll
    for (int d = 0; d < DEEP; d++)
      if (base + d * GROUP < count) {
        column[d] = indices[from + base + d * GROUP];
        value[d] = values[from + base + d * GROUP];
      }
#pragma unroll
    for (int d = 0; d < DEEP; d++)
      if (base + d * GROUP < count) {
        columns[base + d * GROUP] = column[d];
        a[base + d * GROUP] = value[d];
      }
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  // Rows with many entries for their lanes are left to a second pass, in which more lanes share them: those with more than 2 + 2 m, where
  // m is the mean. Of C = m R entries in R rows those are fewer than C / (2 + 2 m) rows, so at most (C + R) / 8, the maximum, at m = 1.
  for (int pass = 0; pass < PASSES; pass++) {
    int end = pass == 0 ? rows : left, many = 2 * lanes + 2 * count / max(rows, 1);
    if (pass > 0) lanes = lanesFor(end);
    for (int base = 0; base < end; base += GROUP / lanes) {
      int slot = base + l / lanes, lane = l % lanes;
      bool isMine = slot < end;
      if (pass > 0) row = rowsLeft[isMine ? slot : 0];
      else if (base > 0) {
        row.s0 = begin + (isMine ? slot : 0);
        row.s1 = pointers[row.s0];
        row.s2 = pointers[row.s0 + 1];
      }
      int first = max(row.s1 - from, 0), last = min(row.s2 - from, count);
      if (PASSES > 1 && pass == 0 && isMine && last - first > many) {
        if (lane == 0) rowsLeft[atomic_inc(&left)] = row;
        isMine = false;
      }
      Sum f = emptySum();
      bool small = false;
      if (isMine) {
        // AHEAD entries at a time without a condition, then the rest: with conditions, additions of different entries do not overlap.
        int k = first + lane;
        double entry[AHEAD];
        for (; k + (AHEAD - 1) * lanes < last; k += AHEAD * lanes) {
#pragma unroll
          for (int d = 0; d < AHEAD; d++) entry[d] = x[columns[k + d * lanes]];
#pragma unroll
          for (int d = 0; d < AHEAD; d++) addEntry(&f, a[k + d * lanes], entry[d], &small);
        }
#pragma unroll
        for (int d = 0; d < AHEAD - 1; d++)
          if (k + d * lanes < last) entry[d] = x[columns[k + d * lanes]];
#pragma unroll
        for (int d = 0; d < AHEAD - 1; d++)
          if (k + d * lanes < last) addEntry(&f, a[k + d * lanes], entry[d], &small);
        // Most small products are zeros, so only rows that have some look for others.
        if (small)
          for (int k = first + lane; k < last; k += lanes)
            if (isTiny(a[k] * x[columns[k]], a[k], x[columns[k]])) f.lost += ROUNDED;
      }
      addLanes(&f, lanes);
      if (isMine && lane == 0) {
        // A row that began before this block, or ends after it, is finished by spmvFinish.
        if (row.s0 < here.s0) putSum(partials + 6l * b, f);
        else if (row.s2 > next.s2) putSum(partials + 6l * b + 3, f);
        else {
          double v = provedEntry(f, alpha, beta, y + row.s0);
          if (v == v) put(y + row.s0, v);
          else list[atomic_inc(words + OPEN)] = row.s0;
        }
      }
    }
    if (PASSES > 1) barrier(CLK_LOCAL_MEM_FENCE);
  }
}
#endif

// The rest of the entries: rows that were cut, and rows that are open. A work-group takes one after another; with a single work-item, as
// on a CPU, it needs no barriers. (PoCL cannot compile barriers in a loop whose end is in memory.)
#ifdef FINISHING
#if FINISHING == 1
#define TOGETHER
#else
#define TOGETHER barrier(CLK_LOCAL_MEM_FENCE)
#endif

double signOf(double v) { return v > 0 ? 1.0 : v < 0 ? -1.0 : v; }

// The sum in an accumulator times a finite alpha, in another one. For one work-item.
void scaleInto(__local long *to, __local long *acc, double alpha) {
  for (int k = 0; k < ACCUMULATOR; k++) to[k * STRIDE] = 0;
  bool negative = magnitude(acc) != isNegative(alpha);
  ulong factor = significandOf(alpha);
  for (int k = 0; k < DIGITS; k++)
    if (acc[k * STRIDE] != 0) addIntegers(to, (ulong)acc[k * STRIDE], factor, 32 * k + LOWEST + exponentOf(alpha), negative);
  to[NANS * STRIDE] = acc[NANS * STRIDE];
  to[POSITIVE * STRIDE] = acc[(alpha > 0 ? POSITIVE : NEGATIVE) * STRIDE];
  to[NEGATIVE * STRIDE] = acc[(alpha > 0 ? NEGATIVE : POSITIVE) * STRIDE];
}

// Compute an entry exactly, all work-items of a group together. If alpha is not finite, only signs and zeros matter.
void finishExactly(__local long *acc, int row, int begin, int end, __global const int *indices, __global const REAL *values,
                   __global const REAL *x, double alpha, double beta, __global REAL *y) {
  int l = (int)get_local_id(0);
  for (int k = l; k < ACCUMULATOR * STRIDE; k += FINISHING) acc[k] = 0;
  TOGETHER;
  for (int p = begin + l; p < end; p += FINISHING) {
    double a = values[p], entry = x[indices[p]];
    if (isFinite(alpha)) addProduct(acc + l % STRIDE, a, entry);
    else addSpecial(acc + l % STRIDE, alpha * signOf(a) * signOf(entry));
  }
  TOGETHER;
  for (int k = l; k < ACCUMULATOR; k += FINISHING)
    for (int c = 1; c < STRIDE; c++) acc[k * STRIDE] += acc[k * STRIDE + c];
  TOGETHER;
  if (l == 0) {
    __local long *sum = acc;
    if (isFinite(alpha) && alpha != 1) scaleInto(++sum, acc, alpha);
    if (beta != 0) addProduct(sum, beta, y[row]);
    put(y + row, rounded(sum));
  }
  TOGETHER;
}

__kernel __attribute__((reqd_work_group_size(FINISHING, 1, 1))) void spmvFinish(
    __global const int *pointers, __global const int *indices, __global const REAL *values, __global const REAL *x, double alpha,
    double beta, __global REAL *y, int reads, __global const double *partials, __global const int *longs, volatile __global int *words,
    __global const int *list GATE) {
  RETURN_IF_CLOSED;
  __local long acc[ACCUMULATOR * STRIDE];
  __local Sum sums[FINISHING];
  __local int isOpen;
  int l = (int)get_local_id(0), g = (int)get_group_id(0), groups = (int)get_num_groups(0), cut = words[LONGS], open = words[OPEN];
  for (int k = g; k < cut; k += groups) {
    int row = longs[3 * k], from = longs[3 * k + 1], last = longs[3 * k + 2], begin = pointers[row], end = reads ? pointers[row + 1] : begin;
    Sum f = emptySum();
    for (int b = from + l; b <= last; b += FINISHING) addSum(&f, sumAt(partials + 6l * b + (b == from ? 3 : 0)));
    sums[l] = f;
    for (int kept = FINISHING / 2; kept > 0; kept /= 2) {
      TOGETHER;
      if (l < kept) {
        addSum(&f, sums[l + kept]);
        sums[l] = f;
      }
    }
    if (l == 0) {
      double v = provedEntry(f, alpha, beta, y + row);
      isOpen = v != v;
      if (v == v) put(y + row, v);
    }
    TOGETHER;
    if (isOpen) finishExactly(acc, row, begin, end, indices, values, x, alpha, beta, y);
    TOGETHER;
  }
  if (open == 0) return;
  for (int k = g; k < open; k += groups) {
    int row = list[k], begin = pointers[row], end = reads ? pointers[row + 1] : begin;
    finishExactly(acc, row, begin, end, indices, values, x, alpha, beta, y);
  }
  // The last group empties the list for the next product.
  if (l == 0 && atomic_inc(words + GROUPS_DONE) == groups - 1) words[OPEN] = words[GROUPS_DONE] = 0;
}
#endif

// The entries of a matrix by columns, sorted by rows: source[k] is the position of the k-th. The column is the last one that begins
// there or before.
__kernel void spmvTranspose(int entries, int cols, __global const int *pointers, __global const int *source, __global const REAL *values,
                            __global int *toIndices, __global REAL *toValues) {
  int k = (int)get_global_id(0);
  if (k >= entries) return;
  int p = source[k], low = 0, high = cols - 1;
  while (low < high) {
    int middle = low + (high - low + 1) / 2;
    if (pointers[middle] <= p) low = middle;
    else high = middle - 1;
  }
  toIndices[k] = low;
  toValues[k] = values[p];
}
