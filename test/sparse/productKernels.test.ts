// The kernels of sparse products and of the vector updates of the iterative solvers in WebAssembly, on the calling thread and on pools,
// against the reference engine, to the bit: random bit patterns, ties, cancellation, extreme exponents, special values.
import { afterAll, describe, expect, test } from "vitest";
import type { HostOperator, VectorOperations } from "../../src/engines/hostKrylov.ts";
import type { Combination } from "../../src/engines/kernels.ts";
import type { KrylovKernels } from "../../src/engines/krylov.ts";
import { combine, reference } from "../../src/engines/reference/index.ts";
import { load } from "../../src/engines/wasm/load.ts";
import { allocate, exspmv, free, laplacian, type Real } from "../../src/index.ts";
import { openThreads, Random } from "../../src/study.ts";
import { cases, FULL, SEED } from "../effort.ts";
import { assemble } from "../generators.ts";
import { storedBits } from "../hex.ts";

const STYLES = ["bits", "integers", "unit", "halves", "wide", "subnormal", "huge", "ones", "edges", "special"] as const;
type Style = (typeof STYLES)[number];
const pick = <T>(random: Random, list: readonly T[]): T => list[random.below(list.length)] as T;

function number(random: Random, style: Style, single: boolean): number {
  const bits = (field: number) => assemble(random.below(2), field, random.word() >>> 12, random.word() >>> 0);
  const [low, high] = single ? [874, 1150] : [0, 2046];
  switch (style) {
    case "bits":
      return bits(low + random.below(high - low + 1));
    case "integers":
      return random.below(17) - 8;
    case "unit":
      return random.signed();
    case "halves": // sums of these are ties, or nearly
      return (
        (random.below(2) ? 1 : -1) * (1 + pick(random, [0, 2 ** -52, 2 ** -23, 2 ** -24, 1 - 2 ** -52])) * 2 ** (random.below(3) * -53)
      );
    case "wide":
      return random.signed() * 2 ** (random.below(120) - 60);
    case "subnormal":
      return random.signed() * (single ? 2 ** -130 : 2 ** -1030);
    case "huge":
      return (
        (random.below(2) ? 1 : -1) * pick(random, single ? [3.4028234663852886e38, 2 ** 127] : [Number.MAX_VALUE, 2 ** 1023, 2 ** 970])
      );
    case "ones":
      return 2 - 2 ** -52; // all ones
    case "edges": // products of moderate size with a factor whose split overflows
      return single ? 2 : pick(random, [Number.MAX_VALUE, -Number.MAX_VALUE, 2 ** -1000, -(2 ** -1001)]);
    case "special":
      return pick(random, [Number.NaN, Infinity, -Infinity, 0, -0, 1, -1, Number.MAX_VALUE]);
  }
}

function vector(random: Random, n: number, single: boolean): Real {
  const styles = Array.from({ length: 1 + random.below(2) }, () => pick(random, STYLES.slice(0, random.below(6) === 0 ? 10 : 9)));
  const x = single ? new Float32Array(n) : new Float64Array(n);
  for (let i = 0; i < n; i++) x[i] = random.below(12) === 0 ? pick(random, [0, -0]) : number(random, pick(random, styles), single);
  return x;
}

// Rows of any length, in any order, and sometimes a pair of entries that cancel.
function operator(random: Random, single: boolean): { A: HostOperator; x: Real } {
  const [rows, cols] = [random.below(40), random.below(40)];
  const byRows = random.below(2) === 0;
  const [lines, length] = byRows ? [rows, cols] : [cols, rows];
  const pointers = new Int32Array(lines + 1);
  const indices: number[] = [];
  const density = pick(random, [0.05, 0.2, 0.5, 1]);
  for (let l = 0; l < lines; l++) {
    const own = Array.from({ length }, (_, k) => k).filter(() => random.below(1000) < 1000 * density);
    if (random.below(2)) own.reverse();
    if (random.below(8) > 0) indices.push(...own);
    pointers[l + 1] = indices.length;
  }
  const values = vector(random, indices.length, single);
  const x = vector(random, cols, single);
  if (byRows && random.below(2))
    for (let l = 0; l < lines; l++) {
      const [from, to] = [pointers[l] as number, pointers[l + 1] as number];
      for (let p = from; p + 2 < to; p += 2) {
        values[p + 1] = -(values[p] as number);
        x[indices[p + 1] as number] = x[indices[p] as number] as number;
      }
    }
  return { A: { rows, cols, byRows, pointers, indices: Int32Array.from(indices), values }, x };
}

const SCALARS = [1, -1, 1, -1, 0, -0, 0.3, -7, 2 ** 600, 2 ** -1060, Number.MAX_VALUE, Infinity, -Infinity, Number.NaN];

