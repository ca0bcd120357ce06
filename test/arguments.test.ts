// The arguments of the level 1 routines: what is refused, with which message, and what is not.
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import {
  Accumulator,
  EngineError,
  exasum,
  exaxpy,
  exdot,
  exinvscal,
  exnrm2,
  exscal,
  exsum,
  FormatError,
  free,
  HalfulpError,
  illConditionedDot,
  ShapeError,
} from "../src/index.ts";

const x = Float64Array.of(1, 2, 3);
const bad = (value: unknown): never => value as never;

function detached(): Float64Array {
  const v = new Float64Array(3);
  structuredClone(v.buffer, { transfer: [v.buffer] });
  return v;
}

describe("a wrong argument is named", () => {
  test.each<[string, () => unknown, string]>([
    ["a plain array", () => exsum(bad([1, 2])), "exsum: x is a plain array, expected a Float64Array or a Float32Array"],
    ["nothing", () => exsum(bad(undefined)), "exsum: x is undefined, expected a Float64Array or a Float32Array"],
    ["null", () => exasum(bad(null)), "exasum: x is null"],
    ["integers", () => exnrm2(bad(Int32Array.of(1))), "exnrm2: x is an object of type Int32Array"],
    ["a DataView", () => exsum(bad(new DataView(new ArrayBuffer(8)))), "exsum: x is an object of type DataView"],
    ["a detached buffer", () => exsum(detached()), "exsum: the buffer of x is detached"],
    ["a detached second vector", () => exdot(new Float64Array(0), detached()), "exdot: the buffer of y is detached"],
    ["lengths that differ", () => exdot(x, Float64Array.of(1, 2)), "exdot: y has length 2, expected 3 (the length of x)"],
    ["mixed precisions", () => exdot(bad(x), Float32Array.of(1, 2, 3)), "exdot: y is binary32, expected binary64 (the precision of x)"],
    ["mixed precisions in axpy", () => exaxpy(1, bad(Float32Array.of(1, 2, 3)), x), "exaxpy: y is binary64, expected binary32"],
    [
      "an unknown rounding",
      () => exsum(x, { round: bad("sideways") }),
      'exsum: round is "sideways", expected one of "nearest", "up", "down", "zero"',
    ],
    ["a rounding of the prototype", () => exsum(x, { round: bad("toString") }), "exsum: round is"],
    ["a rounding in place of options", () => exsum(x, bad("up")), 'exsum: options is "up", expected an object'],
    ["a misspelt option", () => exsum(x, bad({ rounding: "up" })), 'exsum: there is no option "rounding", expected round'],
    ["a vector as options", () => exnrm2(x, bad(x)), 'exnrm2: there is no option "0", expected round'],
    [
      "an impostor by its tag",
      () => exsum(bad(Object.defineProperty(Int32Array.of(1), Symbol.toStringTag, { value: "Float64Array" }))),
      "exsum: x is an object",
    ],
    ["an impostor by its prototype", () => exsum(bad(Object.create(Float64Array.prototype))), "exsum: x is an object"],
    ["a proxy", () => exsum(new Proxy(x, {})), "exsum: x is an object"],
    ["null as options", () => exdot(x, x, bad(null)), "exdot: options is null, expected an object"],
    ["alpha as text", () => exscal(bad("2"), x), 'exscal: alpha is "2", expected a number'],
    ["alpha as a bigint", () => exinvscal(bad(2n), x), "exinvscal: alpha is 2n, expected a number"],
    ["no alpha", () => exaxpy(bad(undefined), x, x), "exaxpy: alpha is undefined"],
    ["an overlapping output", () => exaxpy(2, x.subarray(0, 2), x.subarray(1)), "exaxpy: y shares entries with x"],
    [
      "an accumulator of text",
      () => new Accumulator().add(bad("1")),
      'Accumulator.add: x is "1", expected a number, a Float64Array or a Float32Array',
    ],
    [
      "products of different lengths",
      () => new Accumulator().addProduct(x, Float64Array.of(1)),
      "Accumulator.addProduct: y has length 1, expected 3",
    ],
    [
      "a number and a vector",
      () => new Accumulator().addProduct(bad(1), bad(x)),
      "Accumulator.addProduct: y is an object of type Float64Array, expected a number",
    ],
    ["a merge with something else", () => new Accumulator().merge(bad({})), "Accumulator.merge: other is not an Accumulator"],
    ["an unknown format", () => new Accumulator().value("nearest", bad("binary16")), 'Accumulator.value: format is "binary16"'],
    ["bytes that are text", () => Accumulator.fromBytes(bad("AQ==")), "Accumulator.fromBytes: bytes is not a Uint8Array"],
    ["an array that was not allocated", () => free(x), "free: array is not one that allocate returned"],
    ["a condition below 1", () => illConditionedDot(10, 0.5, 1), "illConditionedDot: condition is 0.5"],
    [
      "too few pairs for a condition",
      () => illConditionedDot(3, 1e30, 1),
      "illConditionedDot: n is 3, expected a whole number of at least 5",
    ],
    ["half a pair", () => illConditionedDot(10.5, 10, 1), "illConditionedDot: n is 10.5"],
  ])("%s", (_, call, message) => {
    expect(call).toThrow(ShapeError);
    expect(call).toThrow(message);
  });

  test("before anything is written", () => {
    const y = Float64Array.of(1, 2, 3);
    expect(() => exaxpy(2, y.subarray(0, 2), y.subarray(1))).toThrow(ShapeError);
    expect(() => exaxpy(2, Float64Array.of(1), y)).toThrow(ShapeError);
    expect(Array.from(y)).toEqual([1, 2, 3]);
    const sum = new Accumulator().add(1);
    expect(() => sum.addProduct(y, Float64Array.of(1))).toThrow(ShapeError);
    expect(sum.value()).toBe(1);
  });

  test("errors are HalfulpErrors with their own names", () => {
    expect(new ShapeError("x")).toBeInstanceOf(HalfulpError);
    expect([new ShapeError("").name, new FormatError("").name, new EngineError("").name, new HalfulpError("").name]).toEqual([
      "ShapeError",
      "FormatError",
      "EngineError",
      "HalfulpError",
    ]);
    expect(new FormatError("x", 7).line).toBe(7);
  });
});

