// The oracles of npm run fuzz, compiled: docs/spec.md in integers, nothing of the code under test. Every number that has to be rounded is
// rounded by one oracle and judged by the other: `Digits` adds the positive and the negative terms in 64-bit words and reads the result off
// their difference; `Signs` adds in 32-bit digits with sign, and decides whether a result is right by the signs of the exact differences
// from the midpoints next to it. What they share: which terms are NaN or infinite, and the order of the definitions at the end.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

typedef unsigned __int128 u128;
enum Mode { NEAREST, UP, DOWN, ZERO };
static const double INF = std::numeric_limits<double>::infinity(), NOT = std::numeric_limits<double>::quiet_NaN();

struct Format { int digits, lowest; double largest; };
static const Format DOUBLE = {53, -1074, std::numeric_limits<double>::max()};
static const Format SINGLE = {24, -149, std::numeric_limits<float>::max()};
static const Format& formatOf(int single) { return single ? SINGLE : DOUBLE; }

// A finite number: (-1)^negative m 2^e.
struct Number { bool negative; uint64_t m; int e; };
static Number parts(double x) {
  uint64_t bits; memcpy(&bits, &x, 8);
  int field = (bits >> 52) & 0x7ff;
  uint64_t m = bits & 0xfffffffffffffull;
  return {bool(bits >> 63), field ? m | 1ull << 52 : m, (field ? field : 1) - 1075};
}

// ---------------------------------------------------------------- the first oracle: digits

// An integer of `n` words times 2^e, and whether there is something below.
static double roundMagnitude(const uint64_t* w, int n, int e, bool below, bool negative, Mode mode, const Format& f) {
  while (n > 0 && w[n - 1] == 0) n--;
  if (n == 0) return 0;
  int top = 64 * n - 1 - __builtin_clzll(w[n - 1]);             // the place of the first bit in w
  int last = top - f.digits + 1;                                // and of the last one that the result has
  if (last + e < f.lowest) last = f.lowest - e;
  auto bit = [&](int at) { return at >= 0 && at < 64 * n ? (w[at / 64] >> (at % 64)) & 1 : 0; };
  uint64_t digits = 0;
  if (last < 0) digits = w[0] << -last;                         // all of them: they fill less than a word
  else if (last <= top) {
    int i = last / 64, s = last % 64;
    digits = w[i] >> s | (s && i + 1 < n ? w[i + 1] << (64 - s) : 0);
    digits &= (2ull << (top - last)) - 1;
  }
  bool half = bit(last - 1), rest = below;
  int words = last - 1 > 0 ? (last - 1) / 64 : 0;
  if (words > n) words = n;
  for (int i = 0; i < words && !rest; i++) rest = w[i] != 0;
  if (words < n && last > 1) rest |= (w[words] & ((1ull << (last - 1) % 64) - 1)) != 0;
  bool outward = mode == UP ? !negative : mode == DOWN ? negative : false;
  if (mode == NEAREST ? half && (rest || digits % 2) : outward && (half || rest)) digits++;
  double v = std::ldexp((double)digits, last + e);
  if (v > f.largest) v = mode == NEAREST || outward ? INF : f.largest;
  return negative ? -v : v;
}

struct Digits {
  static const int WORDS = 104, BASE = 3264;                    // word i is worth 2^(64 i - BASE): products of three factors fit
  struct Side {
    uint64_t w[WORDS]; int low, high;
    void add(const uint64_t* m, int count, int e) {
      int at = (e + BASE) / 64, s = (e + BASE) % 64;
      if (at < low) low = at;
      u128 carry = 0; uint64_t before = 0;
      int i = 0;
      for (; i <= count || carry; i++) {
        uint64_t now = i < count ? m[i] : 0;
        uint64_t piece = s ? now << s | (i <= count ? before >> (64 - s) : 0) : now;
        before = now;
        carry += (u128)w[at + i] + piece;
        w[at + i] = (uint64_t)carry;
        carry >>= 64;
      }
      if (at + i > high) high = at + i;
    }
    void clear() { for (int i = low; i < high; i++) w[i] = 0; low = WORDS; high = 0; }
  } side[2];
  Digits() { memset(this, 0, sizeof *this); side[0].low = side[1].low = WORDS; }
  void clear() { side[0].clear(); side[1].clear(); }

