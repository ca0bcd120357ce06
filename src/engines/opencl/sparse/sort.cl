// A stable radix sort, DIGIT bits per pass, in the set-up phase of sparse triangular solves; launched by sort.ts: count the keys of each
// block by digit; scan the counts of all blocks, digit by digit; move each key behind those of earlier work-items and the earlier keys
// of its own. COUNTED: the value that moves with a key is its original position.
#ifndef DIGIT
#define DIGIT 4 // bits of the key per pass
#endif
#define RADIX (1 << DIGIT)

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
