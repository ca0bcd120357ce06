// cg, bicgstab and gmres on a matrix by block rows. The methods are those of routines/krylov/, in the workspace of hostKrylov.ts: its
// vectors are the parts of this rank, its products exchange what neighbours need (halo.ts), and its dot products are sums over all ranks
// (level1.ts). Every rank knows the same sums, so all ranks take the same way through the method.
import { checkSize, checkVectorOf } from "../arrays/checks.ts";
import { HalfulpError, ShapeError } from "../arrays/errors.ts";
import type { Real, Sparse } from "../arrays/types.ts";
import { copyOf } from "../arrays/vectors.ts";
import { hostKrylov, type VectorOperations } from "../engines/hostKrylov.ts";
import type { Later } from "../engines/memory.ts";
import { runAsync, runSync } from "../engines/steps.ts";
import { checkFinite, type Settings, settingsOf } from "../routines/krylov/arguments.ts";
import { iterate, type MethodName, systemOf, withoutIterations } from "../routines/krylov/krylov.ts";
import type { IterativeOptions, IterativeSolution } from "../routines/krylov/types.ts";
import { type Context, together } from "./context.ts";
import { reduceParts } from "./level1.ts";
import { operationsOf, type RankMatrix, rankMatrix } from "./sparse.ts";
import type { Distributed } from "./types.ts";

/** Solve A x = b: see Ranks.cg. */
export function solveOnRanks(
  context: Context,
  routine: MethodName,
  A: Distributed<Sparse>,
  b: Float64Array,
  options: IterativeOptions = {},
): Promise<IterativeSolution> {
  return context.call(routine, () => {
    const matrix = rankMatrix(routine, context, A);
    const { rows } = matrix.A;
    checkVectorOf(routine, "b", b, "binary64", "A");
    checkSize(routine, "b", b, rows, "the rows of A on this rank");
    const settings = settingsOf(routine, matrix.n, options, rows);
    const { preconditioner, x0, tolerance, absolute, maxIterations, maxRestarts, restart } = settings;
    if (preconditioner !== "none" && preconditioner !== "jacobi")
      throw new ShapeError(
        `${routine}: preconditioner is ${preconditioner === "ilu0" ? `"ilu0"` : "an array of plans"}, expected "none" or "jacobi" (on ranks)`,
      );
    runSync(checkFinite(routine, matrix.A, b, x0, matrix.first));
    const right = copyOf(routine, b);
    const own: Settings = { ...settings, x0: x0 && copyOf(routine, x0 as Float64Array) };
    return {
      facts: {
        A: `matrix ${matrix.id}`,
        preconditioner,
        tolerance,
        absolute,
        maxIterations,
        maxRestarts,
        restart,
        x0: x0 ? "given" : undefined,
      },
      body: () => (matrix.n === 0 ? withoutIterations(0) : solve(routine, matrix, right, own)),
    };
  });
}

async function solve(routine: MethodName, matrix: RankMatrix, b: Float64Array, settings: Settings): Promise<IterativeSolution> {
  const { context, product } = matrix;
  const { rows } = matrix.A;
  const stopping = new Stopping(routine, context, settings);
  const operations = distributed(matrix, stopping);
  const system = systemOf(routine, rows, product.operator, b, settings);
  const space = await together(context, routine, () => hostKrylov(() => operations).workspace(system, false));
  try {
    const { onIteration } = settings;
    const method = iterate(routine, space, rows, {
      ...settings,
      signal: undefined,
      onIteration: onIteration && ((...args) => stopping.guard(() => onIteration(...args))),
    });
    return await runAsync(method, () => context.backend);
  } finally {
    space.free();
  }
}

// The operations of a workspace whose vectors are parts.
function distributed(matrix: RankMatrix, stopping: Stopping): VectorOperations {
  const { context, product, first } = matrix;
  const operations = operationsOf(context);
  const spmv: VectorOperations["spmv"] = (...args) => stopping.guard(() => operations.spmv(...args));
  return {
    ...operations,
    spmv: (alpha, _, x, beta, y) => product.multiply(context.comm, spmv, alpha, x as Float64Array, beta, y as Float64Array),
    gemv: (...args) => stopping.guard(() => operations.gemv(...args)),
    combine: (...args) => stopping.guard(() => operations.combine(...args)),
    async reduce(_, x, y, root) {
      const result = await reduceParts(context, x as Real, y as Real, root, stopping.isAsked());
      return typeof result === "number" ? result : stopping.stop(result.count, result.ranks);
    },
    async firstRow(row) {
      const own = new Float64Array(new ArrayBuffer(8)).fill(row < 0 ? -1 : first + row);
      const all = new Float64Array(new ArrayBuffer(8 * context.comm.size));
      await context.comm.gatherAll(own, all).wait();
      return all.find((each) => each >= 0) ?? -1;
    },
  };
}

/**
 * Why a rank wants a solver to end early: rank 0 because of its signal, any rank because its onIteration threw or its engine failed. The
 * next sum tells the others, so that all ranks end in the same place.
 */
class Stopping {
  private reason: { readonly error: unknown } | undefined;

  constructor(
    private readonly routine: string,
    private readonly context: Context,
    private readonly settings: Settings,
  ) {}

  isAsked(): boolean {
    const { signal } = this.settings;
    if (signal && this.context.comm.rank === 0) this.guard(() => signal.throwIfAborted());
    return this.reason !== undefined;
  }

  /** Do something that may throw, at once or later. */
  guard(action: () => Later<void>): Later<void> {
    const keep = (error: unknown): void => {
      this.reason ??= { error };
    };
    try {
      const done = action();
      return done instanceof Promise ? done.catch(keep) : undefined;
    } catch (error) {
      keep(error);
    }
  }

  /** All ranks fail: those that asked for it with their reason. */
  stop(count: number, ranks: number): never {
    if (this.reason) throw this.reason.error;
    throw new HalfulpError(`${this.routine}: ${count === 1 ? `rank ${ranks} ended it` : `${count} ranks ended it`}`);
  }
}
