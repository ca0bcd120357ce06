// Mean, variance and covariance against rational numbers of BigInts: every bit, at every length, for every kind of data.
import { describe, expect, test } from "vitest";
import { excovariance, exmean, exvariance, Moments } from "../src/index.ts";
import { Random } from "../src/study.ts";
import { FULL, SEED } from "./effort.ts";
import { KINDS, toSingle, vector } from "./generators.ts";
import { roundRatio, units } from "./oracles/rational.ts";
import { covarianceOf, type Data, meanOf } from "./oracles/statistics.ts";

function check(x: Data, y: Data, what: string): void {
  expect(exmean(x), `mean, ${what}`).toBe(meanOf(x));
  expect(exmean(x, y), `weighted mean, ${what}`).toBe(meanOf(x, y));
  for (const ddof of [0, 1, 2]) {
    expect(exvariance(x, ddof), `variance, ddof ${ddof}, ${what}`).toBe(covarianceOf(x, x, ddof));
    expect(excovariance(x, y, ddof), `covariance, ddof ${ddof}, ${what}`).toBe(covarianceOf(x, y, ddof));
  }
}

const LENGTHS = FULL ? [0, 1, 2, 3, 4, 7, 31, 32, 33, 64, 100, 511, 1000, 5000] : [0, 1, 2, 3, 5, 33, 100, 1000];

describe(`random data, seed ${SEED}`, () => {
  for (const kind of KINDS)
    test(`of the kind ${kind}`, () => {
      const random = new Random(SEED);
      for (const n of LENGTHS)
        for (let k = n < 10 ? 20 : 2; k > 0; k--) {
          const x = vector(random, n, kind);
          const y = vector(random, n, kind);
          check(x, y, `${kind}, n = ${n}, ${n < 10 ? `[${x}] [${y}]` : ""}`);
          check(toSingle(random, x), toSingle(random, y), `${kind} in binary32, n = ${n}`);
        }
    });

  test("that an offset makes cancel", () => {
    const random = new Random(SEED);
    for (const offset of [1, 1e3, 1e8, 1e15, -1e15, 2 ** 80])
      for (const n of LENGTHS) {
        const x = Float64Array.from({ length: n }, () => offset + random.signed());
        const y = Float64Array.from({ length: n }, () => offset + random.signed());
        check(x, y, `offset ${offset}, n = ${n}`);
        check(Float32Array.from(x), Float32Array.from(y), `offset ${offset} in binary32, n = ${n}`);
      }
  });

  test("negated, reversed and scaled by powers of two", () => {
    const random = new Random(SEED);
    for (const n of [2, 3, 10, 100, 3000]) {
      const x = Float64Array.from({ length: n }, () => 3 + random.signed());
      const [mean, variance] = [exmean(x), exvariance(x)];
      for (const k of [-400, -30, 0, 1, 50, 400]) {
        const scaled = x.map((v) => -v * 2 ** k).reverse();
        expect(exmean(scaled)).toBe(-mean * 2 ** k);
        expect(exvariance(scaled)).toBe(variance * 2 ** (2 * k));
        expect(excovariance(scaled, x.slice().reverse())).toBe(-variance * 2 ** k);
      }
    }
  });
});

