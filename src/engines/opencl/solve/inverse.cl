// Inverses of L and U by substitution, with solveStrip of rows.cl, launched by inverse.ts: the inverses of the diagonal blocks, and the
// rows of one step of inverting all of L and U. The last group id is 0 for L and 1 for U.

// The inverses of the diagonal blocks, KB by KB each, stored by rows, one after another.
__kernel FIXED(ITEMS) void invertDiagonalBlocks(const __global REAL *T, int ld, __global REAL *lower, __global REAL *upper) {
  __local REAL l[Q][KB + 4] __attribute__((aligned(32))), solved[Q][STRIP];
  const int lid = get_local_id(0), lane = lid % STRIP, slot = lid / STRIP;
  const bool up = get_group_id(2) == 1;
  const int first = get_group_id(1) * KB, j = get_group_id(0) * STRIP + lane;
  REAL x[Q];
UNROLL
  for (int q = 0; q < Q; q++) x[q] = slot * Q + q == j ? (REAL)1 : (REAL)0;
  solveStrip(T + (long)first * ld + first, ld, up, x, l, solved);
  __global REAL *X = (up ? upper : lower) + (long)first * KB;
UNROLL
  for (int q = 0; q < Q; q++) ENTRY(X, KB, up, slot * Q + q, j) = x[q];
}

// One step of inverting L and U, before the products of gemm.cl: substitution in the rows of the step's block, in all nonzero
// columns outside the diagonal block. T holds the factors, W receives the inverses.
__kernel FIXED(ITEMS) void invertRows(const __global REAL *T, int ldt, __global REAL *W, int ld, int step, int blocks) {
  __local REAL l[Q][KB + 4] __attribute__((aligned(32))), solved[Q][STRIP];
  const int lid = get_local_id(0), lane = lid % STRIP, slot = lid / STRIP;
  const bool up = get_group_id(1) == 1;
  const int first = (up ? blocks - 1 - step : step) * KB;
  __global REAL *column = W + (long)first * ld + (up ? first + KB : 0) + get_group_id(0) * STRIP + lane;
  REAL x[Q];
UNROLL
  for (int q = 0; q < Q; q++) x[q] = column[(long)FLIPPED(up, slot * Q + q) * ld];
  solveStrip(T + (long)first * ldt + first, ldt, up, x, l, solved);
UNROLL
  for (int q = 0; q < Q; q++) column[(long)FLIPPED(up, slot * Q + q) * ld] = x[q];
}

// Copies the diagonal blocks of both inverses into W.
__kernel FIXED(KB) void copyInverseBlocks(const __global REAL *lower, const __global REAL *upper, __global REAL *W, int ld) {
  const int i = get_group_id(0), j = get_local_id(0);
  const long at = (long)i * KB + j;
  W[(long)i * ld + i / KB * KB + j] = j < i % KB ? lower[at] : upper[at];
}
