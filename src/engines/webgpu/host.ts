// Kernels on the calling thread, for what has no form on the device or does not pay off there: operands on the device are read back, the
// embedded engine computes, and results are written at the end, in one step. ../webgpu/index.ts chooses.
import { rowMajor, rowMajorCopy, type StridedMatrix, type StridedOperand } from "../../arrays/matrix.ts";
import { type EngineArray, type Integers, isOnHost, type Operand } from "../../arrays/operands.ts";
import type { Real, Reduction } from "../../arrays/types.ts";
import { copyOf, newIntegers, newVector, part } from "../../arrays/vectors.ts";
import type { Superaccumulator } from "../../exact/superaccumulator.ts";
import type { ApproximateKernels } from "../approximate.ts";
import type { Reducer } from "../backend.ts";
import type { Device, Wait, Work } from "../device.ts";
import { bufferOf, DeviceArray } from "../deviceArray.ts";
import { inScope, type Scope } from "../deviceScope.ts";
import { embedded } from "../embedded.ts";
import type { Breakdown, Elementwise, SparseLines, SparseOperator, Substitution } from "../kernels.ts";
import type { KrylovKernels, KrylovSystem, Workspace } from "../krylov.ts";
import { reduce as reduceHere } from "../reduce.ts";
import { runSync } from "../steps.ts";

type AnyArray = Real | Int32Array | EngineArray;
type Fetched<T> = { [K in keyof T]: T[K] extends Integers ? (T[K] extends Operand ? Real : Int32Array) : Real };

// A call without operands on the device computes at once. It writes its results when its turn comes, like the others.
const ITS_TURN: Wait = { later: async () => {} };

/** These arrays on the host. If one has to be waited for, those of the caller are copied first. */
export function* fetch<T extends readonly AnyArray[]>(scope: Scope, ...arrays: T): Work<Fetched<T>> {
  if (arrays.every(isOnHost)) return arrays as unknown as Fetched<T>;
  const copies = new Map<AnyArray, Real | Int32Array>();
  const waits: Wait[] = [];
  for (const array of arrays) {
    if (copies.has(array)) continue;
    const copy = isInteger(array) ? newIntegers(scope.routine, array.length) : newVector(scope.routine, array as Operand, array.length);
    if (isOnHost(array)) copy.set(array);
    else waits.push(scope.device.read(bufferOf(array), copy));
    copies.set(array, copy);
  }
  for (const wait of waits) yield wait;
  return arrays.map((array) => copies.get(array)) as unknown as Fetched<T>;
}

const isInteger = (array: AnyArray): boolean => array instanceof Int32Array || ("type" in array && array.type === "int32");

/** The same for matrices. One on the host is copied without its gaps. */
export function* fetchMatrices(scope: Scope, ...matrices: readonly StridedOperand[]): Work<readonly StridedMatrix[]> {
  if (matrices.every(({ data }) => isOnHost(data))) return matrices as readonly StridedMatrix[];
  const compact = matrices.map((A) => (isOnHost(A.data) ? rowMajor(rowMajorCopy(scope.routine, A as StridedMatrix), A.rows, A.cols) : A));
  const waits: Wait[] = [];
  const fetched = compact.map((A) => {
    const { data, offset, rows, cols, rowStride, colStride } = A;
    if (isOnHost(data)) return A as StridedMatrix;
    const length = rows === 0 || cols === 0 ? 0 : (rows - 1) * rowStride + (cols - 1) * colStride + 1;
    const copy = newVector(scope.routine, data, length);
    waits.push(scope.device.read(bufferOf(data), copy, offset * copy.BYTES_PER_ELEMENT));
    return { ...A, data: copy, offset: 0 };
  });
  for (const wait of waits) yield wait;
  return fetched;
}

/** x := values, where x is, in one step. */
export function* put(scope: Scope, x: Operand, values: Real): Work<void> {
  yield ITS_TURN;
  if (isOnHost(x)) x.set(values);
  else scope.device.write(bufferOf(x), values);
}

// The entries of a result before the call, if they are read, or memory for new ones.
function* resultOf(scope: Scope, y: Operand, isRead: boolean): Work<Real> {
  if (!isRead) return newVector(scope.routine, y, y.length);
  const [entries] = yield* fetch(scope, y);
  return isOnHost(y) ? copyOf(scope.routine, entries as Real) : (entries as Real);
}

