// Reductions and elementwise routines on a device, against the reference: every stage, both precisions, groups of every
// size, vectors that are here or there.
import { afterAll, describe, expect, test } from "vitest";
import { engineOf } from "../../src/api/engine.ts";
import type { Operand } from "../../src/arrays/operands.ts";
import type { Real, Reduction, Rounding } from "../../src/arrays/types.ts";
import { DeviceArray } from "../../src/engines/deviceArray.ts";
import { inScope } from "../../src/engines/deviceScope.ts";
import { EXACT_STAGES } from "../../src/engines/kernels.ts";
import { type OpenclDevice, openDevice } from "../../src/engines/opencl/device/device.ts";
import { backendOn } from "../../src/engines/opencl/index.ts";
import { map } from "../../src/engines/opencl/reductions/elementwise.ts";
import { accumulate, accumulateBy, EXACT, enclose, FILTER, type Filter, reduce } from "../../src/engines/opencl/reductions/reduce.ts";
import { reduce as reduceOn } from "../../src/engines/reduce.ts";
import { reference } from "../../src/engines/reference/index.ts";
import { runSync } from "../../src/engines/steps.ts";
import { illConditionedDot } from "../../src/problems/illConditionedDot.ts";
import { onlyNegativeZeros } from "../../src/routines/level1.ts";
import { level1On, Random, Superaccumulator } from "../../src/study.ts";
import { KINDS, toSingle, vector } from "../generators.ts";

const SEED = 20;
const OPS: readonly Reduction[] = ["sum", "asum", "dot"];
const MODES: readonly Rounding[] = ["nearest", "up", "down", "zero"];
// PoCL takes most of a second to compile a kernel, and does for each size of a group: there are few.
const SHAPES: readonly [Filter, Filter, Filter, Filter] = [
  { levels: 2, unroll: 1, group: 1, groups: 8 },
  { levels: 3, unroll: 3, group: 3, groups: 1 },
  { levels: 4, unroll: 4, group: 2, groups: 1 },
  { ...FILTER, group: 100, groups: 2 },
];
const here = await openDevice().catch((error: Error) => error.message);