  // The magnitude of the sum, from word `low` on; its sign.
  int low, count; bool negative; uint64_t w[WORDS];
  void finish() {
    low = side[0].low < side[1].low ? side[0].low : side[1].low;
    int high = side[0].high > side[1].high ? side[0].high : side[1].high;
    count = high > low ? high - low : 0;
    negative = false;
    for (int i = high - 1; i >= low; i--) if (side[0].w[i] != side[1].w[i]) { negative = side[0].w[i] < side[1].w[i]; break; }
    const Side &larger = side[negative], &smaller = side[!negative];
    uint64_t borrow = 0;
    for (int i = 0; i < count; i++) {
      u128 d = (u128)larger.w[low + i] - smaller.w[low + i] - borrow;
      w[i] = (uint64_t)d;
      borrow = (uint64_t)(d >> 64) & 1;
    }
    while (count > 0 && w[count - 1] == 0) count--;
  }
  double rounded(Mode mode, const Format& f) const { return roundMagnitude(w, count, 64 * low - BASE, false, negative, mode, f); }
  double quotient(double d, const Format& f) const {
    Number by = parts(d);
    const int MORE = 3;
    uint64_t q[WORDS + MORE]; u128 rest = 0;
    for (int i = count - 1 + MORE; i >= 0; i--) {
      rest = rest << 64 | (i >= MORE ? w[i - MORE] : 0);
      q[i] = (uint64_t)(rest / by.m);
      rest %= by.m;
    }
    return roundMagnitude(q, count + MORE, 64 * (low - MORE) - BASE - by.e, rest != 0, negative != by.negative, NEAREST, f);
  }
  double root(Mode mode, const Format& f) const {
    if (count == 0) return 0;
    int top = 64 * count - 1 - __builtin_clzll(w[count - 1]);
    int cut = top - 117;                                        // 118 bits from here on, at an even power of two
    if ((cut + 64 * low - BASE) % 2 != 0) cut++;
    u128 n = 0; bool below = false;
    for (int i = 0; i < count; i++) {
      int shift = 64 * i - cut;
      if (shift >= 0) n |= (u128)w[i] << shift;
      else if (shift > -64) { n |= w[i] >> -shift; below |= (w[i] & ((1ull << -shift) - 1)) != 0; }
      else below |= w[i] != 0;
    }
    uint64_t r = (uint64_t)std::sqrt((double)n);
    while ((u128)r * r > n) r--;
    while ((u128)(r + 1) * (r + 1) <= n) r++;
    return roundMagnitude(&r, 1, (cut + 64 * low - BASE) / 2, below || (u128)r * r != n, false, mode, f);
  }
};

// A magnitude of any length times 2^e, and its sign; no zero words at the top.
struct Words {
  std::vector<uint64_t> w; int e = 0; bool negative = false;
  Words(const Digits& sum) : w(sum.w, sum.w + sum.count), e(64 * sum.low - Digits::BASE), negative(sum.negative) {}
  Words(uint64_t m) : w(m ? 1 : 0, m) {}
  Words(std::vector<uint64_t> words, int e, bool negative) : w(std::move(words)), e(e), negative(negative) {
    while (!w.empty() && w.back() == 0) w.pop_back();
  }
  Words operator*(const Words& o) const {
    std::vector<uint64_t> p(w.size() + o.w.size());
    for (size_t i = 0; i < w.size(); i++) {
      u128 carry = 0;
      for (size_t j = 0; j < o.w.size(); j++) { carry += (u128)w[i] * o.w[j] + p[i + j]; p[i + j] = (uint64_t)carry; carry >>= 64; }
      p[i + o.w.size()] = (uint64_t)carry;
    }
    return {p, e + o.e, negative != o.negative};
  }
  uint64_t at(int place) const { int i = (place - e) / 64; return place >= e && i < (int)w.size() ? w[i] : 0; }
  Words operator-(const Words& o) const {                       // exponents differ by words
    if (w.empty()) return {o.w, o.e, !o.negative};
    if (o.w.empty()) return *this;
    int from = e < o.e ? e : o.e, to = from;
    for (const Words* each : {this, &o}) if (each->e + 64 * (int)each->w.size() > to) to = each->e + 64 * (int)each->w.size();
    bool adds = negative != o.negative, swaps = false;
    for (int place = to - 64; !adds && place >= from; place -= 64)
      if (at(place) != o.at(place)) { swaps = at(place) < o.at(place); break; }
    const Words &a = swaps ? o : *this, &b = swaps ? *this : o;
    std::vector<uint64_t> d;
    uint64_t carry = 0;
    for (int place = from; place < to; place += 64) {
      u128 v = adds ? (u128)a.at(place) + b.at(place) + carry : (u128)a.at(place) - b.at(place) - carry;
      d.push_back((uint64_t)v);
      carry = (uint64_t)(v >> 64) & 1;
    }
    d.push_back(adds ? carry : 0);
    return {d, from, negative != swaps};
  }
  // This divided by o, rounded. Three digits of long division (Knuth, algorithm D) have 65 bits at least.
  double over(const Words& o, const Format& f) const {
    if (w.empty()) return 0;
    int extra = (int)w.size() > (int)o.w.size() + 2 ? (int)w.size() - (int)o.w.size() - 2 : 0, m = o.w.size() + extra;
    int s = __builtin_clzll(o.w.back());
    std::vector<uint64_t> v(m), r(m + 3);                       // the divisor with its first bit at the top, and the remainder
    for (int i = 0; i < (int)o.w.size(); i++) v[extra + i] = o.w[i] << s | (s && i ? o.w[i - 1] >> (64 - s) : 0);
    int moved = m + 2 - (int)w.size();
    for (size_t i = 0; i < w.size(); i++) r[moved + i] = w[i];
    uint64_t q[3];
    for (int j = 2; j >= 0; j--) {
      u128 top = (u128)r[j + m] << 64 | r[j + m - 1];
      q[j] = r[j + m] >= v[m - 1] ? ~0ull : (uint64_t)(top / v[m - 1]);
      u128 carry = 0; uint64_t borrow = 0;
      for (int i = 0; i <= m; i++) {
        if (i < m) carry += (u128)q[j] * v[i];
        u128 d = (u128)r[j + i] - (uint64_t)carry - borrow;
        r[j + i] = (uint64_t)d;
        borrow = (uint64_t)(d >> 64) & 1;
        carry >>= 64;
      }
      while (borrow) {                                          // one or two too many
        q[j]--;
        u128 sum = 0;
        for (int i = 0; i <= m; i++) { sum += (u128)r[j + i] + (i < m ? v[i] : 0); r[j + i] = (uint64_t)sum; sum >>= 64; }
        if (sum) borrow = 0;
      }
    }
    bool below = false;
    for (uint64_t word : r) below |= word != 0;
    return roundMagnitude(q, 3, (e - 64 * moved) - (o.e - 64 * extra - s), below, negative != o.negative, NEAREST, f);
  }
};

