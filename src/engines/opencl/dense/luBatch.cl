// Factorization of a batch of small matrices, one per work-group, launched by luBatch.ts: a column of L and a row of U alternately
// (Crout), whose entries are independent, one per work-item. MATRIX is the address space of the matrix; in local memory ld is odd,
// so that a column uses all banks.
#ifdef IN_LOCAL
#define MATRIX __local
#else
#define MATRIX __global
#endif

double exactEntryOf(const MATRIX REAL *A, int ld, int i, int j, int count) NOT_INLINED;
double exactEntryOf(const MATRIX REAL *A, int ld, int i, int j, int count) {
  long acc[ACCUMULATOR];
  for (int k = 0; k < ACCUMULATOR; k++) acc[k] = 0;
  addNumber(acc, A[i * ld + j]);
  for (int k = 0; k < count; k++) addProduct(acc, -A[i * ld + k], A[k * ld + j]);
  return rounded(acc);
}

// Entry (i, j) from its first `count` products, on the grid of the sum of magnitudes `size` of its column of U. With h as for gridOf, each
// n is rounded by at most U h, and each sum of them, below count h (1 + 2^-40), by U times itself; U h >= 2^-1006 is more than underflow
// takes. If every n was 0, only that can have lost something.
double entryOf(const MATRIX REAL *A, int ld, int i, int j, int count, double size, bool tiny) {
  const double G = gridOf(size), h = G * (U / 1.5);
  double s = G, rest = 0;
  ulong bits = 0;
  for (int k = 0; k < count; k++) {
    double l = A[i * ld + k], u = A[k * ld + j];
    double t = fma(-l, u, s), n = fma(l, u, t - s);
    s = t;
    rest += n;
    bits |= as_ulong(n);
  }
  Filter f = emptyFilter();
  f.sum = A[i * ld + j];
  f.rest = -rest;
  f.size = fabs(rest);
  addTerm(&f, s - G);
  double bound = bits != 0 ? count * (count + 2.0) * U * h * MORE : tiny ? count * 0x1p-1074 : 0.0;
  double v = certified(f.sum, f.rest, boundOf(f, 2, true) + bound);
  return v == v ? v : exactEntryOf(A, ld, i, j, count);
}

// Matrix k has element k of failed and info, and the pivots from k min(rows, cols). info[count] tells whether anything overflowed.
__kernel void luBatch(__global REAL *data, int rows, int cols, int count, __global ulong *failed, __global int *info, __global int *pivots
#ifdef IN_LOCAL
  , __local REAL *A
#endif
  , __local ulong *sizes, __local int *positions, __local int *from, __local double *columnSizes
) {
  __local int tinySeen;
  const int lid = get_local_id(0), items = get_local_size(0), steps = min(rows, cols);
  for (int k = get_group_id(0); k < count; k += get_num_groups(0)) {
    __global REAL *stored = data + (size_t)k * rows * cols;
#ifdef IN_LOCAL
    const int ld = cols | 1;
    for (int e = lid; e < rows * cols; e += items) A[e / cols * ld + e % cols] = stored[e];
#else
    const int ld = cols;
    __global REAL *A = stored;
#endif
    for (int c = lid; c < cols; c += items) columnSizes[c] = 0;
    if (lid == 0) failed[k] = NO_OVERFLOW, tinySeen = 0;
    int zero = 0;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    for (int j = 0; j < steps && zero == 0; j++) {
      ulong size = 0;
      int pivot = rows;
      for (int i = j + lid; i < rows; i += items) {
        double s = finiteEntry(entryOf(A, ld, i, j, j, columnSizes[j], tinySeen != 0), failed + k, i, j);
        A[i * ld + j] = (REAL)s;
        if (isBetter(magnitudeOf(s), i, size, pivot)) size = magnitudeOf(s), pivot = i;
      }
      sizes[lid] = size;
      positions[lid] = pivot;
      findBest(sizes, positions, from, get_local_size(0));
      pivot = positions[0];
      size = sizes[0];
      if (lid == 0) pivots[(size_t)k * steps + j] = pivot;
      if (size == 0 && zero == 0) zero = 1 + j;
      for (int c = lid; c < cols && pivot != j; c += items) {
        REAL kept = A[j * ld + c];
        A[j * ld + c] = A[pivot * ld + c];
        A[pivot * ld + c] = kept;
      }
      barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
      double u = A[j * ld + j];
      bool tiny = false;
      for (int i = j + 1 + lid; i < rows; i += items) {
        double l = divide(A[i * ld + j], u);
        A[i * ld + j] = (REAL)l;
        tiny |= isTiny(l);
      }
      for (int c = j + 1 + lid; c < cols; c += items) {
        double v = finiteEntry(entryOf(A, ld, j, c, j, columnSizes[c], tinySeen != 0), failed + k, j, c);
        A[j * ld + c] = (REAL)v;
        columnSizes[c] += fabs(v);
        tiny |= isTiny(v);
      }
      barrier(CLK_LOCAL_MEM_FENCE); // tinySeen has been read
      if (tiny) tinySeen = 1;
      barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
    if (lid == 0) info[k] = zero;
    if (lid == 0 && ((volatile __global ulong *)failed)[k] != NO_OVERFLOW) info[count] = 1;
#ifdef IN_LOCAL
    for (int e = lid; e < rows * cols; e += items) stored[e] = A[e / cols * ld + e % cols];
#endif
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  }
}
