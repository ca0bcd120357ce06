// exluBatch on a device: many small matrices, one per work-group. Called by lu.ts.
import type { DeviceBuffer } from "../../device.ts";
import type { Scope } from "../../deviceScope.ts";
import type { WebgpuDevice } from "../device/device.ts";
import { gather, round, settle, window, words } from "../exact/sources.generated.ts";
import { luBatch, luCommon, luPivot } from "./sources.generated.ts";

// What a launch may do, in products of two numbers: see TILE_LAUNCH in gemm.ts. A quarter of that, since lanes wait for each other. An entry
// and its rounding count as ten.
const BATCH_LAUNCH = 2 ** 26;
const ENTRY = 10;

/** Factor matrices in place. `state` has the initial state of each: see luCommon.wgsl. */
export function factorBatch(scope: Scope, A: DeviceBuffer, state: DeviceBuffer, single: boolean, n: number, count: number): void {
  const device = scope.device as WebgpuDevice;
  const group = groupFor(device, n);
  const sources = [words, window, round, gather, settle, luCommon, luPivot, luBatch];
  const kernel = device.kernel("luBatch", sources, { GROUP: group, SINGLE: Number(single) });
  const bytes = n * n * (single ? 4 : 8);
  const inBinding = Math.floor((device.maxBindingBytes - 256) / bytes); // a part may begin 256 bytes earlier
  const atOnce = Math.max(1, Math.min(inBinding, Math.floor(BATCH_LAUNCH / (n ** 3 / 3 + ENTRY * n ** 2))));
  for (let from = 0; from < count; from += atOnce) {
    const matrices = Math.min(atOnce, count - from);
    const { part, before } = device.around(A, from * bytes, matrices * bytes);
    const origin = before / (single ? 4 : 8);
    device.launch(kernel, [matrices], [group], [part, state, n, n, 0, n, 0, matrices, 0, 0, from, origin]);
  }
}

// A step has up to 2 n independent entries. A device on the processor takes long for barriers.
function groupFor(device: WebgpuDevice, n: number): number {
  if (device.type === "cpu") return 16;
  return n <= 16 ? 32 : n <= 64 ? 64 : 128;
}
