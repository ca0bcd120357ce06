// What certificates and exact stages need of a device: inverses of factors, sums of magnitudes, products modulo a prime, residuals of
// whole numbers. Inverses by the bounds that are promised for them, everything else against exact arithmetic.

import { afterAll, describe, expect, test } from "vitest";
import { EngineError } from "../../src/arrays/errors.ts";
import type { ApproximateFactors, ApproximateInverses, ApproximateKernels } from "../../src/engines/approximate.ts";
import type { Work } from "../../src/engines/device.ts";
import { bufferOf } from "../../src/engines/deviceArray.ts";
import { keepMatrix, upload } from "../../src/engines/deviceMemory.ts";
import { inScope, type Scope } from "../../src/engines/deviceScope.ts";
import { type OpenclDevice, openDevice } from "../../src/engines/opencl/device/device.ts";
import { backendOn, kernelsOn } from "../../src/engines/opencl/index.ts";
import { factorize } from "../../src/engines/opencl/solve/approximate.ts";
import { invert, type StoredTriangles } from "../../src/engines/opencl/solve/inverse.ts";
import { runSync } from "../../src/engines/steps.ts";
import { exgemm, exgemv, matrix } from "../../src/index.ts";
import { Random, type StridedMatrix } from "../../src/study.ts";
import { SEED } from "../effort.ts";

const here = await openDevice().catch((error: Error) => error.message);
const seeded = `HALFULP_SEED=${SEED}`;

type Part = "lower" | "upper";
type Make = (n: number, random: Random) => Float64Array;

const fraction = (random: Random): number => random.below(2 ** 30) / 2 ** 30;
const filled = (n: number, entry: (i: number, j: number) => number): Float64Array =>
  Float64Array.from({ length: n * n }, (_, e) => entry(Math.floor(e / n), e % n));

// Unit lower, and less than 1 below the diagonal, so that it is its own L. The inverse of a diagonal block T grows like 1.7^n; what is to
// the left of T is T S, so that the inverse there is -S. Multiplied by T^-1 rather than solved with T that would be far off.
function growing(n: number, random: Random): Float64Array {
  const S = filled(n, () => random.signed() / 512);
  const entry = (i: number, j: number): number => (i === j ? 1 : i < j ? 0 : -0.5 - fraction(random) / 2.1);
  const T = filled(n, (i, j) => (i >= 128 && j < 128 ? 0 : i < 128 && i !== j ? 0 : entry(i, j)));
  for (let i = 128; i < n; i++)
    for (let j = 0; j < 128; j++)
      for (let k = 128; k <= i; k++) T[i * n + j] = (T[i * n + j] as number) + (T[i * n + k] as number) * (S[k * n + j] as number);
  return T;
}

const MATRICES: Record<string, Make> = {
  random: (n, random) => filled(n, () => random.signed()),
  graded: (n, random) => filled(n, (i, j) => random.signed() * 2 ** Math.round((40 * (i - 2 * j)) / n)),
  "lower with large inverses of blocks": growing,
  "upper with large inverses of blocks": (n, random) => growing(n, random).reverse(),
  "upper and graded": (n, random) => filled(n, (i, j) => (i > j ? 0 : (i === j ? 1.25 : -fraction(random) * 1.5) * 2 ** ((i * 7) % 23))),
};

// Higham's gamma, rounded up.
const gamma = (n: number): number => (n * 2 ** -53 * (1 + 2 ** -50)) / (1 - n * 2 ** -53);

