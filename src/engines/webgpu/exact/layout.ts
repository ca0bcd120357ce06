// The windows of the kernels as the host reads them; gather.wgsl has the same numbers.

/** Words of a window in memory: its seven words, its digit, what was cut off, and the kinds of its terms that are not finite. */
export const RECORD = 10;
/** The digit of an empty window. */
export const EMPTY = -1024;
