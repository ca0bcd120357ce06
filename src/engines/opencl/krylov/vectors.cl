// The vector updates of the iterative solvers, with scalars from the state of the recurrence: see Combination in engines/kernels.ts. A
// recurrence that has ended updates nothing. Launched by workspace.ts; OP is the update.
#define AXPY 0
#define INVSCAL 1
#define XPAY 2
#define DIRECTION 3
#define QUOTIENT 4
#define SUM_OF_BOTH 5
#define COPY 6

// OpenCL's binary64 operations are IEEE's. Adding 0 to a term makes an exact zero +0.
double updated(double a, double b, double x, double y, double z) {
#if OP == AXPY
  return fma(a, x, y);
#elif OP == INVSCAL
  return y / a;
#elif OP == XPAY
  return fma(a, y, x + 0.0);
#elif OP == DIRECTION
  return fma(a, fma(-b, z, y + 0.0), x + 0.0);
#elif OP == QUOTIENT
  return x == 0 ? 0.0 : x / z;
#elif OP == SUM_OF_BOTH
  return (x + 0.0) + y;
#else
  return x;
#endif
}

// `first` and `second` are places of scalars; the first is taken times `sign`.
__kernel void update(long n, long fromX, long fromY, const __global double *x, __global double *y, const __global double *z,
                     volatile __global const double *state, int first, int second, int sign, int when, int iteration) {
  if (!takesPlace(state, when, iteration)) return;
  double a = sign * state[first], b = state[second];
  if (OP == AXPY && a == 0) return;
  x += fromX;
  y += fromY;
  for (long i = get_global_id(0); i < n; i += get_global_size(0)) {
    double v = updated(a, b, x[i], y[i], OP == DIRECTION || OP == QUOTIENT ? z[i] : 0.0);
    *(__global ulong *)(y + i) = bitsOf(v);
  }
}

// The diagonal of a sparse matrix by rows. *missing becomes the first row in which it is zero or missing.
__kernel void diagonalOf(int n, const __global int *pointers, const __global int *indices, const __global double *values,
                         __global double *diagonal, __global int *missing) {
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) {
    double d = 0.0;
    for (int p = pointers[i]; p < pointers[i + 1]; p++)
      if (indices[p] == i) d = values[p];
    diagonal[i] = d;
    if (d == 0) atomic_min(missing, i);
  }
}

// The same for a matrix with strides.
__kernel void denseDiagonalOf(int n, long offset, long step, const __global double *values, __global double *diagonal, __global int *missing) {
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) {
    diagonal[i] = values[offset + i * step];
    if (diagonal[i] == 0) atomic_min(missing, i);
  }
}
