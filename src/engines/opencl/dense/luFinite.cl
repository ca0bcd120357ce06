// The first entry that is not finite: its index, or -1 as it was put there.
__kernel void firstNotFinite(const __global REAL *data, ulong length, volatile __global ulong *first) {
  for (ulong e = get_global_id(0); e < length; e += get_global_size(0))
    if (!(data[e] - data[e] == 0)) note(first, e);
}
