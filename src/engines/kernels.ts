// The contract of an engine's kernels: what the routines are made of. engines/steps.ts has the asynchronous form of it, and
// docs/architecture.md says what an engine must provide. Arguments have been checked. An operand is on the host or in the memory of the
// engine itself.
import type { StridedMatrix, StridedOperand } from "../arrays/matrix.ts";
import type { Integers, Operand } from "../arrays/operands.ts";
import type { DiagonalPosition, StoredLines, TriangleSource } from "../arrays/triangle.ts";
import type { Real, Reduction } from "../arrays/types.ts";
import type { Superaccumulator } from "../exact/superaccumulator.ts";
import type { ApproximateKernels } from "./approximate.ts";
import type { Distribution } from "./distribution.ts";
import type { HostKrylov } from "./hostKrylov.ts";
import type { KrylovKernels } from "./krylov.ts";
import type { EngineMemory, HostMemory } from "./memory.ts";
import type { Routine } from "./steps.ts";

/** The routines that work element by element. */
export type Elementwise = "scal" | "invscal" | "axpy";

const SIZES = [2, 3, 4, 5, 6, 7, 8] as const;

/** The exact stages of the papers, which can be run one by one: the superaccumulator, and expansions in front of it. */
export type ExactStage = "superaccumulator" | `fpe${(typeof SIZES)[number]}${"" | "ee"}`;
export const EXACT_STAGES: readonly ExactStage[] = [
  "superaccumulator",
  ...SIZES.flatMap((size) => [`fpe${size}`, `fpe${size}ee`] as const),
];

/** A triangular solve as kernels see it: T is transposed by its strides, and all options have values. */
export interface Substitution {
  readonly upper: boolean;
  readonly unit: boolean;
  readonly rounding: "single" | "paper" | "corrected";
  readonly refine: number;
  readonly refineBlocks: number;
  readonly blockSize: number; // unknowns in a block; 0: the engine chooses
}

/**
 * The matrix of a sparse product, A or its transpose: rows by cols, stored by its rows, or by its columns if `byRows` is false. Line l has
 * the entries pointers[l] to pointers[l + 1] - 1, none twice.
 */
export interface SparseOperator {
  readonly rows: number;
  readonly cols: number;
  readonly byRows: boolean;
  readonly pointers: Integers;
  readonly indices: Integers;
  readonly values: Operand;
}

/**
 * A square sparse matrix by lines, which are rows or columns. Line l has the entries pointers[l] to pointers[l + 1] - 1, ascending and
 * finite, and among them its diagonal.
 */
export interface SparseLines {
  readonly n: number;
  readonly byRows: boolean;
  readonly pointers: Integers;
  readonly indices: Integers;
  readonly values: Operand;
  /** The positions of the diagonal; undefined if the host cannot read the pattern. */
  readonly diagonal: Int32Array | undefined;
}

/** The same on the host. */
export interface HostLines extends SparseLines {
  readonly pointers: Int32Array;
  readonly indices: Int32Array;
  readonly values: Real;
  readonly diagonal: Int32Array;
}

/**
 * Where ILU(0) ends early: at the first entry of the factors that is not finite or, as a pivot, zero. Or at a line without a diagonal, if
 * the engine had to find that.
 */
export type Breakdown = { readonly position: number; readonly value: number } | { readonly missing: number };

/**
 * The vector updates of the iterative solvers, entry by entry, in binary64:
 * "axpy": y := fma(a, x, y), and nothing if a is 0; "invscal": y := y / a; "xpay": y := RN(x + a y); "direction": y := RN(x + a RN(y + b z));
 * "quotient": y := RN(x / z); "sum": y := RN(x + y). RN stores an exact zero as +0; the first two are IEEE operations.
 */
export type Combination = "axpy" | "invscal" | "xpay" | "direction" | "quotient" | "sum";

/** The schedules of the sparse paper (Algorithms 1 to 4), the one without levels that it compares with, and the serial loop. */
export const SCHEDULES = ["serial", "levr", "levc", "slfr", "slfc", "gsf"] as const;
export type Schedule = (typeof SCHEDULES)[number];

/** The number of solves from which the analysis of a parallel schedule pays off: finding an order by levels costs a few solves. */
export const MIN_SOLVES = 4;

/** The unknowns by levels: those of level m are jlev[ilev[m]] to jlev[ilev[m + 1] - 1], ascending. */
export interface Levels {
  readonly ilev: Int32Array;
  readonly jlev: Int32Array;
}

