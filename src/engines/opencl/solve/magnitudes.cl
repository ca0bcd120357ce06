// For each row of A, or each chunk of its columns: the sum and the maximum of scale[j] abs(a_ij). A NaN is the maximum. Launched by
// magnitudes.ts.
double larger(double size, double v) { return v > size || v != v ? v : size; }

// The columns of row i: all, those of an upper triangle, or those of a strictly lower one.
#if defined(LOWER)
#define BEGIN(i) 0
#define END(i) min(i, cols)
#elif defined(UPPER)
#define BEGIN(i) (i)
#define END(i) cols
#else
#define BEGIN(i) 0
#define END(i) cols
#endif

// Contiguous rows: one row per work-group.
__kernel FIXED(GROUP) void magnitudesAlongRows(const __global FROM *A, long offset, long rowStride, int cols, const __global double *scale,
                                           __global double *sums, __global double *largest) {
  __local double part[GROUP], top[GROUP];
  const int lid = get_local_id(0), i = get_group_id(0);
  const __global FROM *row = A + offset + i * rowStride;
  double sum = 0, size = 0;
  for (int j = BEGIN(i) + lid; j < END(i); j += GROUP) {
    double v = scale[j] * fabs((double)row[j]);
    sum += v;
    size = larger(size, v);
  }
  part[lid] = sum;
  top[lid] = size;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int stride = GROUP / 2; stride > 0; stride /= 2) {
    if (lid < stride) {
      part[lid] += part[lid + stride];
      top[lid] = larger(top[lid], top[lid + stride]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (lid == 0) {
    sums[i] = part[0];
    largest[i] = top[0];
  }
}

// Contiguous columns: one row per work-item, and the `length` columns of its chunk.
__kernel FIXED(GROUP) void magnitudesAcrossRows(const __global FROM *A, long offset, long colStride, int rows, int cols, int length,
                                            const __global double *scale, __global double *sums, __global double *largest) {
  const int i = get_global_id(0), from = get_group_id(1) * length, to = min(from + length, cols);
  double sum = 0, size = 0;
  if (i < rows) {
    for (int j = from; j < to; j++) {
      double v = scale[j] * fabs((double)A[offset + i + j * colStride]);
      sum += v;
      size = larger(size, v);
    }
    sums[(long)get_group_id(1) * rows + i] = sum;
    largest[(long)get_group_id(1) * rows + i] = size;
  }
}

// Combine the chunks into the first.
__kernel FIXED(GROUP) void combineMagnitudes(__global double *sums, __global double *largest, int rows, int chunks) {
  const int i = get_global_id(0);
  for (int c = 1; c < chunks && i < rows; c++) {
    sums[i] += sums[(long)c * rows + i];
    largest[i] = larger(largest[i], largest[(long)c * rows + i]);
  }
}
