// x := alpha x, x := x / alpha, y := alpha x + y, one rounding per element, launched by elementwise.ts. OpenCL's binary64 operations are
// IEEE's; binary32 results must be rounded directly from the exact value.
#define SCAL 0
#define INVSCAL 1
#define AXPY 2

// Rounding to odd: r = RN64(v), with its last place made odd if r is not v; v - r has the sign of `error`. Rounding that to binary32
// gives RN32(v), since 53 >= 24 + 2 (Boldo and Melquiond, 2008).
double toOdd(double r, double error) {
  ulong bits = as_ulong(r);
  if (!(fabs(error) > 0) || (bits & 1)) return r; // an infinity has no error
  return as_double((error > 0) == (r > 0) ? bits + 1 : bits - 1);
}

// Far outside binary32's range r rounds to zero, to y or to an infinity, whatever its last bit, and error terms may not exist:
// there, and if r is not finite, r is not changed.
bool inReach(double p) { return fabs(p) > 0x1p-400 && fabs(p) < 0x1p400; }

double element(double alpha, double x, double y) {
#if OP == SCAL
  double r = alpha * x;
  return BINARY32 && inReach(r) ? toOdd(r, fma(alpha, x, -r)) : r;
#elif OP == INVSCAL
  // x - r alpha is exact; divided by alpha it is the error.
  double r = x / alpha;
  if (!BINARY32 || !inReach(r)) return r;
  double rest = fma(-r, alpha, x);
  return toOdd(r, alpha < 0 ? -rest : rest);
#else
  // The error of a fused multiply-add is gamma + z (Boldo and Muller, 2005), and a rounded sum has the sign of the exact one.
  double r = fma(alpha, x, y), p = alpha * x;
  if (!BINARY32 || !inReach(p)) return r;
  double q = fma(alpha, x, -p), a = y + q, z = twoSumError(y, q, a), b = p + a;
  double gamma = (b - r) + twoSumError(p, a, b);
  return toOdd(r, gamma + z);
#endif
}

__kernel void map(long n, double alpha, __global REAL *x, __global REAL *y) {
  for (long i = get_global_id(0); i < n; i += get_global_size(0)) put((OP == AXPY ? y : x) + i, element(alpha, x[i], y[i]));
}
