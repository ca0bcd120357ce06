// Elementwise operations on vectors on a device. Called by the engine.
import { isOnHost, type Operand } from "../../../arrays/operands.ts";
import { newVector, part } from "../../../arrays/vectors.ts";
import type { DeviceBuffer, Work } from "../../device.ts";
import { bufferOf } from "../../deviceArray.ts";
import type { Scope } from "../../deviceScope.ts";
import type { Elementwise } from "../../kernels.ts";
import { double, long, realOf } from "../device/numbers.ts";
import { certificate } from "../exact/sources.ts";
import { elementwise as source } from "./sources.generated.ts";

const OPS: readonly Elementwise[] = ["scal", "invscal", "axpy"];
// Enough work-groups to keep the memory busy.
const GROUP = 256;
const GROUPS_PER_UNIT = 16;

/** x := alpha x, x := x / alpha, or y := alpha x + y, with one rounding per element. */
export function* map(scope: Scope, op: Elementwise, alpha: number, x: Operand, y: Operand): Work<void> {
  const { device } = scope;
  const width = x.BYTES_PER_ELEMENT;
  const out = op === "axpy" ? y : x;
  const kernel = device.kernel("map", [certificate, source], { REAL: realOf(width), OP: OPS.indexOf(op) });
  const group = Math.min(GROUP, kernel.maxGroupSize);
  const maxCount = isOnHost(x) || isOnHost(out) ? Math.floor(device.maxBufferBytes / width) : x.length;
  const results: { buffer: DeviceBuffer; from: number; count: number }[] = [];
  for (let from = 0; from < x.length; from += maxCount) {
    const count = Math.min(maxCount, x.length - from);
    const onDevice = (v: Operand) => (isOnHost(v) ? scope.copy(part(v, from, count)) : bufferOf(v));
    const a = onDevice(x);
    const b = x === y || op !== "axpy" ? a : onDevice(y);
    const groups = Math.max(1, Math.min(device.computeUnits * GROUPS_PER_UNIT, Math.ceil(count / group)));
    device.launch(kernel, [groups], [group], [long(count), double(alpha), a, b]);
    results.push({ buffer: op === "axpy" ? b : a, from, count });
  }
  if (!isOnHost(out)) {
    yield device.finish();
    return;
  }
  const copy = newVector(scope.routine, out, out.length);
  for (const { buffer, from, count } of results) yield device.read(buffer, part(copy, from, count));
  out.set(copy);
}