// ---------------------------------------------------------------- the second oracle: signs

struct Signs {
  static const int DIGITS = 216, BASE = 3392;                   // digit i is worth 2^(32 i - BASE)
  int64_t d[DIGITS]; int low, high;
  Signs() { memset(d, 0, sizeof d); low = DIGITS; high = 0; }
  void clear() { for (int i = low; i < high; i++) d[i] = 0; low = DIGITS; high = 0; }
  void add(bool negative, const uint64_t* m, int count, int e) {
    int at = (e + BASE) >> 5, s = (e + BASE) & 31;
    if (at < low) low = at;
    uint64_t carry = 0;
    for (int i = 0; i < 2 * count; i++) {
      uint64_t piece = (uint64_t)(uint32_t)(m[i / 2] >> (32 * (i % 2))) << s;
      uint64_t v = (piece & 0xffffffff) + carry;                // no more than 32 bits and one: pieces do not overlap
      d[at + i] += negative ? -(int64_t)v : (int64_t)v;
      carry = piece >> 32;
    }
    d[at + 2 * count] += negative ? -(int64_t)carry : (int64_t)carry;
    if (at + 2 * count + 1 > high) high = at + 2 * count + 1;
  }
  // The sign of this sum minus (-1)^negative a b 2^e.
  int compare(bool negative, uint64_t a, uint64_t b, int e) const {
    u128 p = (u128)a * b;
    int64_t less[5] = {}; int at = low, end = high;             // the product in digits, from digit `at` on
    if (p) {
      int s = (e + BASE) & 31;
      at = (e + BASE) >> 5;
      end = high > at + 5 ? high : at + 5;
      for (int i = 0; i < 4; i++) {
        uint64_t piece = (uint64_t)(uint32_t)(p >> (32 * i)) << s;
        less[i] += (uint32_t)piece;
        less[i + 1] += piece >> 32;
      }
    }
    int64_t carry = 0; bool nonzero = false;
    for (int i = at < low ? at : low; i < end; i++) {           // digits outside [low, high) are zero
      int64_t v = d[i] + carry;
      if (p && i >= at && i < at + 5) v += negative ? less[i - at] : -less[i - at];
      nonzero |= (v & 0xffffffff) != 0;
      carry = v >> 32;                                          // towards minus infinity: digits from 0 to 2^32 - 1
    }
    return carry < 0 ? -1 : carry > 0 || nonzero ? 1 : 0;
  }
};

