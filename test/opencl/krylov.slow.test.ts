// The iterative solvers on an OpenCL device: how often the host looks, and sums that the certificate on the device does not decide.
import { afterAll, describe, expect, test } from "vitest";
import { engineOf } from "../../src/api/engine.ts";
import { openDevice } from "../../src/engines/opencl/device/device.ts";
import { backendOn } from "../../src/engines/opencl/index.ts";
import { bicgstab, cg, csr, gmres, type IterativeOptions, laplacian, type Sparse } from "../../src/index.ts";

const device = await openDevice().catch(() => undefined);
const engine = device && engineOf(backendOn(device));
afterAll(() => engine?.close());

const SOLVERS = { cg, bicgstab, gmres } as const;
type Solver = keyof typeof SOLVERS;
const PRECONDITIONERS = ["none", "jacobi", "ilu0"] as const;

const vector = (n: number, scale: number): Float64Array => Float64Array.from({ length: n }, (_, i) => Math.sin(i * i + 1) * scale);

async function compare(solver: Solver, A: Sparse, b: Float64Array, options: IterativeOptions): Promise<number> {
  const expected = SOLVERS[solver](A, b, options);
  const found = await (engine as NonNullable<typeof engine>)[solver](A, b, options as never);
  expect(found).toEqual(expected); // typed arrays are compared element by element, and NaN equals NaN
  return found.iterations;
}

describe.skipIf(!device)(`iterative solvers on ${device?.name ?? "OpenCL: no device"}`, () => {
  const A = laplacian(13, 11);

  for (const solver of Object.keys(SOLVERS) as Solver[])
    for (const preconditioner of PRECONDITIONERS) {
      // At these scales squares underflow, overflow or come close, and the certificate leaves most sums to the host.
      test.each([-537, -500, -470, 0, 490, 505, 512])(`${solver}, ${preconditioner}, scaled by 2^%i`, async (k) => {
        const b = vector(A.rows, 2 ** k);
        await compare(solver, A, b, { preconditioner, maxIterations: 40 });
        await compare(solver, A, b, { preconditioner, tolerance: 0, maxIterations: 60, restart: 9 });
      });
    }

  test("look now and then", async () => {
    const open = device as NonNullable<typeof device>;
    const { read } = open;
    let reads = 0;
    open.read = (...args) => {
      reads++;
      return read.apply(open, args);
    };
    try {
      const iterations = await compare("cg", laplacian(40, 40), vector(1600, 1), { preconditioner: "jacobi" });
      expect(iterations).toBeGreaterThan(80);
      expect(reads).toBeLessThan(iterations / 3);
    } finally {
      open.read = read;
    }
  });

  test("report every iteration in order", async () => {
    const seen: [number, number][] = [];
    const b = vector(A.rows, 1);
    const found = await (engine as NonNullable<typeof engine>).cg(A, b, { onIteration: (k, norm) => seen.push([k, norm]) });
    expect(seen).toEqual(Array.from(found.history.subarray(1), (norm, k) => [k + 1, norm]));
  });

  test("end where a recurrence breaks down", async () => {
    const indefinite = csr(2, 2, Int32Array.of(0, 2, 4), Int32Array.of(0, 1, 0, 1), Float64Array.of(1, 2, 2, 1));
    for (const solver of Object.keys(SOLVERS) as Solver[]) await compare(solver, indefinite, Float64Array.of(1, -1), {});
    const skew = csr(2, 2, Int32Array.of(0, 1, 2), Int32Array.of(1, 0), Float64Array.of(1, -1));
    for (const solver of Object.keys(SOLVERS) as Solver[]) await compare(solver, skew, Float64Array.of(1, 2), {});
  });
});
