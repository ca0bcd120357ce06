// The memory map of one instance, in bytes behind its frame: compiled into the kernels by AssemblyScript and into
// the host by TypeScript, so that there is one copy of it.

// What the certified filter found: the sum lies within bound of high + low. Every row of a matrix has such a
// record; the one at the start of the frame is that of level 1.
export const HIGH = 0x00;
export const LOW = 0x08;
export const BOUND = 0x10;
export const GRID = 0x18; // 1.5 * 2^k, or 0 before the first block
export const ENCLOSURE = 0x20; // the size of a record
// Bits: 1 a NaN, 2 a +Inf, 4 a -Inf went by.
export const SPECIAL = 0x30;
// The last few elements of two vectors, padded with zeros.
export const TAIL_X = 0x40;
export const TAIL_Y = 0x80;

// The superaccumulator, in 64-bit integers: the digits of exact/superaccumulator.ts. Products of two numbers use
// those from 2^-2208 on, the wide rest is for alpha.
export const DIGITS = 0x100;
export const DIGIT_COUNT = 204;
export const LOWEST_EXPONENT = -3296;
export const UNSCALED = 0x800; // a copy of the digits while they are multiplied
export const JOB = 0xf00; // the record of a job where one instance is alone

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
export const FRAME = 0x130000; // the size of all that; what allocate() hands out begins behind the frames

// A job: what the kernels over matrices are to do, in one record that all workers of a pool read. Addresses and steps
// between entries are in bytes.
export const JOB_KIND = 0x00; // which of the kernels
export const JOB_SINGLE = 0x04; // 1 for binary32
export const JOB_WORKERS = 0x08; // how many take part
export const JOB_NEXT = 0x0c; // the next piece of work not taken yet
export const JOB_DONE = 0x10; // blocks of unknowns that are known
export const JOB_ARRIVED = 0x14; // workers that have reached the barrier
export const JOB_PHASE = 0x18; // barriers passed
export const JOB_ALPHA = 0x20;
export const JOB_BETA = 0x28;
export const JOB_A = 0x30; // address of the first operand, and its steps
export const JOB_A_ROW = 0x34;
export const JOB_A_COL = 0x38;
export const JOB_B = 0x3c;
export const JOB_B_ROW = 0x40;
export const JOB_B_COL = 0x44;
export const JOB_C = 0x48;
export const JOB_C_ROW = 0x4c;
export const JOB_C_COL = 0x50;
export const JOB_M = 0x54; // dimensions: C is M by N, the sums run over K
export const JOB_N = 0x58;
export const JOB_K = 0x5c;
export const JOB_X = 0x60; // vectors
export const JOB_Y = 0x64;
export const JOB_OUT = 0x68;
export const JOB_WORK = 0x6c; // memory to work in, and how much of it is each worker's
export const JOB_WORK_SIZE = 0x70;
export const JOB_FROM = 0x74; // the rows, columns or blocks that are at hand
export const JOB_TO = 0x78;
export const JOB_UPPER = 0x7c; // what a triangular solve needs to know
export const JOB_UNIT = 0x80;
export const JOB_FINISH = 0x84;
export const JOB_REFINE = 0x88;
export const JOB_BLOCK_SIZE = 0x8c;
export const JOB_ROW = 0x90; // where the host puts a row that is not at hand, or 0 if all are
export const JOB_PIVOTS = 0x94;
export const JOB_INFO = 0x98;
export const JOB_FAILED = 0x9c; // an entry that overflowed: 1 + its index, or 0
// A sparse triangle: line l has the entries BEGINS[l] to BEGINS[l + 1] - 1, and DIAGONAL_AT says whether its diagonal is one of them.
// Lines are in the order of substitution where ORDER says which unknown is solved k-th; where ORDER is 0, line l is that of
// unknown l, and UPPER says to start from the last.
export const JOB_BEGINS = 0xa0;
export const JOB_DIAGONAL_AT = 0xa4;
export const JOB_INDICES = 0xa8;
export const JOB_VALUES = 0xac;
export const JOB_DIAGONAL = 0xb0; // 0: ones; VALUES if it is in line
export const JOB_ORDER = 0xb4;
export const JOB_EXACT = 0xb8;
export const JOB_SCHEDULE = 0xbc;
// What its schedule hands out; see Tasks in kernels.ts.
export const JOB_RUNS = 0xc0;
export const JOB_SEQUENCE = 0xc4;
export const JOB_PHASES = 0xc8;
export const JOB_TASK_COUNT = 0xcc;
export const JOB_COUNTS = 0xd0;
export const JOB_TARGETS = 0xd4;
export const JOB_LIST = 0xd8;
export const JOB_LOOKUP = 0xdc;
export const JOB_SLEEPERS = 0xe0; // workers asleep
// Factors in ordinary arithmetic: whether the matrix they are made from is binary32, its scaling (0: as it is), and where the
// factors go row by row without gaps (0: nowhere).
export const JOB_FROM_SINGLE = 0xe4;
export const JOB_ROW_SCALE = 0xe8;
export const JOB_COL_SCALE = 0xec;
export const JOB_COMPACT = 0xf0;
// Of a sparse triangle the shape of each line, a byte, and where each shape begins among INDICES, which are then relative to the line;
// 0: it has none.
export const JOB_SHAPES = 0xf4;
export const JOB_SHAPE_STARTS = 0xf8;
export const JOB_SIZE = 0x100;