export function* gemv(scope: Scope, alpha: number, A: StridedOperand, x: Operand, beta: number, y: Operand): Work<void> {
  const vector: StridedOperand = { data: x, offset: 0, rows: 1, cols: x.length, rowStride: x.length, colStride: 1 };
  const into: StridedOperand = { data: y, offset: 0, rows: 1, cols: y.length, rowStride: y.length, colStride: 1 };
  const [B, b, c] = (yield* fetchMatrices(scope, A, vector, into)) as [StridedMatrix, StridedMatrix, StridedMatrix];
  const out = copyOf(scope.routine, part(c.data, c.offset, y.length));
  embedded().gemv(alpha, B, part(b.data, b.offset, x.length), beta, out);
  yield* put(scope, y, out);
}

export function* gemm(scope: Scope, alpha: number, A: StridedOperand, B: StridedOperand, beta: number, C: StridedOperand): Work<void> {
  const [left, right, into] = (yield* fetchMatrices(scope, A, B, C)) as [StridedMatrix, StridedMatrix, StridedMatrix];
  const out = rowMajor(rowMajorCopy(scope.routine, into), C.rows, C.cols);
  embedded().gemm(alpha, left, right, beta, out);
  yield* putMatrix(scope, C, out);
}

// C := the entries of a matrix row by row, and nothing between them.
function* putMatrix(scope: Scope, C: StridedOperand, from: StridedMatrix): Work<void> {
  const { data, offset, rows, cols, rowStride, colStride } = C;
  if (rows === 0 || cols === 0) return;
  const length = (rows - 1) * rowStride + (cols - 1) * colStride + 1;
  const isWhole = length === rows * cols;
  const to = isOnHost(data) ? part(data, offset, length) : newVector(scope.routine, data, length);
  if (!isOnHost(data) && !isWhole) yield scope.device.read(bufferOf(data), to, offset * to.BYTES_PER_ELEMENT);
  else yield ITS_TURN;
  for (let i = 0; i < rows; i++)
    for (let j = 0; j < cols; j++) to[i * rowStride + j * colStride] = from.data[from.offset + i * from.rowStride + j] as number;
  if (!isOnHost(data)) scope.device.write(bufferOf(data), to, offset * to.BYTES_PER_ELEMENT);
}

export function* trsv(scope: Scope, T: StridedOperand, b: Operand, x: Operand, how: Substitution): Work<void> {
  const right: StridedOperand = { data: b, offset: 0, rows: 1, cols: b.length, rowStride: b.length, colStride: 1 };
  const [A, c] = (yield* fetchMatrices(scope, T, right)) as [StridedMatrix, StridedMatrix];
  const out = newVector(scope.routine, x, x.length);
  embedded().trsv(A, part(c.data, c.offset, b.length), out, how);
  yield* put(scope, x, out);
}

export function* trsm(scope: Scope, T: StridedOperand, B: StridedOperand, X: StridedMatrix, how: Substitution): Work<void> {
  const [A, right] = (yield* fetchMatrices(scope, T, B)) as [StridedMatrix, StridedMatrix];
  embedded().trsm(A, right, X, how); // X is new
  yield ITS_TURN;
}

export function* lu(
  scope: Scope,
  data: Operand,
  rows: number,
  cols: number,
  count: number,
  pivots: Int32Array,
  info: Int32Array,
): Work<number> {
  const out = yield* resultOf(scope, data, true);
  const overflow = runSync(embedded().lu(out, rows, cols, count, pivots, info), embedded);
  if (overflow < 0) yield* put(scope, data, out);
  else yield ITS_TURN;
  return overflow;
}

export function* spmv(scope: Scope, alpha: number, A: SparseOperator, x: Operand, beta: number, y: Operand): Work<void> {
  const [pointers, indices, values, from, before] = yield* fetch(scope, A.pointers, A.indices, A.values, x, y);
  const out = copyOf(scope.routine, before as Real);
  embedded().spmv(alpha, { ...A, pointers, indices, values } as SparseOperator, from as Real, beta, out);
  yield* put(scope, y, out);
}

export function* ilu0(scope: Scope, A: SparseLines, to: Operand): Work<Breakdown | undefined> {
  const { n } = A;
  const [pointers, indices, values] = (yield* fetch(scope, A.pointers, A.indices, A.values)) as [Int32Array, Int32Array, Real];
  const diagonal = A.diagonal ?? diagonalOf(n, pointers, indices);
  const missing = diagonal.indexOf(-1);
  if (missing >= 0) return { missing };
  const out = copyOf(scope.routine, values);
  const breakdown = embedded().ilu0({ ...A, pointers, indices, values: out, diagonal }, out);
  if (breakdown) yield ITS_TURN;
  else yield* put(scope, to, out);
  return breakdown;
}

/** The positions of the diagonal, or -1. */
export function diagonalOf(n: number, pointers: Int32Array, indices: Int32Array): Int32Array {
  const positions = newIntegers("ilu0", n).fill(-1);
  for (let l = 0; l < n; l++)
    for (let p = pointers[l] as number; p < (pointers[l + 1] as number); p++) if (indices[p] === l) positions[l] = p;
  return positions;
}

