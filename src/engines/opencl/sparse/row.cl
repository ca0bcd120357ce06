// One row of a sparse triangular system, from its right-hand side to its unknown, in ordinary or in EXACT arithmetic. Included by the
// kernels of solve.cl.

// An unknown that is not yet known has all bits set, a NaN that is never a result: one load returns the value and whether it is known.
#if REAL_BYTES == 8
typedef ulong Bits;
#define asReal as_double
#define UNKNOWN 0xfffffffffffffffful
#else
typedef uint Bits;
#define asReal as_float
#define UNKNOWN 0xffffffffu
#endif

// The divisor of a row. `significantBits` is the maximum over all entries of the matrix.
typedef struct {
  double d, reciprocal;
  int significantBits;
} Pivot;

Pivot pivotOf(int position, __global const REAL *diagonal, __global const double *reciprocals, __global const int *significantBits) {
  Pivot pivot = {1.0, 1.0, max(1, significantBits[0])};
#if KIND != 1
  pivot.d = diagonal[position];
  pivot.reciprocal = reciprocals[position];
#endif
  return pivot;
}

#ifdef EXACT
// sum, rest and size are those of a filter; `minWord` is here the smallest high word of |b| and of the magnitudes of the products, zeros
// excluded.
typedef Filter Row;

// The high word of a number below 2^-1042 is 0: it counts as 0, but a zero counts as larger than all.
uint highWordOf(double v, bool isZero) {
  uint word = (uint)(as_ulong(v) >> 32) & 0x7fffffffu;
  return word != 0 ? word : isZero ? 0xffffffffu : 0u;
}
Row rowOf(REAL b) {
  Row row = emptyFilter();
  row.sum = b;
  row.minWord = highWordOf(b, b == 0);
  return row;
}
void subtractProduct(Row *row, REAL a, REAL x) {
  double p = -(double)a * (double)x, s = row->sum + p, r = twoSumError(row->sum, p, s);
  row->minWord = min(row->minWord, highWordOf(p, a == 0 || x == 0));
#if REAL_BYTES == 8
  double q = fma(-a, x, -p);
  row->rest += q + r;
  row->size += fabs(q) + fabs(r);
#else
  row->rest += r;
  row->size += fabs(r);
#endif
  row->sum = s;
}

// Let e >= -960 be the exponent of the smallest product (or b) and K = significantBits. Products have their lowest bit at
// 2^(e - 53 - K) or above, since |a x| < 2^(e + 2) where a has K bits and x 53. So have all error terms of products and sums,
// and these are exact. If their sum of magnitudes is below 2^(e - K), that is 2^53 such units, no addition of them rounds.
double roomOf(const Row *row, int significantBits) {
  int e = (int)(row->minWord >> 20) - 1023;
  return e < -960 ? -1.0 : as_double((ulong)(min(e, 1000) - significantBits + 1023) << 52);
}
double boundOfRow(const Row *row, double room, double count) {
  if (row->size * MORE <= room) return 0.0;
  return boundOf(*row, count, room > 0);
}

// Of x and its neighbour, the one with an even last place. `up`: the neighbour is farther from zero.
double evenOf(double x, bool up) {
#if REAL_BYTES == 8
  ulong bits = as_ulong(x);
  return (bits & 1) == 0 ? x : as_double(up ? bits + 1 : bits - 1);
#else
  uint bits = as_uint((float)x);
  return (bits & 1) == 0 ? x : (double)as_float(up ? bits + 1 : bits - 1);
#endif
}