// A number of any length in digits from -2^31 to 2^31 - 1, digit i worth 2^(32 (i + first)): its sign is that of its first digit.
struct Balanced {
  std::vector<int64_t> d; int first;
  template <class Digit> void settle(const Digit* digits, int count) {
    Digit carry = 0;
    d.clear();
    for (int i = 0; i < count || carry; i++) {
      Digit v = (i < count ? digits[i] : 0) + carry;
      d.push_back((int32_t)(uint32_t)v);
      carry = (v - d.back()) >> 32;
    }
    while (!d.empty() && d.back() == 0) d.pop_back();
  }
  Balanced(const Signs& sum) : first(sum.low - Signs::BASE / 32) { settle(sum.d + sum.low, sum.high > sum.low ? sum.high - sum.low : 0); }
  Balanced(bool negative, uint64_t m, int e) : first(e >> 5) {
    u128 v = (u128)m << (e & 31);
    int64_t digits[3];
    for (int i = 0; i < 3; i++) { int64_t digit = (uint32_t)(v >> (32 * i)); digits[i] = negative ? -digit : digit; }
    settle(digits, 3);
  }
  Balanced(const std::vector<__int128>& columns, int first) : first(first) { settle(columns.data(), (int)columns.size()); }
  Balanced operator*(const Balanced& o) const {
    std::vector<__int128> columns(d.size() + o.d.size());
    for (size_t i = 0; i < d.size(); i++) if (d[i]) for (size_t j = 0; j < o.d.size(); j++) columns[i + j] += d[i] * o.d[j];
    return {columns, first + o.first};
  }
  Balanced operator-(const Balanced& o) const {
    if (d.empty()) return Balanced(std::vector<__int128>(), 0).minus(o, o.first);
    return minus(o, o.d.empty() || first < o.first ? first : o.first);
  }
  Balanced minus(const Balanced& o, int from) const {
    std::vector<__int128> columns;
    auto put = [&](const Balanced& b, int sign) {
      if (columns.size() < b.d.size() + (b.first - from)) columns.resize(b.d.size() + (b.first - from));
      for (size_t i = 0; i < b.d.size(); i++) columns[i + (b.first - from)] += sign * b.d[i];
    };
    if (!d.empty()) put(*this, 1);
    if (!o.d.empty()) put(o, -1);
    return {columns, from};
  }
  int sign() const { return d.empty() ? 0 : d.back() > 0 ? 1 : -1; }
};

// What is rounded: the sum itself, divided by a number, or its root; or a ratio of two numbers.
enum Kind { SUM, QUOTIENT, ROOT, RATIO };
struct Target {
  const Signs& sum; Kind kind; double divisor;
  const Balanced *numerator = nullptr, *denominator = nullptr;
  // The sign of the exact value minus m 2^e (m with sign).
  int side(bool negative, uint64_t m, int e) const {
    if (kind == RATIO) return (*numerator - *denominator * Balanced(negative, m, e)).sign() * denominator->sign();
    if (kind == SUM) return sum.compare(negative, m, 1, e);
    if (kind == ROOT) return negative && m ? 1 : sum.compare(false, m, m, 2 * e);
    Number by = parts(divisor);
    int s = sum.compare(negative != by.negative, m, by.m, e + by.e);
    return by.negative ? -s : s;
  }
};

// Is r this value, rounded? Magnitudes are compared: `s` turns the line if r is negative.
static bool isRounded(double r, const Target& t, Mode mode, const Format& f) {
  if (r != r) return false;
  int zero = t.side(false, 0, 0);
  if (zero == 0) return r == 0 && !std::signbit(r);
  bool negative = std::signbit(r);
  if (negative != (zero < 0)) return false;
  auto beyond = [&](uint64_t m, int e) { int s = t.side(negative, m, e); return negative ? -s : s; }; // of the magnitude
  bool outward = mode == UP ? !negative : mode == DOWN ? negative : false;
  int e; uint64_t m;
  if (std::isinf(r)) {
    Number most = parts(f.largest);
    int shift = 53 - f.digits;
    m = most.m >> shift; e = most.e + shift;
    return mode == NEAREST ? beyond(2 * m + 1, e - 1) >= 0 : outward && beyond(m, e) > 0;
  }
  Number v = parts(r);
  m = v.m; e = v.e;
  if (m) {                                                      // in the format's own digits
    while (m >> f.digits || e < f.lowest) { if (m & 1) return false; m >>= 1; e++; }
    while (!(m >> (f.digits - 1)) && e > f.lowest) { m <<= 1; e--; }
  } else e = f.lowest;
  bool power = m == 1ull << (f.digits - 1) && e > f.lowest;     // the step below is half as wide
  if (mode == NEAREST) {
    bool even = m % 2 == 0;
    int up = beyond(2 * m + 1, e - 1);
    if (up > 0 || (up == 0 && !even)) return false;
    if (m == 0) return true;
    int down = power ? beyond(4 * m - 1, e - 2) : beyond(2 * m - 1, e - 1);
    return down > 0 || (down == 0 && even);
  }
  int at = beyond(m, e);
  if (at == 0) return true;
  if (outward) return at < 0 && m > 0 && (power ? beyond(2 * m - 1, e - 1) : beyond(m - 1, e)) > 0;
  return at > 0 && (r == f.largest || r == -f.largest || beyond(m + 1, e) < 0);
}

