// The exact stages of the papers, for reductions and for entries of matrices: each work-item has a floating-point expansion of
// COMPONENTS numbers, 2 to 8, in registers (with 0, every term goes to a superaccumulator). What does not fit spills into STRIDE
// interleaved superaccumulators in local memory, whose sum is added to global memory by atomics, digit by digit. Carries are not
// propagated here: a term adds less than 2^33 to a digit, a flushed component less than 2^32, so 2^29 terms and the components of
// 2^26 work-items stay below 2^63 (2^62 + 8 * 2^58) in every digit.
#define SUM 0
#define ASUM 1
#define DOT 2
#define PRODUCTS (OP == DOT)
// Products of two binary32 numbers are exact; products of mixed formats need not be.
#define ERRORS (PRODUCTS && (sizeof(REAL_X) == 8 || sizeof(REAL_Y) == 8))

// Terms outside the range of TwoSum or TwoProd go directly to the superaccumulator. Not inlined, to keep the loop small.
__attribute__((noinline)) void spill(__local long *acc, double t) { addNumber(acc, t); }
__attribute__((noinline)) void spillProduct(__local long *acc, double x, double y) { addProduct(acc, x, y); }

#if COMPONENTS > 0
// ExpansionAccumulate, starting with component `from`. Returns what did not fit.
double expansionAccumulate(double *a, int from, double t) {
#pragma unroll
  for (int k = from; k < COMPONENTS; k++) {
    double s = a[k] + t;
    t = twoSumError(a[k], t, s);
    a[k] = s;
#ifdef EARLY
    if (t == 0) break;
#endif
  }
  return t;
}

void accumulate(double *a, __local long *acc, double x, double y) {
  double t = PRODUCTS ? x * y : OP == ASUM ? fabs(x) : x, size = fabs(t);
  // The sum of 2^53 numbers below 2^960 does not overflow, and a product of at least 2^-960 has an exact error term.
  if (!(size < 0x1p960) || (ERRORS && size < 0x1p-960)) {
    if (PRODUCTS) spillProduct(acc, x, y);
    else spill(acc, t);
    return;
  }
  double rest = expansionAccumulate(a, 0, t);
  if (rest != 0) spill(acc, rest);
  if (ERRORS) {
    rest = expansionAccumulate(a, COMPONENTS / 2, fma(x, y, -t));
    if (rest != 0) spill(acc, rest);
  }
}
#else
void accumulate(double *a, __local long *acc, double x, double y) {
  if (PRODUCTS) addProduct(acc, x, y);
  else addNumber(acc, OP == ASUM ? fabs(x) : x);
}
#endif

#define VECTOR_X VECTOR_OF(REAL_X, 2)
#define VECTOR_Y VECTOR_OF(REAL_Y, 2)

// Add n elements of x from `fromX` and of y from `fromY`, both even. `pool` has STRIDE accumulators; `digits` is one, in global
// memory.
__kernel void expansion(long fromX, long fromY, long n, const __global REAL_X *x, const __global REAL_Y *y, __local long *pool,
                        __global long *digits) {
  int id = get_local_id(0), size = get_local_size(0);
  for (int d = id; d < ACCUMULATOR * STRIDE; d += size) pool[d] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  __local long *acc = pool + id % STRIDE;
  double a[COMPONENTS + 1];
#pragma unroll
  for (int k = 0; k < COMPONENTS; k++) a[k] = 0.0;
  const __global VECTOR_X *px = (const __global VECTOR_X *)(x + fromX);
  const __global VECTOR_Y *py = (const __global VECTOR_Y *)(y + fromY);
  long pairs = n / 2, items = get_global_size(0);
  for (long i = get_global_id(0); i < pairs; i += items) {
    VECTOR_X v = px[i];
    VECTOR_Y w = py[i];
    accumulate(a, acc, v.s0, w.s0);
    accumulate(a, acc, v.s1, w.s1);
  }
  if (get_global_id(0) == 0 && (n & 1)) accumulate(a, acc, x[fromX + n - 1], y[fromY + n - 1]);
#pragma unroll
  for (int k = 0; k < COMPONENTS; k++) spill(acc, a[k]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = id; d < ACCUMULATOR; d += size) {
    long sum = 0;
    for (int k = 0; k < STRIDE; k++) sum += pool[d * STRIDE + k];
    if (sum != 0) atom_add(digits + d, sum);
  }
}
