// Numbers as kernels take them.

/** What kernels call the type of an array whose elements have so many bytes. */
export type RealType = "double" | "float";
export const realOf = (bytes: number): RealType => (bytes === 8 ? "double" : "float");

export const long = (x: number): BigInt64Array => BigInt64Array.of(BigInt(x));
export const double = (x: number): Float64Array => Float64Array.of(x);
