// Exclusive scans of arrays, in the set-up phase of sparse triangular solves; launched by scan.ts.
#ifndef GROUP
#define GROUP 256
#endif
#define BLOCK (GROUP * KEYS)

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
