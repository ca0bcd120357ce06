// Row swaps, forward and backward substitution with binary32 factors on the device, block by block. Called by approximate.ts.
import type { Work } from "../../device.ts";
import type { Scope } from "../../deviceScope.ts";
import { BLOCK, type DeviceFactors } from "./lu.ts";
import { substitute as source } from "./sources.generated.ts";

/** x := the solutions for the k right-hand sides b, n by k row by row. */
export function* substitute(scope: Scope, factors: DeviceFactors, b: Float64Array, k: number, x: Float64Array): Work<void> {
  const { device } = scope;
  const { n, size, W, order } = factors;
  if (n * k === 0) return;
  const sides = new Float32Array(size * k);
  for (let i = 0; i < n; i++) for (let c = 0; c < k; c++) sides[i * k + c] = b[(order[i] as number) * k + c] as number;
  const y = scope.copy(sides);
  const blocks = size / BLOCK;
  for (const upper of [false, true]) {
    const kernel = device.kernel("substitute", [source], { BLOCK, UPPER: Number(upper) });
    for (let step = 0; step < blocks; step++) {
      const block = upper ? blocks - 1 - step : step;
      device.launch(kernel, [blocks - step, k], [BLOCK], [W, y, size, block, Number(step > 0), k]);
    }
  }
  const unknowns = new Float32Array(n * k);
  yield device.read(y, unknowns);
  x.set(unknowns);
}