export function* map(scope: Scope, op: Elementwise, alpha: number, x: Operand, y: Operand): Work<void> {
  const target = op === "axpy" ? y : x;
  const [from, before] = (yield* fetch(scope, x, target)) as [Real, Real];
  const out = copyOf(scope.routine, before);
  embedded().map(op, alpha, op === "axpy" ? from : out, out);
  yield* put(scope, target, out);
}

export function* reduce(scope: Scope, ...[op, x, y, ...how]: Parameters<Reducer<unknown>>): Work<number> {
  const [left, right] = (yield* fetch(scope, x, y)) as [Real, Real];
  const result = reduceHere(embedded(), op, left, right, ...how);
  yield ITS_TURN;
  return result;
}

export function* accumulate(scope: Scope, op: Reduction, x: Operand, y: Operand, into: Superaccumulator): Work<void> {
  const [left, right] = (yield* fetch(scope, x, y)) as [Real, Real];
  embedded().accumulate(op, left, right, into, true);
  yield ITS_TURN;
}

/** The iterative solvers on the calling thread: the system is read once, and everything but the caller's plans stays there. */
export function krylov(run: (work: Work<unknown>) => unknown, device: Device): KrylovKernels {
  return { workspace: (system) => run(inScope(device, system.routine, (scope) => workspaceOf(scope, system))) as Promise<Workspace> };
}

function* workspaceOf(scope: Scope, { A, b, x0, ...system }: KrylovSystem): Work<Workspace> {
  const own = embedded().krylov;
  if ("data" in A) {
    const vectors = [b, ...(x0 ? [x0] : [])].map((x) => ({
      data: x,
      offset: 0,
      rows: 1,
      cols: x.length,
      rowStride: x.length,
      colStride: 1,
    }));
    const [matrix, right, start] = yield* fetchMatrices(scope, A, ...vectors);
    const space = own.workspace({ ...system, A: matrix as StridedMatrix, b: (right as StridedMatrix).data, x0: start?.data }, true);
    yield ITS_TURN;
    return space;
  }
  const [pointers, indices, values, right, start] = yield* fetch(scope, A.pointers, A.indices, A.values, b, x0 ?? b);
  const matrix = { ...A, pointers, indices, values } as SparseOperator;
  const space = own.workspace({ ...system, A: matrix, b: right as Real, x0: x0 && (start as Real) }, true);
  yield ITS_TURN;
  return space;
}

/** The kernels of solve() on the calling thread: factors and inverses stay there, and matrices are read for each kernel. */
export function approximate(run: (work: Work<unknown>) => unknown, device: Device): ApproximateKernels {
  const own = embedded().approximate;
  const withMatrix = <R>(routine: string, A: StridedOperand, call: (A: StridedMatrix) => R): Promise<R> =>
    run(
      inScope(device, routine, function* (scope): Work<R> {
        const [matrix] = (yield* fetchMatrices(scope, A)) as [StridedMatrix];
        const result = call(matrix);
        yield ITS_TURN;
        return result;
      }),
    ) as Promise<R>;
  return {
    magnitudes: (routine, A, scale, ...out) => {
      const copy = scale.slice();
      return withMatrix(routine, A, (matrix) => void own.magnitudes(routine, matrix, copy, ...out));
    },
    factorize: (routine, A, { rows, cols }, format, b, k, x) => {
      const [scaling, right] = [{ rows: rows.slice(), cols: cols.slice() }, b.slice()];
      return withMatrix(routine, A, (matrix) => own.factorize(routine, matrix, scaling, format, right, k, x)) as never;
    },
    ...(own.residual && {
      residual: (routine, alpha, A, x, b, k, r) => {
        const [known, right] = [x.slice(), b.slice()];
        return withMatrix(routine, A, (matrix) => void own.residual?.(routine, alpha, matrix, known, right, k, r));
      },
    }),
    substitute: (...args) => own.substitute(...args),
    invert: (...args) => own.invert(...args),
    weigh: (...args) => own.weigh(...args),
    subtractModulo: (routine, C, P, Q, depth, p) =>
      run(
        inScope(device, routine, function* (scope): Work<void> {
          const [into] = (yield* fetchMatrices(scope, C)) as [StridedMatrix];
          own.subtractModulo(routine, into, P, Q, depth, p);
          yield ITS_TURN;
          if (C.data instanceof DeviceArray) scope.device.write(C.data.buffer, into.data, C.offset * into.data.BYTES_PER_ELEMENT);
        }),
      ) as Promise<void>,
  };
}
