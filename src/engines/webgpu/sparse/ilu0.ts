// ILU(0) on a device, level by level: a launch for the lines of each level of the triangle before the diagonal, which the calling thread finds.
// Called by the engine; the kernel is in ilu0.wgsl.
import { isOnHost, type Operand } from "../../../arrays/operands.ts";
import { newVector } from "../../../arrays/vectors.ts";
import type { DeviceBuffer, Work } from "../../device.ts";
import { bufferOf } from "../../deviceArray.ts";
import type { Scope } from "../../deviceScope.ts";
import type { Breakdown, SparseLines } from "../../kernels.ts";
import type { Choices } from "../choices.ts";
import type { WebgpuDevice } from "../device/device.ts";
import * as host from "../host.ts";
import { type Levels, levelsOf } from "./levels.ts";
import { ilu0 as source } from "./sources.generated.ts";
import { exactSources, groupOf } from "./sources.ts";

// What a launch may do, in products, each with a search: see TILE_LAUNCH in dense/gemm.ts. An entry and its rounding count as ten.
const LAUNCH = 2 ** 24;
const ENTRY = 10;
// A lane adds at most this many products to a window (exact/window.wgsl).
const MAX_PRODUCTS = 2 ** 22;

/** See Kernels.ilu0. */
export function* ilu0(scope: Scope, A: SparseLines, to: Operand, { minEntries, linesPerLevel }: Choices): Work<Breakdown | undefined> {
  const device = scope.device as WebgpuDevice;
  const { n, byRows, indices } = A;
  if (n === 0 || indices.length < minEntries || Math.max(to.byteLength, 4 * (n + 1), indices.byteLength) > device.maxBindingBytes)
    return yield* host.ilu0(scope, A, to);
  const given = scope.vector(A.values); // before anything is waited for
  const [begins, columns] = yield* host.fetch(scope, A.pointers as Int32Array, A.indices as Int32Array);
  const diagonal = A.diagonal ?? host.diagonalOf(n, begins, columns);
  const missing = diagonal.indexOf(-1);
  if (missing >= 0) return { missing };
  const levels = levelsOf(begins, diagonal, columns, false);
  if (n < linesPerLevel * (levels.starts.length - 1)) return yield* host.ilu0(scope, A, to);
  const launches = launchesOf(levels, begins, diagonal);
  if (!launches) return yield* host.ilu0(scope, A, to);

  const values = scope.result(to);
  if (given !== values) device.copy(given, values, to.byteLength);
  const integers = (own: SparseLines["pointers"], array: Int32Array): DeviceBuffer => (isOnHost(own) ? scope.copy(array) : bufferOf(own));
  const group = groupOf(device);
  const kernel = device.kernel("factorLines", [...exactSources(to.BYTES_PER_ELEMENT), source], { GROUP: group });
  const failed = scope.copy(Int32Array.of(-1)); // the largest u32
  const pattern = [scope.copy(levels.order), integers(A.pointers, begins), integers(A.indices, columns), scope.copy(diagonal)];
  for (const { first, count } of launches)
    device.launch(kernel, [count], [group], [...pattern, values, failed, first, count, Number(byRows)]);
  const found = new Int32Array(1);
  yield device.read(failed, found);
  const position = found[0] as number;
  if (position >= 0) {
    const value = newVector("ilu0", to, 1);
    yield device.read(values, value, position * value.BYTES_PER_ELEMENT);
    return { position, value: value[0] as number };
  }
  yield* scope.store(values, to);
  return undefined;
}

// The lines of each level, in pieces that do not take long; undefined if a line has too many products for a window.
function launchesOf({ starts, order }: Levels, begins: Int32Array, diagonal: Int32Array): { first: number; count: number }[] | undefined {
  const launches: { first: number; count: number }[] = [];
  for (let m = 0; m < starts.length - 1; m++) {
    const end = starts[m + 1] as number;
    let first = starts[m] as number;
    let work = 0;
    for (let k = first; k < end; k++) {
      const line = order[k] as number;
      const begin = begins[line] as number;
      const products = (diagonal[line] as number) - begin;
      if (products > MAX_PRODUCTS) return undefined;
      const own = ((begins[line + 1] as number) - begin) * (products + ENTRY);
      if (work + own > LAUNCH && k > first) {
        launches.push({ first, count: k - first });
        first = k;
        work = 0;
      }
      work += own;
    }
    launches.push({ first, count: end - first });
  }
  return launches;
}
