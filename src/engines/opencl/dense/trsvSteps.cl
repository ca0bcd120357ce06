// Small steps of a substitution, one element per work-item; launched by trsv.ts.

// Mark the unknowns as not yet known, and find n - i for the first zero (i, i) among n diagonal entries.
__kernel void trsvOpen(__global ulong *published, int from, int to, __global const REAL *T, long4 place, int n,
    volatile __global int *state) {
  int i = get_global_id(0);
  if (from + i < to) published[from + i] = UNKNOWN;
  if (i < n && T[place.x + i * (place.y + place.z)] == 0) atomic_max(state + SINGULAR, n - i);
}

// Whether one of the unknowns from..to is not finite.
__kernel void trsvFinite(__global const ulong *published, int from, int to, volatile __global int *found) {
  int k = from + get_global_id(0);
  if (k < to && !isfinite(as_double(published[k]))) *found = 1;
}

// x := RN(x + d), in both copies of x.
__kernel void trsvAdd(__global ulong *published, __global const ulong *d, __global REAL *x, int from, int to, int start, int step) {
  int k = from + get_global_id(0);
  if (k >= to) return;
  double sum = corrected(as_double(published[k]), as_double(d[k - from])) + 0.0;
  published[k] = bitsOf(sum);
  put(x + start + k * step, sum);
}
