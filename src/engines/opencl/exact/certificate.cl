// The certified filter and its certificate, twins of exact/filter.ts and exact/enclosure.ts for rounding to nearest; most programs begin
// with it. REAL is the type of the arrays, double or float. Arithmetic is binary64, where products of two binary32 numbers are exact.
#ifndef REAL
#define REAL double
#endif
#define BINARY32 (sizeof(REAL) == 4)

#define U 0x1p-53
#define SMALL 0x1p-900
#define LARGE 0x1p1000
// For the roundings in the computation of a bound.
#define MORE 0x1.00001p0
#define LITTLE_MORE 0x1.0000000000004p0
// More than a few underflowing products can lose.
#define TINY 0x1p-1059
#define NOT_PROVED nan(0ul)

double twoSumError(double a, double b, double s) {
  double t = s - a;
  return (a - (s - t)) + (b - t);
}

// A partial sum: the exact one differs from sum + rest by at most the rounding errors made in `rest`. With `size`, the sum of the
// magnitudes added to rest, n additions to it (two roundings each) lose less than 2 n U size (1 + 2^-20), for n < 2^30. `size` is 0
// if and only if everything was exact. An error term of a product below 2^-1022 is rounded, by 2^-1075 at most: `minWord` tells
// whether there can be one.
typedef struct {
  double sum, rest, size;
  uint minWord; // the smallest high word of |factors|, minus one: 0xffffffff for a zero
} Filter;

Filter emptyFilter() {
  Filter f = {0.0, 0.0, 0.0, 0xffffffffu};
  return f;
}

// The high word of a number below 2^-1042 is 0, but the number is not.
uint minWordOf(uint minWord, double x) {
  ulong bits = as_ulong(x);
  return min(minWord, (((uint)(bits >> 32) & 0x7fffffffu) | min((uint)bits, 1u)) - 1u);
}

// Whether products of factors with the smallest words `a` and `b` have exact error terms: their exponents add up to -960 or more.
// The exponent of a number is (word >> 20) - 1023; that of a subnormal may be as low as -1074.
bool errorsAreExact(uint a, uint b) {
  if (a == 0xffffffffu || b == 0xffffffffu) return true; // all zeros
  return ((a + 1) >> 20) >= 1 && ((b + 1) >> 20) >= 1 && (int)((a + 1) >> 20) + (int)((b + 1) >> 20) >= 2046 - 960;
}

void addTerm(Filter *f, double p) {
  double s = f->sum + p, r = twoSumError(f->sum, p, s);
  f->sum = s;
  f->rest += r;
  f->size += fabs(r);
}

void addProductTerm(Filter *f, double x, double y) {
  double p = x * y, q = fma(x, y, -p), s = f->sum + p, r = twoSumError(f->sum, p, s);
  f->sum = s;
  f->rest += q + r;
  f->size += fabs(q) + fabs(r);
}

// The sum of both. It counts as many additions as the larger of them, and two more.
void addFilter(Filter *f, Filter g) {
  double s = f->sum + g.sum, r = twoSumError(f->sum, g.sum, s);
  f->sum = s;
  f->rest += g.rest + r;
  f->size += g.size + fabs(r);
  f->minWord = min(f->minWord, g.minWord);
}

// A bound of what the rest of n terms can have lost. `exactly`: no error term of a product was rounded.
double boundOf(Filter f, double n, bool exactly) { return 2.0 * U * n * f.size * MORE + (exactly ? 0.0 : n * 0x1p-1074); }

double nextUp(double x) {
  return x == 0 ? 0x1p-1074 : as_double(as_long(x) + (x > 0 ? 1 : -1));
}

// The number that all values within bound of high + low round to, or NaN. Overflow and values that are not finite are never proved.
double certified(double high, double low, double bound) {
  double h = high + low, l = twoSumError(high, low, h), size = fabs(h);
  if (bound == 0 && size - size == 0) {
    if (h == 0 && l == 0) return 0.0;
    if (!BINARY32) return h;
    if (l == 0) return (double)(float)h;
  }
  if (!(size > SMALL && size < LARGE)) return NOT_PROVED;
  double m = (fabs(l) + bound * MORE) * LITTLE_MORE;
  if (!BINARY32) return h + m == h && h - m == h ? h : NOT_PROVED;
  float under = (float)-nextUp(-(h - m)), over = (float)nextUp(h + m);
  return under == over && under != 0 ? (double)under : NOT_PROVED;
}

// The same for the quotient by d. With q = RN(h / d) the remainder h - q d is a double, and
//   (h + l + e) / d = q + (h - q d + l + e) / d:
// the sum of the remainder and l rounds once, and so does the division.
double certifiedQuotient(double high, double low, double bound, double d) {
  double h = high + low, l = twoSumError(high, low, h);
  if (bound == 0 && l == 0) {
    if (h == 0) return d == d ? 0.0 : NOT_PROVED;
    if (!BINARY32 && h - h == 0 && d - d == 0) return h / d;
  }
  if (!(fabs(h) > SMALL && fabs(h) < LARGE)) return NOT_PROVED;
  double q = h / d, rest = fma(-q, d, h) + l, correction = rest / d;
  double error = (bound * MORE + 2 * U * fabs(rest)) / fabs(d) * LITTLE_MORE + 2 * U * fabs(correction) + (rest == 0 && bound == 0 ? 0.0 : TINY);
  return certified(q, correction, error);
}

double toReal(double v) { return BINARY32 ? (double)(float)v : v; }

// The distance of a nonzero number of the arrays' type to its neighbour towards zero; no neighbour is nearer. NaN for a zero.
double gapOf(double x) {
  return BINARY32 ? (double)as_float(as_uint((float)x)) - (double)as_float(as_uint((float)x) - 1u) : x - as_double(as_ulong(x) - 1ul);
}

// IEEE division of two numbers of the arrays' type, except that an exact zero has no sign.
double divide(double s, double d) {
  double q = BINARY32 ? (double)((float)s / (float)d) : s / d;
  return q == 0 && (s == 0 || d - d != 0) ? 0.0 : q;
}

// How an entry is computed from its sum s and the diagonal entry d: RN(s / d), RN(s), RN(RN(s) / d), or equation (3) of the triangular
// paper, RN(RN(RN(s) / d) + RN((s - RN(s)) / d)).
#define SINGLE 0
#define ROUND 1
#define PAPER 2
#define CORRECTED 3

double corrected(double q, double r) { return BINARY32 ? (double)((float)q + (float)r) : q + r; }

double certifiedEntry(double high, double low, double bound, int kind, double d) {
  if (kind == SINGLE) return certifiedQuotient(high, low, bound, d);
  double s = certified(high, low, bound);
  if (kind == ROUND || s != s) return s;
  double q = divide(s, d);
  if (kind == PAPER) return q;
  double h = high + low, l = twoSumError(high, low, h), rest = (h - s) + l;
  double m = (bound * MORE + 2 * U * fabs(rest)) * LITTLE_MORE + (bound == 0 && rest == 0 ? 0.0 : TINY);
  double under = corrected(q, (rest - m) / d), over = corrected(q, (rest + m) / d);
  return under == over && under != 0 ? under : NOT_PROVED;
}

// Every NaN in an array has the same bits.
ulong bitsOf(double v) { return v == v ? as_ulong(v) : 0x7ff8000000000000ul; }
void put(__global REAL *p, double v) {
  if (BINARY32) *(__global uint *)p = v == v ? as_uint((float)v) : 0x7fc00000u;
  else *(__global ulong *)p = bitsOf(v);
}
