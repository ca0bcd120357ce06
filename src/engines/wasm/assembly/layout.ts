// The memory map that the kernels share with the host, compiled by AssemblyScript on one side and by TypeScript on the other, so
// that there is only one copy of it. Offsets are in bytes: those of the first part from an instance's frame (frame.ts), those of
// JOB_... from a job record.

// A record holds an enclosure, as the certified filter leaves it: the sum lies within `bound` of high + low. Every row of a matrix
// has a record; level 1 uses the one at the start of the frame.
export const HIGH = 0x00;
export const LOW = 0x08;
export const BOUND = 0x10;
export const GRID = 0x18; // 1.5 * 2^k, or 0 before the first block
export const ENCLOSURE = 0x20; // the size of a record
// Non-finite terms seen so far, as bits: 1 for a NaN, 2 for +Inf, 4 for -Inf.
export const SPECIAL = 0x30;
// The last elements of two vectors, fewer than 8, padded with zeros.
export const TAIL_X = 0x40;
export const TAIL_Y = 0x80;

// The superaccumulator: the digits of src/exact/superaccumulator.ts as 64-bit integers. Products of two numbers use the digits
// from 2^-2208 up; those below serve products scaled by alpha.
export const DIGITS = 0x100;
export const DIGIT_COUNT = 204;
export const LOWEST_EXPONENT = -3296;
export const UNSCALED = 0x800; // a copy of the digits while they are multiplied
export const JOB = 0xf00; // the job record of an instance that works alone

// Terms in a block of the filter: 1024 for each of 8 lanes. The filter's bound grows with the square of this number, the cost
// of closing a block with its inverse: 8192 terms cost about 1 % and leave a bound of 2^-74 of the largest term.
export const BLOCK = 8192;

// Scratch memory through which the user's arrays are streamed in chunks. Copying two arrays of 16,000,000 elements takes 0.89 ns
// per pair in chunks of 8192, 0.72 ns in chunks of 32768 and 0.63 ns in chunks of 65536, because every chunk restarts the stream
// from memory. The page offsets of X and Y differ, so that stores do not alias loads modulo 4 KiB.
export const CHUNK = 65536;
export const SCRATCH_X = 0x10000;
export const SCRATCH_Y = 0x90840;
export const SCRATCH_OUT = 0x111080; // one block of results
export const FLAGGED = 0x121080; // indices within a block that the host must compute exactly
export const FRAME = 0x130000; // the size of a frame; allocate() hands out the memory after the frames

// A job: the arguments of a matrix kernel, in one record that all workers of a pool read. Addresses are in bytes, and so are the
// strides JOB_..._ROW and JOB_..._COL between entries.
export const JOB_KIND = 0x00; // which kernel
export const JOB_SINGLE = 0x04; // 1 for binary32
export const JOB_WORKERS = 0x08; // the number of workers
export const JOB_NEXT = 0x0c; // the next piece of work that nobody has taken
export const JOB_DONE = 0x10; // blocks of unknowns that are solved; of a sparse solve: 1 when workers begin to write to JOB_OUT
export const JOB_ARRIVED = 0x14; // workers that have reached the barrier
export const JOB_PHASE = 0x18; // barriers passed
export const JOB_ALPHA = 0x20;
export const JOB_BETA = 0x28;
export const JOB_A = 0x30; // address of the first operand, and its strides
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
export const JOB_WORK = 0x6c; // workspace, and the bytes of it that each worker has
export const JOB_WORK_SIZE = 0x70;
export const JOB_FROM = 0x74; // the range of rows, columns or blocks that this job works on
export const JOB_TO = 0x78;
export const JOB_UPPER = 0x7c; // the options of a triangular solve
export const JOB_UNIT = 0x80;
export const JOB_FINISH = 0x84;
export const JOB_REFINE = 0x88;
export const JOB_BLOCK_SIZE = 0x8c;
export const JOB_ROW = 0x90; // where the host puts a row that is not in this memory, or 0 if all rows are
export const JOB_PIVOTS = 0x94;
export const JOB_INFO = 0x98;
export const JOB_FAILED = 0x9c; // an entry that overflowed: 1 + its index, or 0
// A sparse triangle, stored by lines: rows, or columns in the plain column-wise schedules. Line l has the entries BEGINS[l] to
// ENDS[l] - 1; DIAGONAL_AT tells whether and where its diagonal is among them. If ORDER is set, lines are in the order of
// substitution, and ORDER[k] is the unknown solved k-th. If ORDER is 0, line l belongs to unknown l, and UPPER means that
// substitution starts from the last.
export const JOB_BEGINS = 0xa0;
export const JOB_DIAGONAL_AT = 0xa4;
export const JOB_INDICES = 0xa8;
export const JOB_VALUES = 0xac;
export const JOB_DIAGONAL = 0xb0; // 0: a unit diagonal; equal to VALUES if the lines contain it
export const JOB_ORDER = 0xb4;
export const JOB_EXACT = 0xb8;
export const JOB_SCHEDULE = 0xbc;
// The tasks of its schedule; see Tasks in engines/kernels.ts. A block has consecutive rows (or columns). COUNTS: their flags (slfr, slfc) or
// the rows that are done (gsf).
export const JOB_BLOCKS = 0xc0;
export const JOB_SEQUENCE = 0xc4;
export const JOB_PHASES = 0xc8;
export const JOB_TASK_COUNT = 0xcc;
export const JOB_COUNTS = 0xd0;
export const JOB_TARGETS = 0xd4;
export const JOB_LIST = 0xd8;
export const JOB_LOOKUP = 0xdc;
export const JOB_SLEEPERS = 0xe0; // the number of workers asleep
// Approximate factors: whether the original matrix is binary32, its scaling (0: none), and where to store the factors row by row
// without gaps (0: nowhere).
export const JOB_FROM_SINGLE = 0xe4;
export const JOB_ROW_SCALE = 0xe8;
export const JOB_COL_SCALE = 0xec;
export const JOB_COMPACT = 0xf0;
// For a sparse triangle whose lines repeat a few patterns ("shapes"): the shape of each line, a byte, and where each shape begins in
// INDICES, which are then relative to the line. 0: INDICES are stored in full.
export const JOB_SHAPES = 0xf4;
export const JOB_SHAPE_STARTS = 0xf8;
export const JOB_LAST = 0xfc; // of an approximate factorization: where the columns end that begin at JOB_FROM (JOB_TO is the length of a row)
export const JOB_COLUMNS = 0x100; // ILU(0): 1 if lines are columns
export const JOB_ENDS = 0x104; // of a sparse triangle: BEGINS + 4 if every line ends where the next one begins
export const JOB_SIZE = 0x110;

