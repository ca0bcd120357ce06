// The approximate kernels of solve(): binary32 factors, substitution and magnitudes on the device. WGSL has no binary64, so binary64 factors,
// their inverses and arithmetic modulo primes are on the calling thread. There are no residuals in ordinary arithmetic: the exact ones of
// exgemv are on the device. Called by the engine; follows the mixed-precision paper.
import type { StridedOperand } from "../../../arrays/matrix.ts";
import type { ApproximateFactors, ApproximateKernels } from "../../approximate.ts";
import type { Work } from "../../device.ts";
import { inScope, type Scope } from "../../deviceScope.ts";
import type { Choices } from "../choices.ts";
import type { WebgpuDevice } from "../device/device.ts";
import * as host from "../host.ts";
import { type DeviceFactors, factorize, fitsDevice } from "./lu.ts";
import { magnitudes } from "./magnitudes.ts";
import { substitute } from "./substitute.ts";

export function approximate(
  run: (work: Work<unknown>) => Promise<unknown>,
  device: WebgpuDevice,
  { minOrder, minMagnitudes }: Choices,
): ApproximateKernels {
  const { residual: _, ...onHost } = host.approximate(run, device);
  const call = <R>(routine: string, work: (scope: Scope) => Work<R>): Promise<R> => run(inScope(device, routine, work)) as Promise<R>;
  const fits = (A: StridedOperand): boolean => A.data.byteLength <= device.maxBindingBytes;
  return {
    ...onHost,
    magnitudes: (routine, A, ...more) =>
      fits(A) && A.rows * A.cols >= minMagnitudes
        ? call(routine, (scope) => magnitudes(scope, A, ...more))
        : onHost.magnitudes(routine, A, ...more),
    factorize(routine, A, scaling, format, b, k, x) {
      const isHere = A.rows >= minOrder && format === "binary32" && A.data.BYTES_PER_ELEMENT === 8 && fits(A) && fitsDevice(device, A.rows);
      if (!isHere) return onHost.factorize(routine, A, scaling, format, b, k, x);
      const right = b.slice();
      return call(routine, function* (scope): Work<ApproximateFactors> {
        const factors = yield* factorize(scope, A, scaling);
        if (factors.column < 0 && k > 0) yield* substitute(scope, factors, right, k, x);
        return factors;
      });
    },
    substitute: (routine, factors, b, k, x) =>
      "W" in factors
        ? call(routine, (scope) => substitute(scope, factors as DeviceFactors, b, k, x))
        : onHost.substitute(routine, factors, b, k, x),
  };
}
