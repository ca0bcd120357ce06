// What all factorizations P A = L U on the device share. A is row by row. Every entry is one sum over products,
//   s_ij = RN(a_ij - sum over k < min(i, j) of l_ik u_kj),
// so the order of work is free; entries that a certificate does not prove are settled from A, L and U as they are stored.

// StridedMatrix that overflowed: of several the first in the order of the unblocked algorithm counts, column by column. What
// overflowed is stored as 0: nothing after it counts, and what is made of it stays finite.
#define NOTHING 0xfffffffffffffffful
ulong placeOf(int i, int j) { return ((ulong)(uint)j << 32) | (uint)i; }

void note(volatile __global ulong *failed, ulong place) {
  ulong old = *failed;
  while (place < old) {
    ulong seen = atom_cmpxchg(failed, old, place);
    if (seen == old) return;
    old = seen;
  }
}

double finiteEntry(double v, volatile __global ulong *failed, int i, int j) {
  if (v - v == 0) return v;
  note(failed, placeOf(i, j));
  return 0.0;
}

// Products of numbers that are not tiny (or zero) are above 2^-960: their error terms are exact.
bool isTiny(double x) { return !BINARY32 && x != 0 && fabs(x) < 0x1p-480; }

// The better of two candidates for a pivot: the larger magnitude, then the lower position. Magnitudes compare as integers.
bool isBetter(ulong size, int position, ulong otherSize, int otherPosition) {
  return size > otherSize || (size == otherSize && position < otherPosition);
}
ulong magnitudeOf(double s) { return as_ulong(s) & 0x7ffffffffffffffful; }

// Rare and large: apart from the loops, whose registers it would take.
#define APART __attribute__((noinline))

// Where barriers stand in branches, or in loops right after branches that work-items take differently, PoCL lets the first
// work-item decide for all. So kernels do not return before a barrier, branches have none, and loops end with one there.
#ifdef NVIDIA
#define TOGETHER APART
#define EDGE
#define FIXED(size) __attribute__((reqd_work_group_size(size, 1, 1)))
#else
#define TOGETHER // a function with barriers must be inlined
#define EDGE barrier(CLK_LOCAL_MEM_FENCE);
#define FIXED(size)
#endif

// The best of the candidates of a work-group becomes the first of each list: its size, its position, and where it is from.
void findBest(__local ulong *sizes, __local int *positions, __local int *from) {
  const int lid = get_local_id(0);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int stride = get_local_size(0) / 2; stride > 0; stride /= 2) {
    if (lid < stride && isBetter(sizes[lid + stride], positions[lid + stride], sizes[lid], positions[lid])) {
      sizes[lid] = sizes[lid + stride];
      positions[lid] = positions[lid + stride];
      from[lid] = from[lid + stride];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
