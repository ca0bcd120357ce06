import { describe, expect, test } from "vitest";
import { decimal, toJson } from "../../src/cli/output/numerals.ts";
import { shortest32 } from "../../src/cli/output/shortest.ts";
import { extrsv, type Matrix, matrix, residualNorm } from "../../src/index.ts";
import { Random } from "../../src/study.ts";
import { folder, halfulp } from "./cli.ts";

const { put, npy } = folder();
const fromBits = (pattern: number): number => new Float32Array(Uint32Array.of(pattern).buffer)[0] as number;
const toBits = (x: number): number => new Uint32Array(Float32Array.of(x).buffer)[0] as number;

// In integers: a number of binary32, or one halfway between two, times 2^150.
const scaled = (x: number): bigint => BigInt(x * 2 ** 150);

// Whether a decimal is rounded to x > 0, decided in integers.
function readsBack(n: bigint, exponent: number, x: number): boolean {
  const power = 10n ** BigInt(Math.abs(exponent));
  const [left, unit] = exponent < 0 ? [n << 150n, power] : [(n * power) << 150n, 1n];
  const next = Math.min(fromBits(toBits(x) + 1), 2 ** 128);
  const [low, high] = [scaled((fromBits(toBits(x) - 1) + x) / 2) * unit, scaled((x + next) / 2) * unit];
  return toBits(x) % 2 === 0 ? low <= left && left <= high : low < left && left < high;
}

const digitsOf = (text: string): { n: bigint; exponent: number; digits: number } => {
  const [, whole, fraction = "", power = "0"] = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(text) as RegExpExecArray;
  const significant = `${whole}${fraction}`.replace(/^0+/, "").replace(/0+$/, "");
  return { n: BigInt(`${whole}${fraction}`), exponent: Number(power) - fraction.length, digits: significant.length };
};

// The printed digits read back, and no decimal with one digit less does.
function check(x: number): void {
  const text = decimal(x, "binary32");
  const { n, exponent, digits } = digitsOf(text);
  expect(readsBack(n, exponent, x), text).toBe(true);
  expect(Math.fround(Number(text)), text).toBe(x);
  if (digits === 1) return;
  const [coefficient, power] = x.toExponential(digits - 2).split("e") as [string, string];
  const nearest = BigInt(coefficient.replace(".", ""));
  for (const shorter of [nearest - 1n, nearest, nearest + 1n])
    expect(readsBack(shorter, Number(power) - digits + 2, x), `${shorter}e${power}`).toBe(false);
}

describe("the shortest decimal of a binary32 number", () => {
  // As NumPy 2.4 prints them.
  test.each([
    [0x3dcccccd, "0.1"],
    [0x3eaaaaab, "0.33333334"],
    [0x00000001, "1e-45"],
    [0x00000003, "4e-45"],
    [0x007fffff, "1.1754942e-38"],
    [0x00800000, "1.1754944e-38"],
    [0x7f7fffff, "3.4028235e+38"],
    [0x4b800000, "16777216"],
    [0x4cdd94b8, "116172220"], // 116172224: halfway to the neighbour, and a tie goes to this number
    [0x4a0a6775, "2267613.2"], // 2267613.25: two decimals are equally close
    [0x0f800000, "1.2621775e-29"], // a power of two
    [0xc0490fdb, "-3.1415927"],
    [0x80000000, "-0"],
    [0x00000000, "0"],
    [0x7f800000, "Infinity"],
    [0xff800000, "-Infinity"],
    [0x7fc00000, "NaN"],
  ])("%i is %s", (pattern, text) => expect(decimal(fromBits(pattern), "binary32")).toBe(text));

  test("of every power of two and its neighbours", () => {
    for (let exponent = 0; exponent < 255; exponent++)
      for (const step of [-1, 0, 1]) if (exponent * 2 ** 23 + step > 0) check(fromBits(exponent * 2 ** 23 + step));
    for (let k = 0; k < 23; k++) check(fromBits(2 ** k));
  });
  test("of numbers at random, also of large integers, where decimals lie halfway between numbers", () => {
    const random = new Random(11);
    for (let k = 0; k < 3000; k++) check(fromBits(1 + random.below(0x7f7fffff)));
    for (let k = 0; k < 3000; k++) check(Math.fround(2 ** 25 + random.below(2 ** 28)));
  });
});

describe("binary32 results", () => {
  const single = (x: number[]): string => put("x.f32", new Uint8Array(Float32Array.from(x).buffer));
  test.each([
    [["sum"], [0.1], "0.1"],
    [["sum"], [0.1, 0.2], "0.3"],
    [["asum"], [-0.1], "0.1"],
    [["nrm2"], [0.1], "0.1"],
    [["sum", "--to", "binary64"], [0.1], "0.10000000149011612"],
    [["sum"], [-0], "-0"],
  ])("%j of %j", async (argv, x, text) => {
    expect((await halfulp([...argv, single(x)])).out).toBe(`${text}\n`);
    const { out } = await halfulp([...argv, single(x), "--json"]);
    expect(out).toContain(`"value":${text},`);
    const { value, hex, precision } = JSON.parse(out);
    if (precision === "binary32") expect(toBits(value)).toBe(Number.parseInt(hex, 16));
  });
  test("of numbers of binary64, rounded to binary32", async () => {
    expect((await halfulp(["sum", put("t.csv", "1\n2\n-2.9\n"), "--to", "binary32"])).out).toBe("0.1\n");
    expect((await halfulp(["sum", put("t.csv", "nan\n"), "--to", "binary32", "--json"])).out).toContain('"value":"NaN",');
  });
  test("a solution, and its residual", async () => {
    const T = matrix(Float32Array.of(10, 0, 1, 3), 2, 2);
    const b = Float32Array.of(1, 1);
    const argv = ["trsv", npy("T.npy", T as unknown as Matrix), npy("b.npy", b)];
    expect((await halfulp(argv)).out).toMatch(/^x +0\.1 0\.3$/m);
    const { out } = await halfulp([...argv, "--json"]);
    expect(out).toContain('"x":[0.1,0.3]');
    const said = JSON.parse(out) as { x: number[]; residual: number };
    expect(said.x.map(toBits)).toEqual([...extrsv(T, b)].map(toBits));
    const residual = Math.fround(residualNorm(T as unknown as Matrix, Float64Array.from(extrsv(T, b)), Float64Array.from(b)));
    expect(residual).toBeGreaterThan(0);
    expect(said.residual).toBe(shortest32(residual));
    expect(out).toMatch(/"residual":\d\.\d{1,8}e-\d+,/);
  });
  test("arrays in JSON", () => {
    const x = Float32Array.of(0.1, -0, Number.NaN, Number.NEGATIVE_INFINITY, 1e-45);
    expect(toJson({ x })).toBe('{"x":[0.1,-0,"NaN","-Infinity",1e-45]}');
    expect(toJson({ x: Float64Array.of(Math.fround(0.1)) })).toBe('{"x":[0.10000000149011612]}');
  });
});
