// The contract of an engine's kernels: what the routines are made of. engines/steps.ts has the asynchronous form of it, and
// docs/architecture.md says what an engine must provide. Arguments have been checked. An operand is on the host or in the memory of the
// engine itself.
import type { StridedOperand } from "../arrays/matrix.ts";
import type { Operand } from "../arrays/operands.ts";
import type { DiagonalPosition, StoredLines, TriangleSource } from "../arrays/triangle.ts";
import type { Real, Reduction } from "../arrays/types.ts";
import type { Superaccumulator } from "../exact/superaccumulator.ts";
import type { ApproximateKernels } from "./approximate.ts";
import type { EngineMemory, HostMemory } from "./memory.ts";
import type { Routine } from "./steps.ts";

/** The routines that work element by element. */
export type Elementwise = "scal" | "invscal" | "axpy";

const SIZES = [2, 3, 4, 5, 6, 7, 8] as const;

/** The papers' exact stages, each of which can be run alone: the superaccumulator, and expansions in front of it. */
export type ExactStage = "superaccumulator" | `fpe${(typeof SIZES)[number]}${"" | "ee"}`;
export const EXACT_STAGES: readonly ExactStage[] = [
  "superaccumulator",
  ...SIZES.flatMap((size) => [`fpe${size}`, `fpe${size}ee`] as const),
];

/** A triangular solve as kernels see it: transposition is in the steps of T, everything is set. */
export interface Substitution {
  readonly upper: boolean;
  readonly unit: boolean;
  readonly rounding: "single" | "paper" | "corrected";
  readonly refine: number;
  readonly refineBlocks: number;
  readonly blockSize: number; // unknowns in a block; 0 where it does not matter: as the engine likes
}

/** The schedules of the sparse paper, the one without levels that it compares with, and none. */
export const SCHEDULES = ["serial", "levr", "levc", "slfr", "slfc", "gsf"] as const;
export type Schedule = (typeof SCHEDULES)[number];

/**
 * A sparse triangular system as the analysis leaves it: line l has the entries begins[l] to begins[l + 1] - 1, and `diagonalAt` says whether
 * one of them is its diagonal, which is no part of the line otherwise. Lines are rows. Without `order`, line l is that of unknown l,
 * indices are unknowns, and the order of substitution is the natural one, from the last unknown on if `upper`. With it, order[k] is the
 * unknown solved k-th, line k is its own, and indices are places in that order. For the plain column-wise schedules lines are columns.
 * All arrays are in reserved memory.
 */
export interface SparseTriangle {
  readonly n: number;
  readonly upper: boolean;
  readonly exact: boolean;
  readonly schedule: Schedule;
  readonly begins: Int32Array;
  readonly indices: Int32Array;
  readonly values: Real;
  readonly diagonal: Real | undefined; // undefined: ones; `values` if it is in line
  readonly diagonalAt: DiagonalPosition | undefined;
  /** The shape of each line, and where shapes begin among the indices, which are then those of the shapes, relative to a line. */
  readonly shapes?: { readonly ofLine: Uint8Array; readonly starts: Int32Array } | undefined;
  readonly order: Int32Array | undefined;
  readonly tasks: Tasks;
  readonly work: Real; // n numbers for an engine that solves one system at a time
}

/** Runs of lines that follow each other, in reserved memory, and room for what neighbours() finds. */
export interface RunLines {
  readonly n: number;
  readonly reversed: boolean; // the line that comes k-th is n - 1 - k, and so is the place of unknown k
  /** Where lines begin, and the end. Their diagonal may be one of the entries: it leads to its own run. */
  readonly begins: Int32Array;
  readonly indices: Int32Array;
  /** Where runs begin, and the end; the run of every 32nd line. */
  readonly starts: Int32Array;
  readonly lookup: Int32Array;
  /** Of each run the last that led to it, -1 at first. */
  readonly seen: Int32Array;
  /** Where the neighbours of each run begin, and the end; the first is 0. */
  readonly pointers: Int32Array;
  /** Those of the runs of one call, with room for as many as there are runs at the least. */
  readonly near: Int32Array;
}

/** What a schedule hands out: runs of lines that follow each other in the order of substitution, or single lines. */
export interface Tasks {
  /** How many tasks there are, or phases. */
  readonly count: number;
  /** Where runs begin, and the end. */
  readonly runs?: Int32Array | undefined;
  /** The runs by levels, where they are not in that order themselves. */
  readonly sequence?: Int32Array | undefined;
  /** Where the phases of levr and levc begin among those, or among the lines, and the end: ~start of one that a single worker does alone. */
  readonly phases?: Int32Array | undefined;
  /** How many runs a worker takes at a time (slfr, slfc). */
  readonly together?: number | undefined;
  /** How many runs each run waits for (slfr, slfc); which runs wait for run t: list[targets[t]] to list[targets[t + 1] - 1]. */
  readonly counts?: Int32Array | undefined;
  readonly targets?: Int32Array | undefined;
  readonly list?: Int32Array | undefined;
  /** The run of every 32nd row (gsf). */
  readonly lookup?: Int32Array | undefined;
}

