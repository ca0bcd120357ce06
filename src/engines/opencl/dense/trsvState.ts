// The integer state of a triangular solve on a device, stated once: sources.ts compiles the indices into the kernels.

/** The next block or row. */
export const TICKET = 0;
/** Whether a wait was abandoned. */
export const FAILED = 1;
/** n - i for the first zero (i, i) on the diagonal, or 0. */
export const SINGULAR = 2;
export const STATE_WORDS = 3;