/**
 * A sparse triangular system after the analysis. Lines are rows, or columns in the plain column-wise schedules. Line l has the entries
 * begins[l] to ends[l] - 1; `diagonalAt` tells which of them is its diagonal, and is undefined if none is. Without `order`, line l
 * belongs to unknown l, indices are unknowns, and substitution is in natural order, from the last unknown on if `upper`. With it, order[k]
 * is the unknown solved k-th, line k belongs to that unknown, and indices are positions in that order. All arrays are in reserved memory.
 */
export interface SparseTriangle {
  readonly n: number;
  readonly upper: boolean;
  readonly exact: boolean;
  readonly schedule: Schedule;
  readonly begins: Int32Array;
  readonly ends: Int32Array; // begins.subarray(1), unless other entries lie between the lines
  readonly indices: Int32Array;
  readonly values: Real;
  readonly diagonal: Real | undefined; // undefined: ones; `values` if the lines contain it
  readonly diagonalAt: DiagonalPosition | undefined;
  /** The shape of each line, and where each shape begins in `indices`, which are then relative to the line. */
  readonly shapes?: { readonly ofLine: Uint8Array; readonly starts: Int32Array } | undefined;
  readonly order: Int32Array | undefined;
  readonly tasks: Tasks;
  readonly work: Real; // n numbers for an engine that solves one system at a time
}

/** A triangle divided into blocks of consecutive rows (or columns), in reserved memory, and room for what neighbours() finds. */
export interface RowBlocks {
  readonly n: number;
  readonly reversed: boolean; // the k-th row is row n - 1 - k, and the position of unknown k is n - 1 - k
  /** Where rows begin and end. A row may contain its diagonal, which refers to its own block. */
  readonly begins: Int32Array;
  readonly ends: Int32Array;
  readonly indices: Int32Array;
  /** Where blocks begin, and the end; the block of every 32nd row. */
  readonly starts: Int32Array;
  readonly lookup: Int32Array;
  /** For each block, the last block that was found to refer to it; initially -1. */
  readonly visitedBy: Int32Array;
  /** Where the neighbours of each block begin, and the end; the first is 0. */
  readonly pointers: Int32Array;
  /** The neighbours found by one call, with room for at least as many as there are blocks. */
  readonly adjacent: Int32Array;
}

/** What a schedule hands out: blocks of rows (or columns) that are consecutive in the order of substitution, or single ones. */
export interface Tasks {
  /** The number of tasks, or of phases. */
  readonly count: number;
  /** Where blocks begin, and the end. */
  readonly blocks?: Int32Array | undefined;
  /** The blocks by levels, unless they already are in that order. */
  readonly sequence?: Int32Array | undefined;
  /** Where the phases of levr and levc begin in `sequence`, or among the rows, and the end: ~start of a phase for one worker. */
  readonly phases?: Int32Array | undefined;
  /** The block that is taken k-th waits for those taken list[targets[k]]-th to list[targets[k + 1] - 1]-th (slfr, slfc). */
  readonly targets?: Int32Array | undefined;
  readonly list?: Int32Array | undefined;
  /** The block of every 32nd row (gsf). */
  readonly lookup?: Int32Array | undefined;
}

/** The options that a plan depends on. */
export interface PlanOptions {
  readonly schedule?: "auto" | Schedule | undefined;
  readonly expectedSolves?: number | undefined;
}

/** A triangular system after its analysis. Its values do not change. */
export interface SparsePlan {
  readonly n: number;
  readonly schedule: Schedule;
  /** Why this schedule, in one line. */
  readonly reason: string;
  /** The number of levels; 0 if the schedule does not use levels. */
  levels(): number;
  readonly bytes: number;
  /** Whether garbage collection of the plan also frees its memory. */
  readonly isCollected?: boolean;
  /** x := the solution for the right-hand side b. They do not overlap, and have the type of A. */
  solve(b: Operand, x: Operand): Routine<void>;
  /** The same for every column of B; X is new. */
  solveColumns(B: StridedOperand, X: StridedMatrix): Routine<void>;
  /**
   * The plan with new values. If it fails, the plan is unchanged. Values in use stay where they are: the caller frees `replaced` once
   * they are not.
   */
  withValues(values: Operand, inUse: boolean): Routine<{ readonly plan: SparsePlan; readonly replaced?: { free(): void } | undefined }>;
  /** Free its memory, except for what was replaced. */
  free(): void;
}

