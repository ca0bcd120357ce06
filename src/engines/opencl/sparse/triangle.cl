// A triangle of A, in the set-up phase of sparse triangular solves; launched by triangle.ts. T is a triangle of A or its transpose. A
// line is what A stores contiguously, a row or a column of T. `source` is the position of an entry in A.
bool isWithin(int l, int m, int before) { return before ? m < l : m > l; }

// For each line: the number of entries strictly within the triangle, their range in A, and the position of the diagonal, or -1.
__kernel void countLines(int n, int before, int unit, __global const int *pointers, __global const int *indices, __global const REAL *values,
                         __global int *lengths, __global int *firsts, __global int *ends, __global int *at, __global int *words) {
  __local int counts[3];
  int l = (int)get_global_id(0), id = (int)get_local_id(0);
  if (id < 3) counts[id] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l == n) lengths[l] = 0;
  if (l < n) {
    int found = -1, length = 0, first = 0, last = -1;
    for (int p = pointers[l], end = pointers[l + 1]; p < end; p++) {
      int m = indices[p];
      if (m == l) found = p;
      else if (isWithin(l, m, before)) {
        if (length == 0) first = p;
        last = p;
        length++;
      }
    }
    lengths[l] = length;
    firsts[l] = first;
    ends[l] = last + 1;
    at[l] = found;
    atomic_add(counts, length);
    if (length > counts[1]) atomic_max(counts + 1, length);
    if (!unit && (found < 0 || values[found] == 0)) atomic_max(counts + 2, n - l);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (id == 0) {
    atomic_add(words + ENTRIES, counts[0]);
    if (counts[1] > words[LONGEST]) atomic_max(words + LONGEST, counts[1]);
    if (counts[2] > 0) atomic_max(words + SINGULAR, counts[2]);
  }
}

// The entries of all lines, in order. `line` is written if the entries will be sorted across the lines.
__kernel void fillLines(int n, int before, __global const int *pointers, __global const int *indices, __global const int *begins,
                        __global int *index, __global int *line, __global int *source) {
  int l = (int)get_global_id(0);
  if (l >= n) return;
  int q = begins[l];
  for (int p = pointers[l], end = pointers[l + 1]; p < end; p++) {
    int m = indices[p];
    if (m == l || !isWithin(l, m, before)) continue;
    index[q] = m;
#ifdef WITH_LINE
    line[q] = l;
#endif
    source[q] = p;
    q++;
  }
}

// How often each key occurs.
__kernel void countKeys(int count, __global const int *keys, __global int *lengths) {
  int p = (int)get_global_id(0);
  if (p < count) atomic_inc(lengths + keys[p]);
}

// The columns of rows, in any order within a column: the rows that each unknown releases.
__kernel void scatter(int n, __global const int *begins, __global const int *index, __global int *next, __global int *targets) {
  int l = (int)get_global_id(0);
  if (l >= n) return;
  for (int p = begins[l], end = begins[l + 1]; p < end; p++) targets[atomic_inc(next + index[p])] = l;
}

// The first line whose diagonal entry is missing or zero.
__kernel void checkDiagonal(int n, __global const int *at, __global const REAL *values, __global int *words) {
  int l = (int)get_global_id(0);
  if (l >= n) return;
  int p = at[l];
  if (p < 0 || values[p] == 0) atomic_max(words + SINGULAR, n - l);
}
