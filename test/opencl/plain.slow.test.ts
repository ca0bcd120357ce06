// Factorisation in ordinary arithmetic on a device. Factors of numbers with few bits, which no order of summation rounds, to the bit;
// solutions by their residuals.

import { afterAll, describe, expect, test } from "vitest";
import { EngineError } from "../../src/arrays/errors.ts";
import { rowMajor, type StridedOperand } from "../../src/arrays/matrix.ts";
import type { Format } from "../../src/arrays/types.ts";
import type { ApproximateFactors, ApproximateKernels } from "../../src/engines/approximate.ts";
import type { Work } from "../../src/engines/device.ts";
import { bufferOf } from "../../src/engines/deviceArray.ts";
import { keepMatrix, upload } from "../../src/engines/deviceMemory.ts";
import { inScope, type Scope } from "../../src/engines/deviceScope.ts";
import { openDevice } from "../../src/engines/opencl/device/device.ts";
import { kernelsOn } from "../../src/engines/opencl/index.ts";
import { factorize, onDevice, onDeviceWith, substitute } from "../../src/engines/opencl/solve/approximate.ts";
import type { ApproximateBlocking, ApproximateMatrix } from "../../src/engines/opencl/solve/lu.ts";
import { runSync } from "../../src/engines/steps.ts";
import { Random, type StridedMatrix } from "../../src/study.ts";
import { SEED } from "../effort.ts";

const device = await openDevice().catch(() => undefined);

const WAYS: Record<string, Partial<ApproximateBlocking>> = {
  "as it is chosen": {},
  "panels of 128, one group, with look-ahead": { panel: 128, resident: false, ahead: true },
  "panels of 32, in registers of one group": { panel: 32, group: 512, resident: true },
  "panels of 64, two groups that wait": { panel: 64, group: 256, resident: true, spins: 1 << 28 },
  "products in binary16": { tensorCores: true },
  "products in binary32": { tensorCores: false },
};

interface OnDevice extends ApproximateFactors {
  readonly matrix: ApproximateMatrix;
  readonly order: Int32Array;
}

afterAll(() => device?.close());

function run<R>(work: (scope: Scope) => Work<R>): R {
  if (!device) throw new Error("no device");
  return runSync(inScope(device, "solve", work));
}

const ones = (n: number): Float64Array => new Float64Array(n).fill(1);
const byRows = (data: Float64Array | Float32Array, n: number): StridedMatrix => ({
  data,
  offset: 0,
  rows: n,
  cols: n,
  rowStride: n,
  colStride: 1,
});

// L and U in one matrix with rows in some order: multipliers are quarters up to a half, or `ties` of a hundred 1 or -1, pivots are
// powers of two, so that every sum of products is a multiple of 1/4 below 2^14, and without ties every pivot is larger than what is
// below it. Many entries are 0, so that unknowns stay small.
function triangles(random: Random, n: number, ties = 0): Float64Array {
  return Float64Array.from({ length: n * n }, (_, e) => {
    const [i, j] = [Math.floor(e / n), e % n];
    const sign = random.below(2) === 0 ? -1 : 1;
    if (j < i) return random.below(100) < ties ? sign : random.below(3) > 0 ? 0 : (sign * (1 + random.below(2))) / 4;
    return j === i ? sign * 2 ** (3 + random.below(2)) : random.below(2) * sign * random.below(4);
  });
}

// Row order[i] is row i of L U.
function product(factors: Float64Array, n: number, order: Int32Array): Float64Array {
  const A = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    const row = A.subarray((order[i] as number) * n, (order[i] as number) * n + n);
    for (let k = 0; k <= i; k++) {
      const l = k === i ? 1 : (factors[i * n + k] as number);
      if (l !== 0) for (let j = k; j < n; j++) row[j] = (row[j] as number) + l * (factors[k * n + j] as number);
    }
  }
  return A;
}

function made(random: Random, n: number): { A: Float64Array; factors: Float64Array; order: Int32Array } {
  const factors = triangles(random, n);
  const order = Int32Array.from({ length: n }, (_, i) => i);
  for (let i = n - 1; i > 0; i--) {
    const other = random.below(i + 1);
    [order[i], order[other]] = [order[other] as number, order[i] as number];
  }
  return { A: product(factors, n, order), factors, order };
}