// ---------------------------------------------------------------- a sum for both

static thread_local int disagreements = 0; // workers share this library

struct Sum {
  Digits digits; Signs signs;
  bool nan, plus, minus;
  Sum() { nan = plus = minus = false; }
  void clear() { digits.clear(); signs.clear(); nan = plus = minus = false; }
  void special(double v) { if (v != v) nan = true; else if (v > 0) plus = true; else minus = true; }
  void put(bool negative, const uint64_t* m, int count, int e) {
    digits.side[negative].add(m, count, e);
    signs.add(negative, m, count, e);
  }
  void add(double x, bool negate = false) {
    if (!std::isfinite(x)) return special(negate ? -x : x);
    Number v = parts(x);
    if (v.m) put(v.negative != negate, &v.m, 1, v.e);
  }
  void add(double x, double y, bool negate = false) {
    if (!std::isfinite(x) || !std::isfinite(y)) { double p = sign(x) * sign(y); return special(negate ? -p : p); }
    Number a = parts(x), b = parts(y);
    u128 p = (u128)a.m * b.m;
    if (!p) return;
    uint64_t m[2] = {(uint64_t)p, (uint64_t)(p >> 64)};
    put((a.negative != b.negative) != negate, m, 2, a.e + b.e);
  }
  void add(double x, double y, double z) {
    if (!std::isfinite(x) || !std::isfinite(y) || !std::isfinite(z)) return special(sign(x) * sign(y) * sign(z));
    Number a = parts(x), b = parts(y), c = parts(z);
    u128 p = (u128)a.m * b.m;
    if (!p || !c.m) return;
    u128 low = (u128)(uint64_t)p * c.m, high = (u128)(uint64_t)(p >> 64) * c.m + (uint64_t)(low >> 64);
    uint64_t m[3] = {(uint64_t)low, (uint64_t)high, (uint64_t)(high >> 64)};
    put((a.negative != b.negative) != c.negative, m, 3, a.e + b.e + c.e);
  }
  // An infinity or NaN as it is; of a finite number its sign.
  static double sign(double x) { return std::isfinite(x) ? (x > 0) - (x < 0) : x; }
  bool isSpecial() const { return nan || plus || minus; }
  double specialValue() const { return nan || (plus && minus) ? NOT : plus ? INF : -INF; }
  double rounded(Mode mode, const Format& f, Kind kind = SUM, double divisor = 1) {
    digits.finish();
    double r = kind == SUM ? digits.rounded(mode, f) : kind == ROOT ? digits.root(mode, f) : digits.quotient(divisor, f);
    if (!isRounded(r, {signs, kind, divisor}, mode, f)) disagreements++;
    return r;
  }
  double value(const Format& f, Mode mode = NEAREST) { return isSpecial() ? specialValue() : rounded(mode, f); }
  // Divided by d, rounded once; where one of them is not finite as IEEE 754 has it, but a zero is +0.
  double quotient(double d, const Format& f) {
    if (!isSpecial() && std::isfinite(d)) return rounded(NEAREST, f, QUOTIENT, d);
    digits.finish();
    double s = isSpecial() ? specialValue() : digits.count == 0 ? 0 : digits.negative ? -1 : 1;
    double q = s / sign(d);
    return q == 0 ? 0 : q;
  }
};

static double load(const void* p, long i, int single) { return single ? (double)((const float*)p)[i] : ((const double*)p)[i]; }

// Whether entry i has the bits of v; a NaN in an array has one pattern.
static bool holds(const void* p, long i, int single, double v) {
  if (single) {
    float want = (float)v; uint32_t a, b = 0x7fc00000;
    memcpy(&a, (const float*)p + i, 4);
    if (v == v) memcpy(&b, &want, 4);
    return a == b;
  }
  uint64_t a, b = 0x7ff8000000000000ull;
  memcpy(&a, (const double*)p + i, 8);
  if (v == v) memcpy(&b, &v, 8);
  return a == b;
}

static thread_local Sum sum, other, third;

