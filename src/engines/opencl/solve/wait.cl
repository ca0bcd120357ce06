// Substitution by blocks of KB unknowns in one launch, from substitute.ts: a work-group has the rows of a block, for one right-hand side,
// subtracts the products with unknowns of earlier blocks as these are published, and multiplies by the inverse of its diagonal block.
// Groups take tickets, and wait only for earlier ones. An unknown is published with a flag, in one or two words of 64 bits that are
// written and read whole. A group whose wait times out publishes NaN, which makes everything after it NaN.
//
// Eight work-items per row, each with 4 by 16 entries of a block in registers; the next block is loaded before the unknowns for this
// one are waited for. The last block is the inverse.
#define LANES 8
#define ITEMS 256
#define ROWS (ITEMS / LANES)
#define PASSES (KB / ROWS)
#define QUADS (KB / (4 * LANES))

#define LOAD(to, M, ldm)                                                                                                     \
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
      sum[r] = fma(current[r][c].x, v.x, fma(current[r][c].y, v.y, fma(current[r][c].z, v.z, fma(current[r][c].w, v.w, sum[r]))));      \
  }

// The sum of row `lid` over its work-items.
#define TOTAL                                                                                 \
  UNROLL                                                                                      \
  for (int r = 0; r < PASSES; r++) part[r * ROWS + lid / LANES][lid % LANES] = sum[r];        \
  barrier(CLK_LOCAL_MEM_FENCE);                                                               \
  total = 0;                                                                                  \
  UNROLL                                                                                      \
  for (int l = 0; l < LANES; l++) total += part[lid % KB][l];

__kernel FIXED(ITEMS) void substituteWaiting(const __global REAL *W, int ld, const __global REAL *inverses, int blocks, int upper, const __global REAL *y,
                                     int offset, int step, int k, __global REAL *to, volatile __global ulong *published,
                                     int spins) {
  __local REAL x[2][KB] __attribute__((aligned(32))), part[KB][LANES + 1];
  __local int ticket;
  const int lid = get_local_id(0), mine = lid % KB;
  if (lid == 0) ticket = atomic_inc((volatile __global int *)(published + (long)blocks * KB * k * WORDS)); // after the unknowns
  barrier(CLK_LOCAL_MEM_FENCE);
  const int number = ticket / k, column = ticket % k;
  const int block = upper ? blocks - 1 - number : number;
  const __global REAL *rowsOfBlock = W + (long)block * KB * ld;
  const __global REAL *inverse = inverses + (long)block * KB * KB;
  REAL4 current[PASSES][QUADS], next[PASSES][QUADS];
  REAL sum[PASSES], total;
UNROLL
  for (int r = 0; r < PASSES; r++) sum[r] = 0;
  const REAL side = y[offset + (long)(block * KB + mine) * step + column];
  if (number > 0) {
    LOAD(current, rowsOfBlock + (upper ? blocks - 1 : 0) * KB, ld)
  }
  int looks = 0;
  for (int j = 0; j < number; j++) {
    const __global REAL *nextBlock = j + 1 < number ? rowsOfBlock + (upper ? blocks - 2 - j : j + 1) * KB : inverse;
    LOAD(next, nextBlock, j + 1 < number ? ld : KB)
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
      for (int c = 0; c < QUADS; c++) current[r][c] = next[r][c];
  }
  if (number == 0) {
    LOAD(current, inverse, KB)
  }
  TOTAL
  if (lid < KB) x[number & 1][mine] = side - total;
  barrier(CLK_LOCAL_MEM_FENCE);
UNROLL
  for (int r = 0; r < PASSES; r++) sum[r] = 0;
  MULTIPLY(x[number & 1])
  TOTAL
  if (lid < KB) {
    volatile __global ulong *ours = published + ((long)column * blocks * KB + number * KB + mine) * WORDS;
#if WORDS == 1
    ours[0] = 1ul << 32 | as_uint(total);
#else
    ours[0] = 1ul << 32 | (uint)(as_ulong(total) >> 32);
    ours[1] = 1ul << 32 | (uint)as_ulong(total);
#endif
    to[(long)(block * KB + mine) * k + column] = total;
  }
}