// The factors as they are on the device, without the padding.
function read({ matrix, n }: OnDevice): Float64Array {
  if (!device) throw new Error("no device");
  const { size, ld, data, real } = matrix;
  const all = real === "double" ? new Float64Array(size * ld) : new Float32Array(size * ld);
  device.read(data, all).now?.();
  return Float64Array.from({ length: n * n }, (_, e) => all[Math.floor(e / n) * ld + (e % n)] as number);
}

function expectSame(got: Float64Array, want: Float64Array, n: number, label: string): void {
  const at = got.findIndex((v, e) => v !== want[e]);
  if (at >= 0) expect.fail(`${label}: entry (${Math.floor(at / n)}, ${at % n}) is ${got[at]}, not ${want[at]}`);
}

// The largest residual of a solution against what rounding errors of a factorisation in that format may make of it.
function residual(A: Float64Array, n: number, x: Float64Array, b: Float64Array, k: number, format: Format): number {
  let worst = 0;
  for (let i = 0; i < n; i++)
    for (let c = 0; c < k; c++) {
      let [r, size] = [b[i * k + c] as number, Math.abs(b[i * k + c] as number)];
      for (let j = 0; j < n; j++) {
        const term = (A[i * n + j] as number) * (x[j * k + c] as number);
        r -= term;
        size += Math.abs(term);
      }
      worst = Math.max(worst, Math.abs(r) / size);
      if (Number.isNaN(r)) return Number.NaN;
    }
  if (n === 0) return 0;
  return worst / (n * (format === "binary64" ? 2 ** -53 : 2 ** -24));
}