extern "C" {

// How often the oracles have contradicted each other: never, or one of them is wrong.
int oracle_disagreements() { return disagreements; }

// ---------------------------------------------------------------- level 1

// The reduction of x (and y): 0 sum, 1 of magnitudes, 2 dot, 3 norm.
double oracle_reduce(int op, int n, const void* x, const void* y, int single, int mode) {
  Sum& sum = ::sum;                                             // of this thread: looked up once
  sum.clear();
  bool onlyNegativeZeros = true;
  for (int i = 0; i < n; i++) {
    double a = load(x, i, single);
    if (op == 0) { sum.add(a); onlyNegativeZeros &= a == 0 && std::signbit(a); }
    else if (op == 1) sum.add(std::fabs(a));
    else sum.add(a, op == 2 ? load(y, i, single) : a);
  }
  const Format& f = formatOf(single);
  if (op == 0 && onlyNegativeZeros) return -0.0;
  if (op == 3) return sum.isSpecial() ? sum.specialValue() : sum.rounded((Mode)mode, f, ROOT);
  return sum.value(f, (Mode)mode);
}

// 1 + the first element of out that is wrong, or 0: 0 a x + y, 1 a x, 2 x / a.
int oracle_map(int op, int n, double a, const void* x, const void* y, const void* out, int single) {
  const Format& f = formatOf(single);
  Sum& sum = ::sum;                                             // of this thread: looked up once
  for (int i = 0; i < n; i++) {
    double v = load(x, i, single), w = op == 0 ? load(y, i, single) : 0, want;
    double plain = op == 0 ? a * v + w : op == 1 ? a * v : v / a; // right where it is zero or not finite for a reason
    sum.clear();
    if (op == 0) {
      sum.add(a, v);
      sum.add(w);
      if (a == 0) want = w;                                     // x is not read
      else if (!std::isfinite(a) || !std::isfinite(v) || !std::isfinite(w)) want = sum.specialValue();
      else if (v == 0) want = plain;
      else want = sum.value(f);
    } else if (!std::isfinite(a) || !std::isfinite(v) || a == 0 || v == 0) want = plain;
    else {
      if (op == 1) sum.add(a, v); else sum.add(v);
      want = op == 1 ? sum.value(f) : sum.quotient(a, f);
    }
    if (!holds(out, i, single, want)) return i + 1;
  }
  return 0;
}

// ---------------------------------------------------------------- products

// 1 + the first entry of out that is not alpha A B + beta C, or 0. A is m by k and B is k by n, each with the strides of its rows and
// columns; C and out are row by row.
int oracle_gemm(int m, int n, int k, double alpha, const void* A, int ar, int ac, const void* B, int br, int bc, double beta, const void* C,
                const void* out, int single) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      sum.clear();
      if (alpha != 0) for (int l = 0; l < k; l++) sum.add(alpha, load(A, (long)i * ar + (long)l * ac, single), load(B, (long)l * br + (long)j * bc, single));
      if (beta != 0) sum.add(beta, load(C, (long)i * n + j, single));
      if (!holds(out, (long)i * n + j, single, sum.value(formatOf(single)))) return i * n + j + 1;
    }
  return 0;
}

}

// ---------------------------------------------------------------- statistics

// n / d, rounded by the first oracle and judged by the second.
static double ratio(const Words& n, const Words& d, const Balanced& signsN, const Balanced& signsD, const Format& f) {
  double r = n.over(d, f);
  if (!isRounded(r, {sum.signs, RATIO, 1, &signsN, &signsD}, NEAREST, f)) disagreements++;
  return r;
}

extern "C" {

// The mean of x, or with `weighted` sum w x / sum w; `single` is the format of the data, `to` that of the result.
double oracle_mean(int n, const void* x, const void* w, int weighted, int single, int to) {
  sum.clear(); other.clear();
  for (int i = 0; i < n; i++) {
    double v = load(x, i, single);
    if (!weighted) { sum.add(v); continue; }
    sum.add(load(w, i, single), v);
    other.add(load(w, i, single));
  }
  if (!weighted) return n == 0 ? NOT : sum.quotient(n, formatOf(to));
  if (other.isSpecial()) return NOT;
  sum.digits.finish(); other.digits.finish();
  if (other.digits.count == 0) return NOT;
  if (sum.isSpecial()) return other.digits.negative ? -sum.specialValue() : sum.specialValue();
  return ratio(sum.digits, other.digits, sum.signs, other.signs, formatOf(to));
}

// (sum x y - sum x sum y / n) / (n - ddof), as a ratio of integers: n sum x y - sum x sum y over n (n - ddof).
double oracle_covariance(int n, const void* x, const void* y, int ddof, int single, int to) {
  if (n <= ddof) return NOT;
  sum.clear(); other.clear(); third.clear();
  for (int i = 0; i < n; i++) {
    double a = load(x, i, single), b = load(y, i, single);
    if (!std::isfinite(a) || !std::isfinite(b)) return NOT;
    sum.add(a); other.add(b); third.add(a, b);
  }
  for (Sum* each : {&sum, &other, &third}) each->digits.finish();
  uint64_t divisor = (uint64_t)n * (n - ddof);
  Words words = Words(n) * Words(third.digits) - Words(sum.digits) * Words(other.digits);
  Balanced signs = Balanced(false, n, 0) * Balanced(third.signs) - Balanced(sum.signs) * Balanced(other.signs);
  return ratio(words, Words(divisor), signs, Balanced(false, divisor, 0), formatOf(to));
}

}

