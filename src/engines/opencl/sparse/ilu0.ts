// ILU(0) on a device, level by level: a launch for the lines of each level of the triangle before the diagonal, which is found on the device
// too. Called by the engine; the kernel is in ilu0.cl.
import { isOnHost, type Operand } from "../../../arrays/operands.ts";
import type { Real } from "../../../arrays/types.ts";
import { newVector } from "../../../arrays/vectors.ts";
import type { Device, DeviceBuffer, Work } from "../../device.ts";
import type { Scope } from "../../deviceScope.ts";
import { embedded } from "../../embedded.ts";
import type { Breakdown, SparseLines } from "../../kernels.ts";
import { type DeviceLevels, levelsFound, levelsOfRows, orderByLevels, startLevels } from "./levels.ts";
import { realDefines, SetupKernels } from "./setupKernels.ts";
import { ilu0Sources } from "./sources.ts";
import { compress, countLines, readTotals, storedRows } from "./triangle.ts";
import { setupTuning } from "./tuning.ts";

// Levels, and levels for each line, from which the calling thread is faster: a launch takes as long as several lines there.
const MANY_LEVELS = 1024;
const LINES_PER_LEVEL = 8;

/** See Kernels.ilu0. */
export function* ilu0(scope: Scope, A: SparseLines, to: Operand): Work<Breakdown | undefined> {
  const { device } = scope;
  const { n, byRows } = A;
  if (n === 0) return undefined;
  const bytes = to.byteLength;
  const values = scope.result(to);
  // The lines of a matrix by columns depend on each other as the rows of its transpose do.
  const matrix = { format: "csr" as const, rows: n, cols: n, pointers: A.pointers, indices: A.indices, values: A.values };
  const setup = new SetupKernels(scope, { A: matrix, n, upper: false, byRows: true, unit: true });
  const given = scope.vector(A.values);
  if (given !== values) device.copy(given, values, bytes);
  const { diagonalAt, levels } = yield* levelsOf(setup, values);
  if (!A.diagonal) {
    const positions = new Int32Array(n);
    yield device.read(diagonalAt, positions);
    const missing = positions.indexOf(-1);
    if (missing >= 0) return { missing };
  }
  if (levels.count > Math.max(MANY_LEVELS, n / LINES_PER_LEVEL)) {
    const breakdown = yield* onHost(setup, A, diagonalAt, values);
    if (breakdown) return breakdown;
  } else {
    const position = yield* byLevels(setup, byRows, levels, diagonalAt, values);
    if (position >= 0) {
      const value = newVector("ilu0", to, 1);
      yield device.read(values, value, position * value.BYTES_PER_ELEMENT);
      return { position, value: value[0] as number };
    }
  }
  yield* scope.store(values, to);
  return undefined;
}

// The positions of the diagonal, or -1, and the levels of the lines.
function* levelsOf(setup: SetupKernels, values: DeviceBuffer): Work<{ diagonalAt: DeviceBuffer; levels: DeviceLevels }> {
  const tuning = setupTuning(setup.device, {});
  const counts = countLines(setup, values);
  const early = startLevels(setup, storedRows(setup, counts, 0), counts.words, tuning);
  const { entries, words } = yield* readTotals(setup, counts);
  const count = levelsFound(words);
  const found =
    count > 0
      ? { levels: early, count }
      : yield* levelsOfRows(setup, compress(setup, counts, entries, false), { ...tuning, finder: "kahn" });
  return { diagonalAt: counts.diagonalAt, levels: orderByLevels(setup, found) };
}

// A work-item for each entry of a line; longer lines take several turns.
const groupFor = (device: Device): number => Math.min(device.type === "gpu" ? 32 : 16, device.maxGroupSize);

function* byLevels(
  { device, scope, stored, triangle }: SetupKernels,
  byRows: boolean,
  { count, starts, order }: DeviceLevels,
  diagonalAt: DeviceBuffer,
  values: DeviceBuffer,
): Work<number> {
  const group = groupFor(device);
  const defines = { GROUP: group, SPACE_IS_PRIVATE: 1, ...realDefines(triangle.A.values.BYTES_PER_ELEMENT) };
  const kernel = device.kernel("factorLines", ilu0Sources, defines);
  const failed = scope.copy(Int32Array.of(2 ** 31 - 1));
  const begins = new Int32Array(count + 1);
  yield device.read(starts, begins);
  for (let level = 0; level < count; level++) {
    const from = begins[level] as number;
    const lines = (begins[level + 1] as number) - from;
    device.launch(kernel, [lines], [group], [from, Number(byRows), order, stored.begins, stored.index, diagonalAt, values, failed]);
  }
  const found = new Int32Array(1);
  yield device.read(failed, found);
  return found[0] === 2 ** 31 - 1 ? -1 : (found[0] as number);
}

// On the calling thread.
function* onHost(setup: SetupKernels, A: SparseLines, diagonalAt: DeviceBuffer, values: DeviceBuffer): Work<Breakdown | undefined> {
  const { device, stored } = setup;
  const fetched = function* <V extends Real | Int32Array>(array: V | SparseLines["pointers"], from: DeviceBuffer, copy: V): Work<V> {
    if (isOnHost(array as V)) return array as V;
    yield device.read(from, copy);
    return copy;
  };
  const integers = (length: number): Int32Array => new Int32Array(length);
  const pointers = yield* fetched<Int32Array>(A.pointers, stored.begins, integers(A.n + 1));
  const indices = yield* fetched<Int32Array>(A.indices, stored.index, integers(A.indices.length));
  const diagonal = integers(A.n);
  yield device.read(diagonalAt, diagonal);
  const numbers = newVector("ilu0", A.values, A.values.length);
  yield device.read(values, numbers);
  const breakdown = embedded().ilu0({ ...A, pointers, indices, diagonal, values: numbers }, numbers);
  device.write(values, numbers);
  return breakdown;
}
