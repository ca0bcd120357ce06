// Elementwise operations on vectors on a device. Called by the engine.
import { isOnHost, type Operand } from "../../../arrays/operands.ts";
import { newVector, part } from "../../../arrays/vectors.ts";
import type { DeviceBuffer, Work } from "../../device.ts";
import type { Scope } from "../../deviceScope.ts";
import type { Elementwise } from "../../kernels.ts";
import { round, window, words } from "../exact/sources.generated.ts";
import { launchOn, onDevice } from "./reduce.ts";
import { elementwise as source } from "./sources.generated.ts";

const OPS: readonly Elementwise[] = ["scal", "invscal", "axpy"];

/** x := alpha x, x := x / alpha, or y := alpha x + y, with one rounding per element. */
export function* map(scope: Scope, op: Elementwise, alpha: number, x: Operand, y: Operand): Work<void> {
  const { device } = scope;
  const single = x.BYTES_PER_ELEMENT === 4;
  const out = op === "axpy" ? y : x;
  const { group, groups } = launchOn(device);
  const kernel = device.kernel("map", [words, window, round, source], { GROUP: group, OP: OPS.indexOf(op), SINGLE: Number(single) });
  const results = [...onDevice(scope, out)];
  const factors = op === "axpy" ? [...onDevice(scope, x)] : [];
  const unread = scope.scratch(16);
  for (const [i, { buffer, length }] of results.entries()) {
    const count = Math.max(1, Math.min(groups * device.computeUnits, Math.ceil(length / group)));
    const from = (factors[i] as { buffer: DeviceBuffer } | undefined)?.buffer ?? unread;
    device.launch(kernel, [count], [], [from, buffer, length, count, Float64Array.of(alpha)]);
  }
  if (!isOnHost(out)) {
    yield device.finish();
    return;
  }
  const copy = newVector(scope.routine, out, out.length);
  for (const { buffer, from, length } of results) yield device.read(buffer, part(copy, from, length));
  out.set(copy);
}