// What a factorisation in ordinary arithmetic says of itself: the column of a bad pivot or -1, and of the pivots the least and
// the largest magnitude.
export const SMALLEST = 0x08;
export const LARGEST = 0x10;
export const OUTCOME = 0x18;

// What JOB_KIND says.
export const GEMV_ROWS = 1;
export const GEMV_COLUMNS = 2;
export const GEMM = 3;
export const TRSV_ROWS = 4;
export const TRSV_COLUMNS = 5;
export const LU = 6;
export const LU_BATCH = 7;
export const REDUCE = 8;
export const SPTRSV = 9;
export const KAHN = 10;
export const APPROXIMATE_LU = 11;
export const APPROXIMATE_SOLVE = 12;
export const MAGNITUDES = 13;
export const APPROXIMATE_RESIDUAL = 14;
export const INVERT = 15;
export const WEIGH = 16;
export const SUBTRACT_MODULO = 17;

// Rows of a residual that a worker sums up where columns are contiguous: 4 KiB of each.
export const RESIDUAL_ROWS = 512;

// What JOB_FINISH says of an entry made from its sum s and the divisor d: RN(s), RN(s / d), RN(RN(s) / d), equation (3) of
// the triangular paper, or in place of the solution the residual b - T x of a given x. Of a reduction it says which.
export const ROUND = 0;
export const SINGLE = 1;
export const PAPER = 2;
export const CORRECTED = 3;
export const RESIDUAL = 4;
export const SUM = 0;
export const ASUM = 1;
export const DOT = 2;

// The stages of a reduction, in JOB_REFINE, and the terms that a worker takes at a time.
export const FILTER = 0;
export const LADDER = 1;
export const EXACT = 2;
export const PIECE = 65536;

// What JOB_DIAGONAL_AT says: the diagonal is no entry of its line, or the last, or the first.
export const APART = 0;
export const LAST = 1;
export const FIRST = 2;

// What JOB_SCHEDULE says: see sparse.ts.
export const SERIAL = 0;
export const LEVR = 1;
export const LEVC = 2;
export const SLFR = 3;
export const SLFC = 4;
export const GSF = 5;
export const LOOKUP_SHIFT = 5; // entry k of JOB_LOOKUP is the run of row k << LOOKUP_SHIFT

// Eight sums, their rests and their grids: see strip.ts.
export const RECORD = 192;
