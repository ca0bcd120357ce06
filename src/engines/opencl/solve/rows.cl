// The row swaps of a panel in all other columns, and U in the rows of the block to the right of it, one strip of 32 columns per
// work-group; launched by lu.ts. Also the triangular systems with KB unknowns that inverse.cl solves: 32 right-hand sides, one per
// lane, and eight slots, each with KB / 8 rows in registers. A slot solves its own rows, and later slots subtract the products with them.
#define STRIP 32
#define SLOTS 8
#define Q (KB / SLOTS)
#define ITEMS (STRIP * SLOTS)
#define PIECES ((KB * Q + ITEMS - 1) / ITEMS)

// Row or column i of a block. With `flip` an upper triangle is read from its end, as a lower one.
#define FLIPPED(flip, i) ((flip) ? KB - 1 - (i) : (i))
#define ENTRY(T, ld, flip, i, k) T[(long)FLIPPED(flip, i) * (ld) + FLIPPED(flip, k)]

// Entries k0 to k0 + Q - 1 of each row.
#define FETCH(k0)                                                                                                                 \
  UNROLL                                                                                                                          \
  for (int e = 0; e < PIECES; e++) {                                                                                              \
    int at = lid + e * ITEMS;                                                                                                     \
    next[e] = at < KB * Q ? ENTRY(T, ld, flip, at / Q, (k0) + at % Q) : (REAL)0;                                                  \
  }

// x := T^-1 x by substitution. T is unit lower, or flipped and upper.
void solveStrip(const __global REAL *T, int ld, bool flip, REAL *x, __local REAL (*l)[KB + 4], __local REAL (*solved)[STRIP]) {
  const int lid = get_local_id(0), lane = lid % STRIP, slot = lid / STRIP;
  REAL next[PIECES];
  FETCH(0)
  for (int s = 0; s < SLOTS; s++) {
    barrier(CLK_LOCAL_MEM_FENCE);
UNROLL
    for (int e = 0; e < PIECES; e++)
      if (lid + e * ITEMS < KB * Q) l[(lid + e * ITEMS) % Q][(lid + e * ITEMS) / Q] = next[e];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (s + 1 < SLOTS) {
      FETCH((s + 1) * Q)
    }
    if (slot == s) {
UNROLL
      for (int k = 0; k < Q; k++) {
        if (flip) x[k] = x[k] / l[k][s * Q + k];
        solved[k][lane] = x[k];
UNROLL
        for (int i = k + 1; i < Q; i++) x[i] = fma(-l[k][s * Q + i], x[k], x[i]);
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (slot > s) {
UNROLL
      for (int k = 0; k < Q; k++) {
        const REAL v = solved[k][lane];
UNROLL
        for (int i = 0; i < Q; i += 4) {
          const REAL4 w = *(const __local REAL4 *)&l[k][slot * Q + i];
          x[i] = fma(-w.x, v, x[i]);
          x[i + 1] = fma(-w.y, v, x[i + 1]);
          x[i + 2] = fma(-w.z, v, x[i + 2]);
          x[i + 3] = fma(-w.w, v, x[i + 3]);
        }
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

// Moves the rows of LISTS panels of P columns, whose lists begin at word `list` of the state; then solves for U in columns c0 to
// c1 - 1 of the KB rows from `top`, with the block of L there. The first work-group has strip `begin`; `gaps` strips from `gap`, at
// least those of the panel, are skipped.
__kernel FIXED(ITEMS) void swapAndSolveRows(__global REAL *W, int ld, const __global int *state, int list, int top, int c0, int c1,
                                     int begin, int gap, int gaps) {
  __local REAL l[Q][KB + 4] __attribute__((aligned(32))), solved[Q][STRIP];
  const int lid = get_local_id(0), lane = lid % STRIP, slot = lid / STRIP;
  int strip = begin + get_group_id(0);
  if (strip >= gap) strip += gaps;
  const int j = strip * STRIP + lane;
  // Unrolled, otherwise PoCL compiles for long.
UNROLL
  for (int at = 0; at < LISTS; at++) {
    const __global int2 *moves = (const __global int2 *)(state + list + at * 4 * P);
    REAL kept[2 * P / SLOTS];
UNROLL
    for (int m = 0; m < 2 * P / SLOTS; m++) {
      int from = moves[m * SLOTS + slot].x;
      kept[m] = from >= 0 ? W[(long)from * ld + j] : (REAL)0;
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
UNROLL
    for (int m = 0; m < 2 * P / SLOTS; m++) {
      int2 move = moves[m * SLOTS + slot];
      if (move.x >= 0) W[(long)move.y * ld + j] = kept[m];
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
  const bool solves = strip * STRIP >= c0 && strip * STRIP < c1;
  REAL x[Q];
UNROLL
  for (int q = 0; q < Q; q++) x[q] = W[(long)(top + slot * Q + q) * ld + j];
  if (solves) solveStrip(W + (long)top * ld + top, ld, false, x, l, solved);
UNROLL
  for (int q = 0; q < Q; q++)
    if (solves) W[(long)(top + slot * Q + q) * ld + j] = x[q];
}
