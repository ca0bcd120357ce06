// The ranks of an MPI job as users see them: openRanks() and its methods, each a call of all ranks (context.ts). The routines are in the
// files next to this one. docs/mpi.md is for users.

/// <reference lib="esnext.disposable" preserve="true" />

import type { Accumulator } from "../api/accumulator.ts";
import type { EngineKind } from "../api/engine.ts";
import { checkCount, checkOptions, checkWord } from "../arrays/checks.ts";
import type { Matrix, Real, Sparse, TriangularOptions } from "../arrays/types.ts";
import type { Backend } from "../engines/backend.ts";
import { embedded } from "../engines/embedded.ts";
import { engineRow, KINDS } from "../engines/table.ts";
import { onThisThread } from "../engines/wasm/backend.ts";
import type { IterativeOptions, IterativeSolution } from "../routines/krylov/types.ts";
import type { RoundOptions } from "../routines/level1.ts";
import type { Solution, SolveOptions } from "../routines/solve/types.ts";
import type { MatrixProductOptions, MatrixVectorOptions } from "../routines/types.ts";
import { Context } from "./context.ts";
import { exgemm } from "./dense/gemm.ts";
import { exgemv } from "./dense/gemv.ts";
import { exlu } from "./dense/lu.ts";
import { matrix } from "./dense/matrix.ts";
import { readNpy } from "./dense/npy.ts";
import { gather, scatter } from "./dense/transfer.ts";
import { extrsv } from "./dense/trsv.ts";
import { solveOnRanks } from "./krylov.ts";
import { accumulate, rankReductions } from "./level1.ts";
import { Communicator } from "./mpi/communicator.ts";
import { factor, solve } from "./solve/solve.ts";
import { exspmv, sparse } from "./sparse.ts";
import type { Distributed, DistributedFactors, DistributedLU, GridOptions } from "./types.ts";

/** Options of openRanks(). */
export interface RankOptions {
  /** The engine with which each rank computes, "wasm" by default: one thread a rank. Ranks may use different ones. */
  engine?: EngineKind | undefined;
  /** The number of threads of the engine "threads". */
  threads?: number | undefined;
  /** "mpich", "openmpi", "abi" or the file of a library. Default: HALFULP_MPI, else the library whose mpirun started this process. */
  library?: string | undefined;
}

