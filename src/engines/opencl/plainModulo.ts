import type { Work } from "../device.ts";
import type { Entries } from "../kernels.ts";
import { double, long, realOf } from "./numbers.ts";
import { definesOf } from "./plainLu.ts";
import type { Scope } from "./scope.ts";
import * as sources from "./sources.generated.ts";
import { memoryOf } from "./store.ts";

const TILE = 64;
const ITEMS = 256;

/** C := C - P Q modulo p, whole numbers, for a C on the device: see PlainKernels. Results are at most p / 2 in magnitude. */
export function* subtractModulo(scope: Scope, C: Entries, P: Float64Array, Q: Float64Array, depth: number, p: number): Work<void> {
  const { device } = scope;
  const { data, offset, rows, cols, rowStep, colStep } = C;
  if (rows * cols === 0) return;
  const kernel = device.kernel("plainModulo", [sources.plain, sources.plainModulo], definesOf(realOf(data.BYTES_PER_ELEMENT)));
  const place = [memoryOf(data), long(offset), long(rowStep), long(colStep), rows, cols];
  const args = [...place, scope.copy(P), scope.copy(Q), depth, double(p)];
  device.launch(kernel, [Math.ceil(cols / TILE), Math.ceil(rows / TILE)], [ITEMS, 1], args);
  yield device.finish();
}
