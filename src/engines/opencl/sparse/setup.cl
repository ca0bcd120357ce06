// The set-up phase of sparse triangular solves on the device, launched by setup.ts: counting, sorting, levels, reordering (see the
// sparse paper). T is a triangle of A or its transpose. A line is what A stores contiguously, a row or a column of T. `source`
// is the position of an entry in A.
#ifndef GROUP
#define GROUP 256
#endif
#define KEYS 8 // per work-item, in scans and sorts
#define BLOCK (GROUP * KEYS)
#ifndef DIGIT
#define DIGIT 4 // bits of the key per pass of the sort
#endif
#define RADIX (1 << DIGIT)

// Further `words`, beside those of waiting.cl, which kernels pass to each other and to the host.
#define TAIL 1 // the end of the queue
#define HIGHEST 3 // the highest level
#define ENTRIES 4 // the number of entries
#define LONGEST 5 // the entries of the longest line
#define SINGULAR 6 // n - l for the first l whose diagonal entry is missing or zero, or 0

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

// An exclusive scan within a work-group. Returns the sum of all.
int exclusiveScan(__local int *sums, int id, int mine, int *before) {
  sums[id] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = 1; step < GROUP; step *= 2) {
    int more = id >= step ? sums[id - step] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    sums[id] += more;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  *before = sums[id] - mine;
  int all = sums[GROUP - 1];
  barrier(CLK_LOCAL_MEM_FENCE);
  return all;
}

// An exclusive scan of an array, in three kernels: the sum of each block, a scan of these sums, and a scan within each block.
__kernel void sumBlocks(int count, __global const int *numbers, __global int *blocks) {
  __local int sums[GROUP];
  int id = (int)get_local_id(0), start = (int)get_group_id(0) * BLOCK + id * KEYS, sum = 0, before;
  for (int k = start; k < min(start + KEYS, count); k++) sum += numbers[k];
  int all = exclusiveScan(sums, id, sum, &before);
  if (id == 0) blocks[get_group_id(0)] = all;
}
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void scanBlocks(int count, __global int *blocks) {
  __local int sums[GROUP];
  int id = (int)get_local_id(0), total = 0;
  for (int base = 0; base < count; base += GROUP) {
    int k = base + id, mine = k < count ? blocks[k] : 0, before;
    int all = exclusiveScan(sums, id, mine, &before);
    if (k < count) blocks[k] = total + before;
    total += all;
  }
}
__kernel void scanWithin(int count, __global int *numbers, __global const int *blocks) {
  __local int sums[GROUP];
  int id = (int)get_local_id(0), start = (int)get_group_id(0) * BLOCK + id * KEYS, sum = 0, before;
  for (int k = start; k < min(start + KEYS, count); k++) sum += numbers[k];
  exclusiveScan(sums, id, sum, &before);
  before += blocks[get_group_id(0)];
  for (int k = start; k < min(start + KEYS, count); k++) {
    int number = numbers[k];
    numbers[k] = before;
    before += number;
  }
}

// A stable radix sort, DIGIT bits per pass: count the keys of each block by digit; scan the counts of all blocks, digit by digit;
// move each key behind those of earlier work-items and the earlier keys of its own. COUNTED: the value that moves with a key is
// its original position.
__kernel void countDigits(int count, int shift, int blocks, __global const int *keys, __global int *counts) {
  __local int sums[RADIX];
  int id = (int)get_local_id(0), block = (int)get_group_id(0);
  for (int d = id; d < RADIX; d += GROUP) sums[d] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int j = 0; j < KEYS; j++) {
    int k = block * BLOCK + j * GROUP + id;
    if (k < count) atomic_inc(sums + ((keys[k] >> shift) & (RADIX - 1)));
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = id; d < RADIX; d += GROUP) counts[d * blocks + block] = sums[d];
}
// Each work-item scans RADIX adjacent counters. Neighbours are RADIX + 2 apart, not RADIX, so that they use different banks.
#define PADDED(k) ((k) + 2 * ((k) >> DIGIT))
__kernel void moveByDigit(int count, int shift, int blocks, __global const int *counts, __global const int *keys, __global const int *one,
                          __global const int *two, __global int *toKeys, __global int *toOne, __global int *toTwo) {
  __local int sums[GROUP];
  __local ushort own[PADDED(RADIX * GROUP)];
  __local int starts[RADIX];
  int id = (int)get_local_id(0), block = (int)get_group_id(0), start = block * BLOCK + id * KEYS, end = min(start + KEYS, count);
  for (int d = 0; d < RADIX; d++) own[PADDED(d * GROUP + id)] = 0;
  for (int k = start; k < end; k++) own[PADDED(((keys[k] >> shift) & (RADIX - 1)) * GROUP + id)]++;
  // A scan by digit, then by work-item: each work-item first sums RADIX adjacent counters.
  barrier(CLK_LOCAL_MEM_FENCE);
  int sum = 0, before;
  for (int j = 0; j < RADIX; j++) sum += own[PADDED(id * RADIX + j)];
  exclusiveScan(sums, id, sum, &before);
  for (int j = 0; j < RADIX; j++) {
    int number = own[PADDED(id * RADIX + j)];
    own[PADDED(id * RADIX + j)] = (ushort)before;
    before += number;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = id; d < RADIX; d += GROUP) starts[d] = counts[d * blocks + block] - own[PADDED(d * GROUP)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = start; k < end; k++) {
    int key = keys[k], d = (key >> shift) & (RADIX - 1), at = starts[d] + own[PADDED(d * GROUP + id)]++;
    toKeys[at] = key;
#ifdef COUNTED
    toOne[at] = k;
#else
    toOne[at] = one[k];
#endif
#ifdef TWO
    toTwo[at] = two[k];
#endif
  }
}

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

// The first line whose diagonal entry is missing or zero.
__kernel void checkDiagonal(int n, __global const int *at, __global const REAL *values, __global int *words) {
  int l = (int)get_global_id(0);
  if (l >= n) return;
  int p = at[l];
  if (p < 0 || values[p] == 0) atomic_max(words + SINGULAR, n - l);
}
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
