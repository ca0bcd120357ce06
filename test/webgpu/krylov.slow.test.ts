// The iterative solvers with vectors on the device, small systems too, which open("webgpu") solves on the calling thread: x, the number of
// iterations and every norm are those of the functions.
import { afterAll, describe, expect, test } from "vitest";
import { openDevice } from "../../src/engines/webgpu/device/device.ts";
import { findAdapter } from "../../src/engines/webgpu/device/find.ts";
import { backendOn } from "../../src/engines/webgpu/index.ts";
import { bicgstab, cg, convectionDiffusion, csr, gmres, type IterativeSolution, laplacian, matrix, sptrsv } from "../../src/index.ts";
import { engineOf, Random } from "../../src/study.ts";
import { SEED } from "../effort.ts";
import { storedBits } from "../hex.ts";

const library = { cg, bicgstab, gmres };
const found = await findAdapter().then(openDevice, (error: Error) => error.message);
const missing = typeof found === "string" ? found : undefined;
const engine = typeof found === "string" ? undefined : engineOf(backendOn(found, { minIteration: 0 }));
afterAll(() => engine?.close());

const told = ({ x, history, ...rest }: IterativeSolution) => ({ ...rest, x: storedBits(x), history: storedBits(history) });

describe.skipIf(missing)(`iterative solvers on WebGPU, HALFULP_SEED=${SEED}${missing ? ` (${missing})` : ""}`, () => {
  const random = new Random(SEED);
  const vector = (n: number) => Float64Array.from({ length: n }, () => random.signed());

  test.each(["cg", "bicgstab", "gmres"] as const)("%s, with every preconditioner, of arrays and of residents", async (name) => {
    if (!engine) return;
    const A = name === "cg" ? laplacian(6, 5) : convectionDiffusion(6, 5);
    const [b, x0] = [vector(30), vector(30)];
    for (const preconditioner of ["none", "jacobi", "ilu0"] as const) {
      const options = { preconditioner, x0, maxIterations: 12, restart: 5 };
      const want = told(library[name](A, b, options));
      expect(told(await engine[name](A, b, options)), preconditioner).toEqual(want);
      const [kept, right] = [await engine.upload(A), await engine.upload(b)];
      expect(told(await engine[name](kept, right, options)), `${preconditioner}, residents`).toEqual(want);
    }
  });

  test("plans of the engine, one after the other, and a dense matrix", async () => {
    if (!engine) return;
    const A = laplacian(5, 5);
    const b = vector(25);
    const here = [sptrsv(A), sptrsv(A, { uplo: "upper" })];
    const there = [await engine.sptrsv(A), await engine.sptrsv(A, { uplo: "upper" })];
    const want = told(bicgstab(A, b, { preconditioner: here, maxIterations: 5 }));
    expect(told(await engine.bicgstab(A, b, { preconditioner: there, maxIterations: 5 }))).toEqual(want);
    const dense = matrix(vector(400), 20, 20);
    for (let i = 0; i < 20; i++) dense.data[21 * i] = 30;
    const right = vector(20);
    expect(told(await engine.gmres(dense, right))).toEqual(told(gmres(dense, right)));
  });

  test("a zero on the diagonal, sums that cancel, and numbers at the ends of the range", async () => {
    if (!engine) return;
    const A = csr(2, 2, Int32Array.of(0, 1, 2), Int32Array.of(0, 0), Float64Array.of(1, 2));
    const b = Float64Array.of(1, 1);
    const message = (f: () => unknown): string => {
      try {
        f();
        return "";
      } catch (error) {
        return (error as Error).message;
      }
    };
    const want = message(() => bicgstab(A, b, { preconditioner: "jacobi" }));
    await expect(engine.bicgstab(A, b, { preconditioner: "jacobi" })).rejects.toThrow(want);
    for (const scale of [2 ** -1060, 2 ** -500, 2 ** 500, 2 ** 1000]) {
      const B = { ...laplacian(4, 4), values: laplacian(4, 4).values.map((v) => v * scale) };
      const right = vector(16).map((v) => v * scale);
      for (const name of ["cg", "bicgstab", "gmres"] as const)
        expect(told(await engine[name](B, right)), `${name}, ${scale}`).toEqual(told(library[name](B, right)));
    }
  });
});
