/** The two kinds of vector: binary64 and binary32. */
export type Real = Float64Array | Float32Array;
/** IEEE 754's rounding directions: to nearest (ties to even), towards +Inf, -Inf and zero. */
export type Rounding = "nearest" | "up" | "down" | "zero";
/** The format a result is rounded to. */
export type Format = "binary64" | "binary32";
/** What a reduction adds up: the numbers, their magnitudes, or products. */
export type Reduction = "sum" | "asum" | "dot";
