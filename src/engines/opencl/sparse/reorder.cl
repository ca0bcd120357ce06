// Rows or columns in the order of their levels, and the tasks of levr and levc; launched by reorder.ts.

// For lines in a new order: the position of each unknown, and the length of its line. FROM_A: lines are those of A, with entries outside
// the triangle, and `known` has their lengths; otherwise it has their beginnings.
__kernel void orderLines(int n, __global const int *order, __global const int *known, __global int *position, __global int *lengths) {
  int k = (int)get_global_id(0);
  if (k == n) lengths[k] = 0;
  if (k >= n) return;
  int i = order[k];
  position[i] = k;
#ifdef FROM_A
  lengths[k] = known[i];
#else
  lengths[k] = known[i + 1] - known[i];
#endif
}
// The entries in the new order; indices become positions.
__kernel void moveLines(int n, int before, __global const int *order, __global const int *position, __global const int *begins, __global const int *index,
                        __global const int *source, __global const int *toBegins, __global int *toIndex, __global int *toSource) {
  int k = (int)get_global_id(0);
  if (k >= n) return;
  int i = order[k], p = begins[i];
  for (int q = toBegins[k], end = toBegins[k + 1]; q < end; p++) {
#ifdef FROM_A
    int m = index[p];
    if (!isWithin(i, m, before)) continue;
    toIndex[q] = position[m];
    toSource[q++] = p;
#else
    toIndex[q] = position[index[p]];
    toSource[q++] = source[p];
#endif
  }
}
// The tasks of a level, up to `size` lines each: the first line, the end, and the first line of the level, before which all lines must
// be done. `starts`: the first line of each level. `tasks`: its first task.
__kernel void countTasks(int levels, int size, __global const int *starts, __global int *tasks) {
  int m = (int)get_global_id(0);
  if (m <= levels) tasks[m] = m == levels ? 0 : (starts[m + 1] - starts[m] + size - 1) / size;
}
__kernel void fillTasks(int levels, int size, __global const int *starts, __global const int *tasks, __global int *list) {
  int m = (int)get_global_id(0);
  if (m >= levels) return;
  for (int t = tasks[m], line = starts[m]; t < tasks[m + 1]; t++, line += size) {
    list[3 * t] = line;
    list[3 * t + 1] = min(line + size, starts[m + 1]);
    list[3 * t + 2] = starts[m];
  }
}
