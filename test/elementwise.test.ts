// The routines that work element by element, on every engine: the operation of IEEE 754 on each element, rounded once.
import { describe, expect, test } from "vitest";
import type { Format, Real } from "../src/arrays/types.ts";
import { Random } from "../src/study.ts";
import { SEED, VECTORS } from "./effort.ts";
import { type AnyRoutines, describeEngines, SELECTED_ENGINES } from "./engines.ts";
import { KINDS, length, toSingle, vector } from "./generators.ts";
import { storedBits } from "./hex.ts";
import { type Exact, exactNumber, exactProduct, exactSum, round, roundRatio, units } from "./oracles/rational.ts";

type Name = "exscal" | "exinvscal" | "exaxpy";

// IEEE's operation on one element, from rational arithmetic; zeros and special values as IEEE 754 has them.
function want(name: Name, a: number, x: number, y: number, format: Format): number {
  const finite = Number.isFinite(a) && Number.isFinite(x);
  if (name === "exscal") return finite && a !== 0 && x !== 0 ? signed(round(exactProduct(a, x), "nearest", format), a * x) : a * x;
  if (name === "exinvscal")
    return finite && a !== 0 && x !== 0 ? signed(roundRatio(units(x) << 2148n, units(a), "nearest", format), x / a) : x / a;
  if (!finite || a === 0 || x === 0) return finite && !Number.isFinite(y) ? y : a * x + y;
  return round(exactSum([exactProduct(a, x), exactNumber(y)]) as Exact, "nearest", format);
}
// A result that underflows keeps the sign of the exact one.
const signed = (v: number, like: number): number => (v === 0 && (like < 0 || Object.is(like, -0)) ? -0 : v);

function run(name: Name, routines: AnyRoutines, a: number, x: Real, y: Real): Real | Promise<Real> {
  return name === "exaxpy" ? routines.exaxpy(a, x, y) : routines[name](a, x);
}

const COUNT = VECTORS / 25;
const SCALARS = [
  1,
  -1,
  0.5,
  1.5,
  3,
  1 / 3,
  0.1,
  2 ** -24,
  1 + 2 ** -24,
  2 ** 100,
  2 ** -600,
  1e308,
  5e-324,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  -0,
  0,
];

describe(`random elements, HALFULP_SEED=${SEED}`, () => {
  test.each(["exscal", "exinvscal", "exaxpy"] as const)(`%s of ${COUNT} vectors is IEEE 754's operation`, async (name) => {
    for (let k = 0; k < COUNT; k++) {
      const random = new Random(SEED * 2 ** 20 + k);
      const n = length(random) % 600;
      const kind = (): (typeof KINDS)[number] => KINDS[random.below(KINDS.length)] as (typeof KINDS)[number];
      const single = random.below(2) === 0;
      const wide = vector(random, n, kind());
      const other = vector(random, n, kind());
      const x: Real = single ? toSingle(random, wide) : wide;
      const y: Real = single ? toSingle(random, other) : other;
      const a = random.below(2) === 0 ? (SCALARS[random.below(SCALARS.length)] as number) : (vector(random, 1, kind())[0] as number);
      // Cancellation is where two roundings differ from one.
      if (name === "exaxpy") for (let i = 0; i < n; i += 3) y[i] = -(x[i] as number) * a;
      const format: Format = single ? "binary32" : "binary64";
      const expected = y.slice().map((v, i) => (name === "exaxpy" && a === 0 ? v : want(name, a, x[i] as number, v, format)));
      for (const { name: engine, routines, every } of SELECTED_ENGINES) {
        if (k % every !== 0) continue;
        const got = await run(name, routines, a, x.slice(), y.slice());
        for (let i = 0; i < n; i++) {
          if (!Object.is(got[i], expected[i]))
            expect.fail(
              `${engine} ${name} ${format}: a = ${a}, x = ${x[i]}, y = ${y[i]}: ${got[i]}, expected ${expected[i]} (HALFULP_SEED=${SEED}, case ${k})`,
            );
          if (Number.isNaN(got[i]) && (name !== "exaxpy" || a !== 0))
            expect(storedBits(got)[i]).toBe(single ? "7fc00000" : "7ff8000000000000");
        }
      }
    }
  });
});

