// exgemm on WebGPU, each way of computing an entry by itself, against the oracle and the reference: what is proved must be right, and what
// cannot be proved must be left to the exact stage.
import { afterAll, describe, expect, test } from "vitest";
import { matrix, rowMajor, type StridedOperand, stridedView, transposeOf } from "../../src/arrays/matrix.ts";
import type { Format, Matrix, Real } from "../../src/arrays/types.ts";
import { DeviceArray } from "../../src/engines/deviceArray.ts";
import { inScope } from "../../src/engines/deviceScope.ts";
import { runAsync } from "../../src/engines/steps.ts";
import { type GemmOptions, gemm, type Path, pathFor } from "../../src/engines/webgpu/dense/gemm.ts";
import { rangesOf, rectanglesOf } from "../../src/engines/webgpu/dense/gemmBlocks.ts";
import { openDevice, type WebgpuDevice } from "../../src/engines/webgpu/device/device.ts";
import { findAdapter } from "../../src/engines/webgpu/device/find.ts";
import { type Kernels, kernels, Random, type StridedMatrix } from "../../src/study.ts";
import { randomGemm } from "../dense/products.ts";
import { cases, SEED, sample } from "../effort.ts";
import type { AnyRoutines } from "../engines.ts";
import { storedBits } from "../hex.ts";
import { vectorOf } from "../matrices.ts";
import { range } from "../oracles/matrices.ts";
import { KINDS, lines, uniform } from "../residueKinds.ts";

const found = await findAdapter().catch((error: Error) => error.message);
const missing = typeof found === "string" ? found : undefined;
const device = (missing ? undefined : await openDevice(await findAdapter())) as WebgpuDevice;
afterAll(() => device?.close());

const PATHS = ["residues", "tiles", "entries", "exact"] as const satisfies readonly Path[];
const FORMATS: readonly Format[] = ["binary64", "binary32"];
const reference = kernels("reference") as Kernels;
const byColumns = (data: Real, rows: number, cols: number): StridedMatrix => transposeOf(rowMajor(data, cols, rows));

interface Product {
  readonly alpha: number;
  readonly A: StridedOperand;
  readonly B: StridedOperand;
  readonly beta: number;
  readonly C: StridedOperand;
}

// The kernels that a product launches.
async function launched({ alpha, A, B, beta, C }: Product, options: GemmOptions): Promise<string[]> {
  const names: string[] = [];
  const launch = device.launch.bind(device);
  device.launch = (kernel, ...rest) => {
    names.push(kernel.name);
    launch(kernel, ...rest);
  };
  try {
    await runAsync(inScope(device, "test", (scope) => gemm(scope, alpha, A, B, beta, C, options)));
  } finally {
    device.launch = launch;
  }
  return names;
}

/** Compute on the device and compare with the reference; returns the kernels launched. */
async function check(given: Product, options: GemmOptions, label: string): Promise<string[]> {
  const { alpha, A, B, beta, C } = given as Product & Record<"A" | "B" | "C", StridedMatrix>;
  const want = C.data.slice();
  reference.gemm(alpha, A, B, beta, { ...C, data: want });
  const names = await launched(given, options);
  expect(storedBits(C.data), `${label}, ${options.path}`).toEqual(storedBits(want));
  return names;
}

const random = new Random(SEED);
const numbers = (format: Format, length: number): Real =>
  vectorOf(
    format,
    range(length).map(() => random.signed()),
  );

