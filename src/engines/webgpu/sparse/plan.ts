// Plans for sparse triangular solves. The triangle is analysed on the calling thread; exact solves run on the device level by level, plain
// ones on the calling thread. Called by the engine; follows the sparse paper.
import type { StridedMatrix, StridedOperand } from "../../../arrays/matrix.ts";
import type { Operand } from "../../../arrays/operands.ts";
import type { TriangleSource } from "../../../arrays/triangle.ts";
import type { Real } from "../../../arrays/types.ts";
import { newVector } from "../../../arrays/vectors.ts";
import type { Work } from "../../device.ts";
import { inScope, Scope } from "../../deviceScope.ts";
import { embedded } from "../../embedded.ts";
import type { PlanOptions, SparsePlan } from "../../kernels.ts";
import type { Routine } from "../../steps.ts";
import type { WebgpuDevice } from "../device/device.ts";
import { fetch, fetchMatrices, put } from "../host.ts";
import { checkDiagonal, hostSystem, type TriangleRows, triangleRows } from "./hostSystem.ts";
import { byLevels, type RowsByLevels } from "./levels.ts";
import { deviceSystem, launchSolve, valuesByLevels } from "./solve.ts";

const SOLVE = "TriangularPlan.solve";
const UPDATE = "TriangularPlan.update";

/** A plan; see Kernels.plan. */
export function* plan(device: WebgpuDevice, triangle: TriangleSource, exact: boolean, _options: PlanOptions): Work<SparsePlan> {
  return yield* inScope(device, "sptrsv", function* (scope): Work<SparsePlan> {
    const { A, n, upper, unit } = triangle;
    const [pointers, indices, values] = (yield* fetch(scope, A.pointers, A.indices, A.values)) as [Int32Array, Int32Array, Real];
    const rows = triangleRows(triangle, { pointers, indices });
    if (!unit) checkDiagonal("sptrsv", rows, values);
    const fits = Math.max(rows.columns.length, n + 1) * values.BYTES_PER_ELEMENT <= device.maxBindingBytes;
    const plan =
      exact && n > 0 && fits
        ? devicePlan(device, triangle, byLevels(rows, upper), values)
        : hostPlan(device, triangle, rows, values, exact);
    yield device.finish();
    return plan;
  });
}

function devicePlan(device: WebgpuDevice, triangle: TriangleSource, rows: RowsByLevels, values: Real): SparsePlan {
  const { n, unit } = triangle;
  const memory = new Scope(device, "sptrsv");
  try {
    const system = deviceSystem(memory, rows, valuesByLevels(rows, values, unit), unit);
    const { starts, order, begins, columns, diagonal } = system;
    const bytes = [starts, order, begins, columns, diagonal, system.values].reduce((sum, buffer) => sum + buffer.bytes, 0);
    return {
      n,
      schedule: "levr",
      reason: "on WebGPU no work-group waits for another: all schedules run level by level",
      levels: () => rows.starts.length - 1,
      bytes: bytes + rows.source.byteLength + rows.diagonalAt.byteLength,
      solve: (b: Operand, x: Operand): Routine<void> =>
        inScope(device, SOLVE, function* (scope): Work<void> {
          const into = scope.result(x);
          launchSolve(device, system, scope.vector(b), into);
          yield* scope.store(into, x);
        }),
      solveColumns: (B: StridedOperand, X: StridedMatrix): Routine<void> =>
        inScope(device, SOLVE, function* (scope): Work<void> {
          const [right] = (yield* fetchMatrices(scope, B)) as [StridedMatrix];
          const solutions: Real[] = [];
          for (let j = 0; j < B.cols; j++) {
            const b = newVector(SOLVE, X.data, n);
            for (let i = 0; i < n; i++) b[i] = right.data[right.offset + i * right.rowStride + j * right.colStride] as number;
            const into = scope.scratch(b.byteLength);
            launchSolve(device, system, scope.copy(b), into);
            solutions.push(b);
            yield device.read(into, b);
          }
          for (const [j, x] of solutions.entries())
            for (let i = 0; i < n; i++) X.data[X.offset + i * X.rowStride + j * X.colStride] = x[i] as number;
        }),
      *withValues(from, _inUse) {
        const next = yield* newValues(device, triangle, rows, from);
        return { plan: devicePlan(device, triangle, rows, next), replaced: { free: () => memory.free() } };
      },
      free: () => memory.free(),
    };
  } catch (error) {
    memory.free();
    throw error;
  }
}

function hostPlan(device: WebgpuDevice, triangle: TriangleSource, rows: TriangleRows, values: Real, exact: boolean): SparsePlan {
  const { n } = triangle;
  const { system, memory } = hostSystem(triangle, rows, values, exact);
  return {
    n,
    schedule: "serial",
    reason: exact ? "on the calling thread: the triangle is too large for a binding" : "plain arithmetic runs on the calling thread",
    levels: () => 0,
    bytes: memory.value.byteLength + rows.source.byteLength + rows.diagonalAt.byteLength,
    solve: (b: Operand, x: Operand): Routine<void> =>
      inScope(device, SOLVE, function* (scope): Work<void> {
        const [right] = (yield* fetch(scope, b)) as [Real];
        const out = newVector(SOLVE, x, n);
        embedded().sptrsv(system, right, out);
        yield* put(scope, x, out);
      }),
    solveColumns: (B: StridedOperand, X: StridedMatrix): Routine<void> =>
      inScope(device, SOLVE, function* (scope): Work<void> {
        const [right] = (yield* fetchMatrices(scope, B)) as [StridedMatrix];
        embedded().sptrsm(system, right, X); // X is new
      }),
    *withValues(from, _inUse) {
      const next = yield* newValues(device, triangle, rows, from);
      return { plan: hostPlan(device, triangle, rows, next, exact), replaced: { free: () => memory.free() } };
    },
    free: () => memory.free(),
  };
}

// New values on the host, unless the diagonal has a zero.
function* newValues(device: WebgpuDevice, { unit }: TriangleSource, rows: TriangleRows, from: Operand): Work<Real> {
  return yield* inScope(device, UPDATE, function* (scope): Work<Real> {
    const [values] = (yield* fetch(scope, from)) as [Real];
    if (!unit) checkDiagonal(UPDATE, rows, values);
    return values;
  });
}
