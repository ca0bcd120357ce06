// A row of a sparse triangular system on the way to its unknown, in plain or in EXACT arithmetic.

// An unknown that is not known yet has all bits set: a NaN that no result is. One load brings it and whether it is there.
#if REAL_BYTES == 8
typedef ulong Bits;
#define asReal as_double
#define UNKNOWN 0xfffffffffffffffful
#else
typedef uint Bits;
#define asReal as_float
#define UNKNOWN 0xffffffffu
#endif

// What a row is divided by. `digits` is how many significant bits any entry of the matrix has, at the most.
typedef struct {
  double d, reciprocal;
  int digits;
} Pivot;

Pivot pivotOf(int line, __global const REAL *diagonal, __global const double *reciprocals, __global const int *facts) {
  Pivot pivot = {1.0, 1.0, max(1, facts[0])};
#if KIND != 1
  pivot.d = diagonal[line];
  pivot.reciprocal = reciprocals[line];
#endif
  return pivot;
}

#ifdef EXACT
// sum, rest and size are those of a filter; `least` is of the high words of |b| and of the products' magnitudes, without zeros.
typedef Filter Row;

// A number below 2^-1042 has nothing in its high word: it counts as 0 unless it is a zero, which counts as more than any.
uint wordOf(double v, bool isZero) {
  uint word = (uint)(as_ulong(v) >> 32) & 0x7fffffffu;
  return word != 0 ? word : isZero ? 0xffffffffu : 0u;
}
Row rowOf(REAL b) {
  Row row = emptyFilter();
  row.sum = b;
  row.least = wordOf(b, b == 0);
  return row;
}
void takeProduct(Row *row, REAL a, REAL x) {
  double p = -(double)a * (double)x, s = row->sum + p, r = twoSumError(row->sum, p, s);
  row->least = min(row->least, wordOf(p, a == 0 || x == 0));
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

// With e the exponent of the least product (or b), K = digits and e >= -960: products have their lowest bit at 2^(e - 53 - K) or
// above, for |a x| < 2^(e + 2) where a has K bits and x 53. So do all error terms of products and sums, and these are exact. If
// they are smaller than 2^(e - K) all together no addition of them rounds: that is 2^53 such units.
double roomOf(const Row *row, int digits) {
  int e = (int)(row->least >> 20) - 1023;
  return e < -960 ? -1.0 : as_double((ulong)(min(e, 1000) - digits + 1023) << 52);
}
double boundOfRow(const Row *row, double room, double count) {
  if (row->size * MORE <= room) return 0.0;
  return boundOf(*row, count, room > 0);
}

double toReal(double v) { return BINARY32 ? (double)(float)v : v; }

// Distance of a number that is not zero to the one before it towards zero: no neighbour is nearer. NaN for a zero.
double gapOf(double x) {
  return BINARY32 ? (double)as_float(as_uint((float)x)) - (double)as_float(as_uint((float)x) - 1u) : x - as_double(as_ulong(x) - 1ul);
}

// Of x and its neighbour the one with an even last place. `up`: that neighbour is farther from zero.
double evenOf(double x, bool up) {
#if REAL_BYTES == 8
  ulong bits = as_ulong(x);
  return (bits & 1) == 0 ? x : as_double(up ? bits + 1 : bits - 1);
#else
  uint bits = as_uint((float)x);
  return (bits & 1) == 0 ? x : (double)as_float(up ? bits + 1 : bits - 1);
#endif
}

// RN((sum + rest) / d), or NaN where it is not proved; without a division, which takes as long as everything else here.
//
// s = sum + rest + e with |e| <= bound. However x was found, it is nearest to s / d if |s - d x| < |d| gap / 2. The left side is
// w1 = RN(sum - d x) and w = RN(w1 + rest), which lose U (|w1| + |w|) at most, and 2^-1074 if they underflow; the right side is a
// product with a power of two, so exact between 2^-960 and LARGE. The terms on the left lose 3 U of their sum at the most when
// they are added, for which LITTLE_MORE has 8 U; that leaves 2^-1011 for underflows.
//
// Where bound is 0 all is made of whole units, see roomOf, and d x of 2^-K |d| gap: w1 and w are exact if they have no more than
// 2^53 of the smaller ones. Then a tie can be seen: sums of a few numbers of like size, divided by a small integer, often are.
// A power of two has gaps that differ, and is even: half of the smaller one to either side it is nearest, or it is a tie's answer.
double provedQuotient(const Row *row, Pivot pivot, double count) {
  double d = pivot.d, r = pivot.reciprocal, h = row->sum + row->rest, c = h * r;
  double room = roomOf(row, pivot.digits), bound = boundOfRow(row, room, count);
  double x = toReal(fma(fma(-c, d, row->sum) + row->rest, r, c));
  double w1 = fma(-x, d, row->sum), w = w1 + row->rest, size = fabs(w), half_gap = fabs(d) * (0.5 * fabs(gapOf(x)));
  bool inRange = half_gap > 0x1p-960 && half_gap < LARGE;
  if (inRange && (size + (bound + 2 * U * (fabs(w1) + size))) * LITTLE_MORE < half_gap) return x;
  if (bound != 0) return NOT_PROVED;
  if (h == 0 && d == d) return 0.0;
  double units = min(room, half_gap * as_double((ulong)(54 - pivot.digits + 1023) << 52));
  if (!inRange || !(max(fabs(w1), size) <= units) || !(size <= half_gap)) return NOT_PROVED;
  return size < half_gap ? x : evenOf(x, ((w < 0) != (d < 0)) == (x < 0));
}

// The row from the start, with whatever it takes; away from the loop, which needs its registers.
__attribute__((noinline)) double solveExactly(Row row, Pivot pivot, double count, int first, int end, __global const int *indices,
                                              __global const REAL *values, volatile __global const Bits *known, double b) {
  double x = certifiedEntry(row.sum, row.rest, boundOfRow(&row, roomOf(&row, pivot.digits), count), KIND, pivot.d);
  if (x == x) return x;
  long acc[ACCUMULATOR];
  for (int k = 0; k < ACCUMULATOR; k++) acc[k] = 0;
  addNumber(acc, b);
  for (int p = first; p < end; p++) {
    Bits bits;
    do bits = known[indices[p]];
    while (bits == UNKNOWN); // seen nearby already, and on its way
    addProduct(acc, -(double)values[p], (double)asReal(bits));
  }
  return exactEntry(acc, KIND, pivot.d);
}

// `more`: additions beside those of the products.
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
// A product of zeros changes nothing: +0 taken from -0 leaves that.
void takeProduct(Row *row, REAL a, REAL x) {
  REAL product = a * x;
  row->sum = row->sum - product;
}

#if REAL_BYTES == 8
// RN(s / d) as Markstein has it, from r = RN(1 / d), in a fifth of the time. q = RN(s r) is within 2.01 U of s / d, the first
// correction leaves 4.1 U^2 before it is rounded, so that its result is one of the two numbers beside s / d; then s - q d is
// exact, and a correction by it is rounded to RN(s / d). With magnitudes in 2^+-480 for s and the quotient that of d is in
// 2^+-961, and nothing overflows, or underflows.
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
