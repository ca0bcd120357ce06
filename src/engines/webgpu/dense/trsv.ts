// Triangular systems on a device by blocks of unknowns: sums with all unknowns before a block by many work-groups, then the block by one.
// Called by the engine; follows the triangular paper.
import { type StridedMatrix, type StridedOperand, zeroOnDiagonal } from "../../../arrays/matrix.ts";
import { isOnHost, type Operand } from "../../../arrays/operands.ts";
import type { DeviceBuffer, DeviceMatrix, Work } from "../../device.ts";
import type { Scope } from "../../deviceScope.ts";
import type { Substitution } from "../../kernels.ts";
import type { WebgpuDevice } from "../device/device.ts";
import { gather, round, settle, window, words } from "../exact/sources.generated.ts";
import * as host from "../host.ts";
import { maxWindows, type Vectors, WINDOW_BYTES, windowsOf } from "./gemv.ts";
import { diagonal, trsv as source } from "./sources.generated.ts";

/** x := the solution of T x = b by substitution. */
export function* trsv(scope: Scope, T: StridedOperand, b: Operand, x: Operand, how: Substitution): Work<void> {
  if (!suits(scope, T, how, [b])) return yield* host.trsv(scope, T, b, x, how);
  const solution = scope.result(x);
  const vector = (buffer: DeviceBuffer): Columns => ({ buffer, count: 1, offset: 0, row: 1, column: 0 });
  yield* solve(scope, T, vector(scope.vector(b)), vector(solution), how);
  yield* scope.store(solution, x);
}

/** X := the solutions for the columns of B. */
export function* trsm(scope: Scope, T: StridedOperand, B: StridedOperand, X: StridedMatrix, how: Substitution): Work<void> {
  if (!suits(scope, T, how, [B.data, X.data])) return yield* host.trsm(scope, T, B, X, how);
  const right = scope.matrix(B);
  const solution = scope.result(X.data);
  const columns = ({ buffer, offset, cols, rowStride, colStride }: DeviceMatrix): Columns => ({
    buffer,
    count: cols,
    offset,
    row: rowStride,
    column: colStride,
  });
  yield* solve(scope, T, columns(right), columns({ ...X, buffer: solution }), how);
  yield* scope.store(solution, X.data);
}

// Refinement is work of the host; so are systems that do not fit the bindings of a kernel.
function suits(
  scope: Scope,
  { data, rows, cols }: StridedOperand,
  { refine, refineBlocks }: Substitution,
  others: readonly Operand[],
): boolean {
  const bytes = isOnHost(data) ? data.BYTES_PER_ELEMENT * rows * cols : data.byteLength;
  return (
    refine + refineBlocks === 0 && Math.max(bytes, ...others.map((v) => v.byteLength)) <= (scope.device as WebgpuDevice).maxBindingBytes
  );
}

// Right-hand sides or solutions: element i of column c is offset + c * column + i * row of the buffer.
interface Columns {
  readonly buffer: DeviceBuffer;
  readonly count: number;
  readonly offset: number;
  readonly row: number;
  readonly column: number;
}

const BLOCK = 64; // unknowns, as many as lanes
const COLUMNS = 512; // right-hand sides at a time
const ROUNDINGS = ["single", "paper", "corrected"] as const;

function* solve(scope: Scope, T: StridedOperand, b: Columns, x: Columns, how: Substitution): Work<void> {
  const { device } = scope;
  const n = T.rows;
  const single = T.data.BYTES_PER_ELEMENT === 4;
  const A = scope.matrix(T);
  if (!how.unit && !isOnHost(T.data)) yield* checkDiagonal(scope, A, single);
  const block = device.type === "gpu" ? BLOCK : BLOCK / 4;
  const kernel = device.kernel("trsv", [words, window, round, gather, settle, source], { GROUP: block, SINGLE: Number(single) });
  // In the order of substitution.
  const [start, step] = how.upper ? [n - 1, -1] : [0, 1];
  const ordered = {
    ...A,
    offset: A.offset + start * (A.rowStride + A.colStride),
    rowStride: step * A.rowStride,
    colStride: step * A.colStride,
  };
  for (let from = 0; from < b.count; from += COLUMNS) {
    const count = Math.min(COLUMNS, b.count - from);
    const vectors = ({ buffer, offset, row, column }: Columns): Vectors => ({
      buffer,
      count,
      offset: offset + from * column + start * row,
      step: step * row,
      column,
    });
    const [right, unknowns] = [vectors(b), vectors(x)];
    const records = scope.scratch(WINDOW_BYTES * Math.min(block, n) * maxWindows(device, count));
    for (let first = 0; first < n; first += block) {
      const rows = Math.min(block, n - first);
      const before = { ...ordered, offset: ordered.offset + first * ordered.rowStride, rows, cols: first };
      const windows = windowsOf(scope, before, unknowns, single, true, records);
      const args = [
        ordered.offset,
        ordered.rowStride,
        ordered.colStride,
        first,
        rows,
        windows.parts,
        first + rows + 4 * (windows.lanes + 2),
      ];
      const places = [right, unknowns].flatMap(({ offset, step, column }) => [offset, step, column]);
      const options = [Number(how.unit), ROUNDINGS.indexOf(how.rounding)];
      device.launch(kernel, [count], [block], [A.buffer, right.buffer, windows.records, unknowns.buffer, ...args, ...places, ...options]);
    }
  }
}

function* checkDiagonal(scope: Scope, A: DeviceMatrix, single: boolean): Work<void> {
  const { device } = scope;
  const kernel = device.kernel("zeroOnDiagonal", [diagonal], { GROUP: 64, SINGLE: Number(single) });
  const found = scope.scratch(4);
  device.fill(found, new Uint32Array(1), 0, 4);
  device.launch(kernel, [Math.ceil(A.rows / 64)], [64], [A.buffer, found, A.offset, A.rowStride + A.colStride, A.rows]);
  const zero = new Uint32Array(1);
  yield device.read(found, zero);
  if (zero[0] !== 0) throw zeroOnDiagonal(scope.routine, "T", A.rows - (zero[0] as number));
}
