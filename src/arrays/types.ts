/** The two kinds of vector: binary64 and binary32. */
export type Real = Float64Array | Float32Array;
/** IEEE 754's rounding directions: to nearest (ties to even), towards +Inf, -Inf and zero. */
export type Rounding = "nearest" | "up" | "down" | "zero";
/** The format a result is rounded to. */
export type Format = "binary64" | "binary32";
/** What a reduction adds up: the numbers, their magnitudes, or products. */
export type Reduction = "sum" | "asum" | "dot";

/** A view of the caller's memory: entry (i, j) is at offset + i * ld + j (order "row") or offset + j * ld + i ("column"). */
export interface Matrix<V extends Real = Float64Array> {
  readonly data: V;
  readonly rows: number;
  readonly cols: number;
  readonly order: "row" | "column";
  readonly ld: number;
  readonly offset: number;
}

/**
 * A sparse matrix by rows ("csr") or by columns ("csc"): the entries of row i are those from pointers[i] to
 * pointers[i + 1] - 1, each with its column in `indices` and its number in `values`. In any order within a row, none twice.
 */
export interface Sparse<V extends Real = Float64Array> {
  readonly format: "csr" | "csc";
  readonly rows: number;
  readonly cols: number;
  readonly pointers: Int32Array;
  readonly indices: Int32Array;
  readonly values: V;
}

/** What a triangular solve is asked for. */
export interface TriangularOptions {
  /** Which triangle of T is read; "lower" unless said otherwise. */
  uplo?: "lower" | "upper" | undefined;
  /** Solve with the transpose. */
  trans?: boolean | undefined;
  /** Ones on the diagonal, which is not read. */
  unit?: boolean | undefined;
  /** One rounding for sum and division ("single", the default), or the two roundings of the papers. */
  rounding?: "single" | "paper" | "corrected" | undefined;
  /** Steps of iterative refinement on the whole system. */
  refine?: number | undefined;
  /** Steps on each diagonal block as soon as it is solved. */
  refineBlocks?: number | undefined;
  /** Unknowns in a block, counted in the order of substitution. With refineBlocks the bits depend on it: then 64 unless you say so. */
  blockSize?: number | undefined;
}
