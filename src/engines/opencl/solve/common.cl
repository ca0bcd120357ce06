// Common to the kernels of the approximate factors of solve(). The matrix is stored by rows, padded with the identity to a multiple of
// 128, so that tiles have no edges; right-hand sides are columns after it, padded with zeros.

// The integer state of a factorization is that of state.ts. The lists of row moves have two for each column of a panel, as pairs
// (from, to).

// Unrolled loops have their arrays in registers. PoCL has too few, and would compile ten times longer.
#ifdef POCL_DEVICE_ADDRESS_BITS
#define UNROLL
#else
#define UNROLL _Pragma("unroll")
#endif

#ifdef NVIDIA
#define FIXED(size) __attribute__((reqd_work_group_size(size, 1, 1)))
#else
#define FIXED(size)
#endif

// Magnitudes compare as integers; values that are not finite are larger than all numbers.
#if WORDS == 1
typedef uint Magnitude;
Magnitude magnitudeOf(REAL x) { return as_uint(x) & 0x7fffffffu; }
#define INFINITE 0x7f800000u
#else
typedef ulong Magnitude;
Magnitude magnitudeOf(REAL x) { return as_ulong(x) & 0x7ffffffffffffffful; }
#define INFINITE 0x7ff0000000000000ul
#endif

// Write the move of a row to the position that the pivots gave it. Every element of the list is written: first the moves of pivot rows,
// then those of the rows they displace, unless these are pivot rows themselves.
void writeMoves(__global int *moves, int first, int width, int row, int position) {
  if (position < first + width) {
    moves[2 * (position - first)] = row;
    moves[2 * (position - first) + 1] = position;
  }
  if (row < first + width) {
    int at = width + row - first;
    moves[2 * at] = position < first + width ? -1 : row;
    moves[2 * at + 1] = position;
  }
}
