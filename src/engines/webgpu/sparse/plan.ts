// Plans for sparse triangular solves. The triangle is analysed on the calling thread. Called by the engine; follows the sparse paper.
import type { StridedMatrix, StridedOperand } from "../../../arrays/matrix.ts";
import type { Operand } from "../../../arrays/operands.ts";
import type { TriangleSource } from "../../../arrays/triangle.ts";
import type { Real } from "../../../arrays/types.ts";
import { newVector } from "../../../arrays/vectors.ts";
import type { Device, Work } from "../../device.ts";
import { inScope } from "../../deviceScope.ts";
import { embedded } from "../../embedded.ts";
import type { PlanOptions, SparsePlan } from "../../kernels.ts";
import type { Routine } from "../../steps.ts";
import { fetch, fetchMatrices, put } from "../host.ts";
import { checkNonzero, hostSystem, type TriangleRows, triangleRows } from "./hostSystem.ts";

/** A plan; see Kernels.plan. */
export function* plan(device: Device, triangle: TriangleSource, exact: boolean, _options: PlanOptions): Work<SparsePlan> {
  return yield* inScope(device, "sptrsv", function* (scope): Work<SparsePlan> {
    const { A, unit } = triangle;
    const [pointers, indices, values] = (yield* fetch(scope, A.pointers, A.indices, A.values)) as [Int32Array, Int32Array, Real];
    const rows = triangleRows(triangle, { pointers, indices });
    if (!unit) checkNonzero("sptrsv", rows, values);
    return hostPlan(device, triangle, rows, values, exact);
  });
}

function hostPlan(device: Device, triangle: TriangleSource, rows: TriangleRows, values: Real, exact: boolean): SparsePlan {
  const { n, unit } = triangle;
  const { system, memory } = hostSystem(triangle, rows, values, exact);
  const routine = "TriangularPlan.solve";
  return {
    n,
    schedule: "serial",
    reason: "on the calling thread all schedules run serially",
    levels: () => 0,
    bytes: memory.value.byteLength + rows.source.byteLength + rows.diagonalAt.byteLength,
    solve: (b: Operand, x: Operand): Routine<void> =>
      inScope(device, routine, function* (scope): Work<void> {
        const [right] = (yield* fetch(scope, b)) as [Real];
        const out = newVector(routine, x, n);
        embedded().sptrsv(system, right, out);
        yield* put(scope, x, out);
      }),
    solveColumns: (B: StridedOperand, X: StridedMatrix): Routine<void> =>
      inScope(device, routine, function* (scope): Work<void> {
        const [right] = (yield* fetchMatrices(scope, B)) as [StridedMatrix];
        embedded().sptrsm(system, right, X); // X is new
      }),
    *withValues(from, _inUse) {
      const next = yield* inScope(device, "TriangularPlan.update", function* (scope): Work<Real> {
        return (yield* fetch(scope, from))[0] as Real;
      });
      if (!unit) checkNonzero("TriangularPlan.update", rows, next);
      return { plan: hostPlan(device, triangle, rows, next, exact), replaced: { free: () => memory.free() } };
    },
    free: () => memory.free(),
  };
}
