// The approximate kernels of solve() on a device, with every step there; hybrid/hybrid.ts replaces some steps by others. Follows the
// mixed-precision paper.
import type { StridedOperand } from "../../../arrays/matrix.ts";
import type { Format } from "../../../arrays/types.ts";
import type { ApproximateFactors, ApproximateKernels, Scaling } from "../../approximate.ts";
import type { Device, DeviceBuffer, Work } from "../../device.ts";
import { inScope, Scope } from "../../deviceScope.ts";
import { long, type RealType, realOf } from "../device/numbers.ts";
import { invert, invertBlocks, type Triangles } from "./inverse.ts";
import {
  type ApproximateBlocking,
  ApproximateLu,
  type ApproximateMatrix,
  BLOCK,
  bytesOf,
  definesOf,
  padded,
  prepare,
  roundingsOf,
  spaceOf,
  usesHalves,
} from "./lu.ts";
import { magnitudes, weigh } from "./magnitudes.ts";
import { subtractModulo } from "./modulo.ts";
import { residuals } from "./residual.ts";
import * as sources from "./sources.ts";
import { ENDED, PIVOTS, STUCK } from "./state.ts";
import { type Sides, substituteByBlocks, substituteWaiting } from "./substitute.ts";

/** The kernels of solve(). `run` runs work and returns its result or a promise of it. */
export function approximateKernels(
  run: (work: Work<unknown>) => unknown,
  device: Device,
  chosen?: Partial<ApproximateBlocking>,
  steps = onDevice,
): ApproximateKernels {
  const call = <R>(routine: string, work: (scope: Scope) => Work<R>) => run(inScope(device, routine, work)) as R | Promise<R>;
  return {
    magnitudes: (routine, ...args) => call(routine, (scope) => magnitudes(scope, ...args)),
    factorize: (routine, ...args) => call(routine, (scope) => factorize(scope, ...args, chosen, steps)),
    residual: (routine, ...args) => call(routine, (scope) => residuals(scope, ...args)),
    substitute: (routine, ...args) => call(routine, (scope) => substitute(scope, ...args, steps)),
    invert: (routine, factors) => call(routine, (scope) => invert(scope, factors)),
    weigh: (routine, ...args) => call(routine, (scope) => weigh(scope, ...args)),
    subtractModulo: (routine, ...args) => call(routine, (scope) => subtractModulo(scope, ...args)),
  };
}

interface DeviceFactors extends ApproximateFactors, Triangles {
  /** Row i of the factors is row order[i] of the matrix. */
  readonly order: Int32Array;
}

/** The steps of a solve that the CPU may take part in. */
export interface Steps {
  eliminate(scope: Scope, matrix: ApproximateMatrix, how: ApproximateBlocking): Work<void>;
  /** Forward substitution with L, or backward with U. y is unchanged: see substituteWaiting. */
  substitute(scope: Scope, factors: Triangles, upper: boolean, y: Sides, k: number, to: DeviceBuffer): Work<void>;
}

/** All steps on the device, as commands only. `spins`: looks after which a work-group of a substitution abandons its wait. */
export function onDeviceWith(spins?: number): Steps {
  return {
    // biome-ignore lint/correctness/useYield: commands only
    *eliminate(scope, matrix, how) {
      new ApproximateLu(scope, matrix, how).all();
    },
    // biome-ignore lint/correctness/useYield: commands only
    *substitute(scope, { matrix, inverses }, upper, y, k, to) {
      const limit = spins ?? (scope.device.type === "gpu" ? 1 << 20 : 1 << 28);
      substituteWaiting(scope, { matrix, upper, inverses: upper ? inverses.upper : inverses.lower, y, k, to }, limit);
    },
  };
}
export const onDevice = onDeviceWith();

/**
 * The fastest blocking for a padded matrix of order `size`. binary64 takes twice the registers and twice the local memory. On an H200,
 * groups of 256 take 9.6 ms at n = 4096 and 110 ms at 16,384; groups of 512 take 10.0 and 102 ms.
 */
