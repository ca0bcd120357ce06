// The index of the first entry that is not finite; *first must start as the largest ulong, -1. Launched by lu.ts.
__kernel void firstNotFinite(const __global REAL *data, ulong length, volatile __global ulong *first) {
  for (ulong e = get_global_id(0); e < length; e += get_global_size(0))
    if (!(data[e] - data[e] == 0)) keepFirst(first, e);
}
