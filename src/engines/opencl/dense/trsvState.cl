// The state that the kernels of a substitution share, in front of trsv.cl, trsvBy.cl and trsvSteps.cl.
#define TICKET 0 // of `state`: the next block or row
#define FAILED 1 // a wait was abandoned
#define SINGULAR 2 // n - i for the first zero (i, i) on the diagonal, or 0
// An unknown that is not yet known: the bits of a NaN that no result has.
#define UNKNOWN 0xfffffffffffffffful
