// The binary32 factors of solve() on the device, small ones too, which open("webgpu") computes on the calling thread: they need only be good,
// and say where they broke down. Magnitudes against ordinary arithmetic.
import { afterAll, describe, expect, test } from "vitest";
import { rowMajor } from "../../src/arrays/matrix.ts";
import type { Backend } from "../../src/engines/backend.ts";
import { openDevice } from "../../src/engines/webgpu/device/device.ts";
import { findAdapter } from "../../src/engines/webgpu/device/find.ts";
import { backendOn } from "../../src/engines/webgpu/index.ts";
import { matrix } from "../../src/index.ts";
import { engineOf, Random } from "../../src/study.ts";
import { FULL, SEED } from "../effort.ts";

const found = await findAdapter().then(openDevice, (error: Error) => error.message);
const missing = typeof found === "string" ? found : undefined;
const backend = (typeof found === "string" ? undefined : backendOn(found, { minOrder: 0, minMagnitudes: 0 })) as Backend;
afterAll(() => backend?.close());

const { NaN: NAN, POSITIVE_INFINITY: INF, MIN_VALUE: TINY, MAX_VALUE: MAX } = Number;

describe.skipIf(missing)(`the approximate kernels on WebGPU, HALFULP_SEED=${SEED}${missing ? ` (${missing})` : ""}`, () => {
  const random = new Random(SEED);
  const entries = (n: number) => Float64Array.from({ length: n }, () => random.signed());
  const powers = (n: number, f = (_: number) => 0) => Float64Array.from({ length: n }, (_, i) => 2 ** f(i));

  test("factors and solutions are as accurate as binary32 allows, whatever the order, strides and powers", async () => {
    for (const n of FULL ? [1, 2, 31, 32, 33, 63, 64, 65, 97, 160, 300] : [1, 33, 97])
      for (const byRows of [true, false]) {
        const data = entries(n * n);
        for (let i = 0; i < n; i++) data[i * (n + 1)] = (data[i * (n + 1)] as number) + 4; // well-conditioned, but rows are swapped below
        const A = { data, offset: 0, rows: n, cols: n, rowStride: byRows ? n : 1, colStride: byRows ? 1 : n };
        const scaled = { ...A, data: data.map((v) => v * 2 ** -1040) }; // subnormals
        const k = n === 33 ? 3 : 1;
        const x = new Float64Array(n * k);
        const b = entries(n * k);
        const scaling = { rows: powers(n, () => 1020), cols: powers(n, (j) => 20 + (j % 3)) };
        const factors = await backend.approximate.factorize("solve", scaled, scaling, "binary32", b, k, x);
        expect([factors.n, factors.column, factors.minPivot > 0, factors.maxPivot < INF]).toEqual([n, -1, true, true]);
        const again = new Float64Array(n * k);
        await backend.approximate.substitute("solve", factors, b, k, again);
        expect(again).toEqual(x);
        for (let c = 0; c < k; c++)
          for (let i = 0; i < n; i++) {
            let [left, size] = [b[i * k + c] as number, 1];
            for (let j = 0; j < n; j++) {
              const term = (data[i * A.rowStride + j * A.colStride] as number) * 2 ** (j % 3) * (x[j * k + c] as number);
              left -= term;
              size += Math.abs(term);
            }
            if (!(Math.abs(left) <= 64 * n * 2 ** -24 * size))
              expect.fail(`n = ${n}, by rows ${byRows}: row ${i} leaves ${left} of ${size}`);
          }
        factors.free();
      }
  });

  test("the first column without a pivot is told: a zero, an overflow, an entry that is not finite", async () => {
    const n = 40;
    const factored = async (change: (data: Float64Array) => void, exponent = 0): Promise<number> => {
      const data = entries(n * n);
      change(data);
      const scaling = { rows: powers(n, () => exponent), cols: powers(n) };
      const A = rowMajor(data, n, n);
      const factors = await backend.approximate.factorize("solve", A, scaling, "binary32", new Float64Array(0), 0, new Float64Array(0));
      factors.free();
      return factors.column;
    };
    expect(await factored(() => {})).toBe(-1);
    for (const column of [0, 5, 39])
      expect(
        await factored((data) => {
          for (let i = 0; i < n; i++) data[i * n + column] = 0;
        }),
      ).toBe(column);
    expect(
      await factored((data) => {
        data[7 * n + 3] = NAN;
      }),
    ).toBe(3);
    expect(await factored(() => {}, 200)).toBe(0);
  });

  test("magnitudes of rows and columns: sums to the last bits, the largest exactly, NaN and infinities", async () => {
    const [rows, cols] = [21, 70];
    const data = entries(rows * cols).map((v) => v * 2 ** (300 * random.signed()));
    data.set([0, -0, TINY, -MAX], 5 * cols);
    data[6 * cols + 9] = -INF;
    data[7 * cols + 9] = NAN;
    for (const A of [
      { data, offset: 0, rows, cols, rowStride: cols, colStride: 1 },
      { data, offset: 0, rows: cols, cols: rows, rowStride: 1, colStride: cols },
      { data: Float32Array.from(data), offset: cols, rows: rows - 1, cols: 33, rowStride: cols, colStride: 1 },
    ]) {
      const scale = powers(A.cols, () => random.below(60) - 30);
      const [sums, largest] = [new Float64Array(A.rows), new Float64Array(A.rows)];
      await backend.approximate.magnitudes("solve", A, scale, sums, largest);
      for (let i = 0; i < A.rows; i++) {
        const sizes = Array.from(scale, (s, j) => s * Math.abs(A.data[A.offset + i * A.rowStride + j * A.colStride] as number));
        const sum = sizes.reduce((a, v) => a + v, 0);
        expect(largest[i]).toBe(Math.max(...sizes));
        const close = Math.abs((sums[i] as number) - sum) <= A.cols * 2 ** -52 * sum;
        if (!close && !Object.is(sums[i], sum)) expect.fail(`row ${i}: ${sums[i]}, expected about ${sum}`);
      }
    }
  });

  test("solve() converges with them", async () => {
    const engine = engineOf(backend);
    const n = 50;
    const A = matrix(entries(n * n), n, n);
    const { converged, method, fellBack } = await engine.solve(A, entries(n), { method: "mixed", rounding: "backward", fallback: false });
    expect([converged, method, fellBack]).toEqual([true, "mixed", false]);
  });
});