describe.skipIf(missing)(`exgemm on WebGPU${missing ? ` (${missing})` : ""}, seed ${SEED}`, () => {
  for (const [kind, [left, right]] of Object.entries(KINDS))
    test(`by residues: ${kind}`, async () => {
      for (const [i, [alpha, beta]] of [[1, 0] as const, [-1.3, 0.7] as const, [-(2 ** -70), 0] as const].entries())
        for (const [m, n, k] of sample([[18, 11, 70] as const, [9, 13, 7] as const, [1, 1, 700] as const], 3))
          for (const format of sample(i ? FORMATS : [...FORMATS].reverse(), 2)) {
            const [a, b] = [lines(random, m, k, left), lines(random, n, k, right)];
            const [A, B] = [rowMajor(vectorOf(format, a), m, k), byColumns(vectorOf(format, b), k, n)];
            const C = (i === 0 ? rowMajor : byColumns)(numbers(format, m * n), m, n);
            const names = await check({ alpha, A, B, beta, C }, { path: "residues", maxCutShare: 1 }, `${format}, ${m} by ${n} by ${k}`);
            const suits = [...A.data, ...B.data].every(Number.isFinite);
            expect(names.includes("combine")).toBe(suits);
          }
    });

  test.each(PATHS)("%s: random matrices of all layouts, transposed or not, against the oracle", async (path) => {
    const routines = {
      exgemm: async (
        alpha: number,
        A: Matrix<Real>,
        B: Matrix<Real>,
        beta: number,
        C: Matrix<Real>,
        { transA = false, transB = false } = {},
      ) => {
        await launched({ alpha, A: stridedView(A, transA), B: stridedView(B, transB), beta, C: stridedView(C) }, { path, maxCutShare: 1 });
        return C;
      },
    } as unknown as AnyRoutines;
    for (let i = 0; i < cases(200, 24); i++) {
      const [m, n, k] = [random.below(9), random.below(9), random.below(12)];
      await randomGemm(random, i % 2 ? "binary64" : "binary32", m, n, k)(routines, path);
    }
  });

  test.each(["residues", "tiles"] as const)("%s: sizes around tiles, vectors of four and groups", async (path) => {
    const sizes = [
      [7, 33, 1],
      [64, 7, 64],
      [33, 65, 7],
      [1, 130, 65],
      [130, 1, 33],
      [0, 7, 5],
      [5, 0, 3],
      [3, 4, 0],
    ] as const;
    for (const [i, [m, n, k]] of sizes.entries()) {
      const format = FORMATS[i % 2] as Format;
      const [A, B] = [rowMajor(numbers(format, m * k), m, k), rowMajor(numbers(format, k * n), k, n)];
      await check({ alpha: 1, A, B, beta: 1, C: rowMajor(numbers(format, m * n), m, n) }, { path }, `${format}, ${m} by ${n} by ${k}`);
    }
  });

  test("ordinary numbers are proved by residues and by windows, and integers that cancel as well", async () => {
    const n = 40;
    const integers = Float64Array.from({ length: n * n }, () => random.below(3) - 1);
    for (const path of ["residues", "tiles"] as const)
      for (const data of [lines(random, n, n, uniform), integers]) {
        const C = rowMajor(new Float64Array(n * n), n, n);
        const names = await check({ alpha: 1, A: rowMajor(data, n, n), B: byColumns(data, n, n), beta: 0, C }, { path }, "ordinary");
        expect(names).not.toContain("entries");
      }
  });

  test("factors of which too much would be cut are left to windows", async () => {
    const spread = Float64Array.from({ length: 400 }, () => random.signed() * 2 ** (random.below(800) - 400));
    const C = rowMajor(new Float64Array(400), 20, 20);
    const B = rowMajor(numbers("binary64", 400), 20, 20);
    const names = await check({ alpha: 1, A: rowMajor(spread, 20, 20), B, beta: 0, C }, { path: "residues" }, "spread");
    expect(names).toContain("tiles");
    expect(names).not.toContain("combine");
  });

  test("without a dot product of bytes residues are the same", async () => {
    const changed = device as { hasPackedDot: boolean };
    const { hasPackedDot } = changed;
    changed.hasPackedDot = false;
    try {
      const [A, B] = [rowMajor(numbers("binary64", 300), 10, 30), rowMajor(numbers("binary64", 300), 30, 10)];
      const names = await check({ alpha: 1, A, B, beta: 0, C: rowMajor(new Float64Array(100), 10, 10) }, { path: "residues" }, "plain");
      expect(names).toContain("combine");
    } finally {
      changed.hasPackedDot = hasPackedDot;
    }
  });

  test.each([Number.NaN, 1 / 0, -1 / 0, 0, -0])("alpha %d", async (alpha) => {
    const A = rowMajor(Float64Array.of(1, -2, 0, 3, 0, 0), 3, 2);
    const B = rowMajor(Float64Array.of(1, 1 / 0, -1, 1, 0, 2), 2, 3);
    for (const beta of [0, 2])
      await check({ alpha, A, B, beta, C: rowMajor(numbers("binary64", 9), 3, 3) }, { path: "tiles" }, `beta ${beta}`);
  });

  test.each(["tiles", "entries"] as const)("%s: matrices larger than a binding are worked on in pieces", async (path) => {
    const { maxBindingBytes } = device;
    device.maxBindingBytes = 1024 + 256;
    try {
      for (const [left, right, into] of [
        [rowMajor, rowMajor, rowMajor],
        [byColumns, byColumns, byColumns],
        [byColumns, rowMajor, rowMajor],
      ])
        for (const format of FORMATS) {
          const [m, n, k] = [9, 30, 21];
          const [rows, cols] = path === "tiles" ? [m, n] : [n / 10, m];
          const [A, B] = [left?.(numbers(format, rows * k), rows, k), right?.(numbers(format, k * cols), k, cols)];
          const C = into?.(numbers(format, rows * cols), rows, cols);
          await check({ alpha: 1, A, B, beta: -1, C } as Product, { path }, `${format}, pieces`);
        }
    } finally {
      device.maxBindingBytes = maxBindingBytes;
    }
  });

  test("residues: so are their blocks", async () => {
    const { maxBindingBytes } = device;
    device.maxBindingBytes = 2 ** 17 + 256;
    try {
      const [m, n, k] = [133, 130, 5];
      const integers = (length: number) => Float32Array.from({ length }, () => random.below(2 ** 20) - 2 ** 19);
      const [A, B] = [rowMajor(integers(m * k), m, k), rowMajor(integers(k * n), k, n)];
      const names = await check({ alpha: 1, A, B, beta: 0, C: rowMajor(integers(m * n), m, n) }, { path: "residues" }, "blocks");
      expect(names.filter((name) => name === "combine")).toHaveLength(4);
    } finally {
      device.maxBindingBytes = maxBindingBytes;
    }
  });

  test.each(PATHS)("%s: residents with gaps and offsets, views of one array among them; what is between entries stays", async (path) => {
    for (const format of FORMATS) {
      const data = numbers(format, 400);
      const view = (rows: number, cols: number, order: "row" | "column", ld: number, offset: number) =>
        stridedView(matrix(data, rows, cols, { order, ld, offset }));
      const [A, B] = [view(5, 7, "column", 6, 3), view(7, 6, "row", 9, 101)];
      const buffer = device.allocate("test", data.byteLength);
      device.write(buffer, data);
      const resident = DeviceArray.like(data, data.length, buffer);
      const want = data.slice();
      for (const [order, offset] of [
        ["row", 201],
        ["column", 301],
      ] as const) {
        const C = view(5, 6, order, 8, offset);
        reference.gemm(-3, { ...A, data: want }, { ...B, data: want }, 0.5, { ...C, data: want });
        const on = (M: StridedMatrix): StridedOperand => ({ ...M, data: resident });
        await launched({ alpha: -3, A: on(A), B: on(B), beta: 0.5, C: on(C) }, { path });
      }
      const got = data.slice();
      await device.read(buffer, got).later();
      expect(storedBits(got)).toEqual(storedBits(want));
      buffer.free();
    }
  });

  test("each size has its path", () => {
    const C = (rows: number, cols: number): StridedOperand => rowMajor({ BYTES_PER_ELEMENT: 8 } as Float64Array, rows, cols);
    expect(pathFor(device, C(64, 64), 64)).toBe("host");
    expect(pathFor(device, C(100, 100), 100)).toBe("tiles");
    expect(pathFor(device, C(1024, 1024), 64)).toBe("residues");
    expect(pathFor(device, C(1024, 1024), 2 ** 16 + 1)).toBe("tiles");
    expect(pathFor(device, C(16, 16), 2 ** 16)).toBe("entries");
    expect(pathFor(device, C(2, 2), device.maxBindingBytes / 4)).toBe("host");
  });
});

test("ranges of lines and rectangles of groups cover everything once", () => {
  for (const [total, max, unit] of [
    [1, 1, 1],
    [1000, 300, 128],
    [1000, 384, 128],
    [7, 100, 128],
    [10, 3, 1],
    [0, 5, 1],
  ] as const) {
    let next = 0;
    for (const { from, count } of rangesOf(total, max, unit)) {
      expect(from).toBe(next);
      expect(count).toBeGreaterThan(0);
      expect(count).toBeLessThanOrEqual(max);
      next += count;
    }
    expect(next).toBe(total);
  }
  for (const [rows, cols, atOnce] of [
    [3, 5, 100],
    [3, 5, 4],
    [7, 2, 5],
    [1, 1, 0],
    [2, 70000, 2 ** 20],
  ] as const) {
    const places: number[] = [];
    for (const { row, col, ...size } of rectanglesOf(rows, cols, atOnce)) {
      expect(size.rows * size.cols).toBeLessThanOrEqual(Math.max(1, atOnce));
      for (let i = row; i < row + size.rows; i++) for (let j = col; j < col + size.cols; j++) places.push(i * cols + j);
    }
    expect(new Set(places).size).toBe(places.length);
    expect(places).toHaveLength(rows * cols);
  }
});
