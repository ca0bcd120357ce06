// Common to all factorizations P A = L U on the device (see the LU paper). A is stored by rows. Each entry is one sum of products,
//   s_ij = RN(a_ij - sum over k < min(i, j) of l_ik u_kj),
// so the order of work is free. Entries that a certificate does not prove are computed again from the stored A, L and U.

// Overflow: the first entry that overflows in the order of the unblocked algorithm, column by column, is reported. It is stored as 0,
// so that later entries stay finite; they are not used.
#define NO_OVERFLOW 0xfffffffffffffffful
ulong overflowAt(int i, int j) { return ((ulong)(uint)j << 32) | (uint)i; }

void keepFirst(volatile __global ulong *failed, ulong entry) {
  ulong old = *failed;
  while (entry < old) {
    ulong seen = atom_cmpxchg(failed, old, entry);
    if (seen == old) return;
    old = seen;
  }
}

double finiteEntry(double v, volatile __global ulong *failed, int i, int j) {
  if (v - v == 0) return v;
  keepFirst(failed, overflowAt(i, j));
  return 0.0;
}

// Products of numbers that are not tiny are zero or above 2^-960: their error terms are exact.
bool isTiny(double x) { return !BINARY32 && x != 0 && fabs(x) < 0x1p-480; }

// Products -l u into a sum that starts at G = 1.5 * 2^e. While it stays in [2^e, 2^(e+1)), with h = 2^(e-53),
//   t = RN(s - l u), t - s exact, n = RN(l u + (t - s)), |n| <= h,
// and the exact sum is (s - G) - the sum of all n. |l| <= 1, so sums in column j stay below S, the sum of |u_kj|. The computed S
// may be too small by N U = 2^-23, for N < 2^30 terms, and s drifts by at most N h = 2^(e-23): S (1 + 2^-20) < 2^(e-1) leaves
// room for both.
double gridOf(double size) {
  int field = (int)(as_ulong(size * MORE) >> 52) + 2;
  return field > 1023 + 980 ? NAN : as_double(((ulong)max(field, 1023 - 900) << 52) | 0x8000000000000ul);
}

// The better of two pivot candidates: the larger magnitude, then the lower position. Magnitudes compare as integers.
bool isBetter(ulong size, int position, ulong otherSize, int otherPosition) {
  return size > otherSize || (size == otherSize && position < otherPosition);
}
ulong magnitudeOf(double s) { return as_ulong(s) & 0x7ffffffffffffffful; }

// For rare, large functions: inlined, they would take registers from the loops.
#define NOT_INLINED __attribute__((noinline))

// If a barrier is in a branch, or in a loop right after a divergent branch, PoCL lets the first work-item decide for all. So kernels
// do not return before a barrier, branches contain none, and such loops end with one (EDGE).
#ifdef NVIDIA
#define WITH_BARRIERS NOT_INLINED
#define EDGE
#define FIXED(size) __attribute__((reqd_work_group_size(size, 1, 1)))
#else
#define WITH_BARRIERS // a function with barriers must be inlined
#define EDGE barrier(CLK_LOCAL_MEM_FENCE);
#define FIXED(size)
#endif

// Move the best of `count` candidates, a power of two, to the first element of each list: its size, its position, and its origin.
void findBest(__local ulong *sizes, __local int *positions, __local int *from, int count) {
  const int lid = get_local_id(0);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int stride = count / 2; stride > 0; stride /= 2) {
    if (lid < stride && isBetter(sizes[lid + stride], positions[lid + stride], sizes[lid], positions[lid])) {
      sizes[lid] = sizes[lid + stride];
      positions[lid] = positions[lid + stride];
      from[lid] = from[lid + stride];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
