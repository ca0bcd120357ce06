// ILU(0) on the device, level by level; launched by ilu0.ts. The twin of engines/reference/ilu0.ts with one work-group for a line and a
// work-item for each entry of it, GROUP entries at a time. A line is a row of the matrix, or a column.

// The position of `index` in indices[from] to indices[end - 1], which ascend, or -1.
int find(__global const int *indices, int from, int end, int index) {
  int low = from, high = end;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (indices[middle] < index) low = middle + 1;
    else high = middle;
  }
  return low < end && indices[low] == index ? low : -1;
}

// The entry at p of the line that begins at `begin`, with the products of the lines of the entries before `stop`, exactly. Not inlined: the
// loop needs the registers.
__attribute__((noinline)) double settled(int begin, int stop, int p, __global const int *pointers, __global const int *indices,
                                         __global const int *diagonal, volatile __global const REAL *values) {
  long acc[ACCUMULATOR];
  for (int k = 0; k < ACCUMULATOR; k++) acc[k] = 0;
  addNumber(acc, (double)values[p]);
  for (int q = begin; q < stop; q++) {
    int k = indices[q], other = find(indices, diagonal[k] + 1, pointers[k + 1], indices[p]);
    if (other >= 0) addProduct(acc, -(double)values[q], (double)values[other]);
  }
  return rounded(acc);
}

// The entry at p, rounded. Its sum is a filter: n products count as n + 1 additions to `rest`. `isRounded`: the error term of a product, one
// below 2^-960, may have been rounded.
double roundedEntry(const Filter *f, int products, bool isRounded, int begin, int stop, int p, __global const int *pointers,
                    __global const int *indices, __global const int *diagonal, volatile __global const REAL *values) {
  double v = certified(f->sum, f->rest, boundOf(*f, (double)(products + 1), !isRounded));
  return v == v ? v : settled(begin, stop, p, pointers, indices, diagonal, values);
}

// Line order[from + group]. `failed` becomes the smallest position of an entry that is not finite or of a pivot that is zero.
__kernel void factorLines(int from, int byRows, __global const int *order, __global const int *pointers, __global const int *indices,
                          __global const int *diagonal, volatile __global REAL *values, __global int *failed) {
  // The factor of the entry at p is in factors[p & 1]: when it is overwritten, all work-items have passed the barrier after it was read.
  __local double factors[2];
  __local int worst;
  int i = order[from + (int)get_group_id(0)], id = (int)get_local_id(0);
  int begin = pointers[i], end = pointers[i + 1], at = diagonal[i];
  if (id == 0) worst = INT_MAX;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int chunk = begin; chunk < end; chunk += GROUP) {
    int target = chunk + id, index = target < end ? indices[target] : -1, products = 0;
    bool isRounded = false;
    Filter f = emptyFilter();
    if (index >= 0) f.sum = values[target];
    for (int p = begin, stop = min(at, chunk + GROUP); p < stop; p++) {
      if (p >= chunk) {
        if (p == target) {
          double v = roundedEntry(&f, products, isRounded, begin, p, p, pointers, indices, diagonal, values);
          if (byRows) v = divide(v, (double)values[diagonal[index]]);
          put((__global REAL *)values + p, v);
          factors[p & 1] = v;
          if (!isFinite(v)) atomic_min(&worst, p);
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
      }
      int k = indices[p], q = target > p && index >= 0 ? find(indices, diagonal[k] + 1, pointers[k + 1], index) : -1;
      if (q >= 0) {
        double x = p >= chunk ? factors[p & 1] : (double)values[p], y = values[q];
        addProductTerm(&f, -x, y);
        isRounded = isRounded || (fabs(x * y) < 0x1p-960 && x != 0 && y != 0);
        products++;
      }
    }
    if (target >= at && index >= 0) {
      double v = roundedEntry(&f, products, isRounded, begin, at, target, pointers, indices, diagonal, values);
      put((__global REAL *)values + target, v);
      if (!isFinite(v)) atomic_min(&worst, target);
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  }
  // All work-items look at `worst` before any of them changes it again.
  bool isFine = worst == INT_MAX, isZero = isFine && values[at] == 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (isZero && id == 0) worst = at;
  if (!byRows && isFine && !isZero) {
    double pivot = values[at];
    for (int p = at + 1 + id; p < end; p += GROUP) {
      double v = divide((double)values[p], pivot);
      put((__global REAL *)values + p, v);
      if (!isFinite(v)) atomic_min(&worst, p);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (id == 0 && worst != INT_MAX) atomic_min(failed, worst);
}