describe.skipIf(typeof here === "string")(`reductions on a device${typeof here === "string" ? ` (${here})` : ""}`, () => {
  const device = here as OpenclDevice;
  const { maxBufferBytes } = device;
  afterAll(() => device.close());

  const formatOf = (x: Real) => (x.BYTES_PER_ELEMENT === 8 ? "binary64" : "binary32");
  const digits = (sum: Superaccumulator) => [sum.special(), sum.magnitude()];

  function expected(op: Reduction, x: Real, y: Real): Superaccumulator {
    const sum = new Superaccumulator();
    reference.accumulate(op, x, y, sum, true);
    return sum;
  }

  function reduced(op: Reduction, x: Operand, y: Operand, root: boolean, mode: Rounding, how?: Filter): number {
    return runSync(
      inScope(device, "test", (scope) =>
        reduce(scope, op, x, y, root, mode, x.BYTES_PER_ELEMENT === 8 ? "binary64" : "binary32", { filter: how }),
      ),
    );
  }

  function accumulated(op: Reduction, x: Operand, y: Operand): Superaccumulator {
    const sum = new Superaccumulator();
    runSync(inScope(device, "test", (scope) => accumulate(scope, op, x, y, sum, true)));
    return sum;
  }

  function resident(x: Real): DeviceArray {
    const buffer = device.allocate("test", x.byteLength);
    device.write(buffer, x);
    return DeviceArray.like(x, x.length, buffer);
  }

  function pairs(random: Random, n: number, single: boolean): [Real, Real][] {
    return KINDS.map((kind, k) => {
      const x = vector(random, n, kind);
      const y = vector(random, n, KINDS[(k + random.below(KINDS.length)) % KINDS.length] as (typeof KINDS)[number]);
      return single ? [toSingle(random, x), toSingle(random, y)] : [x, y];
    });
  }

  function agree(op: Reduction, x: Real, y: Real, mode: Rounding, how?: Filter): void {
    const z = op === "dot" ? y : x;
    const wanted = reduceOn(reference, op, x, z, false, mode, formatOf(x));
    if (!Object.is(reduced(op, x, z, false, mode, how), wanted))
      expect(reduced(op, x, z, false, mode, how), `seed ${SEED}, ${op}, n ${x.length}, ${mode}`).toBe(wanted);
  }

  test.each([
    ["binary64", false],
    ["binary32", true],
  ])("in %s return the bits of the reference, in every mode", (_, single) => {
    const random = new Random(SEED);
    for (let n = 0; n <= 70; n += n < 40 ? 1 : 7)
      for (const [x, y] of pairs(random, n, single)) agree(OPS[random.below(3)] as Reduction, x, y, MODES[random.below(4)] as Rounding);
  });

  test("return them with any group size, any number of levels and unrolling", () => {
    const random = new Random(SEED + 1);
    for (const how of SHAPES)
      for (const n of [1, how.group + 1, 2 * how.group, 8 * how.group + 3, 90 * how.group + 5])
        for (const [x, y] of pairs(random, n, how.levels === 2)) agree("dot", x, y, MODES[random.below(4)] as Rounding, how);
  });

  test.each([1, 2, 31, 32, 33, 64, 256, 1024])("return the sum with groups of %i, around every multiple", (group) => {
    const random = new Random(SEED + group);
    const how = { levels: 2, unroll: 1, group, groups: 1 }; // the one that is compiled soonest
    for (const many of [0, 1, 2, 3, 7])
      for (const n of [many * group - 1, many * group, many * group + 1].filter((length) => length > 0))
        for (const [x, y] of pairs(random, n, false).slice(0, 2)) agree("sum", x, y, "nearest", how);
  });

  test("return the root of a sum of squares", () => {
    const random = new Random(SEED + 2);
    for (const n of [0, 1, 2, 5, 33, 1000])
      for (const [x] of [...pairs(random, n, false), ...pairs(random, n, true)])
        for (const mode of MODES) {
          const wanted = reduceOn(reference, "dot", x, x, true, mode, formatOf(x));
          expect(reduced("dot", x, x, true, mode), `n ${n}, ${mode}`).toBe(wanted);
        }
  });

  test("return those of 100,000 terms", () => {
    const random = new Random(SEED + 3);
    for (const [x, y] of pairs(random, 100_003, false).slice(0, 6)) for (const op of OPS) agree(op, x, y, "nearest");
    for (const [x, y] of pairs(random, 100_001, true).slice(0, 3)) for (const op of OPS) agree(op, x, y, "nearest");
  });

  test("settle a condition of 1e30 in the filter, and decide exact zeros and ties there", () => {
    const settles = (x: Real, y: Real, unit: number): void => {
      const { high, low, bound } = runSync(inScope(device, "test", (scope) => enclose(scope, "dot", x, y)));
      expect(high).toBe(reduceOn(reference, "dot", x, y, false, "nearest", "binary64"));
      expect(Math.abs(low) + bound).toBeLessThan(Math.abs(high) * unit);
    };
    const { x, y } = illConditionedDot(10_000, 1e30, 7);
    settles(x, y, 2 ** -53);
    const random = new Random(SEED);
    const wide = Float32Array.from({ length: 5000 }, () => random.signed() * 2 ** (random.below(90) - 20));
    const opposite = Float32Array.from([...wide, ...wide], (v, i) => (i < 5000 ? v : -v));
    opposite[7] = 2 ** -18; // of 2^82 all in all
    opposite[5007] = 0;
    settles(opposite, new Float32Array(10_000).fill(0.3), 2 ** -53);
    const numbers = vector(new Random(SEED), 1000, "integers").map((v) => v / 8);
    const opposites = Float64Array.from([...numbers, ...numbers], (v, i) => (i < 1000 ? v : -v));
    const zero = runSync(inScope(device, "test", (scope) => enclose(scope, "dot", opposites, new Float64Array(2000).fill(0.3))));
    expect(zero).toEqual({ high: 0, low: 0, bound: 0 });
    const tie = Float64Array.of(1, 2 ** -53, 0.5, -0.5);
    expect(runSync(inScope(device, "test", (scope) => enclose(scope, "sum", tie, tie)))).toEqual({ high: 1, low: 2 ** -53, bound: 0 });
  });

  // The largest numbers that a grid placed for the first ones takes, all of one sign: it runs up, or down, as far as it can.
  function fullGrid(random: Random, n: number, single: boolean): [Real, Real] {
    const sign = random.below(2) ? 1 : -1;
    const x = Float64Array.from({ length: n }, (_, i) => sign * (i < 64 ? 1 : 31.9 + random.signed() / 16));
    const y = Float64Array.from(x, () => 1 - 2 ** -53);
    return single ? [Float32Array.from(x), Float32Array.from(y)] : [x, y];
  }

  test("bound what the filter loses, with every number of levels", () => {
    const random = new Random(SEED + 4);
    for (const [op, how, single] of [
      ["dot", SHAPES[0], false],
      ["dot", SHAPES[1], false],
      ["dot", SHAPES[2], false],
      ["dot", SHAPES[0], true],
      ["sum", SHAPES[0], false],
    ] as const)
      for (const n of [3, 70, 3000])
        for (let time = 0; time < 4; time++)
          for (const [x, y] of [...pairs(random, n, single), fullGrid(random, n, single)]) {
            const { high, low, bound } = runSync(inScope(device, "test", (scope) => enclose(scope, op, x, op === "dot" ? y : x, how)));
            if (!(bound < Infinity)) continue;
            const off = expected(op, x, op === "dot" ? y : x)
              .add(-high)
              .add(-low);
            expect(off.special(), `${op} ${how.levels} ${n}`).toBe(undefined);
            const distance = Math.abs(off.round("zero"));
            expect(distance <= bound, `${op}, ${how.levels} levels, n ${n}: ${distance} > ${bound}`).toBe(true);
          }
  });

  test("know that products of the smallest numbers round", () => {
    const x = new Float64Array(2).fill(2 ** -1074);
    expect(reduced("dot", x, Float64Array.of(1.5, 1.5), false, "nearest")).toBe(3 * 2 ** -1074);
  });

  // Each stage has one layout, and one of the kernels; the first ones have two, since a sum differs in how it begins.
  test.each(EXACT_STAGES.map((stage, k) => [stage, k] as const))("by the stage %s leave the digits of the reference", (stage, k) => {
    const random = new Random(SEED + 5);
    const layout = { ...EXACT, ...[{ group: 1, stride: 1 }, { group: 7 }, { group: 16 }, { group: 40, stride: 4 }][k % 4] };
    const terms: [Reduction, boolean][] = [["dot", k % 3 === 2]];
    if (k < 5) terms.push([OPS[k % 2] as Reduction, k % 4 < 2]);
    for (const n of [0, 1, 33, 300, 1001])
      for (const [op, single] of terms)
        for (const [x, y] of pairs(random, n, single)) {
          const z = op === "dot" ? y : x;
          const got = new Superaccumulator();
          runSync(inScope(device, "test", (scope) => accumulateBy(scope, stage, op, x, z, got, layout)));
          expect(digits(got), `${op}, n ${x.length}`).toEqual(digits(expected(op, x, z)));
        }
  });

  test("accumulate exactly, also products of two widths, and on top of what is there", () => {
    const random = new Random(SEED + 6);
    for (const n of [0, 1, 31, 500])
      for (const [x, y] of pairs(random, n, false)) {
        const z = toSingle(random, y as Float64Array);
        expect(digits(accumulated("dot", x, z))).toEqual(digits(expected("dot", x, z)));
        expect(digits(accumulated("dot", z, x))).toEqual(digits(expected("dot", z, x)));
        const twice = accumulated("sum", x, x);
        runSync(inScope(device, "test", (scope) => accumulate(scope, "sum", x, x, twice, true)));
        expect(digits(twice)).toEqual(digits(expected("sum", x, x).merge(expected("sum", x, x))));
      }
  });

  test("of vectors longer than one buffer can be", () => {
    const random = new Random(SEED + 7);
    reduced("sum", new Float64Array(1), new Float64Array(1), false, "nearest"); // so that the filter's own memory is there
    device.maxBufferBytes = 1200; // bytes: 148 numbers
    try {
      for (const n of [148, 149, 1000])
        for (const [x, y] of [...pairs(random, n, false), ...pairs(random, n, true)]) {
          agree("dot", x, y, "nearest");
          agree("sum", x, y, "down");
        }
    } finally {
      device.maxBufferBytes = maxBufferBytes;
    }
  });

  test("of vectors on the device, alone or with one that is not", () => {
    const random = new Random(SEED + 8);
    for (const n of [1, 2, 65, 1000])
      for (const [x, y] of [...pairs(random, n, false), ...pairs(random, n, true)]) {
        const [X, Y] = [resident(x), resident(y)];
        const wanted = reduceOn(reference, "dot", x, y, false, "nearest", formatOf(x));
        expect(reduced("dot", X, Y, false, "nearest")).toBe(wanted);
        expect(reduced("dot", x, Y, false, "nearest")).toBe(wanted);
        expect(reduced("dot", X, y, false, "nearest")).toBe(wanted);
        const total = reduceOn(reference, "sum", x, x, false, "nearest", formatOf(x));
        expect(reduced("sum", X, X, false, "nearest")).toBe(onlyNegativeZeros(x) ? -0 : total);
      }
  });

  test("of vectors on the device, accumulated", () => {
    const random = new Random(SEED + 13);
    for (const n of [1, 33, 500])
      for (const [x, y] of [...pairs(random, n, false), ...pairs(random, n, true)])
        for (const op of ["sum", "dot"] as const) {
          const [X, Y] = [resident(x), resident(y)];
          const z = op === "dot" ? y : x;
          expect(digits(accumulated(op, X, op === "dot" ? Y : X))).toEqual(digits(expected(op, x, z)));
          const sum = new Superaccumulator();
          const bound = runSync(inScope(device, "test", (scope) => accumulate(scope, op, X, op === "dot" ? Y : X, sum, false)));
          if (bound === 0) expect(digits(sum)).toEqual(digits(expected(op, x, z)));
          else
            expect(Math.abs(sum.merge(expected(op, z.map((v) => -v) as Real, op === "dot" ? x : z)).round("zero"))).toBeLessThanOrEqual(
              bound,
            );
        }
  });

  test("by the engine's routines return the bits of the host's, many at once, in every mode, here or there", async () => {
    const random = new Random(SEED + 14);
    const engine = engineOf(backendOn(device));
    const host = level1On(reference);
    for (const n of [1, 2, 100, 3000])
      for (const [x, y] of [...pairs(random, n, false), ...pairs(random, n, true)] as [Float64Array, Float64Array][]) {
        const [X, Y] = [await engine.upload(x), await engine.upload(y)];
        const calls = MODES.flatMap((round) => [
          { got: engine.exsum(X, { round }), wanted: host.exsum(x, { round }) },
          { got: engine.exasum(X, { round }), wanted: host.exasum(x, { round }) },
          { got: engine.exdot(X, Y, { round }), wanted: host.exdot(x, y, { round }) },
          { got: engine.exnrm2(X, { round }), wanted: host.exnrm2(x, { round }) },
          { got: engine.exdot(x, Y, { round }), wanted: host.exdot(x, y, { round }) },
          { got: engine.exnrm2(y, { round }), wanted: host.exnrm2(y, { round }) },
        ]);
        expect(await Promise.all(calls.map(({ got }) => got))).toEqual(calls.map(({ wanted }) => wanted));
        for (const each of [X, Y]) each.free();
      }
  });

  test("by the engine sum -0 alone to -0, here or there", async () => {
    const engine = engineOf(backendOn(device));
    for (const x of [new Float64Array(300).fill(-0), new Float32Array(1).fill(-0)] as Float64Array[]) {
      expect(await engine.exsum(x, { round: "up" })).toBe(-0);
      expect(await engine.exsum(await engine.upload(x), { round: "up" })).toBe(-0);
    }
  });

  test("sum -0 alone, and nothing, to -0 on the device", () => {
    for (const type of [Float64Array, Float32Array])
      for (const n of [0, 1, 3, 257, 5000]) {
        const x = new type(n).fill(-0) as Real;
        for (const mode of MODES) expect(reduced("sum", resident(x), x, false, mode)).toBe(-0);
        if (n > 0) {
          x[n - 1] = 0;
          expect(reduced("sum", resident(x), x, false, "down")).toBe(0);
          x[0] = -1e-40;
          x[n - 1] = n === 1 ? 0 : -(x[0] as number);
          expect(reduced("sum", resident(x), x, false, "down")).toBe(0);
        }
      }
  });

  test("map elements as the reference does, subnormals and all", () => {
    const random = new Random(SEED + 9);
    const alphas = [
      1,
      -0.1,
      3,
      1 / 3,
      2 ** -140,
      1e300,
      -1e-300,
      2 ** -1074,
      Infinity,
      -0,
      NaN,
      1 + 2 ** -24,
      1 + 2 ** -52,
      2 ** 60 + 2 ** 10,
    ];
    for (const n of [0, 1, 33, 700])
      for (const [x, y] of [...pairs(random, n, false), ...pairs(random, n, true)])
        for (const op of ["scal", "invscal", "axpy"] as const) {
          const alpha = random.below(2) ? (alphas[random.below(alphas.length)] as number) : (vector(random, 1, "bits")[0] as number);
          const [a, b, c, d] = [x.slice(), y.slice(), x.slice(), y.slice()];
          reference.map(op, alpha, a, b);
          runSync(inScope(device, "test", (scope) => map(scope, op, alpha, c, d)));
          const words = (v: Real) => new Uint32Array(v.buffer);
          if (op !== "axpy") expect(words(c), `${op} ${alpha}`).toEqual(words(a));
          else expect(words(d), `${op} ${alpha}`).toEqual(words(b));
          expect(words(op === "axpy" ? c : d)).toEqual(words(op === "axpy" ? x : y));
        }
  });

  test("round once to binary32 where twice would show", () => {
    // Products, quotients and sums a little off the middle between two binary32 numbers.
    const random = new Random(SEED + 10);
    const n = 4000;
    for (const op of ["scal", "invscal", "axpy"] as const) {
      const x = new Float32Array(n);
      const y = new Float32Array(n);
      const alpha =
        op === "axpy" ? 1 + 2 ** -30 * random.below(1 << 20) : (1 + 2 ** -24 * (2 * random.below(1 << 20) + 1)) * (1 + 2 ** -52);
      for (let i = 0; i < n; i++) {
        x[i] = (random.below(1 << 24) + 1) * 2 ** (random.below(4) === 0 ? -149 : -20 - random.below(40));
        if (op !== "axpy") x[i] = 2 ** -random.below(149) * (1 + random.below(4));
        y[i] = (random.below(1 << 24) - (1 << 23)) * 2 ** (random.below(4) === 0 ? -149 : -random.below(60));
        if (op === "axpy" && random.below(3) === 0) y[i] = -alpha * (x[i] as number); // what cancels
      }
      const [a, b] = [x.slice(), y.slice()];
      reference.map(op, alpha, a, b);
      runSync(inScope(device, "test", (scope) => map(scope, op, alpha, x, y)));
      expect([x, y]).toEqual([a, b]);
    }
  });

  test("round once to binary32 where the last bit of three parts decides", () => {
    // alpha x is half a last place of y, but for an error far below the last place of their sum in binary64.
    const random = new Random(SEED + 12);
    for (let time = 0; time < 40; time++) {
      const x = Float32Array.of(1 + random.below(1 << 24));
      const alpha = (random.below(2) ? -1 : 1) * (2 ** -24 / (x[0] as number));
      const y = Float32Array.of(1 + 2 ** -23 * random.below(1 << 23));
      const wanted = y.slice();
      reference.map("axpy", alpha, x, wanted);
      runSync(inScope(device, "test", (scope) => map(scope, "axpy", alpha, x, y)));
      expect(y, `${alpha} ${x[0]}`).toEqual(wanted);
    }
  });

  test("map vectors on the device, a vector with itself, and those longer than one buffer", () => {
    const random = new Random(SEED + 11);
    const x = vector(random, 500, "narrow");
    const y = vector(random, 500, "narrow");
    const wanted = y.slice();
    reference.map("axpy", 0.1, x, wanted);
    const Y = resident(y);
    runSync(inScope(device, "test", (scope) => map(scope, "axpy", 0.1, x, Y)));
    const got = new Float64Array(500);
    expect(reduced("dot", Y, resident(x), false, "nearest")).toBe(reduceOn(reference, "dot", wanted, x, false, "nearest", "binary64"));
    got.set(y);
    device.maxBufferBytes = 1000;
    try {
      runSync(inScope(device, "test", (scope) => map(scope, "axpy", 0.1, x, got)));
    } finally {
      device.maxBufferBytes = maxBufferBytes;
    }
    expect(got).toEqual(wanted);
    const self = x.slice();
    runSync(inScope(device, "test", (scope) => map(scope, "axpy", 0.1, self, self)));
    const selfWanted = x.slice();
    reference.map("axpy", 0.1, x, selfWanted);
    expect(self).toEqual(selfWanted);
  });
});