describe("what is not wrong", () => {
  test("views of one buffer whose entries do not coincide", () => {
    const both = Float64Array.of(1, 2, 3, 4);
    exaxpy(10, both.subarray(0, 2), both.subarray(2));
    expect(Array.from(both)).toEqual([1, 2, 13, 24]);
  });

  test("vectors from another realm", () => {
    const other = runInNewContext("Float64Array.of(0.1, 0.2, 0.3)");
    expect(other).not.toBeInstanceOf(Float64Array);
    expect(exsum(other)).toBe(0.6);
    const long = runInNewContext("Float32Array.from({ length: 100 }, (_, i) => i)");
    expect(exsum(long)).toBe(4950);
    expect(Array.from(exscal(2, long) as ArrayLike<number>).slice(0, 3)).toEqual([0, 2, 4]);
    // not a number and far out of range: what kernels leave to exact/, which must see the right precision
    const hard = runInNewContext("Float64Array.of(NaN, 5e-324, 1e308, 1 + 2 ** -52)");
    expect(Array.from(exaxpy(1 + 2 ** -52, hard, Float64Array.of(1, 1e-320, 1, 2 ** -110)))).toEqual([
      Number.NaN,
      1e-320 + 5e-324,
      1e308 * (1 + 2 ** -52),
      1 + 2 ** -51,
    ]);
    expect(
      new Accumulator()
        .addProduct(
          Float32Array.from({ length: 40 }, () => 1),
          runInNewContext("Float64Array.from({ length: 40 }, () => 0.1)"),
        )
        .value(),
    ).toBe(4);
  });

  test("subclasses that make other types of their parts", () => {
    class Odd extends Float64Array {
      static get [Symbol.species]() {
        return Float32Array as unknown as Float64ArrayConstructor;
      }
    }
    const odd = new Odd(100_000).fill(0.1);
    expect(exsum(odd)).toBe(10_000);
    expect(exscal(3, odd)[99_999]).toBe(0.1 * 3);
  });

  test("shared memory", () => {
    const shared = new Float64Array(new SharedArrayBuffer(800)).fill(0.1);
    expect(exsum(shared as unknown as Float64Array)).toBe(10);
    expect(exscal(2, shared as unknown as Float64Array)[99]).toBe(0.2);
  });

  test("alpha that is NaN or infinite is data", () => {
    expect(Array.from(exscal(Number.NaN, Float64Array.of(1)))).toEqual([Number.NaN]);
    expect(Array.from(exinvscal(Number.POSITIVE_INFINITY, Float64Array.of(1, -1)))).toEqual([0, -0]);
    expect(Array.from(exaxpy(Number.NEGATIVE_INFINITY, Float64Array.of(1), Float64Array.of(1)))).toEqual([Number.NEGATIVE_INFINITY]);
  });

  test("options that are left out, empty or undefined", () => {
    expect([exsum(x), exsum(x, {}), exsum(x, { round: undefined }), exsum(x, undefined)]).toEqual([6, 6, 6, 6]);
  });
});
