// Kulisch's superaccumulator on the device, the twin of exact/superaccumulator.ts: digits of radix 2^32 in 64-bit integers, digit k
// worth 2^(32 k + LOWEST), then three counters of terms that were not finite. layout.ts defines the layout. A digit takes 2^30
// deposits before carries must be propagated. SPACE is its address space: private, or memory that several work-items add to
// with atomics.

#ifdef SPACE_IS_PRIVATE
#define SPACE __private
#define ADD(p, v) (*(p) += (v))
#else
#ifndef SPACE
#define SPACE __local
#endif
#define ADD(p, v) atom_add(p, v)
#endif
// Digits of an accumulator are STRIDE apart, so that adjacent accumulators use different banks.
#ifndef STRIDE
#define STRIDE 1
#endif

// Add +-magnitude * 2^exponent.
void deposit(SPACE long *acc, ulong magnitude, int exponent, bool negative) {
  if (magnitude == 0) return;
  int at = exponent - LOWEST, shift = at & 31;
  SPACE long *digit = acc + (at >> 5) * STRIDE;
  ulong low = magnitude << shift;
  ulong high = shift == 0 ? 0 : magnitude >> (64 - shift);
  long a = (long)(low & 0xfffffffful), b = (long)(low >> 32), c = (long)high;
  if (a != 0) ADD(digit, negative ? -a : a);
  if (b != 0) ADD(digit + STRIDE, negative ? -b : b);
  if (c != 0) ADD(digit + 2 * STRIDE, negative ? -c : c);
}

ulong significandOf(double x) {
  ulong bits = as_ulong(x), fraction = bits & 0xffffffffffffful;
  return (bits & 0x7ff0000000000000ul) == 0 ? fraction : fraction | 0x10000000000000ul;
}
int exponentOf(double x) {
  int field = (int)((as_ulong(x) >> 52) & 0x7ff);
  return (field == 0 ? 1 : field) - 1075;
}
bool isNegative(double x) { return (as_ulong(x) >> 63) != 0; }
bool isFinite(double x) { return ((as_ulong(x) >> 52) & 0x7ff) != 0x7ff; }

void addSpecial(SPACE long *acc, double x) { ADD(acc + (x > 0 ? POSITIVE : x < 0 ? NEGATIVE : NANS) * STRIDE, 1l); }

// Add x.
void addNumber(SPACE long *acc, double x) {
  if (!isFinite(x)) addSpecial(acc, x);
  else deposit(acc, significandOf(x), exponentOf(x), isNegative(x));
}

// Add a b 2^exponent for integers.
void addIntegers(SPACE long *acc, ulong a, ulong b, int exponent, bool negative) {
  deposit(acc, a * b, exponent, negative);
  deposit(acc, mul_hi(a, b), exponent + 64, negative);
}

// Add x y, exactly.
void addProduct(SPACE long *acc, double x, double y) {
  if (!isFinite(x) || !isFinite(y)) addSpecial(acc, x * y);
  else addIntegers(acc, significandOf(x), significandOf(y), exponentOf(x) + exponentOf(y), isNegative(x) != isNegative(y));
}

// The functions below are for a single work-item.

// Propagate carries: all digits but the last are then below 2^32. Returns whether the last digit, and so the sum, is negative.
bool carry(SPACE long *acc) {
  long rest = 0;
  for (int k = 0; k < DIGITS - 1; k++) {
    long v = acc[k * STRIDE] + rest;
    acc[k * STRIDE] = v & 0xffffffffl;
    rest = v >> 32;
  }
  acc[(DIGITS - 1) * STRIDE] += rest;
  return acc[(DIGITS - 1) * STRIDE] < 0;
}

// Replace the sum by its magnitude. Returns whether it was negative.
bool magnitude(SPACE long *acc) {
  if (!carry(acc)) return false;
  for (int k = 0; k < DIGITS; k++) acc[k * STRIDE] = -acc[k * STRIDE];
  carry(acc);
  return true;
}

// The index of the highest nonzero digit, or -1.
int topDigit(SPACE long *acc) {
  int k = DIGITS - 1;
  while (k >= 0 && acc[k * STRIDE] == 0) k--;
  return k;
}

// The 64 bits from 2^exponent up, and whether any bit below is set.
ulong bitsFrom(SPACE long *acc, int exponent) {
  int at = exponent - LOWEST, k = at >> 5, shift = at & 31;
  ulong bits = 0;
  for (int i = 2; i >= 0; i--)
    if (k + i < DIGITS && k + i >= 0) {
      int up = 32 * i - shift;
      ulong digit = (ulong)acc[(k + i) * STRIDE];
      bits |= up >= 0 ? (up < 64 ? digit << up : 0) : digit >> -up;
    }
  return bits;
}
bool anyBelow(SPACE long *acc, int exponent) {
  int at = exponent - LOWEST, k = at >> 5;
  if (k < DIGITS && (acc[k * STRIDE] & ((1l << (at & 31)) - 1)) != 0) return true;
  for (int i = min(k, DIGITS) - 1; i >= 0; i--)
    if (acc[i * STRIDE] != 0) return true;
  return false;
}

#define PRECISION (BINARY32 ? 24 : 53)
#define LAST (BINARY32 ? -149 : -1074) // the exponent of the smallest subnormal
#define TOP (BINARY32 ? 128 : 1024)

