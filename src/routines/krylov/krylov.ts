// cg, bicgstab and gmres: checks, the start, and the stopping rule of SPEC.md. A method works on the recurrence's residual; when that is
// small enough, the exact residual of x decides. Called by routines.ts.

import { SingularError } from "../../arrays/errors.ts";
import { stridedView } from "../../arrays/matrix.ts";
import { isSparse, isSparseOnHost, type MatrixOperand, type Operand, type SparseOperand } from "../../arrays/operands.ts";
import { toCsr } from "../../arrays/sparse.ts";
import type { Sparse } from "../../arrays/types.ts";
import type { Wait } from "../../engines/device.ts";
import type { SparsePlan } from "../../engines/kernels.ts";
import { B, type KrylovSystem, type Look, R, type Workspace, X } from "../../engines/krylov.ts";
import type { Later } from "../../engines/memory.ts";
import type { Routine, Run } from "../../engines/steps.ts";
import { operatorOf } from "../sparse/spmv.ts";
import type { PlanInUse } from "../sparse/sptrsv.ts";
import { checkFinite, checkSystem, type Settings, settingsOf } from "./arguments.ts";
import { stabilizedBiconjugateGradients } from "./bicgstab.ts";
import { conjugateGradients, type Method } from "./cg.ts";
import { arnoldi, columnAt, firstVector, LeastSquares, NORM, scalarsOf, update, VECTORS } from "./gmres.ts";
import { givenPlans, ilu0Plans } from "./preconditioner.ts";
import type { IterativeOptions, IterativeReason, IterativeSolution } from "./types.ts";

export type MethodName = "cg" | "bicgstab" | "gmres";
type Matrix = MatrixOperand | SparseOperand;

/** Solve A x = b by one of the methods; `run` runs the methods of plans on this engine. */
export function* solveIteratively(
  routine: MethodName,
  A: Matrix,
  b: Operand,
  options: IterativeOptions = {},
  run: Run,
): Routine<IterativeSolution> {
  checkSystem(routine, A, b);
  const settings = settingsOf(routine, A.rows, options);
  settings.signal?.throwIfAborted();
  const given = typeof settings.preconditioner === "string" ? [] : givenPlans(routine, A.rows, settings.preconditioner, run);
  if (A.rows === 0) return withoutIterations(0);
  let call = solveWith(routine, A, b, settings, given);
  for (const { lifetime } of given) call = lifetime.use(call);
  return yield* call;
}

function* solveWith(
  routine: MethodName,
  A: Matrix,
  b: Operand,
  settings: Settings,
  given: readonly PlanInUse[],
): Routine<IterativeSolution> {
  const { preconditioner } = settings;
  // The workspace, ILU(0) and the plans take what the caller may change before anything waits: the workspace is waited for last.
  yield* checkFinite(routine, A, b, settings.x0);
  const system = systemOf(routine, A.rows, matrixOf(A), b, settings);
  const starting = (yield (kernels, later) => ({ space: kernels.krylov.workspace(system, later) })) as { readonly space: Later<Workspace> };
  if (starting.space instanceof Promise) starting.space.catch(() => {}); // it fails where it is waited for
  let own: readonly SparsePlan[] = [];
  try {
    const current: SparsePlan[] = [];
    for (const plan of given) current.push(yield* plan.current());
    if (preconditioner === "ilu0") own = yield* ilu0Plans(routine, A);
    const space = (yield () => starting.space) as Workspace;
    space.plans = [...own, ...current];
    return yield* iterate(routine, space, A.rows, settings);
  } finally {
    for (const plan of own) plan.free();
    ((yield () => starting.space) as Workspace).free();
  }
}

/** A system with what a method needs beside it. n is the length of its vectors, which for src/ranks are parts. */
export function systemOf(routine: MethodName, n: number, A: KrylovSystem["A"], b: Operand, settings: Settings): KrylovSystem {
  const { preconditioner, x0 } = settings;
  const m = cycleLength(settings);
  const counts =
    routine === "gmres"
      ? { vectors: VECTORS, basis: m + 1, scalars: scalarsOf(m) }
      : { vectors: METHODS[routine].vectors, basis: 0, scalars: 1 };
  const kind = preconditioner === "jacobi" || preconditioner === "none" ? preconditioner : ("plans" as const);
  return { routine, n, A, b, x0, preconditioner: kind, ...counts };
}

const cycleLength = ({ restart, maxIterations }: Settings): number => Math.min(restart, Math.max(1, maxIterations));

/** Run a method in a workspace that has the system of systemOf() and its preconditioner. */
export function* iterate(routine: MethodName, space: Workspace, n: number, settings: Settings): Routine<IterativeSolution> {
  const zero = yield* space.zeroDiagonal();
  if (zero >= 0)
    throw new SingularError(
      `${routine}: entry (${zero}, ${zero}) of A is 0 or missing, expected another number for the preconditioner "jacobi"`,
      zero,
    );
  return yield* new Solver(space, n, settings, cycleLength(settings)).solve(routine);
}

const METHODS: Record<"cg" | "bicgstab", Method> = { cg: conjugateGradients, bicgstab: stabilizedBiconjugateGradients };

// A sparse matrix by rows, whose products are faster, unless only the engine can read it.
function matrixOf(A: Matrix) {
  if (!isSparse(A)) return stridedView(A);
  return operatorOf(isSparseOnHost(A) ? toCsr(A as Sparse) : A, false);
}

