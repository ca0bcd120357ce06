// C := C - P Q modulo p, for integers in binary64, launched by modulo.ts: P is rows by depth, Q depth by cols, both stored by rows.
// With |P|, |Q| <= p / 2, |C| <= p, p < 2^23 and depth <= 64, x = C - P Q is at most 16 p^2 + p < 2^51, and so is every partial sum:
// nothing is rounded. x / p is at most 2^27 + 1, so x * (1 / p), with two roundings, is off by less than 2^-24. For the nearest
// integer q, |x - p q| < p / 2 + p 2^-24 <= p / 2 + 1 / 2. Both sides are multiples of 1 / 2, so |x - p q| <= p / 2.
// A work-group has a tile of 64 by 64, a work-item 4 rows and every 16th column of it. KT columns of P and rows of Q at a time go
// through local memory.
#define TILE 64
#define KT 16
#define ITEMS 256

__kernel FIXED(ITEMS) void subtractModulo(__global REAL *C, long offset, long rowStride, long colStride, int rows, int cols,
                                       const __global double *P, const __global double *Q, int depth, double p) {
  __local double a[KT][TILE + 2] __attribute__((aligned(16))), b[KT][TILE];
  const int lid = get_local_id(0), tx = lid % 16, ty = lid / 16;
  const int row0 = get_group_id(1) * TILE, col0 = get_group_id(0) * TILE;
  const double inverse = 1 / p; // a division for each entry would cost a third of the products
  double sum[4][4];
UNROLL
  for (int i = 0; i < 4; i++)
UNROLL
    for (int j = 0; j < 4; j++) sum[i][j] = 0;
  for (int k0 = 0; k0 < depth; k0 += KT) {
    barrier(CLK_LOCAL_MEM_FENCE);
UNROLL
    for (int e = 0; e < TILE * KT / ITEMS; e++) {
      const int at = lid + e * ITEMS;
      const int i = row0 + at / KT, k = k0 + at % KT;
      a[at % KT][at / KT] = i < rows && k < depth ? P[(long)i * depth + k] : 0;
    }
UNROLL
    for (int e = 0; e < TILE * KT / ITEMS; e++) {
      const int at = lid + e * ITEMS;
      const int k = k0 + at / TILE, j = col0 + at % TILE;
      b[at / TILE][at % TILE] = k < depth && j < cols ? Q[(long)k * cols + j] : 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
UNROLL
    for (int t = 0; t < KT; t++) {
      const double2 one = *(const __local double2 *)&a[t][4 * ty], two = *(const __local double2 *)&a[t][4 * ty + 2];
      const double l[4] = {one.x, one.y, two.x, two.y};
UNROLL
      for (int j = 0; j < 4; j++) {
        const double u = b[t][tx + 16 * j];
UNROLL
        for (int i = 0; i < 4; i++) sum[i][j] = fma(l[i], u, sum[i][j]);
      }
    }
  }
UNROLL
  for (int i = 0; i < 4; i++) {
    const int row = row0 + 4 * ty + i;
UNROLL
    for (int j = 0; j < 4; j++) {
      const int col = col0 + tx + 16 * j;
      if (row < rows && col < cols) {
        __global REAL *c = C + offset + row * rowStride + col * colStride;
        const double x = *c - sum[i][j];
        *c = (REAL)fma(-p, rint(x * inverse), x);
      }
    }
  }
}