export function approximateBlocking(real: RealType, size: number, chosen: Partial<ApproximateBlocking> = {}): ApproximateBlocking {
  const isLarge = size > (real === "double" ? 16384 : 8192);
  return { width: 128, panel: isLarge && real === "double" ? 32 : 64, group: isLarge ? 512 : 256, spins: 1 << 20, deep: 8, ...chosen };
}

/** P (R A C) = L U. */
export function* factorize(
  scope: Scope,
  A: StridedOperand,
  scaling: Scaling,
  format: Format,
  b: Float64Array,
  k: number,
  x: Float64Array,
  chosen: Partial<ApproximateBlocking> = {},
  steps = onDevice,
): Work<ApproximateFactors> {
  const { device } = scope;
  const { rows: n } = A;
  const real: RealType = format === "binary64" ? "double" : "float";
  const how = approximateBlocking(real, padded(n), chosen);
  const lasting = new Scope(device, scope.routine); // the memory of the factors
  try {
    const matrix = matrixOf(lasting, scope, n, k, real);
    const inverses = {
      lower: lasting.scratch(matrix.size * BLOCK * bytesOf(real)),
      upper: lasting.scratch(matrix.size * BLOCK * bytesOf(real)),
    };
    const source = conversion(scope, A, scaling, b, k, matrix);
    let outcome = yield* attempt(scope, matrix, how, source, steps);
    // Stuck: work-groups did not run at the same time.
    const resident = outcome.stuck ? false : how.resident;
    if (outcome.stuck) outcome = yield* attempt(scope, matrix, { ...how, resident }, source, steps);
    // A pivot that is not finite may be an overflow of binary16.
    if (outcome.column >= 0 && usesHalves(device, real, how))
      outcome = yield* attempt(scope, matrix, { ...how, resident, tensorCores: false }, source, steps);
    const { column, order, minPivot, maxPivot } = outcome;
    if (column < 0) {
      invertBlocks(device, { matrix, inverses });
      how.after?.("inverses");
    }
    const roundings = roundingsOf(n, how.width);
    const factors: DeviceFactors = {
      n,
      format,
      column,
      minPivot,
      maxPivot,
      roundings,
      matrix,
      order,
      inverses,
      free: () => lasting.free(),
    };
    if (column < 0 && k > 0) {
      const unknowns = scope.scratch(matrix.size * k * bytesOf(real));
      const y = { buffer: matrix.data, offset: matrix.size, step: matrix.ld };
      yield* steps.substitute(scope, factors, true, y, k, unknowns);
      // Without a NaN no wait was abandoned, and no right-hand side overflowed in binary16.
      if (!(yield* fetchUnknowns(device, real, unknowns, n * k, x))) yield* substitute(scope, factors, b, k, x, steps);
      how.after?.("substitute");
    }
    return factors;
  } catch (error) {
    lasting.free();
    throw error;
  }
}

function matrixOf(lasting: Scope, scope: Scope, n: number, k: number, real: RealType): ApproximateMatrix {
  const { size, ld, bytes } = spaceOf(n, k, real);
  return {
    real,
    n,
    size,
    ld,
    data: lasting.scratch(bytes),
    state: scope.scratch(4 * (PIVOTS + size)),
    diagonal: scope.scratch(size * bytesOf(real)),
  };
}

/** A function that gives the command to write R A C and b to a matrix. */
export function conversion(
  scope: Scope,
  A: StridedOperand,
  { rows, cols }: Scaling,
  b: Float64Array,
  k: number,
  matrix: ApproximateMatrix,
): () => void {
  const { device } = scope;
  const { real, n, size, ld, data } = matrix;
  const { buffer, offset, rowStride, colStride } = scope.matrix(A);
  const [rowScale, colScale, sides] = [scope.copy(rows), scope.copy(cols), scope.copy(b)];
  const kernel = device.kernel("convertMatrix", [sources.common, sources.convert], {
    ...definesOf(real),
    FROM: realOf(A.data.BYTES_PER_ELEMENT),
  });
  const args = [buffer, long(offset), long(rowStride), long(colStride), rowScale, colScale, n, sides, k, data, ld, size];
  return () => {
    if (size > 0) device.launch(kernel, [ld / 32, size / 32], [32, 8], args);
  };
}