describe("by hand", () => {
  const { MAX_VALUE: MAX, MIN_VALUE: MIN } = Number;
  test.each<[string, number[], number, number]>([
    ["nothing", [], Number.NaN, Number.NaN],
    ["one number", [7], 7, Number.NaN],
    ["two numbers", [1, 2], 1.5, 0.5],
    ["a tie, to even", [1, 1 + 2 ** -52], 1, 2 ** -105],
    ["a tie, to even, upwards", [1 + 2 ** -52, 1 + 2 ** -51], 1 + 2 ** -51, 2 ** -105],
    ["only -0: the mean is +0", [-0, -0], 0, 0],
    ["numbers that cancel", [1e16, 1, -1e16], 1 / 3, 1e32],
    ["a constant", [0.1, 0.1, 0.1], 0.1, 0],
    ["the largest numbers", [MAX, MAX], MAX, 0],
    ["the largest numbers of both signs", [MAX, -MAX], 0, Number.POSITIVE_INFINITY],
    ["the smallest numbers", [MIN, 0], 0, 0],
    ["the smallest numbers, half of 3", [MIN, 2 * MIN], 2 * MIN, 0],
    ["an infinity", [Number.POSITIVE_INFINITY, 1], Number.POSITIVE_INFINITY, Number.NaN],
    ["infinities", [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY], Number.NaN, Number.NaN],
    ["a NaN", [Number.NaN, 1, 2], Number.NaN, Number.NaN],
  ])("%s", (_, data, mean, variance) => {
    const x = Float64Array.from(data);
    expect(exmean(x)).toBe(mean);
    expect(exvariance(x)).toBe(variance);
    const moments = new Moments().add(x);
    expect(moments.mean()).toBe(mean);
    expect(moments.variance()).toBe(variance);
    expect(moments.count).toBe(data.length);
  });

  test("binary32 results are rounded once, directly from the exact value", () => {
    // (1 + 2^-23 + 2^-50) / 2 is above a tie of binary32; in binary64 first, it would be rounded to the tie and then down
    const x = Float32Array.of(1 + 2 ** -23, 1, 2 ** -60, 0);
    expect(exmean(x)).toBe(Math.fround(0.5 + 2 ** -24));
    const y = Float32Array.of(1, 1 + 2 ** -23, 2 ** -100, -(2 ** -101));
    const sum = [...y].reduce((total, v) => total + units(v), 0n);
    expect(exmean(y)).toBe(roundRatio(sum << 1074n, 4n, "nearest", "binary32"));
  });

  test("a weighted mean of infinite data, or weights", () => {
    const Inf = Number.POSITIVE_INFINITY;
    expect(exmean(Float64Array.of(Inf, 1), Float64Array.of(1, 1))).toBe(Inf);
    expect(exmean(Float64Array.of(Inf, 1), Float64Array.of(-2, 1))).toBe(Inf);
    expect(exmean(Float64Array.of(Inf, 1), Float64Array.of(0, 1))).toBe(Number.NaN);
    expect(exmean(Float64Array.of(2, 1), Float64Array.of(Inf, 1))).toBe(Number.NaN);
    expect(exmean(Float64Array.of(2, 1), Float64Array.of(1, -1))).toBe(Number.NaN);
    expect(exmean(new Float64Array(0), new Float64Array(0))).toBe(Number.NaN);
  });

  test("vectors of a million numbers", () => {
    const x = Float64Array.from({ length: 1e6 }, (_, i) => (i % 1000) / 8);
    expect(exmean(x)).toBe(999 / 16);
    expect(exvariance(x, 0)).toBe((1e6 - 1) / 12 / 64);
    expect(excovariance(x, x)).toBe(exvariance(x));
  });
});

describe("arguments", () => {
  const x = Float64Array.of(1, 2);
  test.each<[string, () => unknown]>([
    ["exmean: x is a plain array, expected a Float64Array or a Float32Array", () => exmean([1] as unknown as Float64Array)],
    ["exmean: weights has length 1, expected 2 (the length of x)", () => exmean(x, Float64Array.of(1))],
    ["exmean: weights is binary32, expected binary64 (the precision of x)", () => exmean(x, Float32Array.of(1, 2))],
    ["exvariance: ddof is 0.5, expected a whole number of at least 0", () => exvariance(x, 0.5)],
    ["exvariance: ddof is -1, expected a whole number of at least 0", () => exvariance(x, -1)],
    ["excovariance: y has length 1, expected 2 (the length of x)", () => excovariance(x, Float64Array.of(1))],
    ["excovariance: y is binary32, expected binary64 (the precision of x)", () => excovariance(x, Float32Array.of(1, 2))],
    ['Moments.add: x is "1", expected a number, a Float64Array or a Float32Array', () => new Moments().add("1" as unknown as number)],
    ["Moments.merge: other is not Moments", () => new Moments().merge({} as Moments)],
    ["Moments.variance: ddof is NaN, expected a whole number of at least 0", () => new Moments().variance(Number.NaN)],
    ["Moments.fromBytes: bytes is not a Uint8Array", () => Moments.fromBytes([] as unknown as Uint8Array)],
  ])("%s", (message, call) => {
    expect(call).toThrow(message);
  });
});

const INFINITE = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];

