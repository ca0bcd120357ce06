// The matrix product of p-adic lifting on a device: see routines/solve/padic.ts.
import type { StridedOperand } from "../../../arrays/matrix.ts";
import type { Work } from "../../device.ts";
import { bufferOf } from "../../deviceArray.ts";
import type { Scope } from "../../deviceScope.ts";
import { double, long, realOf } from "../device/numbers.ts";
import { definesOf } from "./lu.ts";
import * as sources from "./sources.ts";

const TILE = 64;
const ITEMS = 256;

/** C := C - P Q modulo p for integers, with C on the device: see ApproximateKernels. Results are at most p / 2 in magnitude. */
export function* subtractModulo(scope: Scope, C: StridedOperand, P: Float64Array, Q: Float64Array, depth: number, p: number): Work<void> {
  const { device } = scope;
  const { data, offset, rows, cols, rowStride, colStride } = C;
  if (rows * cols === 0) return;
  const kernel = device.kernel("subtractModulo", [sources.common, sources.modulo], definesOf(realOf(data.BYTES_PER_ELEMENT)));
  const place = [bufferOf(data), long(offset), long(rowStride), long(colStride), rows, cols];
  const args = [...place, scope.copy(P), scope.copy(Q), depth, double(p)];
  device.launch(kernel, [Math.ceil(cols / TILE), Math.ceil(rows / TILE)], [ITEMS, 1], args);
  yield device.finish();
}