describeEngines("element by element", (routines, { opened }) => {
  test("exscal writes x and returns it", async () => {
    const x = Float64Array.of(1, -2, 3);
    expect(await routines.exscal(0.1, x)).toBe(x);
    expect(Array.from(x)).toEqual([0.1, -0.2, 3 * 0.1]);
  });

  test("exinvscal divides, where a product with the inverse would be off", async () => {
    expect(Array.from(await routines.exinvscal(3, Float64Array.of(5, 7, 10)))).toEqual([5 / 3, 7 / 3, 10 / 3]);
    expect(5 * (1 / 3)).not.toBe(5 / 3);
  });

  test("exaxpy rounds once, where two roundings cancel to nothing", async () => {
    const a = 1 + 2 ** -30;
    expect(Array.from(await routines.exaxpy(a, Float64Array.of(a), Float64Array.of(-(a * a))))).toEqual([2 ** -60]);
  });

  test("exaxpy is right where splitting a factor needs care", async () => {
    const [a, b] = [2 ** -1048, (2 - 2 ** -52) * 2 ** 999];
    for (const [alpha, x] of [
      [a, b],
      [b, a],
      [-a, b],
    ] as const) {
      expect(Array.from(await routines.exaxpy(alpha, Float64Array.of(x, x), Float64Array.of(0, -(alpha * x))))).toEqual([alpha * x, 0]);
    }
  });

  test("exaxpy of a vector with itself is fine", async () => {
    const x = Float64Array.of(1, 2, 3);
    expect(Array.from(await routines.exaxpy(2, x, x))).toEqual([3, 6, 9]);
  });

  test("with alpha = 0, exaxpy does not read x", async () => {
    const y = Float64Array.of(1, -0, 3);
    expect(Array.from(await routines.exaxpy(-0, Float64Array.of(Number.NaN, 1, Number.POSITIVE_INFINITY), y))).toEqual([1, -0, 3]);
  });

  test("binary32 is rounded from the exact value, never through binary64", async () => {
    // 1 + 2^-24 + 2^-60: binary64 rounds it to the tie 1 + 2^-24, which goes to 1; the right answer is above
    const y = await routines.exaxpy(2 ** -60 + 2 ** -24, Float32Array.of(1), Float32Array.of(1));
    expect(y[0]).toBe(1 + 2 ** -23);
    const x = await routines.exscal(1 + 2 ** -24 + 2 ** -50, Float32Array.of(1 + 2 ** -23));
    expect(x[0]).toBe(want("exscal", 1 + 2 ** -24 + 2 ** -50, 1 + 2 ** -23, 0, "binary32"));
  });

  test.each([1, 2, 31, 32, 33, 8191, 8192, 8193, 20001])("a vector of %i elements is done to its end", async (n) => {
    const x = Float64Array.from({ length: n }, (_, i) => i + 1);
    const y = Float64Array.from({ length: n }, (_, i) => -i);
    await routines.exaxpy(3, x, y);
    expect(y.every((v, i) => v === 3 * (i + 1) - i)).toBe(true);
  });

  // An engine may do this where the data are, with kernels of its own.
  if (opened)
    test.each(["exscal", "exinvscal", "exaxpy"] as const)("%s of data that stay on the engine", async (name) => {
      const engine = await opened();
      const random = new Random(SEED);
      for (const kind of KINDS)
        for (const single of [false, true]) {
          const [a, wide, other] = [vector(random, 1, "narrow")[0] as number, vector(random, 70, kind), vector(random, 70, kind)];
          const [x, y]: Real[] = single ? [toSingle(random, wide), toSingle(random, other)] : [wide, other];
          const [rx, ry] = [await engine.upload(x as Real), await engine.upload(y as Real)];
          await (name === "exaxpy" ? engine.exaxpy(a, rx, ry) : engine[name](a, rx));
          const got = await (name === "exaxpy" ? ry : rx).read();
          const expected = (y as Real).map((v, i) => want(name, a, (x as Real)[i] as number, v, single ? "binary32" : "binary64"));
          const canonical = expected.map((v) => (Number.isNaN(v) ? Number.NaN : v)); // one NaN
          expect(storedBits(got), `${kind}, a = ${a} (HALFULP_SEED=${SEED})`).toEqual(storedBits(canonical));
          rx.free();
          ry.free();
        }
    });
});
