// What the certificate of solve() is made of on the embedded engine, pools of threads and the reference: inverses of triangles, their
// weights, and products modulo a prime.

import { afterAll, describe, expect, it } from "vitest";
import type { StridedMatrix } from "../../src/arrays/matrix.ts";
import { Random } from "../../src/arrays/random.ts";
import type { ApproximateFactors, ApproximateInverses, ApproximateKernels } from "../../src/engines/approximate.ts";
import type { EngineMemory } from "../../src/engines/memory.ts";
import { approximateReference } from "../../src/engines/reference/approximate.ts";
import { reference } from "../../src/engines/reference/index.ts";
import { openThreads } from "../../src/engines/threads/backend.ts";
import type { ThreadKernels } from "../../src/engines/threads/index.ts";
import type { ArenaInverses } from "../../src/engines/wasm/approximate.ts";
import { load } from "../../src/engines/wasm/load.ts";

const SIZES = [1, 2, 3, 4, 5, 31, 63, 64, 65, 127, 128, 129, 133, 200];

const rows: { name: string; plain: ApproximateKernels; memory: EngineMemory; pool?: ThreadKernels }[] = [
  { name: "reference", plain: approximateReference, memory: reference.memory },
];
for (const variant of ["fma", "dekker"] as const) {
  const embedded = load(variant);
  if (!embedded) continue;
  const pool = await openThreads(3, variant);
  rows.push(
    { name: `wasm-${variant}`, plain: embedded.approximate, memory: embedded.memory },
    { name: `threads-3-${variant}`, plain: pool.approximate, memory: pool.memory, pool },
  );
}
afterAll(async () => {
  for (const { pool } of rows) await pool?.close();
});

const matrixOf = (data: Float64Array, n: number): StridedMatrix => ({ data, offset: 0, rows: n, cols: n, rowStride: n, colStride: 1 });

// The packed triangles behind a handle, row by row.
function read(handle: ApproximateFactors | ApproximateInverses): Float64Array {
  if ("lu" in handle) return handle.lu as Float64Array;
  const { arena, at, shape } = handle as ArenaInverses;
  const n = shape.cols;
  return Float64Array.from({ length: n * n }, (_, e) => arena.binary64[(at + Math.floor(e / n) * shape.rowStride) / 8 + (e % n)] as number);
}

const entry = (packed: Float64Array, n: number, upper: boolean, i: number, j: number): number => {
  if (i === j && !upper) return 1;
  return (upper ? i <= j : i > j) ? (packed[i * n + j] as number) : 0;
};

// The largest of |T X - I| / (|T| |X|), in units of 2^-53: products and sums of few terms in binary64 are off by less than n of those.
function worst(T: Float64Array, X: Float64Array, n: number, upper: boolean): number {
  let most = 0;
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      let [sum, size] = [i === j ? -1 : 0, 0];
      for (let k = Math.min(i, j); k <= Math.max(i, j); k++) {
        const product = entry(T, n, upper, i, k) * entry(X, n, upper, k, j);
        sum += product;
        size += Math.abs(product);
      }
      if (sum !== 0) most = Math.max(most, Math.abs(sum) / size);
    }
  }
  return most * 2 ** 53;
}

describe.each(rows)("inverses of triangles, $name", ({ plain }) => {
  it.each(SIZES)("satisfy their bounds, and weights are sums of magnitudes, n = %i", async (n) => {
    const random = new Random(n);
    const data = Float64Array.from({ length: n * n }, () => random.signed() * 2 ** Math.floor(8 * random.signed()));
    const ones = new Float64Array(n).fill(1);
    const none = new Float64Array(0);
    const factors = await plain.factorize("test", matrixOf(data, n), { rows: ones, cols: ones }, "binary64", none, 0, none);
    const inverses = await plain.invert("test", factors);
    const [lu, inverse] = [read(factors), read(inverses)];
    for (const upper of [false, true]) {
      // gamma_n for the inverse, and as much again for the evaluation here.
      expect(worst(lu, inverse, n, upper)).toBeLessThan(2 * n + 2);
      for (const [handle, packed] of [[factors, lu] as const, [inverses, inverse] as const]) {
        const v = Float64Array.from({ length: n }, () => Math.abs(random.signed()));
        const out = new Float64Array(n);
        await plain.weigh("test", handle, upper ? "upper" : "lower", v, out);
        for (let i = 0; i < n; i++) {
          let sum = 0;
          for (let j = 0; j < n; j++) sum += Math.abs(entry(packed, n, upper, i, j)) * (v[j] as number);
          expect(Math.abs((out[i] as number) - sum)).toBeLessThanOrEqual((2 * n + 4) * 2 ** -53 * sum);
        }
      }
    }
    inverses.free();
    inverses.free();
    factors.free();
  });
});

describe.each(rows.filter(({ plain }) => plain.subtractModulo))("C - P Q modulo p, $name", ({ plain, memory }) => {
  it.each([
    [1, 1, 1],
    [3, 5, 2],
    [4, 4, 64],
    [33, 70, 63],
    [65, 61, 64],
    [130, 129, 17],
  ])("%i by %i, %i deep", async (rows, cols, depth) => {
    for (const p of [4194301, 8388593]) {
      const random = new Random(rows + p);
      const whole = (most: number): number => Math.round(random.signed() * most);
      const half = (p - 1) / 2;
      const extreme = (): number => (random.signed() > 0.5 ? half : random.signed() > 0.5 ? -half : whole(half));
      const data = Float64Array.from({ length: rows * cols }, () => whole(p));
      const P = Float64Array.from({ length: rows * depth }, extreme);
      const Q = Float64Array.from({ length: depth * cols }, extreme);
      const kept = await memory.keepMatrix("test", { data, offset: 0, rows, cols, rowStride: cols, colStride: 1 }, true);
      const C = kept.value as StridedMatrix;
      await plain.subtractModulo?.("test", C, P, Q, depth, p);
      for (let i = 0; i < rows; i++) {
        for (let j = 0; j < cols; j++) {
          let want = BigInt(data[i * cols + j] as number);
          for (let k = 0; k < depth; k++) want -= BigInt(P[i * depth + k] as number) * BigInt(Q[k * cols + j] as number);
          const got = C.data[C.offset + i * C.rowStride + j] as number;
          expect((BigInt(got) - want) % BigInt(p)).toBe(0n);
          expect(Math.abs(got)).toBeLessThanOrEqual(p);
        }
      }
      kept.free();
    }
  });
});
