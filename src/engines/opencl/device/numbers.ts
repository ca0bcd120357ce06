// Numbers as arguments of kernels, and the names of their types in OpenCL C.

/** The type of elements in kernels. */
export type RealType = "double" | "float";
export const realOf = (bytesPerElement: number): RealType => (bytesPerElement === 8 ? "double" : "float");

export const long = (x: number): BigInt64Array => BigInt64Array.of(BigInt(x));
export const double = (x: number): Float64Array => Float64Array.of(x);
