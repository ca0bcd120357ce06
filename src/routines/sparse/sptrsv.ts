// The routine sptrsv: checks the arguments, has a plan built by the engine or by plan.ts, and wraps it as the TriangularPlan that users
// hold. Called by routines.ts. The schedules are those of the sparse paper; types.ts has the options.
import {
  checkCount,
  checkFlag,
  checkOptions,
  checkSameFormat,
  checkSize,
  checkVector,
  checkVectorOf,
  checkWord,
  describe,
} from "../../arrays/checks.ts";
import { EngineError, ShapeError } from "../../arrays/errors.ts";
import { asRow, checkMatrixOf, checkSeparate, compactLike, stridedView } from "../../arrays/matrix.ts";
import { isMatrix, isOnHost, type MatrixOperand, type Operand, type SparseOperand } from "../../arrays/operands.ts";
import { checkSparse, patternInfoOf } from "../../arrays/sparse.ts";
import { isTriangleOnHost, type TriangleSource } from "../../arrays/triangle.ts";
import type { Format, Matrix, Real } from "../../arrays/types.ts";
import { copyOf, newVector } from "../../arrays/vectors.ts";
import type { Wait } from "../../engines/device.ts";
import { SCHEDULES, type SparsePlan, type SystemKernels } from "../../engines/kernels.ts";
import type { AsyncKernels, MatrixKernels, Routine, Run } from "../../engines/steps.ts";
import { checkRows } from "../dense/trsv.ts";
import { Lifetime } from "../lifetime.ts";
import { type Output, outputOf } from "../outputs.ts";
import { analyse } from "./plan.ts";
import type { SparseOptions } from "./types.ts";

/** A plan for solving (L + D) x = b or (U + D) x = b; `run` runs its methods. */
export function* sptrsv(A: SparseOperand, options: SparseOptions = {}, run: Run): Routine<unknown> {
  const format = checkSparse("sptrsv", "A", A);
  if (A.rows !== A.cols) throw new ShapeError(`sptrsv: A is ${A.rows} by ${A.cols}, expected a square matrix`);
  checkOptions("sptrsv", options, ["uplo", "trans", "unit", "exact", "schedule", "expectedSolves"]);
  const { uplo = "lower", trans = false, unit = false, exact = true, schedule = "auto", expectedSolves } = options;
  checkWord("sptrsv", "uplo", uplo, ["lower", "upper"]);
  checkFlag("sptrsv", "trans", trans);
  checkFlag("sptrsv", "unit", unit);
  checkFlag("sptrsv", "exact", exact);
  checkWord("sptrsv", "schedule", schedule, ["auto", ...SCHEDULES]);
  if (expectedSolves !== undefined) checkCount("sptrsv", "expectedSolves", expectedSolves, 0);
  const triangle = {
    A,
    n: A.rows,
    upper: (uplo === "upper") !== trans,
    byRows: (A.format === "csr") !== trans,
    unit,
    info: patternInfoOf(A),
  };
  const plan = (yield (kernels) => planOn(kernels, triangle, exact, options)) as SparsePlan;
  return publicPlan(plan, format, A.values.length, run);
}

/** A plan by the engine, if it builds plans, or by the calling thread. */
export function planOn(kernels: MatrixKernels | AsyncKernels, triangle: TriangleSource, exact: boolean, options: SparseOptions): unknown {
  if (kernels.plan) return kernels.plan(triangle, exact, options);
  if (!isTriangleOnHost(triangle)) throw new EngineError("sptrsv: the engine makes no plans of a matrix that the host cannot read");
  return analyse(kernels as unknown as SystemKernels, triangle, exact, options);
}

function* solve(plan: SparsePlan, format: Format, b: Operand, out?: Operand): Routine<Operand> {
  const { n } = plan;
  checkSameFormat("TriangularPlan.solve", "b", checkVector("TriangularPlan.solve", "b", b, "a matrix, "), format, "A");
  checkSize("TriangularPlan.solve", "b", b, n, "the order of A");
  if (out !== undefined) {
    checkVectorOf("TriangularPlan.solve", "out", out, format, "A");
    checkSize("TriangularPlan.solve", "out", out, n, "the order of A");
    checkSeparate("TriangularPlan.solve", "out", asRow(out), "b", asRow(b));
  }
  if (out === undefined) {
    const x = newVector("TriangularPlan.solve", b, n);
    if (n > 0) yield* plan.solve(b, x);
    return x;
  }
  if (n === 0) return out;
  const output = (yield (_, later) => outputOf(later, "TriangularPlan.solve", "out", asRow(out), false)) as Output;
  yield* plan.solve(b, output.entries.data);
  output.write();
  return out;
}

