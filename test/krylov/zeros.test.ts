// The sign of zeros in the iterative solvers: RN of an exact zero is +0, which a start of -0 makes visible in x.
import { expect, test } from "vitest";
import { csr } from "../../src/index.ts";
import { describeEngines } from "../engines.ts";

describeEngines("jacobi divides a zero to +0", (routines) => {
  test("also by a negative number", async () => {
    const A = csr(2, 2, Int32Array.of(0, 1, 2), Int32Array.of(0, 1), Float64Array.of(-1, 2));
    // u_0 = RN(0 / -1) is +0, and x_0 = fma(alpha, u_0, -0) then is +0.
    const { x, reason } = await routines.bicgstab(A, Float64Array.of(0, 2), { preconditioner: "jacobi", x0: Float64Array.of(-0, 0) });
    expect([reason, ...x]).toEqual(["tolerance", 0, 1]);
  });
});
