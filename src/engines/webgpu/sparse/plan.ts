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
import type { SparsePlan } from "../../kernels.ts";
import type { Routine } from "../../steps.ts";
import type { Choices } from "../choices.ts";
import type { WebgpuDevice } from "../device/device.ts";
import { fetch, fetchMatrices, put } from "../host.ts";
import { checkDiagonal, hostSystem, type TriangleRows, triangleRows } from "./hostSystem.ts";
import { byLevels, type RowsByLevels } from "./levels.ts";
import { deviceSystem, launchSolve, valuesByLevels } from "./solve.ts";

const SOLVE = "TriangularPlan.solve";
const UPDATE = "TriangularPlan.update";

/** A plan; see Kernels.plan. */
export function* plan(device: WebgpuDevice, triangle: TriangleSource, exact: boolean, { minEntries }: Choices): Work<SparsePlan> {
  return yield* inScope(device, "sptrsv", function* (scope): Work<SparsePlan> {
    const { A, n, upper, unit } = triangle;
    const [pointers, indices, values] = (yield* fetch(scope, A.pointers, A.indices, A.values)) as [Int32Array, Int32Array, Real];
    const rows = triangleRows(triangle, { pointers, indices });
    if (!unit) checkDiagonal("sptrsv", rows, values);
    const fits = Math.max(rows.columns.length, n + 1) * values.BYTES_PER_ELEMENT <= device.maxBindingBytes;
    const isLarge = n > 0 && A.indices.length >= minEntries;
    if (exact && isLarge && fits) return devicePlan(device, triangle, byLevels(rows, upper), values);
    const why = !exact ? "plain arithmetic" : isLarge ? "a triangle that does not fit a binding" : "a triangle too small for the device";
    return hostPlan(device, triangle, rows, values, exact, `${why}: on the calling thread`);
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

function hostPlan(
  device: WebgpuDevice,
  triangle: TriangleSource,
  rows: TriangleRows,
  values: Real,
  exact: boolean,
  reason: string,
): SparsePlan {
  const { n } = triangle;
  const { system, memory } = hostSystem(triangle, rows, values, exact);
  return {
    n,
    schedule: "serial",
    reason,
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
      return { plan: hostPlan(device, triangle, rows, next, exact, reason), replaced: { free: () => memory.free() } };
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