// RN((sum + rest) / d), or NaN if it is not proved; without a division, which takes as long as everything else here.
//
// s = sum + rest + e with |e| <= bound. However x was found, it is nearest to s / d if |s - d x| < |d| gap / 2. The left side is
// computed as w1 = RN(sum - d x) and w = RN(w1 + rest), which lose at most U (|w1| + |w|), and 2^-1074 if they underflow; the right
// side is a product with a power of two, so exact between 2^-960 and LARGE. Adding the terms on the left loses at most 3 U of their
// sum, for which LITTLE_MORE has 8 U; that leaves 2^-1011 for underflows.
//
// If bound is 0, all terms are multiples of the units of roomOf, and d x is a multiple of 2^-K |d| gap: w1 and w are exact if they are
// at most 2^53 of the smaller unit. Then ties can be detected: they are frequent in sums of a few numbers of similar size divided
// by a small integer. A power of two has different gaps on its two sides, and is even: within half of the smaller gap on either
// side it is nearest, or the result of a tie.
double provedQuotient(const Row *row, Pivot pivot, double count) {
  double d = pivot.d, r = pivot.reciprocal, h = row->sum + row->rest, c = h * r;
  double room = roomOf(row, pivot.significantBits), bound = boundOfRow(row, room, count);
  double x = toReal(fma(fma(-c, d, row->sum) + row->rest, r, c));
  double w1 = fma(-x, d, row->sum), w = w1 + row->rest, size = fabs(w), half_gap = fabs(d) * (0.5 * fabs(gapOf(x)));
  bool inRange = half_gap > 0x1p-960 && half_gap < LARGE;
  if (inRange && (size + (bound + 2 * U * (fabs(w1) + size))) * LITTLE_MORE < half_gap) return x;
  if (bound != 0) return NOT_PROVED;
  if (h == 0 && d == d) return 0.0;
  double units = min(room, half_gap * as_double((ulong)(54 - pivot.significantBits + 1023) << 52));
  if (!inRange || !(max(fabs(w1), size) <= units) || !(size <= half_gap)) return NOT_PROVED;
  return size < half_gap ? x : evenOf(x, ((w < 0) != (d < 0)) == (x < 0));
}

// The row again from the start, with a sharper certificate or exactly. Not inlined: the loop needs the registers.
__attribute__((noinline)) double solveExactly(Row row, Pivot pivot, double count, int first, int end, __global const int *indices,
                                              __global const REAL *values, volatile __global const Bits *known, double b) {
  double x = certifiedEntry(row.sum, row.rest, boundOfRow(&row, roomOf(&row, pivot.significantBits), count), KIND, pivot.d);
  if (x == x) return x;
  long acc[ACCUMULATOR];
  for (int k = 0; k < ACCUMULATOR; k++) acc[k] = 0;
  addNumber(acc, b);
  for (int p = first; p < end; p++) {
    Bits bits;
    do bits = known[indices[p]];
    while (bits == UNKNOWN); // known in local memory already, and soon here
    addProduct(acc, -(double)values[p], (double)asReal(bits));
  }
  return exactEntry(acc, KIND, pivot.d);
}

// `more`: additions other than those of the products.
double solved(const Row *row, Pivot pivot, int more, int first, int end, __global const int *indices, __global const REAL *values,
              volatile __global const Bits *known, REAL b) {
  double count = (double)(end - first + more), x = provedQuotient(row, pivot, count);
  return x == x ? x : solveExactly(*row, pivot, count, first, end, indices, values, known, b);
}

#else
typedef struct {
  REAL sum;
} Row;

Row rowOf(REAL b) {
  Row row = {b};
  return row;
}
// The products that pad a window change nothing: -0 - +0 is -0.
void subtractProduct(Row *row, REAL a, REAL x) {
  REAL product = a * x;
  row->sum = row->sum - product;
}

#if REAL_BYTES == 8
// RN(s / d) by Markstein's method, from r = RN(1 / d), in a fifth of the time of a division. q = RN(s r) is within 2.01 U of s / d.
// The first correction leaves 4.1 U^2 before it is rounded, so its result is one of the two numbers next to s / d; then s - q d is
// exact, and the second correction is rounded to RN(s / d). With |s| and the quotient within 2^+-480, |d| is within 2^+-961, and
// nothing overflows or underflows.
double quotientBy(double s, Pivot pivot) {
  double d = pivot.d, r = pivot.reciprocal, q = s * r;
  q = fma(fma(-q, d, s), r, q);
  q = fma(fma(-q, d, s), r, q);
  bool inRange = fabs(s) > 0x1p-480 && fabs(s) < 0x1p480 && fabs(q) > 0x1p-480 && fabs(q) < 0x1p480;
  return inRange ? q : s / d;
}
#endif

double solved(const Row *row, Pivot pivot, int more, int first, int end, __global const int *indices, __global const REAL *values,
              volatile __global const Bits *known, REAL b) {
#if KIND == 1
  return row->sum;
#elif REAL_BYTES == 8
  return quotientBy(row->sum, pivot);
#else
  return row->sum / (REAL)pivot.d;
#endif
}
#endif
