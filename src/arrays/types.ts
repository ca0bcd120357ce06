// The types that all layers share: vectors, matrices, formats, and the options of triangular solves. Most are part of the public API.

/** The two kinds of vector: binary64 and binary32. */
export type Real = Float64Array | Float32Array;
/** IEEE 754's rounding directions: to nearest (ties to even), towards +Inf, -Inf and zero. */
export type Rounding = "nearest" | "up" | "down" | "zero";
/** The format a result is rounded to. */
export type Format = "binary64" | "binary32";
/** The terms of a reduction: the numbers themselves, their magnitudes, or products. */
export type Reduction = "sum" | "asum" | "dot";

/** A matrix in the caller's memory: entry (i, j) is at offset + i * ld + j (order "row") or offset + j * ld + i ("column"). */
export interface Matrix<V extends Real = Float64Array> {
  readonly data: V;
  readonly rows: number;
  readonly cols: number;
  readonly order: "row" | "column";
  readonly ld: number;
  readonly offset: number;
}

/**
 * A sparse matrix by rows ("csr") or by columns ("csc"): row i has the entries pointers[i] to pointers[i + 1] - 1, each with its
 * column in `indices` and its number in `values`. The entries of a row may be in any order, but none may occur twice.
 */
export interface Sparse<V extends Real = Float64Array> {
  readonly format: "csr" | "csc";
  readonly rows: number;
  readonly cols: number;
  readonly pointers: Int32Array;
  readonly indices: Int32Array;
  readonly values: V;
}

/** Options of a triangular solve. */
export interface TriangularOptions {
  /** Which triangle of T is read. Default: "lower". */
  uplo?: "lower" | "upper" | undefined;
  /** Solve with the transpose. */
  trans?: boolean | undefined;
  /** The diagonal is all ones and is not read. */
  unit?: boolean | undefined;
  /** One rounding for sum and division ("single"), or the two roundings of the papers. Default: "single". */
  rounding?: "single" | "paper" | "corrected" | undefined;
  /** Steps of iterative refinement on the whole system. */
  refine?: number | undefined;
  /** Steps of iterative refinement on each diagonal block, as soon as it is solved. */
  refineBlocks?: number | undefined;
  /** Unknowns in a block, counted in the order of substitution. With refineBlocks the bits depend on it, and the default is 64. */
  blockSize?: number | undefined;
}
