// C := C - A B, most of the work of a factorization, launched by lu.ts and inverse.ts. A is columns k0 to k0 + depth - 1 of the rows
// from `row`; B is rows k0 to k0 + depth - 1 of the columns from `column`. A work-group has a tile of TM by TN, a work-item 8 rows
// and TN / 16 columns of it in registers; KT columns of A and rows of B at a time go through local memory, loaded while the previous
// ones are multiplied. A warp of 32 is 8 by 4 work-items, so that it loads little from local memory.
//
// With TRIANGLES it is one step of inverting L and U at the same time, in blocks of KB rows and columns. A is in T, which holds both
// factors; B and C are in W, which receives both inverses. The third group id selects the system: 0 is L X = I, where step s has
// block s; 1 is U Y = I, where it has block s from the end. The diagonal blocks of the inverses are in `lower` and `upper`. The
// columns of the step's diagonal block have no entries in C yet: there C := -A B.
#define TM 128
#define ITEMS 256
#define CN (TN / 16)
#define V (CN < 4 ? CN : 4)
#if TN == 32
#define VEC REAL2
#else
#define VEC REAL4
#endif
#define QUADS_A (TM * KT / 4 / ITEMS)
#define QUADS_B_UP ((KT * TN / 4 + ITEMS - 1) / ITEMS)

// Load the next tiles of A and B, at `fromA` and `fromB`. Rows past the end are read as the last, and not stored.
#define LOAD                                                                                                                    \
  UNROLL                                                                                                                        \
  for (int e = 0; e < QUADS_A; e++) nextA[e] = *(const __global REAL4 *)(fromA + (e == 0 ? 0 : later[e - 1]));                  \
  UNROLL                                                                                                                        \
  for (int e = 0; e < QUADS_B_UP; e++)                                                                                          \
    if (KT * TN / 4 >= ITEMS || lid < KT * TN / 4) nextB[e] = *(const __global REAL4 *)(fromB + e * (ITEMS / (TN / 4)) * ldb);  \
  fromA += KT;                                                                                                                  \
  fromB += KT * ldb;

#define KEEP(to)                                                                                                                 \
  UNROLL                                                                                                                          \
  for (int e = 0; e < QUADS_A; e++) {                                                                                             \
    int at = lid + e * ITEMS, i = at / (KT / 4), k = at % (KT / 4) * 4;                                                           \
    a[to][k][i] = nextA[e].x, a[to][k + 1][i] = nextA[e].y, a[to][k + 2][i] = nextA[e].z, a[to][k + 3][i] = nextA[e].w;           \
  }                                                                                                                               \
  UNROLL                                                                                                                          \
  for (int e = 0; e < QUADS_B_UP; e++) {                                                                                          \
    int at = lid + e * ITEMS;                                                                                                     \
    if (at < KT * TN / 4) *(__local REAL4 *)&b[to][at / (TN / 4)][at % (TN / 4) * 4] = nextB[e];                                  \
  }

// No required work-group size: with one, the compiler would ignore the limit of registers.
#ifdef TRIANGLES
__kernel void subtractProduct(__global REAL *W, int ld, const __global REAL *T, int lda, const __global REAL *lower, const __global REAL *upper,
                        int step, int blocks) {
  const bool up = get_group_id(2) == 1;
  const int block = up ? blocks - 1 - step : step, k0 = block * KB, depth = KB;
  const int rows = blocks * KB, row = up ? 0 : k0 + KB, column = up ? k0 : 0;
  const bool isNew = column + (int)get_group_id(0) * TN / KB * KB == k0;
  const __global REAL *B = isNew ? (up ? upper : lower) + (long)k0 * KB - k0 : W + (long)k0 * ld;
  const int ldb = isNew ? KB : ld;
#else
__kernel void subtractProduct(__global REAL *W, int ld, int rows, int row, int column, int k0, int depth) {
  const bool isNew = false;
  const __global REAL *T = W, *B = W + (long)k0 * ld;
  const int lda = ld, ldb = ld;
#endif
  __local REAL a[2][KT][TM + 4] __attribute__((aligned(32))), b[2][KT][TN] __attribute__((aligned(32)));
  const int lid = get_local_id(0), lane = lid % 32, warp = lid / 32;
  const int tx = warp % 2 * 8 + lane % 8, ty = warp / 2 * 4 + lane / 8;
  const int row0 = row + (int)get_group_id(1) * TM, col0 = column + (int)get_group_id(0) * TN;
  REAL4 nextA[QUADS_A], nextB[QUADS_B_UP];
  REAL sum[8][CN];
UNROLL
  for (int i = 0; i < 8; i++)
UNROLL
    for (int j = 0; j < CN; j++) sum[i][j] = 0;
  // offsets instead of addresses, to save registers
  const int itsRow = row0 + lid / (KT / 4);
  const __global REAL *fromA = T + (long)min(itsRow, rows - 1) * lda + k0 + lid % (KT / 4) * 4;
  const __global REAL *fromB = B + (long)(lid / (TN / 4)) * ldb + col0 + lid % (TN / 4) * 4;
  int later[QUADS_A];
UNROLL
  for (int e = 1; e < QUADS_A; e++) later[e - 1] = (min(itsRow + e * (ITEMS / (KT / 4)), rows - 1) - min(itsRow, rows - 1)) * lda;
  LOAD
  KEEP(0)
  barrier(CLK_LOCAL_MEM_FENCE);
  int now = 0;
  for (int k = 0; k < depth; k += KT) {
    const bool more = k + KT < depth;
    if (more) {
      LOAD
    }
UNROLL
    for (int t = 0; t < KT; t++) {
      REAL l[8], u[CN];
UNROLL
      for (int h = 0; h < 2; h++) {
        REAL4 v = *(__local REAL4 *)&a[now][t][64 * h + 4 * ty];
        l[4 * h] = v.x, l[4 * h + 1] = v.y, l[4 * h + 2] = v.z, l[4 * h + 3] = v.w;
      }
UNROLL
      for (int h = 0; h < CN / V; h++) {
        VEC v = *(__local VEC *)&b[now][t][64 * h + V * tx];
        u[V * h] = v.x, u[V * h + 1] = v.y;
#if TN > 32
        u[V * h + 2] = v.z, u[V * h + 3] = v.w;
#endif
      }
UNROLL
      for (int i = 0; i < 8; i++)
UNROLL
        for (int j = 0; j < CN; j++) sum[i][j] = fma(l[i], u[j], sum[i][j]);
    }
    now = 1 - now;
    if (more) {
      KEEP(now)
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
UNROLL
  for (int i = 0; i < 8; i++) {
    const int at = row0 + i / 4 * 64 + 4 * ty + i % 4;
    if (at < rows)
UNROLL
      for (int h = 0; h < CN / V; h++) {
        __global VEC *c = (__global VEC *)(W + (long)at * ld + col0 + 64 * h + V * tx);
#if TN > 32
        *c = (isNew ? (VEC)(0) : *c) - (VEC)(sum[i][V * h], sum[i][V * h + 1], sum[i][V * h + 2], sum[i][V * h + 3]);
#else
        *c = (isNew ? (VEC)(0) : *c) - (VEC)(sum[i][V * h], sum[i][V * h + 1]);
#endif
      }
  }
}
