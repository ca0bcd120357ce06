// Sums of magnitudes on a device, of the rows of a matrix and of triangles: for the scaling and the certificate of solve().
import type { StridedOperand } from "../../../arrays/matrix.ts";
import type { ApproximateFactors, ApproximateInverses } from "../../approximate.ts";
import type { Device, Work } from "../../device.ts";
import type { Scope } from "../../deviceScope.ts";
import { long, type RealType, realOf } from "../device/numbers.ts";
import type { StoredTriangles } from "./inverse.ts";
import { definesOf } from "./lu.ts";
import * as sources from "./sources.ts";

const GROUP = 128;
const CHUNKS = 32;

const kernelOf = (device: Device, name: string, from: RealType, part = {}) =>
  device.kernel(name, [sources.common, sources.magnitudes], { ...definesOf("double"), FROM: from, GROUP, ...part });

/** The sum and the maximum of the magnitudes in each row of A, with columns scaled. */
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
  const copies = [new Float64Array(rows), new Float64Array(rows)] as const;
  yield device.read(total, copies[0]);
  yield device.read(top, copies[1]);
  sums.set(copies[0]);
  largest.set(copies[1]);
}

/** out := |T| v for a triangle of factors or of inverses. The diagonal of the lower one is 1. */
export function* weigh(
  scope: Scope,
  triangles: ApproximateFactors | ApproximateInverses,
  part: "lower" | "upper",
  v: Float64Array,
  out: Float64Array,
): Work<void> {
  const { device } = scope;
  const { n, ld, data } = (triangles as ApproximateInverses & StoredTriangles).matrix;
  if (n === 0) return;
  const [sums, largest] = [scope.scratch(8 * n), scope.scratch(8 * n)];
  const kernel = kernelOf(device, "magnitudesAlongRows", "double", part === "lower" ? { LOWER: 1 } : { UPPER: 1 });
  device.launch(kernel, [n], [GROUP], [data, long(0), long(ld), n, scope.copy(v), sums, largest]);
  const copy = new Float64Array(n);
  yield device.read(sums, copy);
  for (let i = 0; i < n; i++) out[i] = part === "lower" ? (copy[i] as number) + (v[i] as number) : (copy[i] as number);
}
