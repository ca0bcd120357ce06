// Substitution by blocks of KB unknowns in one launch: a work-group has the rows of a block, for one right-hand side, subtracts the
// products with unknowns of earlier blocks as these are published, and multiplies by the inverse of its diagonal block. Groups
// take tickets, and wait only for earlier ones. An unknown goes with a flag in one word of 64 bits, or two, that is written and
// read whole. A group that has waited in vain publishes NaN, which makes everything after it NaN.
//
// Eight work-items a row, each with 4 by 16 entries of a block in registers; the next block is asked for before the unknowns for this
// one are waited for. The last block is the inverse.
#define LANES 8
#define ITEMS 256
#define ROWS (ITEMS / LANES)
#define PASSES (KB / ROWS)
#define QUADS (KB / (4 * LANES))

#define ASK(to, M, ldm)                                                                                                     \
  UNROLL                                                                                                                    \
  for (int r = 0; r < PASSES; r++)                                                                                          \
    UNROLL                                                                                                                  \
    for (int c = 0; c < QUADS; c++)                                                                                         \
      to[r][c] = *(const __global REAL4 *)((M) + (long)(r * ROWS + lid / LANES) * (ldm) + c * 4 * LANES + lid % LANES * 4);

#define MULTIPLY(with)                                                                                                      \
  UNROLL                                                                                                                    \
  for (int c = 0; c < QUADS; c++) {                                                                                         \
    REAL4 v = *(const __local REAL4 *)((with) + c * 4 * LANES + lid % LANES * 4);                                              \
    UNROLL                                                                                                                  \
    for (int r = 0; r < PASSES; r++)                                                                                        \
      sum[r] = fma(here[r][c].x, v.x, fma(here[r][c].y, v.y, fma(here[r][c].z, v.z, fma(here[r][c].w, v.w, sum[r]))));      \
  }

// The sum of row `lid` over its work-items.
#define TOTAL                                                                                 \
  UNROLL                                                                                      \
  for (int r = 0; r < PASSES; r++) part[r * ROWS + lid / LANES][lid % LANES] = sum[r];        \
  barrier(CLK_LOCAL_MEM_FENCE);                                                               \
  total = 0;                                                                                  \
  UNROLL                                                                                      \
  for (int l = 0; l < LANES; l++) total += part[lid % KB][l];

__kernel FIXED(ITEMS) void plainWait(const __global REAL *W, int ld, const __global REAL *inverses, int blocks, int upper, const __global REAL *y,
                                     int offset, int step, int k, __global REAL *to, volatile __global ulong *published,
                                     int spins) {
  __local REAL x[2][KB] __attribute__((aligned(32))), part[KB][LANES + 1];
  __local int ticket;
  const int lid = get_local_id(0), mine = lid % KB;
  if (lid == 0) ticket = atomic_inc((volatile __global int *)(published + (long)blocks * KB * k * WORDS)); // behind the unknowns
  barrier(CLK_LOCAL_MEM_FENCE);
  const int turn = ticket / k, column = ticket % k;
  const int block = upper ? blocks - 1 - turn : turn;
  const __global REAL *line = W + (long)block * KB * ld;
  const __global REAL *inverse = inverses + (long)block * KB * KB;
  REAL4 here[PASSES][QUADS], next[PASSES][QUADS];
  REAL sum[PASSES], total;
UNROLL
  for (int r = 0; r < PASSES; r++) sum[r] = 0;
  const REAL side = y[offset + (long)(block * KB + mine) * step + column];
  if (turn > 0) {
    ASK(here, line + (upper ? blocks - 1 : 0) * KB, ld)
  }
  int looks = 0;
  for (int j = 0; j < turn; j++) {
    const __global REAL *there = j + 1 < turn ? line + (upper ? blocks - 2 - j : j + 1) * KB : inverse;
    ASK(next, there, j + 1 < turn ? ld : KB)
    if (lid < KB) {
      volatile __global ulong *theirs = published + ((long)column * blocks * KB + j * KB + mine) * WORDS;
      ulong word = theirs[0], low = WORDS == 2 ? theirs[1] : word;
      while (!(word >> 32 & low >> 32) && ++looks < spins) {
        word = theirs[0];
        low = WORDS == 2 ? theirs[1] : word;
      }
#if WORDS == 1
      REAL v = as_float((uint)word);
#else
      REAL v = as_double(word << 32 | (uint)low);
#endif
      x[j & 1][mine] = looks < spins ? v : (REAL)NAN;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    MULTIPLY(x[j & 1])
UNROLL
    for (int r = 0; r < PASSES; r++)
UNROLL
      for (int c = 0; c < QUADS; c++) here[r][c] = next[r][c];
  }
  if (turn == 0) {
    ASK(here, inverse, KB)
  }
  TOTAL
  if (lid < KB) x[turn & 1][mine] = side - total;
  barrier(CLK_LOCAL_MEM_FENCE);
UNROLL
  for (int r = 0; r < PASSES; r++) sum[r] = 0;
  MULTIPLY(x[turn & 1])
  TOTAL
  if (lid < KB) {
    volatile __global ulong *ours = published + ((long)column * blocks * KB + turn * KB + mine) * WORDS;
#if WORDS == 1
    ours[0] = 1ul << 32 | as_uint(total);
#else
    ours[0] = 1ul << 32 | (uint)(as_ulong(total) >> 32);
    ours[1] = 1ul << 32 | (uint)as_ulong(total);
#endif
    to[(long)(block * KB + mine) * k + column] = total;
  }
}