describe.skipIf(typeof here === "string")(`inverses on a device${typeof here === "string" ? ` (${here})` : ""}`, () => {
  const device = here as OpenclDevice;
  afterAll(() => device.close());
  const run = <R>(work: (scope: Scope) => Work<R>): R => runSync(inScope(device, "solve", work));
  const plain = typeof here === "string" ? ({} as ApproximateKernels) : (kernelsOn(device).approximate as ApproximateKernels);
  const buffers = (): number => (device as unknown as { buffers: Set<unknown> }).buffers.size;

  function factorsOf(n: number, make: Make, k = 0): ApproximateFactors {
    const data = make(n, new Random(SEED + n));
    const A = { data, offset: 0, rows: n, cols: n, rowStride: n, colStride: 1 };
    const ones = new Float64Array(n).fill(1);
    const [b, x] = [new Float64Array(n * k), new Float64Array(n * k)];
    const factors = run((scope) => factorize(scope, A, { rows: ones, cols: ones }, "binary64", b, k, x));
    expect(factors.column, `n = ${n}, ${seeded}`).toBe(-1);
    return factors;
  }

  // One of the triangles, with zeros in the other and the ones of the lower one.
  function read(triangles: ApproximateFactors | ApproximateInverses, part: Part): Float64Array {
    const { n, ld, data } = (triangles as ApproximateInverses & StoredTriangles).matrix;
    const all = new Float64Array(data.bytes / 8);
    device.read(data, all).now?.();
    return Float64Array.from({ length: n * n }, (_, e) => {
      const [i, j] = [Math.floor(e / n), e % n];
      if (i === j && part === "lower") return 1;
      return (part === "lower" ? j < i : j >= i) ? (all[i * ld + j] as number) : 0;
    });
  }

  // The first entry with |T X - I| > gamma_n |T| |X|, exactly but for the last rounding of both sides.
  function firstBeyond(T: Float64Array, X: Float64Array, n: number): string | undefined {
    const identity = Float64Array.from({ length: n * n }, (_, e) => (e % (n + 1) === 0 ? 1 : 0));
    const left = exgemm(1, matrix(T, n, n), matrix(X, n, n), -1, matrix(identity, n, n)).data;
    const right = exgemm(1, matrix(T.map(Math.abs), n, n), matrix(X.map(Math.abs), n, n), 0, matrix(new Float64Array(n * n), n, n)).data;
    const at = left.findIndex((v, e) => !(Math.abs(v) <= gamma(n) * (right[e] as number)));
    return at < 0 ? undefined : `entry (${Math.floor(at / n)}, ${at % n}) is off by ${left[at]}, not ${gamma(n) * (right[at] as number)}`;
  }

  for (const [name, make] of Object.entries(MATRICES))
    test(`L X = I and U Y = I within their bounds, ${name}`, () => {
      for (const n of [0, 1, 2, 31, 127, 128, 129, 300]) {
        const factors = factorsOf(n, make, n % 3);
        const inverses = plain.invert("solve", factors) as ApproximateInverses;
        expect(inverses.n).toBe(n);
        for (const part of ["lower", "upper"] as const)
          expect(firstBeyond(read(factors, part), read(inverses, part), n), `n = ${n}, ${part}, ${seeded}`).toBeUndefined();
        factors.free();
        inverses.free();
      }
    });

  test("the width of tiles does not matter", () => {
    const n = 500;
    const factors = factorsOf(n, MATRICES.random as Make);
    const all = [128, 64, 32].map((width) => run((scope) => invert(scope, factors, width)));
    for (const part of ["lower", "upper"] as const) {
      const [first, ...others] = all.map((inverses) => read(inverses, part)) as [Float64Array, ...Float64Array[]];
      for (const other of others) expect(other.findIndex((v, e) => v !== first[e])).toBe(-1);
      expect(firstBeyond(read(factors, part), first, n), `${part}, ${seeded}`).toBeUndefined();
    }
    factors.free();
    for (const inverses of all) inverses.free();
  });

  test("factors that are freed leave their inverses, and the asynchronous engine gives the same", async () => {
    const factors = factorsOf(200, MATRICES.random as Make);
    const inverses = [plain.invert("solve", factors), await (backendOn(device).approximate as ApproximateKernels).invert("solve", factors)];
    factors.free();
    const again = factorsOf(200, MATRICES.random as Make); // likely in the same memory
    const bits = inverses.map((found) => read(found as ApproximateInverses, "upper"));
    expect(bits[0]).toEqual(bits[1]);
    expect(firstBeyond(read(again, "upper"), bits[0] as Float64Array, 200), seeded).toBeUndefined();
    again.free();
    for (const found of inverses) (found as ApproximateInverses).free();
  });

  test("weights of factors and inverses are right but for n + 2 roundings", () => {
    const random = new Random(SEED);
    for (const n of [0, 1, 2, 127, 129, 300]) {
      const factors = factorsOf(n, MATRICES.random as Make, 1);
      const inverses = plain.invert("solve", factors) as ApproximateInverses;
      for (const triangles of [factors, inverses])
        for (const part of ["lower", "upper"] as const) {
          const v = Float64Array.from({ length: n }, () => fraction(random) * 2 ** random.below(20));
          const out = new Float64Array(n).fill(Number.NaN);
          void plain.weigh("solve", triangles, part, v, out);
          const want = exgemv(1, matrix(read(triangles, part).map(Math.abs), n, n), v, 0, new Float64Array(n));
          for (let i = 0; i < n; i++) {
            const error = Math.abs((out[i] as number) - (want[i] as number));
            expect(error, `n = ${n}, ${part}, row ${i}, ${seeded}`).toBeLessThanOrEqual((n + 2) * 2 ** -53 * (want[i] as number));
          }
        }
      factors.free();
      inverses.free();
    }
  });

  test.each([4194301, 8388593, 7])("C - P Q modulo %i", (p) => {
    const random = new Random(SEED);
    const half = (p - 1) / 2;
    const largest = (): number => half;
    const signed = (): number => random.below(p) - half;
    for (const [rows, cols, depth, gap] of [
      [0, 3, 1, 0],
      [1, 1, 1, 0],
      [1, 1, 0, 0],
      [64, 64, 64, 0],
      [63, 65, 64, 3],
      [130, 70, 17, 1],
      [5, 200, 33, 58],
    ] as const)
      for (const entry of [signed, largest])
        for (const type of [Float64Array, Float32Array])
          for (const isAcross of [false, true]) {
            const [P, Q] = [Float64Array.from({ length: rows * depth }, entry), Float64Array.from({ length: depth * cols }, entry)];
            const [offset, step] = [gap, (isAcross ? rows : cols) + gap];
            const [rowStride, colStride] = isAcross ? [1, step] : [step, 1];
            const data = new type(offset + step * (isAcross ? cols : rows)).fill(2 * p); // of what is not C, nothing changes
            const want = Array.from(data);
            const at = (i: number, j: number): number => offset + i * rowStride + j * colStride;
            for (let i = 0; i < rows; i++)
              for (let j = 0; j < cols; j++) data[at(i, j)] = entry === signed ? random.below(2 * p + 1) - p : i % 2 ? p : -p;
            for (let i = 0; i < rows; i++)
              for (let j = 0; j < cols; j++) {
                let sum = BigInt(data[at(i, j)] as number);
                for (let t = 0; t < depth; t++) sum -= BigInt(P[i * depth + t] as number) * BigInt(Q[t * cols + j] as number);
                const rest = Number(((sum % BigInt(p)) + BigInt(p)) % BigInt(p));
                want[at(i, j)] = rest > half ? rest - p : rest;
              }
            const { value: array, free } = upload(device, "test", data, data.length, [[data, 0]]);
            const C = { data: array, offset, rows, cols, rowStride, colStride };
            const kept = keepMatrix(device, "solve", C, false);
            void plain.subtractModulo?.("solve", kept.value, P, Q, depth, p);
            const got = data.slice();
            device.read(bufferOf(kept.value.data), got).now?.();
            const wrong = got.findIndex((v, e) => v !== want[e]);
            const label = `${rows} by ${cols}, depth ${depth}, ${type.name}, ${seeded}`;
            if (wrong >= 0) expect.fail(`${label}: element ${wrong} is ${got[wrong]}, not ${want[wrong]}`);
            free();
          }
  });

  test("a C that is not on the device is refused", () => {
    const C = { data: new Float64Array(1), offset: 0, rows: 1, cols: 1, rowStride: 1, colStride: 1 };
    expect(() => plain.subtractModulo?.("solve", C, new Float64Array(1), new Float64Array(1), 1, 7)).toThrow(EngineError);
  });

  test("residuals of whole numbers are exact, whatever the shape", () => {
    const random = new Random(SEED);
    const whole = (bits: number) => (): number => random.below(2 ** bits) - 2 ** (bits - 1);
    for (const [rows, cols] of [
      [0, 4],
      [1, 5],
      [70, 33],
      [33, 200],
      [129, 129],
    ] as const)
      for (const k of [1, 2, 3, 4, 6])
        for (const type of [Float64Array, Float32Array])
          for (const isAcross of [false, true]) {
            const alpha = k % 2 ? -1 : 2;
            const data = new type(rows * cols).map(whole(22));
            const [rowStride, colStride] = isAcross ? [1, rows] : [cols, 1];
            const x = Float64Array.from({ length: cols * k }, whole(22));
            const b = Float64Array.from({ length: rows * k }, whole(50));
            const want = b.map((v, e) => {
              let sum = BigInt(v);
              for (let j = 0; j < cols; j++)
                sum +=
                  BigInt(alpha) *
                  BigInt(data[Math.floor(e / k) * rowStride + j * colStride] as number) *
                  BigInt(x[j * k + (e % k)] as number);
              return Number(sum);
            });
            const A: StridedMatrix = { data, offset: 0, rows, cols, rowStride, colStride };
            for (const there of [undefined, keepMatrix(device, "solve", A, true)]) {
              const r = new Float64Array(rows * k).fill(Number.NaN);
              void plain.residual?.("solve", alpha, there?.value ?? A, x, b, k, r);
              expect(r, `${rows} by ${cols}, k = ${k}, ${seeded}`).toEqual(want);
              there?.free();
            }
          }
  });

  test("memory that is refused: an error, and nothing is kept", () => {
    const n = 200;
    const factors = factorsOf(n, MATRICES.random as Make);
    const P = new Float64Array(n);
    const data = new Float64Array(n * n);
    const { value: A, free } = keepMatrix(device, "solve", { data, offset: 0, rows: n, cols: n, rowStride: n, colStride: 1 }, true);
    const { maxBufferBytes } = device;
    const before = buffers();
    const calls: Record<string, [most: number, call: () => unknown]> = {
      invert: [8 * 256 * 256 - 1, () => plain.invert("solve", factors)],
      weigh: [8 * n - 1, () => plain.weigh("solve", factors, "lower", P, new Float64Array(n))],
      subtractModulo: [8 * n, () => plain.subtractModulo?.("solve", A, P, new Float64Array(2 * n), 1, 7)],
      residual: [8 * n, () => plain.residual?.("solve", 1, A, P, P, 1, new Float64Array(n))],
    };
    for (const [name, [most, call]] of Object.entries(calls)) {
      device.maxBufferBytes = most;
      try {
        expect(call, name).toThrow(EngineError);
        expect(call, name).toThrow(/solve: \d+ bytes are more than/);
      } finally {
        device.maxBufferBytes = maxBufferBytes;
      }
      expect(buffers(), name).toBe(before);
      const done = call() as ApproximateInverses | undefined;
      done?.free();
      expect(buffers(), name).toBe(before);
    }
    free();
    factors.free();
  });
});
