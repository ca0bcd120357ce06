// The levels of a triangle, in the set-up phase of sparse triangular solves (see the sparse paper); launched by levels.ts. The
// kernels that wait use the tickets of waiting.cl.

// Levels by Kahn's algorithm: an unknown that waits for no other is put into a queue; the work-item that takes it releases others.
// Slot k of the queue is filled by the work on an earlier slot, so a wait for it is a wait for earlier tickets.
__kernel void kahnBegin(int n, __global const int *begins, __global int *counts, __global int *queue, __global int *levels, __global int *words) {
  int i = (int)get_global_id(0);
  if (i >= n) return;
  int length = begins[i + 1] - begins[i];
  counts[i] = length;
  levels[i] = 0;
  if (length == 0) queue[atomic_inc(words + TAIL)] = i;
}

// The same from columns, whose row indices have been counted.
__kernel void kahnBeginCounted(int n, __global const int *counts, __global int *queue, __global int *levels, __global int *words) {
  int i = (int)get_global_id(0);
  if (i >= n) return;
  levels[i] = 0;
  if (counts[i] == 0) queue[atomic_inc(words + TAIL)] = i;
}

int release(int i, __global const int *begins, __global const int *targets, volatile __global int *counts, volatile __global int *queue,
            volatile __global int *levels, volatile __global int *words) {
  int level = levels[i], first = begins[i], end = begins[i + 1];
  for (int p = first; p < end; p++) atomic_max(levels + targets[p], level + 1);
  FENCE; // levels are visible before counts
  for (int p = first; p < end; p++)
    if (atomic_dec(counts + targets[p]) == 1) queue[atomic_inc(words + TAIL)] = targets[p];
  return level;
}

// Take slot k of the queue once it is filled.
int releaseNext(int k, int limit, __global const int *begins, __global const int *targets, volatile __global int *counts, volatile __global int *queue,
                volatile __global int *levels, volatile __global int *words) {
  for (int spins = 0;;) {
    int i = queue[k];
    if (i >= 0) return release(i, begins, targets, counts, queue, levels, words);
    if (isAbandoned(&spins, limit, words)) return 0;
  }
}

__kernel void kahn(int n, int limit, __global const int *begins, __global const int *targets, volatile __global int *counts,
                   volatile __global int *queue, volatile __global int *levels, volatile __global int *words) {
  int highest = 0;
  FOR_EACH_TICKET(k, n, highest = max(highest, releaseNext(k, limit, begins, targets, counts, queue, levels, words)))
  if (highest > 0) atomic_max(words + HIGHEST, highest);
}

// One level of Kahn's algorithm, slots from..to of the queue, without waiting.
__kernel void kahnLevel(int from, int to, __global const int *begins, __global const int *targets, volatile __global int *counts,
                        volatile __global int *queue, volatile __global int *levels, volatile __global int *words) {
  int k = from + (int)get_global_id(0);
  if (k >= to) return;
  int level = release(queue[k], begins, targets, counts, queue, levels, words);
  if (k == from) atomic_max(words + HIGHEST, level);
}

// The number of entries of a row whose levels are waited for together.
#ifndef WINDOW
#define WINDOW 4
#endif

#ifdef FROM_A
#define END_OF(i) ends[i]
#else
#define END_OF(i) begins[(i) + 1]
#endif

// The level of row i, once those of its unknowns are known, in any order. It is written inside the loop, because others of the group
// may wait for it. Some of the entries may lie outside the triangle.
int findLevel(int i, int upper, int limit, __global const int *begins, __global const int *ends, __global const int *index,
              volatile __global int *levels, volatile __global int *words) {
  int level = 0, p = begins[i], end = END_OF(i), c[WINDOW], v[WINDOW];
#define FETCH \
  _Pragma("unroll") for (int w = 0; w < WINDOW; w++) { \
    int m = p + w < end ? index[p + w] : i; \
    c[w] = isWithin(i, m, !upper) ? m : -1; \
  } \
  p += WINDOW;
  FETCH
  for (int spins = 0;;) {
    bool some = false, all = true;
#pragma unroll
    for (int w = 0; w < WINDOW; w++) v[w] = c[w] < 0 ? -1 : levels[c[w]];
#pragma unroll
    for (int w = 0; w < WINDOW; w++) {
      level = max(level, v[w] + 1);
      some = some || v[w] >= 0;
      c[w] = v[w] < 0 ? c[w] : -1;
      all = all && c[w] < 0;
    }
    if (all) {
      if (p >= end) {
        levels[i] = level;
        return level;
      }
      FETCH
      spins = 0;
    } else if (some)
      spins = 0;
    else if (isAbandoned(&spins, limit, words))
      return 0;
  }
}

// Levels by rows, lev(i) = 1 + max lev(j), with rows handed out in the order of substitution. A level is -1 until it is known.
__kernel void levelsByRows(int n, int upper, int limit, __global const int *begins, __global const int *ends, __global const int *index,
                           volatile __global int *levels, volatile __global int *words) {
  int highest = 0;
  FOR_EACH_TICKET(k, n, highest = max(highest, findLevel(upper ? n - 1 - k : k, upper, limit, begins, ends, index, levels, words)))
  if (highest > 0) atomic_max(words + HIGHEST, highest);
}

// Where each level begins in the sorted list of levels. No level is empty.
__kernel void findStarts(int n, int levels, __global const int *keys, __global int *starts) {
  int k = (int)get_global_id(0);
  if (k == n) starts[levels] = n;
  if (k < n && (k == 0 || keys[k - 1] != keys[k])) starts[keys[k]] = k;
}
