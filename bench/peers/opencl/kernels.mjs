// Plain OpenCL kernels that gpu.mjs compares ours with: the same memory traffic, ordinary rounded sums.

/** Rows and columns of the tile of a product that a group computes. */
export const TILE = 64;

/** OpenCL C. */
export const PLAIN = `
__kernel void nothing(__global double *unused) {}

__kernel void copyNumbers(__global const double2 *from, __global double2 *to)
{
  const size_t i = get_global_id(0);
  to[i] = from[i];
}

// The sum of one number per work-item of a group.
double sumOfGroup(double sum, __local double *shared)
{
  const int me = get_local_id(0);
  shared[me] = sum;
  for (int half_ = get_local_size(0) / 2; half_ > 0; half_ /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me < half_) shared[me] += shared[me + half_];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return shared[0];
}

// One partial sum per group. n is even.
__kernel void plainSum(const long n, __global const double2 *x, __global double *partial, __local double *shared)
{
  double2 a = 0.0, b = 0.0, c = 0.0, d = 0.0;
  const long step = get_global_size(0), end = n / 2;
  long i = get_global_id(0);
  for (; i + 3 * step < end; i += 4 * step) {
    a += x[i];
    b += x[i + step];
    c += x[i + 2 * step];
    d += x[i + 3 * step];
  }
  for (; i < end; i += step) a += x[i];
  const double2 sum = (a + b) + (c + d);
  const double all = sumOfGroup(sum.x + sum.y, shared);
  if (get_local_id(0) == 0) partial[get_group_id(0)] = all;
}

__kernel void plainDot(const long n, __global const double2 *x, __global const double2 *y, __global double *partial, __local double *shared)
{
  double2 a = 0.0, b = 0.0;
  const long step = get_global_size(0), end = n / 2;
  long i = get_global_id(0);
  for (; i + step < end; i += 2 * step) {
    a = fma(x[i], y[i], a);
    b = fma(x[i + step], y[i + step], b);
  }
  for (; i < end; i += step) a = fma(x[i], y[i], a);
  const double2 sum = a + b;
  const double all = sumOfGroup(sum.x + sum.y, shared);
  if (get_local_id(0) == 0) partial[get_group_id(0)] = all;
}

__kernel void plainTotal(const int count, __global double *partial, __local double *shared)
{
  double sum = 0.0;
  for (int i = get_local_id(0); i < count; i += get_local_size(0)) sum += partial[i];
  const double all = sumOfGroup(sum, shared);
  if (get_local_id(0) == 0) partial[0] = all;
}

// Contiguous lines of n numbers: a group computes the dot product of one line with x.
__kernel void plainLines(const int n, __global const double *A, __global const double *x, __global double *y, __local double *shared)
{
  A += (long)get_group_id(0) * n;
  double a = 0.0, b = 0.0;
  const int step = get_local_size(0);
  int j = get_local_id(0);
  for (; j + step < n; j += 2 * step) {
    a = fma(A[j], x[j], a);
    b = fma(A[j + step], x[j + step], b);
  }
  if (j < n) a = fma(A[j], x[j], a);
  const double all = sumOfGroup(a + b, shared);
  if (get_local_id(0) == 0) y[get_group_id(0)] = all;
}

// The sum of contiguous lines, each times its entry of x: a work-item computes one entry of y over a part of the lines;
// plainParts adds the parts.
__kernel void plainAcross(const int lines, const int n, __global const double *A, __global const double *x, __global double *parts)
{
  const int i = get_global_id(0);
  if (i >= n) return;
  const int many = (lines + get_num_groups(1) - 1) / get_num_groups(1);
  const int from = get_group_id(1) * many, to = min(lines, from + many);
  double a = 0.0, b = 0.0;
  A += i;
  int l = from;
  for (; l + 1 < to; l += 2) {
    a = fma(A[(long)l * n], x[l], a);
    b = fma(A[(long)(l + 1) * n], x[l + 1], b);
  }
  if (l < to) a = fma(A[(long)l * n], x[l], a);
  parts[(long)get_group_id(1) * n + i] = a + b;
}

__kernel void plainParts(const int count, const int n, __global const double *parts, __global double *y)
{
  const int i = get_global_id(0);
  if (i >= n) return;
  double sum = 0.0;
  for (int k = 0; k < count; k++) sum += parts[(long)k * n + i];
  y[i] = sum;
}

#define TILE ${TILE}
#define SLAB 16
#define OWN 4

// C := A B, of order n, a multiple of TILE, stored by columns: a group of 16 x 16 computes a tile, a work-item OWN x OWN entries of it.
__kernel void plainGemm(const int n, __global const double *A, __global const double *B, __global double *C)
{
  __local double a[SLAB][TILE], b[SLAB][TILE + 1];
  const int me = get_local_id(0), row = me % 16, col = me / 16;
  const int top = TILE * get_group_id(0), left = TILE * get_group_id(1);
  double sum[OWN][OWN];
  for (int i = 0; i < OWN; i++)
    for (int j = 0; j < OWN; j++) sum[i][j] = 0.0;
  for (int k = 0; k < n; k += SLAB) {
    for (int e = me; e < SLAB * TILE; e += 256) {
      a[e / TILE][e % TILE] = A[(long)(k + e / TILE) * n + top + e % TILE];
      b[e % SLAB][e / SLAB] = B[(long)(left + e / SLAB) * n + k + e % SLAB];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 0; s < SLAB; s++)
      for (int j = 0; j < OWN; j++)
        for (int i = 0; i < OWN; i++) sum[i][j] = fma(a[s][row + 16 * i], b[s][col + 16 * j], sum[i][j]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int j = 0; j < OWN; j++)
    for (int i = 0; i < OWN; i++) C[(long)(left + col + 16 * j) * n + top + row + 16 * i] = sum[i][j];
}
`;