// A sparse matrix by rows, whatever it was.
struct Rows {
  std::vector<std::vector<std::pair<int, double>>> row;
  Rows(int rows, int cols, int lines, const int* pointers, const int* indices, const void* values, int byRows, int single)
      : row(byRows ? rows : cols) {
    for (int l = 0; l < lines; l++)
      for (int p = pointers[l]; p < pointers[l + 1]; p++) {
        double v = load(values, p, single);
        if (byRows) row[l].push_back({indices[p], v}); else row[indices[p]].push_back({l, v});
      }
  }
};

extern "C" {

// byRows: whether the lines are the rows of the operator (CSR, or CSC transposed).
int oracle_spmv(int rows, int cols, int lines, const int* pointers, const int* indices, const void* values, int byRows, double alpha,
                const void* x, double beta, const void* y, const void* out, int single) {
  Rows A(rows, rows, lines, pointers, indices, values, byRows, single);
  (void)cols;
  for (int i = 0; i < rows; i++) {
    sum.clear();
    if (alpha != 0) for (auto& [j, v] : A.row[i]) sum.add(alpha, v, load(x, j, single));
    if (beta != 0) sum.add(beta, load(y, i, single));
    if (!holds(out, i, single, sum.value(formatOf(single)))) return i + 1;
  }
  return 0;
}

int oracle_sptrsv(int n, const int* pointers, const int* indices, const void* values, int byRows, int upper, int unit, const void* b,
                  const void* out, int single) {
  Rows A(n, n, n, pointers, indices, values, byRows, single);
  std::vector<double> x(n);
  for (int k = 0; k < n; k++) {
    int i = upper ? n - 1 - k : k;
    double diagonal = 1;
    sum.clear();
    sum.add(load(b, i, single));
    for (auto& [j, v] : A.row[i]) {
      if (j == i) { if (!unit) diagonal = v; }
      else if ((j > i) == (upper != 0)) sum.add(v, x[j], true);
    }
    x[i] = sum.quotient(diagonal, formatOf(single));
    if (!holds(out, i, single, x[i])) return i + 1;
  }
  return 0;
}

// Incomplete factors by rows, in the pattern of A. -1 if the definition meets a zero pivot or an overflow.
int oracle_ilu0(int n, const int* pointers, const int* indices, const void* values, const void* out, int single) {
  const Format& f = formatOf(single);
  std::vector<int> at((size_t)n * n, -1);
  std::vector<double> v(pointers[n]);
  for (int i = 0; i < n; i++) for (int p = pointers[i]; p < pointers[i + 1]; p++) { at[(size_t)i * n + indices[p]] = p; v[p] = load(values, p, single); }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      int p = at[(size_t)i * n + j];
      if (p < 0) continue;
      sum.clear();
      sum.add(v[p]);
      for (int k = 0; k < i && k < j; k++) {
        int l = at[(size_t)i * n + k], u = at[(size_t)k * n + j];
        if (l >= 0 && u >= 0) sum.add(v[l], v[u], true);
      }
      v[p] = sum.value(f);
      if (j < i) { sum.clear(); sum.add(v[p]); v[p] = sum.quotient(v[at[(size_t)j * n + j]], f); }
      if (!std::isfinite(v[p]) || (i == j && v[p] == 0)) return -1;
    }
  for (int p = 0; p < pointers[n]; p++) if (!holds(out, p, single, v[p])) return p + 1;
  return 0;
}

}

// ---------------------------------------------------------------- triangular systems and factorizations

struct Triangle {
  int n; const void* T; int rs, cs, upper, unit, rounding, single;
  double at(int i, int j) const { return load(T, (long)i * rs + (long)j * cs, single); }
  double diagonal(int i) const { return unit ? 1 : at(i, i); }
  int place(int k) const { return upper ? n - 1 - k : k; }

