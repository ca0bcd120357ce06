// The integers that the kernels of sparse products and triangular solves share with each other and with the host, and their indices, stated once:
// sources.ts compiles them into the kernels.

/** The next ticket. */
export const TICKET = 0;
/** Set-up: the end of the queue. */
export const TAIL = 1;
/** Solve: the number of rows done. */
export const DONE = 1;
/** Whether a wait was abandoned. */
export const FAILED = 2;
/** The highest level. */
export const HIGHEST = 3;
/** The number of entries. */
export const ENTRIES = 4;
/** The entries of the longest row or column. */
export const LONGEST = 5;
/** n - l for the first l whose diagonal entry is missing or zero, or 0. */
export const SINGULAR = 6;

/** Products: the number of entries that are not proved, of rows that are cut, and of work-groups that are done with the former. */
export const OPEN = 0;
export const LONGS = 1;
export const GROUPS_DONE = 2;

/** The number of words in the set-up phase, in a solve, and in a product. */
export const SETUP_WORDS = 8;
export const SOLVE_WORDS = 4;
export const PRODUCT_WORDS = 4;
