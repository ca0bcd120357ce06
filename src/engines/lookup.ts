// The granularity of the tables that map rows to runs of rows. Routines build them, engines read them (RunLines and Tasks in kernels.ts).

/** Entry k of a lookup table is the run of row k << LOOKUP_SHIFT. The WebAssembly kernels have the same constant in assembly/layout.ts. */
export const LOOKUP_SHIFT = 5;