/** The solution for b = 0. */
export const withoutIterations = (n: number): IterativeSolution => ({
  x: new Float64Array(n),
  converged: true,
  reason: "tolerance",
  iterations: 0,
  residual: 0,
  history: Float64Array.of(0),
});

// On an asynchronous engine the call returns before the first iteration, and goes back to the event loop now and then, so that a signal can
// be aborted and the page or the server stays responsive.
const begin: Wait = { now() {}, later: async () => {} };
const pause: Wait = { now() {}, later: () => new Promise((resolve) => setTimeout(resolve, 0)) };
const INTERVAL = 10; // milliseconds

/** One call: the restarts, and what is reported. */
class Solver {
  private readonly history: number[] = [];
  private bound = 0;
  private last = performance.now();

  constructor(
    private readonly space: Workspace,
    private readonly n: number,
    private readonly settings: Settings,
    private readonly m: number,
  ) {}

  private get iterations(): number {
    return this.history.length - 1;
  }

  *solve(routine: MethodName): Routine<IterativeSolution> {
    const { tolerance, absolute, maxRestarts, signal } = this.settings;
    yield () => begin;
    signal?.throwIfAborted();
    const normOfB = yield* this.normOf(B);
    if (normOfB === 0) return withoutIterations(this.n);
    this.bound = Math.max(tolerance * normOfB, absolute);
    let norm = yield* this.trueNorm();
    this.history.push(norm);
    for (let restarts = 0; ; restarts++) {
      if (!Number.isFinite(norm)) return yield* this.end("notFinite", norm, normOfB);
      if (norm <= this.bound) return yield* this.end("tolerance", norm, normOfB);
      const reason = yield* routine === "gmres" ? this.cycles(norm) : this.recurrence(METHODS[routine]);
      const before = norm;
      norm = yield* this.trueNorm();
      if (reason !== "tolerance") return yield* this.end(reason, norm, normOfB);
      if (norm > this.bound && (restarts === maxRestarts || !(norm < before / 2))) return yield* this.end("stagnation", norm, normOfB);
    }
  }

  private *end(reason: IterativeReason, norm: number, normOfB: number): Routine<IterativeSolution> {
    const x = yield* this.space.read(X);
    const history = Float64Array.from(this.history);
    return { x, converged: reason === "tolerance", reason, iterations: this.iterations, residual: norm / normOfB, history };
  }

  // The exact norm of a vector. It is kept where gmres needs that of r.
  private *normOf(x: number): Routine<number> {
    const { space } = this;
    yield* space.start(this.bound);
    yield* space.reduce(x, x, true, NORM);
    yield* space.look();
    return (yield* space.scalars(NORM, 1))[0] as number;
  }

  // r := RN(b - A x). Returns its norm.
  private *trueNorm(): Routine<number> {
    yield* this.space.residual(X, R);
    return yield* this.normOf(R);
  }

  // cg or bicgstab, from r on.
  private *recurrence(method: Method): Routine<IterativeReason> {
    const { space } = this;
    const { maxIterations } = this.settings;
    yield* space.start(this.bound);
    yield* method.start(space);
    let begun = this.iterations;
    while (begun < maxIterations) {
      const next = Math.min(maxIterations, begun + space.ahead(this.iterations));
      for (; begun < next; begun++) {
        space.begin(begun);
        yield* method.iterate(space);
      }
      const { status } = yield* this.look();
      if (status === "half" || status === "tolerance") return "tolerance";
      if (status !== "running") return status;
    }
    return "maxIterations";
  }

  private *look(): Routine<Look> {
    const look = yield* this.space.look();
    for (const norm of look.norms) yield* this.report(norm);
    return look;
  }

  private *report(norm: number): Routine<void> {
    const { onIteration, signal } = this.settings;
    this.history.push(norm);
    onIteration?.(this.iterations, norm);
    signal?.throwIfAborted();
    const now = performance.now();
    if (now - this.last < INTERVAL) return;
    this.last = now;
    yield () => pause;
    signal?.throwIfAborted();
  }

  // The cycles of gmres, from r on, whose norm is known.
  private *cycles(startingNorm: number): Routine<IterativeReason> {
    for (let norm = startingNorm; ; norm = yield* this.trueNorm()) {
      if (!Number.isFinite(norm)) return "notFinite";
      if (norm <= this.bound) return "tolerance";
      if (this.iterations === this.settings.maxIterations) return "maxIterations";
      const problem = new LeastSquares(norm);
      const reason = yield* this.cycle(problem);
      yield* update(this.space, problem.solve());
      if (reason !== undefined) return reason;
    }
  }

  // One cycle. Returns undefined if it ended after all its steps. The engine may do steps that turn out not to be needed.
  private *cycle(problem: LeastSquares): Routine<IterativeReason | undefined> {
    const { space, m } = this;
    const limit = Math.min(m, this.settings.maxIterations - this.iterations);
    yield* firstVector(space);
    for (let begun = 0; begun < limit; ) {
      const first = begun;
      const next = Math.min(limit, begun + space.ahead(this.iterations));
      for (; begun < next; begun++) yield* arnoldi(space, begun);
      yield* space.look();
      const columns = yield* space.scalars(columnAt(first), columnAt(begun) - columnAt(first));
      for (let j = first; j < begun; j++) {
        const at = columnAt(j) - columnAt(first);
        const { norm, g } = problem.add(columns.subarray(at, at + j + 2));
        if (!Number.isFinite(norm)) return g === 0 ? "breakdown" : "notFinite";
        yield* this.report(norm);
        if (norm <= this.bound) return "tolerance";
      }
    }
    return undefined;
  }
}
