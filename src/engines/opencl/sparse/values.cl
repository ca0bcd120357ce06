// The values of a triangle, gathered from A for each plan and each update; launched by values.ts.

// The number of significant bits; 53 if v is not finite.
int significantBitsOf(double v) {
  ulong bits = as_ulong(v), fraction = bits & 0xffffffffffffful;
  int field = (int)(bits >> 52) & 0x7ff;
  if (field == 0x7ff) return 53;
  ulong significand = field == 0 ? fraction : fraction | 0x10000000000000ul;
  return significand == 0 ? 0 : 64 - (int)clz(significand) - (int)popcount((significand & -significand) - 1);
}
// Update the maximum over all numbers. All work-items of a group must call it.
#define UPDATE_SIGNIFICANT_BITS(count) \
  __local int highest; \
  if (get_local_id(0) == 0) highest = 0; \
  barrier(CLK_LOCAL_MEM_FENCE); \
  if (count > highest) atomic_max(&highest, count); \
  barrier(CLK_LOCAL_MEM_FENCE); \
  if (get_local_id(0) == 0 && highest > significantBits[0]) atomic_max(significantBits, highest);
// Values from their positions in A.
__kernel void takeValues(int entries, __global const int *source, __global const REAL *values, __global REAL *to, __global int *significantBits) {
  int q = (int)get_global_id(0), count = 0;
  if (q < entries) {
    REAL v = values[source[q]];
    to[q] = v;
    count = significantBitsOf(v);
  }
  UPDATE_SIGNIFICANT_BITS(count)
}
// The diagonal entries; IN_ORDER: that of line k is the one of unknown order[k].
__kernel void takeDiagonal(int n, __global const int *order, __global const int *at, __global const REAL *values, __global REAL *to,
                           __global double *reciprocals, __global int *significantBits) {
  int k = (int)get_global_id(0), count = 0;
  if (k < n) {
#ifdef IN_ORDER
    REAL v = values[at[order[k]]];
#else
    REAL v = values[at[k]];
#endif
    to[k] = v;
    reciprocals[k] = 1.0 / (double)v;
    count = significantBitsOf(v);
  }
  UPDATE_SIGNIFICANT_BITS(count)
}