interface Outcome {
  readonly stuck: boolean;
  readonly column: number;
  readonly order: Int32Array;
  readonly minPivot: number;
  readonly maxPivot: number;
}

function* attempt(scope: Scope, matrix: ApproximateMatrix, how: ApproximateBlocking, convert: () => void, steps: Steps): Work<Outcome> {
  const { device } = scope;
  prepare(device, matrix);
  convert();
  how.after?.("convert");
  yield* steps.eliminate(scope, matrix, how);
  return yield* outcomeOf(device, matrix);
}

/** How a factorization ended. */
export function* outcomeOf(device: Device, { real, n, size, state, diagonal }: ApproximateMatrix): Work<Outcome> {
  const ints = new Int32Array(PIVOTS + size);
  const numbers = real === "double" ? new Float64Array(n) : new Float32Array(n);
  yield device.read(state, ints);
  const column = (ints[ENDED] as number) - 1;
  const stuck = ints[STUCK] !== 0;
  if (stuck || column >= 0) return { stuck, column, order: new Int32Array(0), minPivot: 0, maxPivot: 0 };
  yield device.read(diagonal, numbers);
  let [minPivot, maxPivot] = [Number.POSITIVE_INFINITY, 0];
  for (const v of numbers) {
    minPivot = Math.min(minPivot, Math.abs(v));
    maxPivot = Math.max(maxPivot, Math.abs(v));
  }
  const order = Int32Array.from({ length: n }, (_, i) => i);
  for (let i = 0; i < n; i++) {
    const pivot = ints[PIVOTS + i] as number;
    const kept = order[i] as number;
    order[i] = order[pivot] as number;
    order[pivot] = kept;
  }
  return { stuck, column, order, minPivot, maxPivot };
}

// Without the padding. Returns whether there is no NaN: if there is one, a wait may have been abandoned.
function* fetchUnknowns(device: Device, real: RealType, from: DeviceBuffer, count: number, x: Float64Array): Work<boolean> {
  const unknowns = real === "double" ? new Float64Array(count) : new Float32Array(count);
  yield device.read(from, unknowns);
  x.set(unknowns);
  return !unknowns.some(Number.isNaN);
}

/** Row swaps, forward and backward substitution. */
export function* substitute(
  scope: Scope,
  factors: ApproximateFactors,
  b: Float64Array,
  k: number,
  x: Float64Array,
  steps = onDevice,
): Work<void> {
  const { device } = scope;
  const { matrix, order, inverses } = factors as DeviceFactors;
  const { real, n, size } = matrix;
  if (n * k === 0) return;
  const sides = real === "double" ? new Float64Array(size * k) : new Float32Array(size * k);
  for (let i = 0; i < n; i++) {
    const from = (order[i] as number) * k;
    for (let c = 0; c < k; c++) sides[i * k + c] = b[from + c] as number;
  }
  const [y, z, unknowns] = [scope.copy(sides), scope.scratch(sides.byteLength), scope.scratch(sides.byteLength)];
  const [first, second] = [
    { buffer: y, offset: 0, step: k },
    { buffer: z, offset: 0, step: k },
  ];
  yield* steps.substitute(scope, factors as DeviceFactors, false, first, k, z);
  yield* steps.substitute(scope, factors as DeviceFactors, true, second, k, unknowns);
  if (yield* fetchUnknowns(device, real, unknowns, n * k, x)) return;
  substituteByBlocks(device, { matrix, upper: false, inverses: inverses.lower, y: first, k, to: z });
  substituteByBlocks(device, { matrix, upper: true, inverses: inverses.upper, y: second, k, to: unknowns });
  yield* fetchUnknowns(device, real, unknowns, n * k, x);
}