/** What a plan is asked for. */
export interface PlanOptions {
  readonly schedule?: "auto" | Schedule | undefined;
  readonly expectedSolves?: number | undefined;
}

/** A triangular system that was analysed, with values that do not change. */
export interface SparsePlan {
  readonly n: number;
  readonly schedule: Schedule;
  /** Why this schedule, in one line. */
  readonly reason: string;
  /** How many levels the unknowns have; 0 where the schedule has no use for levels. */
  levels(): number;
  readonly bytes: number;
  /** Whether its memory is given back too when the plan is collected. */
  readonly isCollected?: boolean;
  /** x := the solution for the right-hand side b. They do not overlap, and are of the type of A. */
  solve(b: Operand, x: Operand): Routine<void>;
  /** The plan with new values, or an error and the plan as it was. Those in use stay where they are: then `replaced` can go later. */
  withValues(values: Operand, inUse: boolean): Routine<{ readonly plan: SparsePlan; readonly replaced?: { free(): void } | undefined }>;
  /** Give back its memory, but not what was replaced. */
  free(): void;
}

/** What src/sparse/ makes plans of, on engines that do not make their own. */
export interface SystemKernels {
  /** How many workers share the work of a sparse solve; 0 on the calling thread, where all schedules run serially. */
  readonly workers: number;
  /** Systems for sptrsv are laid out here. */
  readonly memory: HostMemory;
  /** The first of the lines from..to whose diagonal entry is zero; `to` if there is none. */
  firstZero(lines: StoredLines, from: number, to: number): number;
  /**
   * The other runs that the entries of each run lead to, each once, for runs from `from` on while there is certainly room for
   * them. Returns the first run that is left.
   */
  neighbours(runs: RunLines, from: number): number;
  /** x := the solution of the system with the right-hand side b. x and b do not overlap. */
  sptrsv(system: SparseTriangle, b: Real, x: Real): void;
}

/** What an engine on the calling thread does for vectors. */
export interface VectorKernels {
  readonly name: string;
  /** Stage 1: one pass that writes high, low and bound of the sum into `enclosure`. A bound of NaN says nothing. */
  enclose(op: Reduction, x: Operand, y: Operand): void;
  /**
   * Stages 2 and 3: add the terms to an accumulator and return a bound of what was lost on the way. It is 0
   * when `exact` is asked for; the two widths may then differ.
   */
  accumulate(op: Reduction, x: Operand, y: Operand, into: Superaccumulator, exact: boolean): number;
  /** The same by one of the papers' stages, exactly: for study and comparison. */
  accumulateBy(stage: ExactStage, op: Reduction, x: Operand, y: Operand, into: Superaccumulator): void;
  /** x := alpha x, x := x / alpha, or y := alpha x + y, one rounding an element. */
  map(op: Elementwise, alpha: number, x: Operand, y: Operand): void;
}

/**
 * The contract of a synchronous engine: the kernels that every routine above is made of. Arguments have been
 * checked. x and y are of one length; where a reduction has one operand, y is x. An engine has the kernels of sparse systems, or
 * it makes plans itself.
 */
export interface Kernels extends VectorKernels, Partial<Omit<SystemKernels, "memory">> {
  readonly memory: EngineMemory;
  /** y := alpha A x + beta y, one rounding an entry. What a zero alpha or beta multiplies is not read. */
  gemv(alpha: number, A: StridedOperand, x: Operand, beta: number, y: Operand): void;
  /** C := alpha A B + beta C, one rounding an entry. */
  gemm(alpha: number, A: StridedOperand, B: StridedOperand, beta: number, C: StridedOperand): void;
  /** x := the solution of T x = b by substitution; the diagonal has no zero. x and b do not overlap. */
  trsv(T: StridedOperand, b: Operand, x: Operand, how: Substitution): void;
  /**
   * Factor `count` matrices, rows by cols, one after another and each row by row, in place: L and U replace them, and min(rows, cols)
   * pivots of each are written. `info` gets 0 for a matrix that was factored, and 1 + the column of its zero pivot for a singular one.
   * All entries are finite. Returns -1, or the index in `data` of an entry that overflowed; then the matrices are not factored. It is a
   * routine, so that an asynchronous engine can proceed by blocks of columns and serve other calls in between.
   */
  lu(data: Operand, rows: number, cols: number, count: number, pivots: Int32Array, info: Int32Array): Routine<number>;
  /** The set-up phase, for a triangle whose arrays may be on the engine. */
  plan?(triangle: TriangleSource, exact: boolean, options: PlanOptions): SparsePlan;
  /** Factorisations in ordinary arithmetic. */
  readonly approximate: ApproximateKernels;
}

/** An engine that has the kernels of sparse systems. */
export type LocalKernels = Kernels & SystemKernels;
