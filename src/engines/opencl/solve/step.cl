// Substitution by blocks of KB unknowns, one launch per block, from substitute.ts: every work-group multiplies the right-hand sides of the
// block by the inverse of its diagonal block, the first stores the result, and each subtracts the products with it from KB later
// rows. The right-hand sides and the unknowns are separate memory, since other groups may still read the former. Eight work-items per
// row; one right-hand side per column of groups.
#define LANES 8
#define ITEMS 256
#define ROWS (ITEMS / LANES)

// The products of KB rows with x, one for each of the first KB work-items.
#define PRODUCT(M, ldm)                                                                                 \
  UNROLL                                                                                                \
  for (int r = 0; r < KB; r += ROWS) {                                                                  \
    REAL sum = 0;                                                                                       \
    UNROLL                                                                                              \
    for (int c = 0; c < KB; c += 4 * LANES) {                                                           \
      REAL4 v = *(const __global REAL4 *)((M) + (long)(r + lid / LANES) * (ldm) + c + lid % LANES * 4); \
      int at = c + lid % LANES * 4;                                                                     \
      sum = fma(v.x, x[at], fma(v.y, x[at + 1], fma(v.z, x[at + 2], fma(v.w, x[at + 3], sum))));        \
    }                                                                                                   \
    part[r + lid / LANES][lid % LANES] = sum;                                                           \
  }                                                                                                     \
  barrier(CLK_LOCAL_MEM_FENCE);                                                                         \
  REAL product = 0;                                                                                     \
  if (lid < KB)                                                                                         \
    for (int l = 0; l < LANES; l++) product += part[lid][l];

__kernel FIXED(ITEMS) void substituteBlock(const __global REAL *W, int ld, const __global REAL *inverses, int block, int away, __global REAL *y,
                                     int offset, int step, __global REAL *to) {
  __local REAL x[KB], part[KB][LANES + 1];
  const int lid = get_local_id(0), g = get_group_id(0), column = get_group_id(1);
  const int other = block + away * g;
  y += offset + column;
  to += column;
  if (lid < KB) x[lid] = y[(long)(block * KB + lid) * step];
  barrier(CLK_LOCAL_MEM_FENCE);
  {
    PRODUCT(inverses + (long)block * KB * KB, KB)
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid < KB) x[lid] = product;
    if (lid < KB && g == 0) to[(long)(block * KB + lid) * get_num_groups(1)] = product;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  {
    PRODUCT(W + (long)other * KB * ld + block * KB, ld)
    if (lid < KB && g > 0) y[(long)(other * KB + lid) * step] -= product;
  }
}
