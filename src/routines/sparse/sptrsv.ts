import { checkCount, checkFlag, checkOptions, checkSize, checkVectorOf, checkWord } from "../../arrays/checks.ts";
import { EngineError, ShapeError } from "../../arrays/errors.ts";
import { asRow, checkSeparate } from "../../arrays/matrix.ts";
import { isOnHost, type Operand, type SparseOperand } from "../../arrays/operands.ts";
import { checkSparse, patternInfoOf } from "../../arrays/sparse.ts";
import { isTriangleOnHost, type TriangleSource } from "../../arrays/triangle.ts";
import type { Format } from "../../arrays/types.ts";
import { copyOf, newVector } from "../../arrays/vectors.ts";
import type { Wait } from "../../engines/device.ts";
import { SCHEDULES, type SparsePlan, type SystemKernels } from "../../engines/kernels.ts";
import type { AsyncKernels, MatrixKernels, Routine, Run } from "../../engines/steps.ts";
import { Lifetime } from "../lifetime.ts";
import { outputOf } from "../outputs.ts";
import { analyse } from "./plan.ts";
import type { SparseOptions } from "./types.ts";

/** A plan for the solution of (L + D) x = b or (U + D) x = b; `run` runs its solves. */
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
  return facade(plan, format, A.values.length, run);
}

// On the engine, if it makes plans itself, otherwise on the calling thread.
function planOn(kernels: MatrixKernels | AsyncKernels, triangle: TriangleSource, exact: boolean, options: SparseOptions): unknown {
  if (kernels.plan) return kernels.plan(triangle, exact, options);
  if (!isTriangleOnHost(triangle)) throw new EngineError("sptrsv: the engine makes no plans of a matrix that the host cannot read");
  return analyse(kernels as unknown as SystemKernels, triangle, exact, options);
}

function* solve(plan: SparsePlan, format: Format, b: Operand, out?: Operand): Routine<Operand> {
  const { n } = plan;
  checkVectorOf("TriangularPlan.solve", "b", b, format, "A");
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
  const output = yield* outputOf("TriangularPlan.solve", "out", asRow(out), false);
  yield* plan.solve(b, output.entries.data);
  output.write();
  return out;
}

// The caller may change an array on the host before a call that has to wait reads it. Residents are borrowed until the call resolves.
const lastingCopy = (routine: string, x: Operand): Operand => (isOnHost(x) ? copyOf(routine, x) : x);

// What users see of a plan.
function facade(first: SparsePlan, format: Format, entries: number, run: Run): object {
  const { schedule, reason, bytes, isCollected = false } = first;
  const held: Held = { plan: first, replaced: [], updating: undefined };
  const lifetime = new Lifetime("the plan was freed, expected one that is in use", {
    free() {
      freeReplaced(held);
      held.plan.free();
    },
    idle: () => freeReplaced(held),
    isCollected,
  });
  function* solveWithPlan(b: Operand, out?: Operand): Routine<Operand> {
    lifetime.checkOpen("TriangularPlan.solve");
    let right = b;
    if (held.updating) {
      right = lastingCopy("TriangularPlan.solve", b);
      yield* afterUpdates(held);
    }
    return yield* lifetime.use(solve(held.plan, format, right, out));
  }
  function* updateValues(values: Operand): Routine<void> {
    lifetime.checkOpen("TriangularPlan.update");
    checkVectorOf("TriangularPlan.update", "values", values, format, "A");
    checkSize("TriangularPlan.update", "values", values, entries, "the entries of A");
    const taken = held.updating ? lastingCopy("TriangularPlan.update", values) : values;
    yield* afterUpdates(held);
    yield* lifetime.use(takeValues(held, taken, lifetime.isInUse));
  }
  // biome-ignore lint/correctness/useYield: a routine, so that its errors come as those of others do
  function* freePlan(): Routine<void> {
    lifetime.checkOpen("TriangularPlan.free");
    lifetime.free();
  }
  return {
    schedule,
    reason,
    get levels() {
      return held.plan.levels();
    },
    bytes,
    solve: (b: Operand, out?: Operand) => run(solveWithPlan(b, out)),
    update: (values: Operand) => run(updateValues(values)),
    free: () => run(freePlan()),
  };
}

/** The plan as it is now, the values that updates replaced while solves used them, and the update that is pending. */
interface Held {
  plan: SparsePlan;
  replaced: readonly { free(): void }[];
  updating: Wait | undefined;
}

function freeReplaced(held: Held): void {
  for (const memory of held.replaced) memory.free();
  held.replaced = [];
}

// Calls that come while an update is pending see the values that it brings.
function* afterUpdates(held: Held): Routine<void> {
  while (held.updating) yield held.updating;
}

function* takeValues(held: Held, values: Operand, inUse: boolean): Routine<void> {
  let done = (): void => {};
  const finished = new Promise<void>((resolve) => {
    done = resolve;
  });
  held.updating = { later: () => finished };
  try {
    const { plan, replaced } = yield* held.plan.withValues(values, inUse);
    held.plan = plan;
    if (replaced) held.replaced = [...held.replaced, replaced];
  } finally {
    held.updating = undefined;
    done();
  }
}
