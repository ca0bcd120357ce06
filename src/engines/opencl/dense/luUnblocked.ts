// The unblocked factorization of the LU paper on a device, for comparison through halfulp/study.
import type { Device, DeviceBuffer, Work } from "../../device.ts";
import * as exact from "../exact/sources.ts";
import { type Outcome, oneByOne, outcomeOf, prepare } from "./luCommon.ts";
import { PIVOTS } from "./luLayout.ts";
import * as sources from "./sources.ts";

const GROUP = 64;

/** Left-looking, column by column. */
export const luUnblocked = oneByOne((scope, real, rows, cols) => {
  const { device } = scope;
  const kernel = (name: string) =>
    device.kernel(name, [exact.certificate, exact.superaccumulator, sources.lu, sources.luBlocked, sources.luUnblocked], {
      REAL: real,
      W: 1,
      GROUP,
    });
  const kernels = { above: kernel("luAbove"), below: kernel("luBelow"), pivot: kernel("luPivot") };
  const out = scope.scratch(4 * (PIVOTS + Math.min(rows, cols)));
  return (data, pivots) => columns(device, data, kernels, out, rows, cols, pivots);
});

function* columns(
  device: Device,
  data: DeviceBuffer,
  kernels: Record<"above" | "below" | "pivot", ReturnType<Device["kernel"]>>,
  out: DeviceBuffer,
  rows: number,
  cols: number,
  pivots: Int32Array,
): Work<Outcome> {
  prepare(device, out);
  for (let j = 0; j < cols; j++) {
    const shape = BigInt64Array.of(BigInt(rows) | (BigInt(cols) << 32n), BigInt(j), 0n, 0n, 0n, 0n);
    if (j > 0) device.launch(kernels.above, [1], [GROUP], [data, out, shape]);
    if (j >= rows) continue;
    device.launch(kernels.below, [rows - j], [GROUP], [data, out, shape]);
    device.launch(kernels.pivot, [1], [GROUP], [data, out, shape]);
  }
  return yield* outcomeOf(device, out, rows, cols, pivots);
}