describe("Moments", () => {
  test("in any order and grouping have the same bytes and results", () => {
    const random = new Random(SEED);
    for (const kind of KINDS) {
      const x = vector(random, 200, kind);
      const whole = new Moments().add(x);
      const singly = new Moments();
      for (const v of x.slice().reverse()) singly.add(v);
      const merged = new Moments().add(x.subarray(70)).merge(new Moments().add(x.subarray(0, 70)));
      for (const other of [singly, merged, Moments.fromBytes(whole.toBytes())]) {
        expect(other.toBytes()).toEqual(whole.toBytes());
        expect([other.count, other.mean(), other.variance(), other.variance(0)]).toEqual([200, exmean(x), exvariance(x), exvariance(x, 0)]);
      }
      const single = toSingle(random, x);
      const moments = new Moments().add(single);
      expect([moments.mean("binary32"), moments.variance(1, "binary32")]).toEqual([exmean(single), exvariance(single)]);
    }
  });

  test("do not tell 0 from -0, and are not changed by being merged or rounded", () => {
    expect(new Moments().add(-0).toBytes()).toEqual(new Moments().add(0).toBytes());
    expect(new Moments().add(0).toBytes()).not.toEqual(new Moments().toBytes());
    const moments = new Moments().add(Float64Array.of(-3, 0.1));
    const before = moments.toBytes();
    new Moments().add(5).merge(moments);
    moments.mean();
    moments.variance();
    expect(moments.toBytes()).toEqual(before);
    expect(moments.merge(moments).count).toBe(4);
    expect(moments.mean()).toBe(exmean(Float64Array.of(-3, 0.1)));
  });

  test("keep infinities and NaN through bytes", () => {
    for (const data of [[Number.NaN], [INFINITE[0]], [INFINITE[1], 2], INFINITE] as number[][]) {
      const moments = new Moments().add(Float64Array.from(data));
      const back = Moments.fromBytes(moments.toBytes()).add(1);
      expect(back.mean()).toBe(exmean(Float64Array.of(...data, 1)));
      expect(back.variance()).toBe(Number.NaN);
    }
  });

  test("refuse bytes with any bit flipped, cut off or prolonged", () => {
    const good = new Moments().add(Float64Array.of(1, -1e-30, 1e200)).toBytes();
    for (let i = 0; i < 8 * good.length; i++) {
      const bad = good.slice();
      (bad[i >> 3] as number) ^= 1 << (i & 7);
      expect(() => Moments.fromBytes(bad)).toThrow(/^Moments\.fromBytes: /);
    }
    for (let n = 0; n < good.length; n++) expect(() => Moments.fromBytes(good.subarray(0, n))).toThrow("Moments.fromBytes: ");
    expect(() => Moments.fromBytes(Uint8Array.of(...good, 0))).toThrow("damaged");
  });

  test("refuse sums that no numbers have, even with the right checksums", () => {
    const one = new Moments().add(1).toBytes();
    const parts = (bytes: Uint8Array): [Uint8Array, Uint8Array] => {
      const end = 16 + new DataView(bytes.buffer).getUint32(4, true);
      return [bytes.subarray(16, end), bytes.subarray(end, -4)];
    };
    const assembled = (count: number, sumBytes: Uint8Array, squares: Uint8Array): Uint8Array => {
      const bytes = new Uint8Array(20 + sumBytes.length + squares.length);
      bytes[0] = 1;
      const view = new DataView(bytes.buffer);
      view.setUint32(4, sumBytes.length, true);
      view.setBigUint64(8, BigInt(count), true);
      bytes.set(sumBytes, 16);
      bytes.set(squares, 16 + sumBytes.length);
      view.setUint32(bytes.length - 4, crc(bytes.subarray(0, -4)), true);
      return bytes;
    };
    const [s, q] = parts(one);
    const [nan] = parts(new Moments().add(Number.NaN).toBytes());
    const [minus, plus] = parts(new Moments().add(Number.NEGATIVE_INFINITY).toBytes());
    expect(assembled(1, s, q)).toEqual(one); // the assembly is right
    const [fourth] = parts(new Moments().add(0.25).toBytes());
    for (const wrong of [
      assembled(0, s, q), // no numbers
      assembled(1, s, fourth), // 1 * 0.25 < 1^2
      assembled(1, s, minus),
      assembled(1, s, plus),
      assembled(1, s, nan),
      assembled(1, plus, nan),
      assembled(1, nan, q),
      assembled(0, nan, nan),
    ])
      expect(() => Moments.fromBytes(wrong)).toThrow("canonical");
  });
});

// CRC-32 bit by bit over one long division.
function crc(bytes: Uint8Array): number {
  let rest = 0xffffffffn;
  for (const byte of bytes) {
    rest ^= BigInt(byte);
    for (let k = 0; k < 8; k++) rest = rest & 1n ? (rest >> 1n) ^ 0xedb88320n : rest >> 1n;
  }
  return Number(rest ^ 0xffffffffn);
}
