// Products by residues, launched by residues.ts after Ozaki, Uchino and Imamura's second scheme: `widest` finds how many bits the
// integers need, `residues` cuts the lines of both factors (rows of A, columns of B) to integers and takes their residues,
// int8Product.cl multiplies those modulo each m, and `combine` or `luCombine` puts the integer together.
//
// A line whose numbers are below 2^e in magnitude becomes integers x' = RN(x 2^(b - e)), |x'| <= 2^b. Cutting costs at most 1/2 an entry,
// and nothing where the entry has no lower bits. In units of 2^(eA + eB - bA - bB) the product is the sum of
//   (a' + d)(b' + f) = a' b' + a' f + d (b' + f),   |a'| <= 2^bA, |b' + f| <= 2^bB, |d|, |f| <= 1/2,
// so the integer sum S of all a' b' is off by at most 2^(bA - 1) times the number of cut entries of B's line plus 2^(bB - 1) times that
// of A's. |S| <= K 2^(bA + bB), which residues.ts keeps below a quarter of the product of the moduli.

// The parts of an integer |x'| below 2^84, and whether something was cut off. The line's largest word is `top`: e = (top >> 20) - 1022.
typedef struct {
  int piece[4], negative;
} Integer;

Integer integerOf(double x, uint top, int bits, int *cut) {
  ulong word = as_ulong(x), field = (word >> 52) & 0x7ff, significand = word & 0xffffffffffffful;
  if (field != 0) significand |= 0x10000000000000ul;
  int shift = min((int)max(field, 1ul) - (int)(top >> 20) + bits - 53, 63);
  ulong low = 0, high = 0;
  if (shift >= 0) {
    low = significand << shift;
    high = shift > 11 ? significand >> (64 - shift) : 0;
  } else {
    int lost = min(-shift, 55); // a significand below 2^53 rounds to 0
    low = (significand + (1ul << (lost - 1))) >> lost;
    if ((significand & ((1ul << lost) - 1)) != 0) *cut += 1;
  }
  const int mask = (1 << PIECE_BITS) - 1;
  Integer n = {{(int)low & mask, (int)(low >> PIECE_BITS) & mask, (int)(low >> 2 * PIECE_BITS) & mask, (int)(low >> 63 | high << 1)}, word >> 63};
  return n;
}

// n modulo m, between -128 and 127: the weighted sum of the pieces is at most 4 * 2^21 * 128 = 2^30 in magnitude.
int residueOf(Integer n, __constant const int *record, __constant const int *weights) {
  int sum = n.piece[0] * weights[0] + n.piece[1] * weights[1] + n.piece[2] * weights[2] + n.piece[3] * weights[3];
  int r = reduced(n.negative ? -sum : sum, record);
  return r > 127 ? r - record[0] : r;
}

// A work-group takes TILE_LINES lines of TILE_TERMS terms through local memory; then a work-item has four terms of a line. They are stored
// from line `first` on, from word `place` of the memory on. TOPS: the largest word of a line is kept too.
#define TILE_LINES 32
#define TILE_TERMS 64
#define QUARTERS (TILE_TERMS / 4)
__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void residues(
    __global const REAL *M, long offset, long lineStep, long step, int lines, int n, __global const uint *sizes, int from, int bits,
    __constant const int *table, int count, int right, __global uint *to, int first, long place, int pitch, long batch,
    __global uint *cuts
#ifdef TOPS
    , __global uint *tops
#endif
) {
  __local double tile[TILE_LINES][TILE_TERMS + 1];
  const int l = get_local_id(0), line0 = get_group_id(1) * TILE_LINES, k0 = get_group_id(0) * TILE_TERMS;
  for (int e = l; e < TILE_LINES * TILE_TERMS; e += 256) {
    int i = step == 1 ? e / TILE_TERMS : e % TILE_LINES, k = step == 1 ? e % TILE_TERMS : e / TILE_LINES;
    bool inside = line0 + i < lines && k0 + k < n;
    tile[i][k] = inside ? (double)M[offset + (line0 + i) * lineStep + (k0 + k) * step] : 0.0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = l / QUARTERS; i < TILE_LINES; i += 256 / QUARTERS) {
    const int line = line0 + i, quarter = l % QUARTERS;
    if (line >= lines) break;
    Integer x[4];
    int cut = 0;
#pragma unroll
    for (int q = 0; q < 4; q++) x[q] = integerOf(tile[i][4 * quarter + q], sizes[2 * (from + line)], bits, &cut);
    if (cut != 0) atomic_add(cuts + from + line, cut);
#ifdef TOPS
    uint top = 0;
#pragma unroll
    for (int q = 0; q < 4; q++) top = max(top, minWordOf(0xffffffffu, tile[i][4 * quarter + q]) + 1u);
    if (top != 0) atomic_max(tops + from + line, top);
#endif
    __global uint *words = to + place + (long)(first + line) * pitch + k0 / 4 + quarter;
    for (int c = 0; c < count; c++) {
      __constant const int *record = table + c * RECORD, *weights = record + WEIGHTS + (right ? 4 : 0);
      uint four = 0;
#pragma unroll
      for (int q = 0; q < 4; q++) four |= ((uint)residueOf(x[q], record, weights) & 255u) << 8 * q;
      words[c * batch] = four;
    }
  }
}

