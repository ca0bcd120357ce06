// The preconditioner of an iterative solver: the plans of ILU(0), made of A, or those that the caller gave. Called by krylov.ts.

import { describe } from "../../arrays/checks.ts";
import { ShapeError } from "../../arrays/errors.ts";
import { isSparseOnHost, type MatrixOperand, type SparseOperand } from "../../arrays/operands.ts";
import { csr, patternInfoOf } from "../../arrays/sparse.ts";
import type { Sparse } from "../../arrays/types.ts";
import type { SparsePlan } from "../../engines/kernels.ts";
import type { Routine, Run } from "../../engines/steps.ts";
import { ilu0 } from "../sparse/ilu0.ts";
import { type PlanInUse, planBehind, planOn } from "../sparse/sptrsv.ts";
import { download } from "../transfer.ts";
import { isSparse } from "./arguments.ts";

/** The plans that the caller gave. They must be exact plans of this engine, of order n. */
export function givenPlans(routine: string, n: number, given: readonly object[], run: Run): readonly PlanInUse[] {
  return given.map((each, k) => {
    const name = `${routine}: preconditioner[${k}]`;
    const plan = typeof each === "object" && each !== null ? planBehind(each) : undefined;
    if (!plan) throw new ShapeError(`${name} is ${describe(each)}, expected a plan from sptrsv`);
    if (plan.run !== run) throw new ShapeError(`${name} is a plan of another engine, expected one of this engine`);
    plan.lifetime.checkOpen(name);
    if (plan.format !== "binary64") throw new ShapeError(`${name} is ${plan.format}, expected binary64 (the precision of A)`);
    if (plan.n !== n) throw new ShapeError(`${name} has order ${plan.n}, expected ${n} (the order of A)`);
    return plan;
  });
}

/** The plans of ILU(0): L with its unit diagonal, then U. */
export function* ilu0Plans(routine: string, A: MatrixOperand | SparseOperand): Routine<readonly SparsePlan[]> {
  if (!isSparse(A)) throw new ShapeError(`${routine}: preconditioner is "ilu0" for a dense A, expected a sparse one (or "jacobi")`);
  const F = (yield* ilu0(yield* onHost(routine, A))) as Sparse;
  const L = yield* planOf(F, false);
  try {
    return [L, yield* planOf(F, true)];
  } catch (error) {
    L.free();
    throw error;
  }
}

function* planOf(F: Sparse, upper: boolean): Routine<SparsePlan> {
  const triangle = { A: F, n: F.rows, upper, byRows: F.format === "csr", unit: !upper, info: patternInfoOf(F) };
  return (yield (kernels) => planOn(kernels, triangle, true, {})) as SparsePlan;
}

function* onHost(routine: string, A: SparseOperand): Routine<Sparse> {
  if (isSparseOnHost(A)) return A as Sparse;
  const pointers = yield* download<Int32Array>(routine, A.pointers);
  const indices = yield* download<Int32Array>(routine, A.indices);
  const values = yield* download<Float64Array>(routine, A.values);
  return { ...csr(0, 0, Int32Array.of(0), new Int32Array(), values.subarray(0, 0)), ...A, pointers, indices, values };
}
