// The Accumulator: its states, merging in any order, and its bytes.
import { describe, expect, test } from "vitest";
import { Accumulator, exdot, exsum } from "../src/index.ts";
import { Random } from "../src/study.ts";
import { vector } from "./generators.ts";
import { exactReduction, round } from "./oracles/rational.ts";

const STATES: [string, () => Accumulator, number][] = [
  ["empty", () => new Accumulator(), -0],
  ["only -0", () => new Accumulator().add(-0).add(Float64Array.of(-0, -0)), -0],
  ["an exact zero", () => new Accumulator().add(1).add(-1), 0],
  ["+0", () => new Accumulator().add(0), 0],
  ["a product that is zero", () => new Accumulator().addProduct(-0, 5), 0],
  ["a positive sum", () => new Accumulator().add(1e300).add(5e-324), 1e300],
  ["a negative sum", () => new Accumulator().add(-1).addProduct(-1e-200, 1e-200), -1],
  ["+Inf", () => new Accumulator().add(Number.POSITIVE_INFINITY).add(-1), Number.POSITIVE_INFINITY],
  ["-Inf", () => new Accumulator().addProduct(Number.NEGATIVE_INFINITY, 2), Number.NEGATIVE_INFINITY],
  ["NaN", () => new Accumulator().add(Number.POSITIVE_INFINITY).add(Number.NEGATIVE_INFINITY), Number.NaN],
];

describe("an accumulator", () => {
  test.each(STATES)("in the state of %s has its value, also after a trip through bytes", (_, make, value) => {
    expect(make().value()).toBe(value);
    const back = Accumulator.fromBytes(make().toBytes());
    expect(back.value()).toBe(value);
    expect(back.toBytes()).toEqual(make().toBytes());
    expect(back.add(1).value()).toBe(make().add(1).value());
  });

  test("merges states in any order and grouping to the same bytes", () => {
    for (const [, a] of STATES)
      for (const [, b] of STATES)
        for (const [, c] of STATES) {
          const left = a().merge(b()).merge(c()).toBytes();
          expect(c().merge(a()).merge(b()).toBytes()).toEqual(left);
          expect(b().merge(c().merge(a())).toBytes()).toEqual(left);
        }
  });

  test("gives the same bytes however a sum was reached", () => {
    const direct = new Accumulator().add(0.1).add(0.2).add(-0.3);
    const odd = new Accumulator()
      .add(1e300)
      .add(-0.3)
      .add(0.1)
      .add(-1e300)
      .addProduct(0.2, 1)
      .addProduct(1e200, 1e200)
      .addProduct(-1e200, 1e200);
    expect(odd.toBytes()).toEqual(direct.toBytes());
  });

  test("distinguishes 0 from empty, in value and bytes", () => {
    expect(new Accumulator().add(0).toBytes()).not.toEqual(new Accumulator().toBytes());
  });

  test("is not changed by being merged into another, and can be merged with itself", () => {
    const a = new Accumulator().add(0.1);
    const before = a.toBytes();
    new Accumulator().add(-7).merge(a);
    expect(a.toBytes()).toEqual(before);
    expect(a.merge(a).value()).toBe(0.2);
  });

  test("is not changed by being rounded", () => {
    const a = new Accumulator().add(-1).add(2 ** -60);
    const before = a.toBytes();
    expect(["nearest", "up", "down", "zero"].map((mode) => a.value(mode as "up"))).toEqual([-1, -1 + 2 ** -53, -1, -1 + 2 ** -53]);
    expect(a.value("up", "binary32")).toBe(-1 + 2 ** -24);
    expect(a.toBytes()).toEqual(before);
  });

  test("takes vectors of both precisions, also mixed in products", () => {
    const random = new Random(3);
    for (const n of [1, 5, 33, 1000, 70001]) {
      const x = vector(random, n, "narrow").map((v) => v % 1e10);
      const y = Float32Array.from({ length: n }, () => random.signed());
      const mixed = round(exactReduction("dot", x, Float64Array.from(y)), "nearest", "binary64");
      expect(new Accumulator().addProduct(x, y).value()).toBe(mixed);
      expect(new Accumulator().addProduct(y, x).value()).toBe(mixed);
      expect(new Accumulator().add(y).add(x).value()).toBe(
        round((exactReduction("sum", x) as bigint) + (exactReduction("sum", y) as bigint), "nearest", "binary64"),
      );
      expect(new Accumulator().add(x).value()).toBe(exsum(x));
      expect(new Accumulator().addProduct(y, y).value("nearest", "binary32")).toBe(exdot(y, y));
    }
  });
});

describe("damaged bytes", () => {
  const bytes = new Accumulator().add(1).add(1e-300).add(-1e200).toBytes();

  test("any flipped bit is an error, never a wrong sum", () => {
    for (const [, make] of STATES) {
      const good = make().toBytes();
      for (let i = 0; i < 8 * good.length; i++) {
        const bad = good.slice();
        (bad[i >> 3] as number) ^= 1 << (i & 7);
        expect(() => Accumulator.fromBytes(bad)).toThrow(/^Accumulator\.fromBytes: /);
      }
    }
  });

  test("cut off, prolonged or shuffled bytes are an error", () => {
    for (let n = 0; n < bytes.length; n++) expect(() => Accumulator.fromBytes(bytes.subarray(0, n))).toThrow("Accumulator.fromBytes: ");
    expect(() => Accumulator.fromBytes(Uint8Array.of(...bytes, 0))).toThrow("damaged");
    expect(() => Accumulator.fromBytes(bytes.slice().reverse())).toThrow("Accumulator.fromBytes: ");
  });

  test("a form that toBytes does not write is refused even with the right checksum", () => {
    for (const [at, value, message] of [
      [0, 2, "version 2"],
      [1, 9, "state 9"],
      [1, 0, "canonical"],
      [4, 255, "digits from"],
      [6, 2, "canonical"],
      [7, 1, "canonical"],
      [8, 0, "canonical"],
    ] as const) {
      const bad = bytes.slice();
      bad[at] = value;
      if (at === 8) bad.fill(0, 8, 12);
      new DataView(bad.buffer).setUint32(bad.length - 4, crc(bad.subarray(0, -4)), true);
      expect(() => Accumulator.fromBytes(bad), `byte ${at}`).toThrow(message);
    }
  });

  test("a sum that has grown out of all range is an error, not another sum", () => {
    const a = new Accumulator().add(-1).add(-3);
    expect(() => {
      for (let i = 0; i < 4000; i++) a.merge(a);
    }).toThrow("Superaccumulator: the sum has left its range");
  });

  test("bytes are read from a view into a larger buffer", () => {
    const large = new Uint8Array(bytes.length + 7);
    large.set(bytes, 3);
    expect(Accumulator.fromBytes(large.subarray(3, 3 + bytes.length)).toBytes()).toEqual(bytes);
  });
});

// CRC-32 with the bits reversed at both ends instead of the polynomial: another way to the same number.
function crc(bytes: Uint8Array): number {
  const reversed = (v: number, width: number): number =>
    Array.from({ length: width }, (_, i) => ((v >>> i) & 1) << (width - 1 - i)).reduce((a, b) => (a | b) >>> 0, 0);
  let rest = 0xffffffff;
  for (const byte of bytes) {
    rest = (rest ^ (reversed(byte, 8) << 24)) >>> 0;
    for (let k = 0; k < 8; k++) rest = ((rest << 1) ^ (rest >>> 31 ? 0x04c11db7 : 0)) >>> 0;
  }
  return (reversed(rest, 32) ^ 0xffffffff) >>> 0;
}