/** The kernels from which src/routines/sparse/ builds plans, on engines that do not build their own. */
export interface SystemKernels {
  /** The number of workers that share a sparse solve; 0 on the calling thread, where all schedules run serially. */
  readonly workers: number;
  /** The memory in which systems for sptrsv are laid out. */
  readonly memory: HostMemory;
  /** The first line in [from, to) whose diagonal entry is zero; `to` if there is none. */
  firstZero(lines: StoredLines, from: number, to: number): number;
  /**
   * For each block, the other blocks that its entries refer to, each once: from block `from` on, while there is certainly room for them.
   * Returns the next block.
   */
  neighbours(blocks: RowBlocks, from: number): number;
  /** x := the solution of the system with the right-hand side b. x and b do not overlap. */
  sptrsv(system: SparseTriangle, b: Real, x: Real): void;
  /** The same for every column of B, with its bits. X is new. */
  sptrsm(system: SparseTriangle, B: StridedMatrix, X: StridedMatrix): void;
}

/** The vector kernels of a synchronous engine. */
export interface VectorKernels {
  readonly name: string;
  /** Stage 1: one pass that writes high, low and bound of the sum to `enclosure`. A bound of NaN means that nothing is known. */
  enclose(op: Reduction, x: Operand, y: Operand): void;
  /**
   * Stages 2 and 3: add the terms to an accumulator and return a bound on what was lost. With `exact` the bound is 0, and x and y may
   * have different formats.
   */
  accumulate(op: Reduction, x: Operand, y: Operand, into: Superaccumulator, exact: boolean): number;
  /** Add the terms exactly by one of the stages of the papers, for study. */
  accumulateBy(stage: ExactStage, op: Reduction, x: Operand, y: Operand, into: Superaccumulator): void;
  /** x := alpha x, x := x / alpha, or y := alpha x + y, one rounding per element. */
  map(op: Elementwise, alpha: number, x: Operand, y: Operand): void;
}

/**
 * The contract of a synchronous engine. Arguments have been checked. x and y have the same length; if a reduction has one operand, y is
 * x. For sparse systems an engine either has the kernels of SystemKernels or makes plans itself.
 */
export interface Kernels extends VectorKernels, Partial<Omit<SystemKernels, "memory">> {
  readonly memory: EngineMemory;
  /** y := alpha A x + beta y, one rounding per entry. If alpha or beta is zero, its factors are not read. */
  gemv(alpha: number, A: StridedOperand, x: Operand, beta: number, y: Operand): void;
  /** The same for a sparse A. Terms are the products of the stored entries. */
  spmv(alpha: number, A: SparseOperator, x: Operand, beta: number, y: Operand): void;
  /**
   * The values of the incomplete factors of A without fill, in its pattern; `values` may be those of A. They mean nothing if it ends
   * early: then it returns where the loop over all lines would.
   */
  ilu0(A: SparseLines, values: Operand): Breakdown | undefined;
  /** C := alpha A B + beta C, one rounding per entry. */
  gemm(alpha: number, A: StridedOperand, B: StridedOperand, beta: number, C: StridedOperand): void;
  /** x := the solution of T x = b by substitution; the diagonal has no zero. x and b do not overlap. */
  trsv(T: StridedOperand, b: Operand, x: Operand, how: Substitution): void;
  /** The same for every column of B, with its bits: a column does not depend on its neighbours. X is new, and compact like B. */
  trsm(T: StridedOperand, B: StridedOperand, X: StridedMatrix, how: Substitution): void;
  /**
   * Factor `count` matrices, rows by cols, one after another and each row by row, in place: L and U replace them, and min(rows, cols)
   * pivots of each are written. `info` gets 0 for a matrix that was factored, and 1 + the column of its zero pivot for a singular one.
   * All entries are finite. Returns -1, or the index in `data` of an entry that overflowed; then the matrices are not factored. It is a
   * routine, so that an asynchronous engine can proceed by blocks of columns and serve other calls in between.
   */
  lu(data: Operand, rows: number, cols: number, count: number, pivots: Int32Array, info: Int32Array): Routine<number>;
  /** The set-up phase of a sparse solve. The arrays of the triangle may be on the engine. */
  plan?(triangle: TriangleSource, exact: boolean, options: PlanOptions): SparsePlan;
  /** The vectors and scalars of the iterative solvers. */
  readonly krylov: KrylovKernels;
  /** The kernels of solve() in ordinary arithmetic. */
  readonly approximate: ApproximateKernels;
  /** Present if matrices are spread over several processes. */
  readonly distribution?: Distribution;
}

/** A synchronous engine with the kernels of sparse systems. */
export type LocalKernels = Omit<Kernels, "krylov"> & SystemKernels & { readonly krylov: HostKrylov };
