// The granularity of the tables that map rows to blocks of rows. Routines build them, engines read them (RowBlocks and Tasks in
// kernels.ts).

/** Entry k of a lookup table is the block of row k << LOOKUP_SHIFT. assembly/layout.ts has the same constant for the kernels. */
export const LOOKUP_SHIFT = 5;