// The same for the columns of B.
function* solveMatrix(plan: SparsePlan, format: Format, B: MatrixOperand, out?: Operand): Routine<Matrix<Real>> {
  checkMatrixOf("TriangularPlan.solve", "b", B, format, "A");
  checkRows("TriangularPlan.solve", "b", B, plan.n, "the order of A");
  if (out !== undefined) throw new ShapeError(`TriangularPlan.solve: out is ${describe(out)}, expected none if b is a matrix`);
  const { rows, cols, order } = B;
  const right = stridedView(B);
  const data = newVector("TriangularPlan.solve", B.data, rows * cols);
  if (data.length > 0) yield* plan.solveColumns(right, compactLike(right, data));
  return { data, rows, cols, order, ld: order === "row" ? cols : rows, offset: 0 };
}

// A call that has to wait copies arrays on the host, because the caller may change them. Residents are borrowed until the call resolves.
const lastingCopy = (routine: string, x: Operand): Operand => (isOnHost(x) ? copyOf(routine, x) : x);

// The TriangularPlan that users hold.
function publicPlan(first: SparsePlan, format: Format, entries: number, run: Run): object {
  const { schedule, reason, bytes, isCollected = false } = first;
  const state: PlanState = { plan: first, replaced: [], updating: undefined };
  const lifetime = new Lifetime("the plan was freed, expected one that is in use", {
    free() {
      freeReplaced(state);
      state.plan.free();
    },
    idle: () => freeReplaced(state),
    isCollected,
  });
  function* solveWithPlan(b: Operand | MatrixOperand, out?: Operand): Routine<Operand | MatrixOperand> {
    lifetime.checkOpen("TriangularPlan.solve");
    let right = b;
    if (state.updating) {
      right = isMatrix(b) ? { ...b, data: lastingCopy("TriangularPlan.solve", b.data) } : lastingCopy("TriangularPlan.solve", b);
      yield* afterUpdates(state);
    }
    const { plan } = state;
    return yield* lifetime.use<Operand | MatrixOperand>(
      isMatrix(right) ? solveMatrix(plan, format, right, out) : solve(plan, format, right, out),
    );
  }
  function* updateValues(values: Operand): Routine<void> {
    lifetime.checkOpen("TriangularPlan.update");
    checkVectorOf("TriangularPlan.update", "values", values, format, "A");
    checkSize("TriangularPlan.update", "values", values, entries, "the entries of A");
    const taken = state.updating ? lastingCopy("TriangularPlan.update", values) : values;
    yield* afterUpdates(state);
    yield* lifetime.use(replaceValues(state, taken, lifetime.isInUse));
  }
  // biome-ignore lint/correctness/useYield: a routine, so that its errors are reported like those of the others
  function* freePlan(): Routine<void> {
    lifetime.checkOpen("TriangularPlan.free");
    lifetime.free();
  }
  const plan = {
    schedule,
    reason,
    get levels() {
      return state.plan.levels();
    },
    bytes,
    solve: (b: Operand | MatrixOperand, out?: Operand) => run(solveWithPlan(b, out)),
    update: (values: Operand) => run(updateValues(values)),
    free: () => run(freePlan()),
  };
  plans.set(plan, { n: first.n, format, run, lifetime, current: () => currentPlan(state) });
  return plan;
}

/** What other routines need of a plan that users hold. */
export interface PlanInUse {
  readonly n: number;
  readonly format: Format;
  /** Runs the routines of its engine: another engine has another one. */
  readonly run: Run;
  readonly lifetime: Lifetime;
  /** The plan with its latest values. */
  current(): Routine<SparsePlan>;
}
const plans = new WeakMap<object, PlanInUse>();

/** The plan behind an object that sptrsv returned; undefined for anything else. */
export function planBehind(plan: object): PlanInUse | undefined {
  return plans.get(plan);
}

function* currentPlan(state: PlanState): Routine<SparsePlan> {
  yield* afterUpdates(state);
  return state.plan;
}

/** The current plan, values that updates replaced while solves were using them, and the pending update. */
interface PlanState {
  plan: SparsePlan;
  replaced: readonly { free(): void }[];
  updating: Wait | undefined;
}

function freeReplaced(state: PlanState): void {
  for (const memory of state.replaced) memory.free();
  state.replaced = [];
}

// Calls made while an update is pending use its values.
function* afterUpdates(state: PlanState): Routine<void> {
  while (state.updating) yield state.updating;
}

function* replaceValues(state: PlanState, values: Operand, inUse: boolean): Routine<void> {
  let done = (): void => {};
  const finished = new Promise<void>((resolve) => {
    done = resolve;
  });
  state.updating = { later: () => finished };
  try {
    const { plan, replaced } = yield* state.plan.withValues(values, inUse);
    state.plan = plan;
    if (replaced) state.replaced = [...state.replaced, replaced];
  } finally {
    state.updating = undefined;
    done();
  }
}
