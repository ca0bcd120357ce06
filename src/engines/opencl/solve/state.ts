// The integer state of an approximate factorization, stated once: sources.ts compiles the first two indices into the kernels, which take
// the others as arguments.

/** 1 + the column that ended the factorization, or 0. */
export const ENDED = 0;
/** Whether a wait was abandoned. */
export const STUCK = 1;
/** Lists of row moves, of two blocks of columns. */
export const MOVES = 8;
/** The columns of the widest block. */
export const MAX_WIDTH = 256;
/** The pivots. */
export const PIVOTS = MOVES + 8 * MAX_WIDTH;