describe.skipIf(!device)(`plain factorisation on a device${device ? "" : " (no OpenCL device on this machine)"}`, () => {
  const SIZES = [0, 1, 2, 31, 32, 33, 127, 128, 129, 200, 257, 300];
  for (const [way, how] of Object.entries(WAYS))
    for (const format of ["binary32", "binary64"] as const)
      test(`factors and unknowns, ${format}, ${way}`, () => {
        for (const n of how.resident ? SIZES.filter((n) => [1, 33, 128, 300].includes(n)) : SIZES) {
          const random = new Random(SEED + n);
          const { A, factors, order } = made(random, n);
          const k = [1, 3, 2, 0][n % 4] as number;
          const label = `n = ${n}, k = ${k}, ${format}, ${way}, HALFULP_SEED=${SEED}`;
          const b = Float64Array.from({ length: n * k }, () => random.below(1001) - 500);
          const [x, again] = [new Float64Array(n * k), new Float64Array(n * k)];
          const got = run((scope) => factorize(scope, byRows(A, n), { rows: ones(n), cols: ones(n) }, format, b, k, x, how)) as OnDevice;
          expect(got.column, label).toBe(-1);
          expect(Array.from(got.order), label).toEqual(Array.from(order));
          expectSame(read(got), factors, n, label);
          const sizes = Array.from({ length: n }, (_, i) => Math.abs(factors[i * n + i] as number));
          expect([got.minPivot, got.maxPivot], label).toEqual([Math.min(...sizes), Math.max(0, ...sizes)]);
          run((scope) => substitute(scope, got, b, k, again));
          expect(residual(A, n, x, b, k, format), label).toBeLessThan(1);
          expect(residual(A, n, again, b, k, format), label).toBeLessThan(1);
          got.free();
        }
      });

  test("random systems, both orders, with scaling", () => {
    for (const [n, k] of [
      [5, 1],
      [100, 2],
      [190, 1],
    ] as const) {
      const random = new Random(SEED + n);
      const A = Float64Array.from({ length: n * n }, () => random.below(2 ** 30) / 2 ** 30 - 0.5);
      const rows = Float64Array.from({ length: n }, () => 2 ** (random.below(9) - 4));
      const cols = Float64Array.from({ length: n }, () => 2 ** (random.below(9) - 4));
      const scaled = A.map((v, e) => v * (rows[Math.floor(e / n)] as number) * (cols[e % n] as number));
      const b = Float64Array.from({ length: n * k }, () => random.below(2 ** 30) / 2 ** 30 - 0.5);
      const flipped = A.map((_, e) => A[(e % n) * n + Math.floor(e / n)] as number);
      for (const entries of [byRows(A, n), { ...byRows(flipped, n), rowStride: 1, colStride: n }])
        for (const [format, how] of [
          ["binary32", {}],
          ["binary32", { tensorCores: true }],
          ["binary64", {}],
        ] as const) {
          const x = new Float64Array(n * k);
          const got = run((scope) => factorize(scope, entries, { rows, cols }, format, b, k, x, how));
          const label = `n = ${n}, ${format}, ${JSON.stringify(how)}, HALFULP_SEED=${SEED}`;
          expect(residual(scaled, n, x, b, k, format), label).toBeLessThan(4);
          got.free();
        }
    }
  });

  test("of equal candidates the first is the pivot", () => {
    // Rows 2t and 2t + 1 have changed places, and at most those after both of them are as large as 2t in its column.
    const n = 140;
    const factors = triangles(new Random(SEED), n, 20);
    for (let i = 0; i < n; i += 2) factors[(i + 1) * n + i] = 0;
    const order = Int32Array.from({ length: n }, (_, i) => i ^ 1);
    const A = product(factors, n, order);
    const none = new Float64Array(0);
    for (const [way, how] of Object.entries(WAYS)) {
      const got = run((scope) =>
        factorize(scope, byRows(A, n), { rows: ones(n), cols: ones(n) }, "binary32", none, 0, none, how),
      ) as OnDevice;
      expect(Array.from(got.order), `${way}, HALFULP_SEED=${SEED}`).toEqual(Array.from(order));
      expectSame(read(got), factors, n, `${way}, HALFULP_SEED=${SEED}`);
      got.free();
    }
  });

  test("a column of zeros, NaN and overflow end the work there", () => {
    const n = 150;
    const { A } = made(new Random(SEED), n);
    const cases: [string, number, (data: Float64Array) => void, Format][] = [];
    for (const column of [0, 40, 127, 149]) {
      const zero = (data: Float64Array) => {
        for (let i = 0; i < n; i++) data[i * n + column] = 0;
      };
      cases.push(["zeros", column, zero, "binary32"], ["zeros", column, zero, "binary64"]);
      const put = (v: number) => (data: Float64Array) => {
        data[100 * n + column] = v;
      };
      cases.push(
        ["NaN", column, put(Number.NaN), "binary32"],
        ["overflow", column, put(1e300), "binary32"],
        ["NaN", column, put(Number.NaN), "binary64"],
      );
    }
    for (const [way, how] of Object.entries(WAYS))
      for (const [what, column, change, format] of cases) {
        const data = A.slice();
        change(data);
        const x = new Float64Array(n).fill(7);
        const got = run((scope) => factorize(scope, byRows(data, n), { rows: ones(n), cols: ones(n) }, format, ones(n), 1, x, how));
        expect(got.column, `${what} in column ${column}, ${format}, ${way}, HALFULP_SEED=${SEED}`).toBe(column);
        expect(x).toEqual(new Float64Array(n).fill(7));
        got.free();
      }
  });

  test("groups that wait in vain: another way is taken", () => {
    const n = 300;
    const { A, factors } = made(new Random(SEED), n);
    const b = ones(n);
    const [x, again] = [new Float64Array(n), new Float64Array(n)];
    let attempts = 0;
    const how = { panel: 32, group: 64, resident: true, spins: 0, after: (phase: string) => void (phase === "convert" && attempts++) };
    const never = onDeviceWith(0);
    const got = run((scope) =>
      factorize(scope, byRows(A, n), { rows: ones(n), cols: ones(n) }, "binary32", b, 1, x, how, never),
    ) as OnDevice;
    expect(attempts).toBe(2);
    expectSame(read(got), factors, n, `HALFULP_SEED=${SEED}`);
    run((scope) => substitute(scope, got, b, 1, again, never));
    const want = new Float64Array(n);
    run((scope) => substitute(scope, got, b, 1, want, onDevice));
    for (let i = 0; i < n; i++) {
      expect(Math.abs((x[i] as number) - (want[i] as number))).toBeLessThan(1e-2 * (1 + Math.abs(want[i] as number)));
      expect(Math.abs((again[i] as number) - (want[i] as number))).toBeLessThan(1e-2 * (1 + Math.abs(want[i] as number)));
    }
    got.free();
  });

  test("numbers that are too large for binary16: products in binary32", () => {
    const n = 300;
    const { A, factors } = made(new Random(SEED), n);
    const [large, wanted] = [A.map((v) => v * 2 ** 12), factors.map((v, e) => (Math.floor(e / n) <= e % n ? v * 2 ** 12 : v))];
    let attempts = 0;
    const how = { tensorCores: true, after: (phase: string) => void (phase === "convert" && attempts++) };
    const x = new Float64Array(n);
    const got = run((scope) =>
      factorize(scope, byRows(large, n), { rows: ones(n), cols: ones(n) }, "binary32", ones(n), 1, x, how),
    ) as OnDevice;
    expect(attempts).toBe(2);
    expect(got.column).toBe(-1);
    expectSame(read(got), wanted, n, `HALFULP_SEED=${SEED}`);
    expect(residual(large, n, x, ones(n), 1, "binary32")).toBeLessThan(1);
    got.free();
  });

  test("memory that is refused", () => {
    if (!device) return;
    const n = 64;
    const { A } = made(new Random(SEED), n);
    const { maxBufferBytes } = device;
    device.maxBufferBytes = 8 * n * n + 100; // enough for the matrix
    const attempt = () =>
      run((scope) => factorize(scope, byRows(A, n), { rows: ones(n), cols: ones(n) }, "binary32", ones(n), 1, new Float64Array(n)));
    try {
      expect(attempt).toThrow(EngineError);
      expect(attempt).toThrow(/solve: \d+ bytes are more than/);
    } finally {
      device.maxBufferBytes = maxBufferBytes;
    }
    const got = attempt();
    expect(got.column).toBe(-1);
    got.free();
  });

  test("magnitudes of rows and columns", () => {
    if (!device) return;
    const plain = kernelsOn(device).approximate as ApproximateKernels;
    const random = new Random(SEED);
    for (const [rows, cols] of [
      [0, 0],
      [1, 1],
      [33, 33],
      [130, 257],
    ] as const)
      for (const across of [false, true])
        for (const single of [false, true]) {
          const numbers = Float64Array.from({ length: rows * cols }, () => random.below(2001) - 1000);
          if (rows > 2) numbers[2 * cols + 1] = Number.NaN;
          const stored = across ? numbers.map((_, e) => numbers[(e % rows) * cols + Math.floor(e / rows)] as number) : numbers;
          const data = single ? Float32Array.from(stored) : stored;
          const A = { data, offset: 0, rows, cols, rowStride: across ? 1 : cols, colStride: across ? rows : 1 };
          const scale = Float64Array.from({ length: cols }, () => 2 ** random.below(5));
          const [sums, largest] = [new Float64Array(rows), new Float64Array(rows)];
          void plain.magnitudes("solve", A, scale, sums, largest);
          for (let i = 0; i < rows; i++) {
            const sizes = Array.from({ length: cols }, (_, j) => (scale[j] as number) * Math.abs(numbers[i * cols + j] as number));
            expect(sums[i]).toBe(sizes.reduce((a, v) => a + v, 0));
            expect(largest[i]).toBe(Math.max(...sizes));
          }
        }
  });

  test("what is kept", () => {
    if (!device) return;
    const data = Float64Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9);
    const fetched = (A: StridedOperand): number[] => {
      const copy = new Float64Array(9);
      device.read(bufferOf(A.data), copy).now?.();
      return Array.from({ length: 9 }, (_, e) => copy[A.offset + Math.floor(e / 3) * A.rowStride + (e % 3) * A.colStride] as number);
    };
    for (const lasting of [false, true]) {
      const kept = keepMatrix(device, "solve", { ...byRows(data, 3), rowStride: 1, colStride: 3 }, lasting);
      expect(kept.value.colStride).toBe(1);
      expect(fetched(kept.value)).toEqual([1, 4, 7, 2, 5, 8, 3, 6, 9]);
      kept.free();
      const { value: array, free } = upload(device, "test", data, 9, [[data, 0]]);
      const there = keepMatrix(device, "solve", rowMajor(array, 3, 3), lasting);
      expect(there.value.data === array).toBe(!lasting);
      expect(fetched(there.value)).toEqual(Array.from(data));
      there.free();
      expect(fetched(rowMajor(array, 3, 3))).toEqual(Array.from(data));
      free();
    }
  });
});