// The largest number of bits that a line needs to be an integer, from its largest word and its lowest bit (see `measure`); more than
// any limit if it holds something that is not finite.
__kernel void widest(__global const uint *sizes, __global const uint *lowest, int lines, volatile __global int *widths, int which) {
  int line = get_global_id(0);
  if (line >= lines) return;
  uint top = sizes[2 * line];
  int bits = top >= 0x7ff00000u ? INT_MAX : top == 0 ? 0 : (int)(top >> 20) + 53 - (int)lowest[line];
  atomic_max(widths + which, bits);
}

// The integer of an entry from its residues y_l, each the coefficient of a cofactor Q_l: sum y_l Q_l = S + q P, where q is the sum of
// y_l / m_l rounded to an integer: S / P is below 1/4 in magnitude, and the sum of 22 floats below 22 errs by less than 2^-14.
typedef struct {
  ulong sum[LIMBS];
  float quotient;
} Remainders;

Remainders noRemainders() {
  Remainders r;
  r.quotient = 0.0f;
#pragma unroll
  for (int i = 0; i < LIMBS; i++) r.sum[i] = 0;
  return r;
}

// Four neighbours from the bytes of a word.
void addRemainders(Remainders *r, uint four, __constant const int *record) {
#pragma unroll
  for (int q = 0; q < 4; q++) {
    const uint y = four >> 8 * q & 255u;
#pragma unroll
    for (int i = 0; i < LIMBS; i++) r[q].sum[i] += (ulong)y * (uint)record[COFACTOR + i];
    r[q].quotient += (float)y * as_float(record[INVERSE]);
  }
}

// S as high + low times 2^exponent, with 2^52 <= |high| < 2^53 (or S = 0), `low` below 1, and a bound of the error: 0 or 2^-51.
double integerOfRemainders(Remainders r, __constant const int *product, double *low, double *error, int *exponent) {
  const ulong q = (ulong)rint(r.quotient);
  uint w[LIMBS];
  long carry = 0;
#pragma unroll
  for (int i = 0; i < LIMBS; i++) {
    carry += (long)(r.sum[i] - q * (uint)product[COFACTOR + i]); // both below 2^45
    w[i] = (uint)carry;
    carry >>= 32;
  }
  const bool negative = carry < 0;
  ulong borrow = negative;
#pragma unroll
  for (int i = 0; i < LIMBS; i++) {
    borrow += negative ? ~w[i] : w[i];
    w[i] = (uint)borrow;
    borrow >>= 32;
  }
  *exponent = LIMBS * 32 - 53;
  // Shift left until the top bit is set: by words, then by bits.
  for (int i = 0; i < LIMBS - 1 && w[LIMBS - 1] == 0; i++) {
#pragma unroll
    for (int k = LIMBS - 1; k > 0; k--) w[k] = w[k - 1];
    w[0] = 0;
    *exponent -= 32;
  }
  *low = *error = 0.0;
  if (w[LIMBS - 1] == 0) return 0.0;
  const int shift = clz(w[LIMBS - 1]);
  *exponent -= shift;
  ulong a = (ulong)w[LIMBS - 1] << 32 | w[LIMBS - 2], b = (ulong)w[LIMBS - 3] << 32 | w[LIMBS - 4];
  ulong c = LIMBS == 5 ? (ulong)w[0] << 32 : (ulong)w[1] << 32 | w[0];
  if (shift > 0) {
    a = a << shift | b >> (64 - shift);
    b = b << shift | c >> (64 - shift);
    c <<= shift;
  }
  const ulong rest = a << 53 | b >> 11; // 64 bits below the first 53
  *low = (double)rest * 0x1p-64;
  *error = (rest & 0x7ff) == 0 && (b & 0x7ff) == 0 && c == 0 ? 0.0 : 0x1p-51;
  if (negative) *low = -*low;
  return negative ? -(double)(a >> 11) : (double)(a >> 11);
}

// 2^k for k between -1022 and 1023.
double powerOfTwo(int k) { return as_double((ulong)(k + 1023) << 52); }

// The sum of an entry from its remainders: high + low, and the bound of the module's comment. `scale` is eA + eB - bA - bB; `halves` is
// what was cut off, in the same units. NaN outside 2^-900 to 2^960, where products of these numbers might underflow or overflow.
double scaledSum(Remainders r, __constant const int *product, int scale, double halves, double *low, double *bound) {
  int exponent;
  double high = integerOfRemainders(r, product, low, bound, &exponent);
  if (high == 0 && halves == 0) return 0.0;
  if (high == 0) exponent = -53;
  exponent += scale;
  if (exponent + 53 <= -900 || exponent + 53 >= 960 || scale < -960) return NOT_PROVED; // |S| >= 1, so scale < 960
  const double unit = powerOfTwo(exponent);
  *low *= unit;
  *bound = *bound * unit + halves * powerOfTwo(scale / 2) * powerOfTwo(scale - scale / 2) * MORE;
  return high * unit;
}
