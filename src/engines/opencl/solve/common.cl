// What the kernels of the plain factorisation share. The matrix is row by row, its rows and columns padded with the identity to a
// multiple of 128, so that tiles have no edges; right-hand sides are columns behind it, padded with zeros.

// The ints of a factorisation: 1 + the column that ended it; whether groups waited in vain; then lists of moves, two for each
// column of a panel, from where and to where; then the pivots.
#define ENDED 0
#define STUCK 1

// What is unrolled has its arrays in registers; PoCL has none to spare, and compiles ten times longer.
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

// Magnitudes compare as integers, and what is not finite is above all numbers.
#if WORDS == 1
typedef uint Magnitude;
Magnitude magnitudeOf(REAL x) { return as_uint(x) & 0x7fffffffu; }
#define INFINITE 0x7f800000u
#else
typedef ulong Magnitude;
Magnitude magnitudeOf(REAL x) { return as_ulong(x) & 0x7ffffffffffffffful; }
#define INFINITE 0x7ff0000000000000ul
#endif

// A row of the panel moves to the position that the pivots gave it. Every entry is written: those of pivots first, then those of
// the rows in whose places they go, unless these are pivots themselves.
void noteMoves(__global int *moves, int first, int width, int row, int position) {
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