interface Engine {
  readonly spmv: (alpha: number, A: HostOperator, x: Real, beta: number, y: Real) => void | Promise<void>;
  readonly krylov: KrylovKernels;
}
const pools = await Promise.all(
  (FULL ? [1, 2, 3, 5, 8, 16] : [1, 3]).flatMap((threads) =>
    (["fma", "dekker"] as const).map(async (variant) => ({
      name: `${threads} threads, ${variant}`,
      engine: await openThreads(threads, variant),
    })),
  ),
);
afterAll(() => Promise.all(pools.map(({ engine }) => engine.close())));
const local = (["fma", "dekker"] as const).flatMap((variant) => {
  const engine = load(variant);
  return engine ? [{ name: `wasm-${variant}`, engine: engine as Engine, every: 1 }] : [];
});
const ENGINES = [...local, ...pools.map(({ name, engine }) => ({ name, engine: engine as Engine, every: 4 }))];

const expected = (alpha: number, A: HostOperator, x: Real, beta: number, y: Real): Real => {
  const out = y.slice();
  reference.spmv(alpha, A, x, beta, out);
  return out;
};

interface Product {
  readonly alpha: number;
  readonly A: HostOperator;
  readonly x: Real;
  readonly beta: number;
  readonly y: Real;
  readonly want: Real;
}
// Rows of up to 90,000 entries, and the transpose. The reference takes a while for them: once for all engines.
let long: Product[] | undefined;
function longProducts(): Product[] {
  if (long) return long;
  long = [];
  const random = new Random(SEED);
  const [rows, cols] = [7, 90_000];
  const lengths = [0, 90_000, 3, 40_000, 1, 70_001, 20_000];
  const pointers = Int32Array.from([0, ...lengths.map((_, i) => lengths.slice(0, i + 1).reduce((a, b) => a + b))]);
  const indices = Int32Array.from(lengths.flatMap((n) => Array.from({ length: n }, (_, k) => cols - 1 - k)));
  for (const style of ["unit", "wide", "integers", "bits"] as const) {
    const values = Float64Array.from(indices, () => number(random, style, false));
    const factors = Float64Array.from({ length: cols }, () => number(random, style === "bits" ? "bits" : "unit", false));
    const [alpha, beta] = style === "wide" ? [0.3, -2] : [-1, 1];
    for (const A of [
      { rows, cols, byRows: true, pointers, indices, values },
      { rows: cols, cols: rows, byRows: false, pointers, indices, values },
    ]) {
      const x = factors.subarray(0, A.cols);
      const y = Float64Array.from({ length: A.rows }, () => random.signed());
      long.push({ alpha, A, x, beta, y, want: expected(alpha, A, x, beta, y) });
    }
  }
  return long;
}

