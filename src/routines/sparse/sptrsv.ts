import { checkCount, checkFlag, checkOptions, checkSize, checkVectorOf, checkWord } from "../../arrays/checks.ts";
import { ShapeError } from "../../arrays/errors.ts";
import { asRow, checkSeparate } from "../../arrays/matrix.ts";
import { checkSparse, patternInfoOf } from "../../arrays/sparse.ts";
import type { Format, Real, Sparse } from "../../arrays/types.ts";
import { newVector } from "../../arrays/vectors.ts";
import { SCHEDULES, type SparsePlan, type SystemKernels } from "../../engines/kernels.ts";
import type { Routine } from "../../engines/steps.ts";
import { outputOf } from "../outputs.ts";
import { analyse } from "./plan.ts";
import type { SparseOptions } from "./types.ts";

/** What runs a routine: at once, or with a promise of its result. */
export type Run = (routine: Routine<unknown>) => unknown;

/** A plan for the solution of (L + D) x = b or (U + D) x = b; `run` runs its solves. */
export function* sptrsv(A: Sparse<Real>, options: SparseOptions = {}, run: Run): Routine<unknown> {
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
  const plan = (yield (kernels) =>
    kernels.plan ? kernels.plan(triangle, exact, options) : analyse(kernels as SystemKernels, triangle, exact, options)) as SparsePlan;
  return facade(plan, format, A.values.length, run);
}

function* solve(plan: SparsePlan, format: Format, b: Real, out?: Real): Routine<Real> {
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

/** A plan's memory: solves that are not through still use it, and values that an update replaced meanwhile. */
interface Held {
  plan: SparsePlan;
  pending: number;
  replaced: readonly { free(): void }[];
  freed: boolean;
}
const collected = new FinalizationRegistry<Held>(release);

function release(held: Held): void {
  held.freed = true;
  if (held.pending > 0) return;
  for (const memory of [held.plan, ...held.replaced]) memory.free();
}

// What users see of a plan. Its memory goes when none of the methods can be called any more: they all know `life`.
function facade(plan: SparsePlan, format: Format, entries: number, run: Run): object {
  const held: Held = { plan, pending: 0, replaced: [], freed: false };
  const life = { held };
  // A registry holds what it is given until the event loop turns: memory that goes by itself may go before.
  if (!plan.isCollected) collected.register(life, held, held);
  const checkHere = (routine: string): Held => {
    if (life.held.freed) throw new ShapeError(`${routine}: the plan was freed, expected one that is in use`);
    return life.held;
  };
  function* borrowing(b: Real, out?: Real): Routine<Real> {
    const held = checkHere("TriangularPlan.solve");
    held.pending++;
    try {
      return yield* solve(held.plan, format, b, out);
    } finally {
      if (--held.pending === 0) {
        if (held.freed) release(held);
        else for (const memory of held.replaced) memory.free();
        held.replaced = [];
      }
    }
  }
  // biome-ignore lint/correctness/useYield: routines that need no engine, and whose errors come as those of others do
  function* replacing(values: Real): Routine<void> {
    const held = checkHere("TriangularPlan.update");
    checkVectorOf("TriangularPlan.update", "values", values, format, "A");
    checkSize("TriangularPlan.update", "values", values, entries, "the entries of A");
    const { plan, replaced } = held.plan.withValues(values, held.pending > 0);
    held.plan = plan;
    if (replaced) held.replaced = [...held.replaced, replaced];
  }
  // biome-ignore lint/correctness/useYield: likewise
  function* giving(): Routine<void> {
    const held = checkHere("TriangularPlan.free");
    collected.unregister(held);
    release(held);
  }
  return {
    schedule: plan.schedule,
    reason: plan.reason,
    get levels() {
      return life.held.plan.levels();
    },
    bytes: plan.bytes,
    solve: (b: Real, out?: Real) => run(borrowing(b, out)),
    update: (values: Real) => run(replacing(values)),
    free: () => run(giving()),
  };
}