  double unknown(int i) const {
    const Format& f = formatOf(single);
    if (rounding == 0 || sum.isSpecial()) return sum.quotient(diagonal(i), f);
    double first = sum.value(f);
    other.clear();
    other.add(first);
    double q = unit ? first : other.quotient(diagonal(i), f);
    if (rounding == 1) return q;
    sum.add(first, true);
    double rest = sum.quotient(diagonal(i), f);
    other.clear();
    other.add(q);
    other.add(rest);
    return other.value(f);
  }
  void start(const std::vector<double>& b, const std::vector<double>& x, int k) const {
    int i = place(k);
    sum.clear();
    sum.add(b[i]);
    for (int l = 0; l < k; l++) sum.add(at(i, place(l)), x[place(l)], true);
  }
  std::vector<double> substitute(const std::vector<double>& b) const {
    std::vector<double> x(n);
    for (int k = 0; k < n; k++) { start(b, x, k); x[place(k)] = unknown(place(k)); }
    return x;
  }
  std::vector<double> solve(const std::vector<double>& b, int refine) const {
    std::vector<double> x = substitute(b);
    for (int step = 0; step < refine; step++) {
      for (double v : x) if (!std::isfinite(v)) return x;
      std::vector<double> r(n);
      for (int k = 0; k < n; k++) {
        int i = place(k);
        start(b, x, k);
        sum.add(diagonal(i), x[i], true);
        r[i] = sum.value(formatOf(single));
      }
      std::vector<double> d = substitute(r);
      for (int i = 0; i < n; i++) { sum.clear(); sum.add(x[i]); sum.add(d[i]); x[i] = sum.value(formatOf(single)); }
    }
    return x;
  }
};

static std::vector<double> loaded(int n, const void* b, int stride, int single) {
  std::vector<double> v(n);
  for (int i = 0; i < n; i++) v[i] = load(b, (long)i * stride, single);
  return v;
}
static int firstWrong(const std::vector<double>& want, const void* out, int stride, int single) {
  for (size_t i = 0; i < want.size(); i++) if (!holds(out, (long)i * stride, single, want[i])) return i + 1;
  return 0;
}

extern "C" {

int oracle_trsv(int n, const void* T, int rs, int cs, int upper, int unit, int rounding, int refine, const void* b, const void* out,
                int stride, int single) {
  Triangle t = {n, T, rs, cs, upper, unit, rounding, single};
  return firstWrong(t.solve(loaded(n, b, stride, single), refine), out, stride, single);
}

// P A = L U of a matrix row by row. What the routine said: status 0 and its factors; 1 and the column of a zero pivot; 2 and the entry
// that overflowed. 0 if that is right.
int oracle_lu(int m, int n, const void* A, int status, int row, int column, const void* out, const int* pivots, int single) {
  const Format& f = formatOf(single);
  std::vector<double> a = loaded(m * n, A, 1, single);
  std::vector<int> chosen;
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < m; i++) {
      sum.clear();
      sum.add(a[i * n + j]);
      for (int k = 0; k < i && k < j; k++) sum.add(a[i * n + k], a[k * n + j], true);
      a[i * n + j] = sum.value(f);
      if (!std::isfinite(a[i * n + j])) return !(status == 2 && column == j && row == i);
    }
    if (j >= m) continue;
    int pivot = j;
    for (int i = j + 1; i < m; i++) if (std::fabs(a[i * n + j]) > std::fabs(a[pivot * n + j])) pivot = i;
    chosen.push_back(pivot);
    for (int k = 0; k < n; k++) std::swap(a[j * n + k], a[pivot * n + k]);
    if (a[j * n + j] == 0) return !(status == 1 && column == j);
    for (int i = j + 1; i < m; i++) { sum.clear(); sum.add(a[i * n + j]); a[i * n + j] = sum.quotient(a[j * n + j], f); }
  }
  if (status != 0) return 1;
  for (size_t k = 0; k < chosen.size(); k++) if (pivots[k] != chosen[k]) return 1;
  return firstWrong(a, out, 1, single);
}

// LU.solve without refinement, from factors that have been judged.
int oracle_lusolve(int n, const void* lu, const int* pivots, const void* b, const void* out, int single) {
  std::vector<double> right = loaded(n, b, 1, single);
  for (int k = 0; k < n; k++) std::swap(right[k], right[pivots[k]]);
  Triangle L = {n, lu, n, 1, 0, 1, 0, single}, U = {n, lu, n, 1, 1, 0, 0, single};
  return firstWrong(U.solve(L.solve(right, 0), 0), out, 1, single);
}

}
