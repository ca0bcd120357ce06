import type { StridedOperand } from "../../../arrays/matrix.ts";
import type { ApproximateFactors, ApproximateInverses } from "../../approximate.ts";
import type { Device, Work } from "../../device.ts";
import { long, type RealType, realOf } from "../device/numbers.ts";
import type { Scope } from "../device/scope.ts";
import type { Stored } from "./inverse.ts";
import { definesOf } from "./lu.ts";
import * as sources from "./sources.generated.ts";

// Sums of magnitudes on a device: of the rows of a matrix, and of triangles.

const GROUP = 128;
const CHUNKS = 32;

const kernelOf = (device: Device, name: string, from: RealType, part = {}) =>
  device.kernel(name, [sources.common, sources.magnitudes], { ...definesOf("double"), FROM: from, GROUP, ...part });

/** Sums and largest magnitudes of the rows of A, scaled by columns. */
export function* magnitudes(scope: Scope, A: StridedOperand, scale: Float64Array, sums: Float64Array, largest: Float64Array): Work<void> {
  const { device } = scope;
  const { rows, cols } = A;
  if (rows === 0) return;
  const { buffer, offset, rowStride, colStride } = scope.matrix(A);
  const along = colStride === 1;
  const length = Math.ceil(cols / Math.min(CHUNKS, Math.max(1, cols)));
  const chunks = along || cols === 0 ? 1 : Math.ceil(cols / length);
  const [total, top] = [scope.scratch(8 * rows * chunks), scope.scratch(8 * rows * chunks)];
  const factors = scope.copy(scale);
  const kernel = (name: string) => kernelOf(device, name, realOf(A.data.BYTES_PER_ELEMENT));
  if (along) {
    const args = [buffer, long(offset), long(rowStride), cols, factors, total, top];
    device.launch(kernel("magnitudesAlongRows"), [rows], [GROUP], args);
  } else {
    const groups = Math.ceil(rows / GROUP);
    const args = [buffer, long(offset), long(colStride), rows, cols, length, factors, total, top];
    device.launch(kernel("magnitudesAcrossRows"), [groups, chunks], [GROUP, 1], args);
    if (chunks > 1) device.launch(kernel("combineMagnitudes"), [groups], [GROUP], [total, top, rows, chunks]);
  }
  const [sumsHere, largestHere] = [new Float64Array(rows), new Float64Array(rows)];
  yield device.read(total, sumsHere);
  yield device.read(top, largestHere);
  sums.set(sumsHere);
  largest.set(largestHere);
}

/** out := |T| v for one of the triangles of factors or of inverses; the diagonal of the lower one is 1. */
export function* weigh(
  scope: Scope,
  triangles: ApproximateFactors | ApproximateInverses,
  part: "lower" | "upper",
  v: Float64Array,
  out: Float64Array,
): Work<void> {
  const { device } = scope;
  const { n, ld, data } = (triangles as ApproximateInverses & Stored).matrix;
  if (n === 0) return;
  const [sums, largest] = [scope.scratch(8 * n), scope.scratch(8 * n)];
  const kernel = kernelOf(device, "magnitudesAlongRows", "double", part === "lower" ? { LOWER: 1 } : { UPPER: 1 });
  device.launch(kernel, [n], [GROUP], [data, long(0), long(ld), n, scope.copy(v), sums, largest]);
  const here = new Float64Array(n);
  yield device.read(sums, here);
  for (let i = 0; i < n; i++) out[i] = part === "lower" ? (here[i] as number) + (v[i] as number) : (here[i] as number);
}