/** The ranks of a job. Every rank makes the same calls in the same order, and gets the same bits. */
export interface Ranks {
  readonly rank: number;
  readonly size: number;
  /** The MPI library with its version, as in "MPICH 4.0.2". */
  readonly library: string;
  /** The sum of a vector of which each rank holds a part, of any length. */
  exsum(part: Real, options?: RoundOptions): Promise<number>;
  /** The sum of magnitudes. */
  exasum(part: Real, options?: RoundOptions): Promise<number>;
  /** The dot product of two vectors that are divided in the same way. */
  exdot(x: Real, y: Real, options?: RoundOptions): Promise<number>;
  /** The 2-norm. */
  exnrm2(part: Real, options?: RoundOptions): Promise<number>;
  /** The sum of all parts of x, or the dot product of x and y, exact and not yet rounded. The same on every rank. */
  accumulate(x: Real, y?: Real): Promise<Accumulator>;
  /** A dense matrix, block-cyclic over a grid of ranks as in ScaLAPACK. Each rank calls `entry` for its own entries. */
  matrix(rows: number, cols: number, entry: (i: number, j: number) => number, options?: GridOptions): Promise<Distributed<Matrix>>;
  /** The matrix that the root has, spread over all ranks. The A of other ranks is not read. */
  scatter(A: Matrix | undefined, root?: number, options?: GridOptions): Promise<Distributed<Matrix>>;
  /** The whole matrix on the root, and undefined on all other ranks. */
  gather(A: Distributed<Matrix>, root?: number): Promise<Matrix | undefined>;
  /** The matrix in a .npy file, of which each rank reads its own blocks. */
  readNpy(path: string, options?: GridOptions): Promise<Distributed<Matrix>>;
  /** y := alpha A x + beta y, or with the transpose of A. x and y are whole on every rank. */
  exgemv(
    alpha: number,
    A: Distributed<Matrix>,
    x: Float64Array,
    beta: number,
    y: Float64Array,
    options?: MatrixVectorOptions,
  ): Promise<Float64Array>;
  /** C := alpha A B + beta C, each of A and B transposed or not. The three may be laid out in different ways. */
  exgemm(
    alpha: number,
    A: Distributed<Matrix>,
    B: Distributed<Matrix>,
    beta: number,
    C: Distributed<Matrix>,
    options?: MatrixProductOptions,
  ): Promise<Distributed<Matrix>>;
  /** The solution of T x = b, or of the transposed system, by substitution. b and x are whole on every rank. */
  extrsv(T: Distributed<Matrix>, b: Float64Array, options?: TriangularOptions): Promise<Float64Array>;
  /** P A = L U with partial pivoting. */
  exlu(A: Distributed<Matrix>): Promise<DistributedLU>;
  /**
   * The exact solution of A x = b, every component rounded once, as solve() of one machine; b and x are whole on every rank. Factors are
   * binary64: the method "mixed" is refused. An abort on any rank counts.
   */
  solve(A: Distributed<Matrix>, b: Float64Array | Matrix, options?: SolveOptions): Promise<Solution>;
  /** The factors of A with their proof, for several right-hand sides. */
  factor(A: Distributed<Matrix>, options?: SolveOptions): Promise<DistributedFactors>;
  /**
   * A square sparse matrix by block rows, of which `part` has the rows from `firstRow` on and all columns; `rows` is the order of the
   * whole. The parts follow each other in the order of the ranks; some may be empty. The part is copied; `local` has it by rows, and must
   * not be changed. Vectors that belong to the matrix are divided by the same rows.
   */
  sparse(part: Sparse, firstRow: number, rows: number): Promise<Distributed<Sparse>>;
  /** y := alpha A x + beta y, or with the transpose of A. x and y are the parts of this rank. */
  exspmv(
    alpha: number,
    A: Distributed<Sparse>,
    x: Float64Array,
    beta: number,
    y: Float64Array,
    options?: MatrixVectorOptions,
  ): Promise<Float64Array>;
  /**
   * A x = b by conjugate gradients. b, x0 and the x of the result are the parts of this rank, everything else is the same on every rank.
   * Preconditioners are "none" and "jacobi". A signal counts on rank 0 only; after the iteration in which it is aborted, or in which an
   * onIteration throws, the call fails on every rank.
   */
  cg(A: Distributed<Sparse>, b: Float64Array, options?: IterativeOptions): Promise<IterativeSolution>;
  /** The same by stabilized biconjugate gradients. */
  bicgstab(A: Distributed<Sparse>, b: Float64Array, options?: IterativeOptions): Promise<IterativeSolution>;
  /** The same by restarted GMRES. */
  gmres(A: Distributed<Sparse>, b: Float64Array, options?: IterativeOptions): Promise<IterativeSolution>;
  /** Wait for all ranks and shut MPI down. Later calls fail. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * The ranks of the MPI job that this process belongs to. Without mpirun there is one rank, and everything works. Close them at the end.
 *
 * ```ts
 * // mpirun -n 4 node sum.js
 * const ranks = await openRanks();
 * const part = Float64Array.of(1e16, ranks.rank, -1e16);
 * console.log(await ranks.exsum(part)); // the same on every rank: 6
 * await ranks.close();
 * ```
 * @example
 * const ranks = await openRanks();
 * await ranks.exsum(Float64Array.of(1e16, 1, -1e16)); // 1
 * await ranks.close();
 */
export async function openRanks(options: RankOptions = {}): Promise<Ranks> {
  checkOptions("openRanks", options, ["engine", "threads", "library"]);
  const { engine = "wasm", threads, library = environment().HALFULP_MPI } = options;
  checkWord("openRanks", "engine", engine, ["auto", ...KINDS]);
  if (threads !== undefined) checkCount("openRanks", "threads", threads, 1);
  return ranksOf(new Context(await Communicator.open(library), await openBackend(engine, threads)));
}

const environment = (): Readonly<Record<string, string | undefined>> =>
  (globalThis as { process?: { env: Record<string, string | undefined> } }).process?.env ?? {};

async function openBackend(engine: EngineKind, threads: number | undefined): Promise<Backend> {
  if (engine === "auto") return onThisThread(embedded());
  return engineRow(engine).open(threads === undefined ? {} : { threads });
}

function ranksOf(context: Context): Ranks {
  const { comm } = context;
  const close = (): Promise<void> => context.close();
  return {
    rank: comm.rank,
    size: comm.size,
    library: comm.library,
    ...rankReductions(context),
    accumulate: (x, y) => accumulate(context, x, y),
    matrix: (rows, cols, entry, options) => matrix(context, rows, cols, entry, options),
    scatter: (A, root, options) => scatter(context, A, root, options),
    gather: (A, root) => gather(context, A, root),
    readNpy: (path, options) => readNpy(context, path, options),
    exgemv: (alpha, A, x, beta, y, options) => exgemv(context, alpha, A, x, beta, y, options),
    exgemm: (alpha, A, B, beta, C, options) => exgemm(context, alpha, A, B, beta, C, options),
    extrsv: (T, b, options) => extrsv(context, T, b, options),
    exlu: (A) => exlu(context, A),
    solve: (A, b, options) => solve(context, A, b, options),
    factor: (A, options) => factor(context, A, options),
    sparse: (part, firstRow, rows) => sparse(context, part, firstRow, rows),
    exspmv: (alpha, A, x, beta, y, options) => exspmv(context, alpha, A, x, beta, y, options),
    cg: (A, b, options) => solveOnRanks(context, "cg", A, b, options),
    bicgstab: (A, b, options) => solveOnRanks(context, "bicgstab", A, b, options),
    gmres: (A, b, options) => solveOnRanks(context, "gmres", A, b, options),
    close,
    [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]: close,
  } as Ranks;
}
