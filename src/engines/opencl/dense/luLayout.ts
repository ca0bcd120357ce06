// The memory layout and tile sizes of exlu on a device, stated once: sources.ts compiles them into the kernels.

// The integers of a factorization begin with the first overflow, 64 bits. Then come:
/** 1 + the column of the zero pivot, or 0. */
export const INFO = 2;
/** Whether some entry of L or U is tiny. */
export const TINY_SEEN = 3;
/** The number of rows to be moved. */
export const MOVES = 4;
/** 1 + the first column of a block in which a wait was abandoned, or 0. */
export const STUCK = 5;
/** Where the pivots begin. */
export const PIVOTS = 8;

/** Columns of a work-group that moves rows or computes rows of U. */
export const STRIP = 32;
/** Terms of a product per iteration. */
export const KT = 16;
/** Doubles of a pivot candidate. */
export const CANDIDATE = 8;
/** Work-items of luColumn that have no row, and compute U: at least half of the columns of a block. */
export const UPPER_LANES = 32;
