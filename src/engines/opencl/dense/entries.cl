// Entries of alpha A B + beta C, for gemv.cl and gemm.cl (a vector is a matrix of one column): stored if they are proved; otherwise
// listed, and computed exactly by the kernels that entries.ts launches.

// RN(alpha s + beta y) for all s within `bound` of high + low, or NaN. If beta is 0, y is given as 0.
//   p + ep = alpha high, b + eb = beta y and s + es = p + b, so the error of s is es + ep + eb + alpha low. In that, the product
//   rounds once and the three additions once each, and no partial sum exceeds |es| + |ep| + |eb| + |a| by more than a few U: less
//   than 4 U of that in all. ep, eb and a lose 2^-1075 each if they underflow; none does if the factors are 1 or what they multiply
//   is 0, so exact zeros of such combinations are proved.
__attribute__((noinline)) double certifiedCombination(double high, double low, double bound, double alpha, double beta, double y) {
  if (alpha == 1 && beta == 0) return certified(high, low, bound);
  double p = alpha * high, ep = fma(alpha, high, -p), a = alpha * low;
  double b = beta * y, eb = fma(beta, y, -b), s = p + b, es = twoSumError(p, b, s);
  bool whole = (fabs(alpha) == 1 || (high == 0 && low == 0 && bound == 0)) && (fabs(beta) == 1 || y == 0);
  double more = 4 * U * (fabs(es) + fabs(ep) + fabs(eb) + fabs(a)) + (whole ? 0.0 : TINY);
  return certified(s, ((es + ep) + eb) + a, fabs(alpha) * bound * MORE + more);
}

// Store an entry that is proved; otherwise append it to the list, whose first word is its length, and leave the entry unchanged.
bool settled(double v, __global REAL *to, uint entry, volatile __global uint *list) {
  if (v == v) put(to, v);
  else list[1 + atomic_inc(list)] = entry;
  return v == v;
}

#ifdef DIGITS
double signOf(double v) { return v > 0 ? 1.0 : v < 0 ? -1.0 : v; }

// Add a term of an entry exactly. If alpha is not finite, only signs and zeros matter.
void addTermOf(double *a, __local long *acc, double alpha, double x, double y) {
  if (!isFinite(alpha)) addSpecial(acc, alpha * signOf(x) * signOf(y));
  else accumulate(a, acc, x, alpha == -1 ? -y : y);
}

// A work-group adds the terms of an entry, through expansions, to STRIDE accumulators, and these to the first.
void sumEntry(__local long *acc, __global const REAL *A, long aCol, __global const REAL *B, long bRow, int K, double alpha) {
  int l = get_local_id(0), size = get_local_size(0);
  for (int k = l; k < ACCUMULATOR * STRIDE; k += size) acc[k] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  double a[COMPONENTS + 1];
  for (int k = 0; k < COMPONENTS; k++) a[k] = 0.0;
  for (int k = l; k < K; k += size) addTermOf(a, acc + l % STRIDE, alpha, A[k * aCol], B[k * bRow]);
  for (int k = 0; k < COMPONENTS; k++) spill(acc + l % STRIDE, a[k]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = l; k < ACCUMULATOR; k += size)
    for (int c = 1; c < STRIDE; c++) acc[k * STRIDE] += acc[k * STRIDE + c];
  barrier(CLK_LOCAL_MEM_FENCE);
}

// Finish up to `limit` entries of the list from number `from`, one per work-group; LOOPING: a work-group takes one after another. (PoCL
// cannot compile barriers in a loop whose end is in memory.) alpha is 1, -1 or not finite, and is applied to the terms.
__kernel void finishEntries(__global const uint *list, int from, int limit, __global const REAL *A, long aOffset, long aRow, long aCol,
                            __global const REAL *B, long bOffset, long bRow, long bCol, __global REAL *C, long cOffset, long cRow,
                            long cCol, int N, int K, double alpha, double beta) {
  __local long acc[ACCUMULATOR * STRIDE];
#ifdef LOOPING
  uint end = min(list[0], (uint)(from + limit));
  for (uint at = from + get_group_id(0); at < end; at += get_num_groups(0)) {
#else
  uint at = from + get_group_id(0);
  {
#endif
    uint e = list[1 + at], i = e / N, j = e % N;
    sumEntry(acc, A + aOffset + i * aRow, aCol, B + bOffset + j * bCol, bRow, K, alpha);
    if (get_local_id(0) == 0) {
      __global REAL *to = C + cOffset + i * cRow + j * cCol;
      if (beta != 0) addProduct(acc, beta, *to);
      put(to, rounded(acc));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

// For any other alpha the host finishes the entries, from records of RECORD numbers: the digits, the counters, and the old entry.
#define RECORD (ACCUMULATOR + 1)
__kernel void sumEntries(__global const uint *list, int from, __global const REAL *A, long aOffset, long aRow, long aCol,
                         __global const REAL *B, long bOffset, long bRow, long bCol, __global REAL *C, long cOffset, long cRow,
                         long cCol, int N, int K, double beta, __global double *records) {
  __local long acc[ACCUMULATOR * STRIDE];
  int l = get_local_id(0), size = get_local_size(0), at = get_group_id(0);
  uint e = list[1 + from + at], i = e / N, j = e % N;
  sumEntry(acc, A + aOffset + i * aRow, aCol, B + bOffset + j * bCol, bRow, K, 1.0);
  if (l == 0) carry(acc);
  barrier(CLK_LOCAL_MEM_FENCE);
  records += (long)at * RECORD;
  for (int k = l; k < ACCUMULATOR; k += size) records[k] = (double)acc[k * STRIDE];
  if (l == 0) records[ACCUMULATOR] = beta == 0 ? 0.0 : C[cOffset + i * cRow + j * cCol];
}

// Store entries of the list, from number `from`, that the host has computed.
__kernel void putListed(__global const uint *list, int from, int count, __global const double *values, __global REAL *C, long cOffset,
                        long cRow, long cCol, int N) {
  int at = get_global_id(0);
  if (at >= count) return;
  uint e = list[1 + from + at];
  put(C + cOffset + (e / N) * cRow + (e % N) * cCol, values[at]);
}
#endif