describe.each(ENGINES)("$name", ({ engine, every }) => {
  test("random products have the bits of the reference", async () => {
    for (let k = 0; k < cases(20_000, 3000) / every; k++) {
      const random = new Random(SEED + k);
      const single = random.below(3) === 0;
      const { A, x } = operator(random, single);
      const y = vector(random, A.rows, single);
      const alpha = random.below(4) ? pick(random, [1, -1]) : pick(random, SCALARS);
      const beta = random.below(4) ? pick(random, [0, 1, -1]) : pick(random, SCALARS);
      const want = expected(alpha, A, x, beta, y);
      await engine.spmv(alpha, A, x, beta, y);
      expect(storedBits(y), `HALFULP_SEED=${SEED} case ${k}: alpha ${alpha}, beta ${beta}`).toEqual(storedBits(want));
    }
  });

  test("products of rows and columns that exceed a chunk, by rows and by columns", async () => {
    for (const { alpha, A, x, beta, y, want } of longProducts()) {
      const out = y.slice();
      await engine.spmv(alpha, A, x, beta, out);
      expect(storedBits(out)).toEqual(storedBits(want));
    }
  });

  test("a matrix by columns all of whose rows cancel", async () => {
    const random = new Random(SEED + 1);
    const [rows, cols] = [3000, 60];
    const pointers = Int32Array.from({ length: cols + 1 }, (_, j) => j * rows);
    const indices = Int32Array.from({ length: rows * cols }, (_, p) => p % rows);
    const values = new Float64Array(rows * cols);
    for (let p = 0; p < rows * (cols / 2); p++) {
      values[p] = random.signed();
      values[p + rows * (cols / 2)] = -(values[p] as number) * (1 + random.below(2) * 2 ** -50);
    }
    const A = { rows, cols, byRows: false, pointers, indices, values };
    const x = new Float64Array(cols).fill(0.7);
    const y = new Float64Array(rows);
    const want = expected(1, A, x, 0, y);
    await engine.spmv(1, A, x, 0, y);
    expect(storedBits(y)).toEqual(storedBits(want));
  });

  test("sums that differ from a tie by the last bit of one product, with short entries", async () => {
    // (2^20 + 1)(2^52 + 1) has four ones, the last 72 places after the first. The other entries cancel all but that one, next to 1 + 2^-53.
    const exponents = Array.from({ length: 60 }, (_, e) => e);
    const [n, cols] = [exponents.length, 3 * exponents.length];
    const x = Float64Array.from(
      exponents.flatMap((e) => [1, (2 ** 52 + 1) * 2 ** (-72 - e), -(2 ** -e + 2 ** (-e - 20) + 2 ** (-e - 52) - 2 ** -53)]),
    );
    const pointers = Int32Array.from({ length: n + 1 }, (_, i) => 3 * i);
    const indices = Int32Array.from({ length: cols }, (_, p) => p);
    for (const byRows of [true, false])
      for (const sign of [1, -1]) {
        const values = Float64Array.from(exponents.flatMap(() => [sign, sign * (2 ** 20 + 1), sign]));
        const lines = {
          pointers: Int32Array.from({ length: cols + 1 }, (_, j) => j),
          indices: Int32Array.from({ length: cols }, (_, p) => Math.floor(p / 3)),
        };
        const A = { rows: n, cols, byRows, values, ...(byRows ? { pointers, indices } : lines) };
        const y = new Float64Array(n);
        const want = expected(1, A, x, 0, y);
        for (let k = 0; k < 2; k++) {
          await engine.spmv(1, A, x, 0, y);
          expect(storedBits(y)).toEqual(storedBits(want));
        }
      }
  });

  test("exact sums with a factor whose split overflows", async () => {
    const n = 16;
    const pointers = Int32Array.from({ length: n + 1 }, (_, i) => 2 * i);
    const indices = Int32Array.from({ length: 2 * n }, (_, p) => p);
    const values = new Float64Array(2 * n).fill(Number.MAX_VALUE);
    const x = Float64Array.from(indices, (p) => 2 ** -1000 * (1 + (p % 2)));
    for (const byRows of [true, false]) {
      const A = { rows: byRows ? n : 2 * n, cols: byRows ? 2 * n : n, byRows, pointers, indices, values };
      const y = new Float64Array(A.rows);
      const want = expected(1, A, x.subarray(0, A.cols), 0, y);
      await engine.spmv(1, A, x.subarray(0, A.cols), 0, y);
      await engine.spmv(1, A, x.subarray(0, A.cols), 0, y);
      expect(storedBits(y)).toEqual(storedBits(want));
    }
  });

  test("updates of vectors have the bits of the reference", async () => {
    const random = new Random(SEED + 2);
    for (const n of [1, 2, 7, 1000, ...(FULL ? [200_001] : [40_001])]) {
      const A = {
        rows: n,
        cols: n,
        byRows: true,
        pointers: new Int32Array(n + 1),
        indices: new Int32Array(0),
        values: new Float64Array(0),
      };
      const system = {
        routine: "test",
        n,
        A,
        b: new Float64Array(n),
        x0: undefined,
        preconditioner: "none",
        vectors: 0,
        basis: 0,
        scalars: 0,
      } as const;
      const space = await engine.krylov.workspace(system, true);
      const { operations, vectors } = space as unknown as { operations: VectorOperations; vectors: Float64Array[] };
      const [x, y, z] = vectors as [Float64Array, Float64Array, Float64Array];
      for (const op of ["axpy", "invscal", "xpay", "direction", "quotient", "sum"] satisfies Combination[])
        for (let k = 0; k < (n > 1000 ? 1 : cases(200, 20)); k++) {
          for (const v of [x, y, z]) v.set(vector(random, n, false));
          const [a, b] = [number(random, pick(random, STYLES), false), number(random, pick(random, STYLES), false)];
          const want = y.slice();
          const aliased = op === "invscal" ? want : x;
          combine(op, a, b, aliased, want, z);
          await operations.combine(op, a, b, op === "invscal" ? y : x, y, z);
          expect(storedBits(y), `${op}, a ${a}, b ${b}`).toEqual(storedBits(want));
        }
      space.free();
    }
  });
});

test("a product of arrays that are all in engine memory copies nothing, and has the same bits", () => {
  const A = laplacian(20, 20, 20, 7);
  const inside = {
    ...A,
    pointers: allocate(A.pointers.length, "int32"),
    indices: allocate(A.indices.length, "int32"),
    values: allocate(A.values.length),
  };
  inside.pointers.set(A.pointers);
  inside.indices.set(A.indices);
  inside.values.set(A.values);
  const random = new Random(SEED);
  const x = allocate(A.cols).map(() => random.signed());
  const [u, v] = [allocate(A.cols), allocate(A.rows)];
  u.set(x);
  exspmv(1, inside, u, 0, v);
  expect(storedBits(v)).toEqual(storedBits(exspmv(1, A, x, 0, new Float64Array(A.rows))));
  for (const array of [inside.pointers, inside.indices, inside.values, u, v]) free(array);
});
