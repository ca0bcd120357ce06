// What the kernels of a substitution share, in front of trsv.cl, trsvBy.cl and trsvSteps.cl: `state` is that of trsvState.ts.
// An unknown that is not yet known: the bits of a NaN that no result has.
#define UNKNOWN 0xfffffffffffffffful