// n 2^exponent for n <= 2^PRECISION, or an infinity. n has PRECISION bits unless the exponent is LAST.
double numberOf(ulong n, int exponent, bool negative) {
  double v;
  if (n == 0) v = 0;
  else if (exponent + (63 - (int)clz(n)) >= TOP) v = INFINITY;
  else {
    int up = 53 - PRECISION; // to 53 bits, except subnormals of binary64
    ulong m = n << up;
    int field = exponent - up + 1075;
    if (BINARY32) {
      int shift = (int)clz(m) - 11; // subnormals of binary32 are normal in binary64
      m = shift >= 0 ? m << shift : m >> -shift;
      field -= shift;
    }
    v = as_double(m < 0x10000000000000ul ? m : ((ulong)field << 52) + (m - 0x10000000000000ul));
  }
  return negative ? -v : v;
}

// The result if some term was not finite; *special tells whether there was one.
double specialOf(SPACE long *acc, bool *special) {
  bool positive = acc[POSITIVE * STRIDE] != 0, negative = acc[NEGATIVE * STRIDE] != 0;
  *special = acc[NANS * STRIDE] != 0 || positive || negative;
  if (acc[NANS * STRIDE] != 0 || (positive && negative)) return NAN;
  return positive ? INFINITY : -INFINITY;
}

double negatedIf(bool negative, double x) { return negative ? -x : x; }

// The sum rounded to the nearest REAL. Replaces the sum by its magnitude.
double rounded(SPACE long *acc) {
  bool special;
  double s = specialOf(acc, &special);
  if (special) return s;
  bool negative = magnitude(acc);
  int top = topDigit(acc);
  if (top < 0) return 0.0;
  int leading = 32 * top + 63 - (int)clz((ulong)acc[top * STRIDE]) + LOWEST;
  int last = max(leading - PRECISION + 1, LAST);
  ulong n = leading < last ? 0 : bitsFrom(acc, last);
  bool next = leading >= last - 1 && (bitsFrom(acc, last - 1) & 1) != 0;
  if (next && ((n & 1) != 0 || anyBelow(acc, last - 1))) n++;
  return numberOf(n, last, negative);
}

// RN(sum / d), for nonzero d. Destroys the digits. The quotient in units of its last place is estimated from the leading bits and
// corrected by the exact remainder.
double quotient(SPACE long *acc, double d) {
  bool special;
  double s = specialOf(acc, &special);
  if (special) return divide(s, d);
  if (!isFinite(d)) return d == d ? 0.0 : NAN; // even if the sum would overflow
  bool negative = magnitude(acc) != isNegative(d);
  int top = topDigit(acc);
  if (top < 0) return 0.0;
  int leading = 32 * top + 63 - (int)clz((ulong)acc[top * STRIDE]) + LOWEST;
  // sum = a 2^(leading - 63) and d = b 2^e with a in [2^63, 2^64) and b in [2^52, 2^53): a / b in (2^10, 2^12).
  ulong b = significandOf(d);
  int shift = (int)clz(b) - 11, e = exponentOf(d) - shift;
  double ratio = (double)bitsFrom(acc, leading - 63) / (double)(b << shift);
  int exponent = leading - 63 - e + (ratio < 2048.0 ? 10 : 11); // of the quotient's first bit, to within one
  if (exponent > TOP) return negatedIf(negative, INFINITY);
  int last = max(exponent - PRECISION + 1, LAST);
  // The estimate is ratio 2^(leading - 63 - e - last), which is below 2^54.
  int scale = leading - 63 - e - last;
  ulong n = scale < -80 ? 0 : (ulong)(ratio * as_double((ulong)(scale + 1023) << 52));
  addIntegers(acc, n, b, exponentOf(d) + last, true);
  for (;;) {
    if (carry(acc)) { // negative: n was too large
      n--;
      addIntegers(acc, 1, b, exponentOf(d) + last, false);
      continue;
    }
    addIntegers(acc, 1, b, exponentOf(d) + last, true);
    if (!carry(acc)) { // n was too small
      n++;
      continue;
    }
    addIntegers(acc, 1, b, exponentOf(d) + last, false);
    carry(acc);
    if (n >= 1ul << PRECISION) { // one bit too many: units twice as large
      if (n & 1) addIntegers(acc, 1, b, exponentOf(d) + last, false);
      n >>= 1;
      last++;
    } else if (n < 1ul << (PRECISION - 1) && last > LAST) { // one bit too few
      last--;
      n *= 2;
    } else break;
  }
  // 0 <= remainder < d 2^last: compare it with half of that.
  addIntegers(acc, 1, b, exponentOf(d) + last - 1, true);
  bool below = carry(acc);
  if (!below && ((n & 1) != 0 || topDigit(acc) >= 0)) n++;
  return numberOf(n, last, negative);
}

// The entry computed from the sum; see certificate.cl for the kinds. Destroys the digits.
double exactEntry(SPACE long *acc, int kind, double d) {
  if (kind == SINGLE) return quotient(acc, d);
  if (kind != CORRECTED) {
    double s = rounded(acc);
    return kind == ROUND ? s : divide(s, d);
  }
  bool special;
  double s = specialOf(acc, &special);
  if (special) return divide(s, d);
  bool negative = magnitude(acc);
  double size = rounded(acc);
  if (!isFinite(size)) return NAN; // an infinity minus the same infinity
  addNumber(acc, -size);
  double sum = corrected(divide(size, d), quotient(acc, d));
  return sum == 0 ? 0.0 : negatedIf(negative, sum);
}
