// Sums over k < first, in parts of `length`; see luBlocked.cl: for the columns of the block (PANEL), or for its rows in the columns to
// the right. A work-group has a tile of TM rows and TN columns, a work-item 4 by 4 entries of it, spaced so that neighbours have
// adjacent ones. Four binary64 instructions per product: most of the time should be spent here.
#define TX (TN / 4)
#define TY (TM / 4)
#define ITEMS (TX * TY)

__kernel FIXED(ITEMS) void luProduct(const __global REAL *A, __global double *T, const __global double *work, const __global int *out, Shape z) {
  __local double a[KT][TM + 1], b[KT][TN];
  const int lid = get_local_id(0);
  // neighbours store adjacent sums
  const int y = PANEL ? lid % TY : lid / TX, x = PANEL ? lid / TY : lid % TX;
  const int end = z.first + z.width;
  const int rowEnd = PANEL ? z.rows : end, colFirst = PANEL ? z.first : z.right, colEnd = PANEL ? end : z.end;
  const int i0 = z.first + (int)get_group_id(0) * TM, j0 = colFirst + (int)get_group_id(1) * TN;
  const int from = (int)get_group_id(2) * z.length, to = hasEnded(out, z) ? from : min(from + z.length, z.first);

  double G[4], s[4][4], rest[4][4], top[4];
  uint bits[4][4];
#pragma unroll
  for (int q = 0; q < 4; q++) {
    int j = j0 + x + TX * q;
    G[q] = gridOf(j < colEnd ? work[SIZES(z) + j] : 0.0);
    top[q] = 0;
#pragma unroll
    for (int p = 0; p < 4; p++) s[p][q] = G[q], rest[p][q] = 0, bits[p][q] = 0;
  }

  REAL nextA[TM * KT / ITEMS], nextB[TN * KT / ITEMS];
#define UNROLL _Pragma("unroll")
#define FETCH(k0)                                                                                  \
  UNROLL                                                                                           \
  for (int e = 0; e < TM * KT / ITEMS; e++) {                                                      \
    int at = lid + e * ITEMS, i = i0 + at / KT, k = (k0) + at % KT;                                \
    nextA[e] = i < rowEnd && k < to ? A[(size_t)i * z.cols + k] : (REAL)0;                         \
  }                                                                                                \
  UNROLL                                                                                           \
  for (int e = 0; e < TN * KT / ITEMS; e++) {                                                      \
    int at = lid + e * ITEMS, k = (k0) + at / TN, j = j0 + at % TN;                                \
    nextB[e] = k < to && j < colEnd ? A[(size_t)k * z.cols + j] : (REAL)0;                         \
  }
  FETCH(from)
  for (int k0 = from; k0 < to; k0 += KT) {
#pragma unroll
    for (int e = 0; e < TM * KT / ITEMS; e++) a[(lid + e * ITEMS) % KT][(lid + e * ITEMS) / KT] = nextA[e];
#pragma unroll
    for (int e = 0; e < TN * KT / ITEMS; e++) b[(lid + e * ITEMS) / TN][(lid + e * ITEMS) % TN] = nextB[e];
    barrier(CLK_LOCAL_MEM_FENCE);
    FETCH(k0 + KT)
#pragma unroll 4
    for (int k = 0; k < KT; k++) {
      double l[4], u[4];
#pragma unroll
      for (int p = 0; p < 4; p++) l[p] = a[k][y + TY * p];
#pragma unroll
      for (int q = 0; q < 4; q++) u[q] = b[k][x + TX * q];
#pragma unroll
      for (int p = 0; p < 4; p++)
#pragma unroll
        for (int q = 0; q < 4; q++) {
          double t = fma(-l[p], u[q], s[p][q]), n = fma(l[p], u[q], t - s[p][q]);
          s[p][q] = t;
          rest[p][q] += n;
          uint2 words = as_uint2(n);
          bits[p][q] |= words.x | words.y;
        }
    }
#pragma unroll
    for (int p = 0; p < 4; p++)
#pragma unroll
      for (int q = 0; q < 4; q++) top[q] = fmax(top[q], fabs(rest[p][q]));
    barrier(CLK_LOCAL_MEM_FENCE);
  }

  // The bound of a rest: each n is rounded, by at most U h and 2^-1075, and each sum of them by U times itself, which is less than
  // top + KT h (1 + 2^-40). U h >= 2^-1006, so (KT + 2) h covers all of that except top. If every n was 0, only underflow can have
  // lost something: then t - s is +0, and so is n, never -0, unless l u itself underflows, which takes a tiny factor.
  const double N = to - from;
  const size_t area = PANEL ? (size_t)W * (z.rows - z.first) : (size_t)W * (z.end - z.right);
  T += 3 * area * get_group_id(2);
#pragma unroll
  for (int p = 0; p < 4; p++)
#pragma unroll
    for (int q = 0; q < 4; q++) {
      int i = i0 + y + TY * p - z.first, j = j0 + x + TX * q - colFirst;
      if (from == to || i >= rowEnd - z.first || j >= colEnd - colFirst) continue;
      size_t at = PANEL ? (size_t)j * (z.rows - z.first) + i : (size_t)i * (z.end - z.right) + j;
      double h = G[q] * (U / 1.5);
      T[at] = s[p][q] - G[q];
      T[area + at] = rest[p][q];
      T[2 * area + at] = bits[p][q] != 0 ? N * U * (top[q] + (KT + 2) * h) * MORE : out[TINY_SEEN] && !BINARY32 ? N * 0x1p-1074 : 0.0;
    }
}
