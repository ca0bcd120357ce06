// The memory map of one arena, in bytes: compiled into the kernels by AssemblyScript and into the host
// by TypeScript, so that there is one copy of it.

// What the certified filter found: the sum lies within bound of high + low.
export const HIGH = 0x00;
export const LOW = 0x08;
export const BOUND = 0x10;
export const GRID = 0x18; // 1.5 * 2^k, or 0 before the first block
// What streams through range().
export const LARGEST = 0x20;
export const SMALLEST = 0x28;
// The exponent of the ladder's first grid, 0 before the first block.
export const LADDER = 0x34;
// Bits: 1 a NaN, 2 a +Inf, 4 a -Inf went by.
export const SPECIAL = 0x30;

// The superaccumulator: 136 digits of radix 2^32 in 64-bit integers, digit 0 worth 2^-2208. Products reach
// down to 2^-2148, the 53-bit significand of the smallest 52 bits lower; 2^53 products stay below 2^2101,
// and the last digit begins at 2^2112.
export const DIGITS = 0x100;
export const DIGIT_COUNT = 136;
export const LOWEST_EXPONENT = -2208;

// Terms in one block of a kernel: 1024 for each of 8 lanes. The filter's bound grows with the square of
// this, the cost of closing a block with its inverse: 8192 costs about 1 % and leaves 2^-74 of the largest term.
export const BLOCK = 8192;

// Scratch through which users' arrays are streamed. A copy of two arrays of 16,000,000 in chunks takes 0.89 ns
// a pair of elements in chunks of 8192, 0.72 of 32768 and 0.63 of 65536: every chunk starts its stream from
// memory anew. Y starts off a page boundary against X, so that stores do not alias loads modulo 4 KiB.
export const CHUNK = 65536;
export const SCRATCH_X = 0x10000;
export const SCRATCH_Y = 0x90840;
export const SCRATCH_OUT = 0x111080; // one block of results
export const FLAGGED = 0x121080; // indices within a block that the host must do exactly
export const ARENA = 0x130000; // what allocate() hands out begins here
