// Sums and largest magnitudes of the rows of a matrix on the device. Called by approximate.ts.
import type { StridedOperand } from "../../../arrays/matrix.ts";
import type { Work } from "../../device.ts";
import type { Scope } from "../../deviceScope.ts";
import { filterSources, groupOf } from "../sparse/sources.ts";
import { magnitudes as source } from "./sources.generated.ts";

/** See ApproximateKernels.magnitudes. */
export function* magnitudes(scope: Scope, A: StridedOperand, scale: Float64Array, sums: Float64Array, largest: Float64Array): Work<void> {
  const { device } = scope;
  const { rows, cols } = A;
  if (rows === 0) return;
  const { buffer, offset, rowStride, colStride } = scope.matrix(A);
  const GROUP = groupOf(device);
  const found = scope.scratch(16 * rows);
  const parts = colStride === 1 ? GROUP : 1; // neighbours read what is contiguous
  const kernel = device.kernel("magnitudes", [...filterSources(A.data.BYTES_PER_ELEMENT), source], { GROUP, PARTS: parts });
  const args = [buffer, scope.copy(scale), found, offset, rowStride, colStride, rows, cols];
  device.launch(kernel, [Math.ceil((rows * parts) / GROUP)], [GROUP], args);
  const pairs = new Float64Array(2 * rows);
  yield device.read(found, pairs);
  for (let i = 0; i < rows; i++) {
    sums[i] = pairs[2 * i] as number;
    largest[i] = pairs[2 * i + 1] as number;
  }
}