// Columns in a block of exlu, and in a panel of an approximate factorization: the host divides the work into steps of whole ones.
export const LU_BLOCK = 32;
export const PANEL_COLUMNS = 64;

// Right-hand sides that are lanes of one kernel.
export const GROUP_COLUMNS = 8;
// Rows in a block of extrsm, and the bytes that a group of columns has beside its numbers.
export const TRSM_ROWS = 32;
export const TRSM_GROUP = 256;

// The record of a column of exlu (dense/luEntries.ts).
export const LU_COLUMN = 0x40;

// What a rank tells the others about a column of a distributed exlu: the pivot it proposes, its position (-1: no row is left) and the first
// entry that overflowed, then from LU_PROPOSED on the row of U in the columns of the block.
export const LU_PROPOSED = 0x40;
export const LU_MESSAGE = 0x140;
// Up to this number of rows every rank factors the panels of a distributed exlu by itself. That takes some 0.4 us a row and panel, and 0.5 kB
// of messages; 32 exchanges, one for each column, take 1.5 ms where ranks do not wait for each other, and 10 ms on 16 cores where they do.
export const LU_SHARED_ROWS = 8192;

// What an approximate factorization writes to JOB_INFO: the column of a bad pivot or -1, then the smallest and the largest
// magnitude among the pivots.
export const SMALLEST = 0x08;
export const LARGEST = 0x10;
export const OUTCOME = 0x18;

// Values of JOB_KIND.
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
export const SPMV_ROWS = 18;
export const SPMV_LONG_ROWS = 19;
export const SPMV_COLUMNS = 20;
export const COMBINE = 21;
export const ILU0 = 22;
export const TRSM = 23;

// Rows of a sparse product with more entries than this are split into pieces, so that several workers share them.
export const LONG_ROW = 16384;
export const ROW_PIECE = 8192;
// The stages of a sparse product by columns, in JOB_REFINE: all of them at once, or the sums of some columns, the entries that these decide,
// the products of rows that they do not, and the entries of those rows (from JOB_PIVOTS to JOB_INFO, which then are the next ones;
// JOB_TASK_COUNT tells whether there are any).
export const WHOLE_PRODUCT = 0;
export const SUM_COLUMNS = 1;
export const CLOSE_ROWS = 2;
export const GATHER_ROWS = 3;
export const SETTLE_ROWS = 4;
export const SUM_RECORD = 32; // the size of the record of a row

// Combinations of vectors, in JOB_FINISH.
export const AXPY = 0;
export const INVSCAL = 1;
export const XPAY = 2;
export const DIRECTION = 3;
export const QUOTIENT = 4;
export const ADD = 5;

// Rows of a residual that a worker accumulates at a time if columns are contiguous: 4 KiB.
export const RESIDUAL_ROWS = 512;

// Values of JOB_FINISH, which tells how to get an entry from its sum s and the divisor d: RN(s), RN(s / d), RN(RN(s) / d), or
// equation (3) of the triangular paper. RESIDUAL asks for the residual b - T x of a given x instead of a solution. For a reduction
// JOB_FINISH is its kind: SUM, ASUM or DOT.
export const ROUND = 0;
export const SINGLE = 1;
export const PAPER = 2;
export const CORRECTED = 3;
export const RESIDUAL = 4;
export const SUM = 0;
export const ASUM = 1;
export const DOT = 2;

// The stages of a reduction, in JOB_REFINE, and the number of terms that a worker takes at a time.
export const FILTER = 0;
export const LADDER = 1;
export const EXACT = 2;
export const PIECE = 65536;

// Values of JOB_DIAGONAL_AT: the diagonal is stored apart from its line, or is the line's last or first entry.
export const APART = 0;
export const LAST = 1;
export const FIRST = 2;

// Values of JOB_SCHEDULE: see sparse/sptrsv.ts.
export const SERIAL = 0;
export const LEVR = 1;
export const LEVC = 2;
export const SLFR = 3;
export const SLFC = 4;
export const GSF = 5;
export const FLAGS_PER_LINE = 16; // flags of slfr and slfc in a cache line of 64 bytes
export const LOOKUP_SHIFT = 5; // entry k of JOB_LOOKUP is the block of row k << LOOKUP_SHIFT

// The size of a record of eight sums, their rests and their grids: see dense/strip.ts.
export const RECORD = 192;
