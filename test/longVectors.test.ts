// Reductions of vectors that engines cut into parts, on every engine that is opened: the numbers that the synchronous functions
// return, in every rounding mode.

import { describe, expect, test } from "vitest";
import { Accumulator, exasum, exdot, exnrm2, exsum, illConditionedDot, type Real, type Rounding } from "../src/index.ts";
import { Random } from "../src/study.ts";
import { SEED } from "./effort.ts";
import { type AnyRoutines, SELECTED_ENGINES } from "./engines.ts";
import { KINDS, type Kind, toSingle, vector } from "./generators.ts";
import { columnSum } from "./oracles/columns.ts";

const MODES: readonly Rounding[] = ["nearest", "up", "down", "zero"];
const LENGTHS = [0, 1, 7, 8, 9, 31, 32, 33, 65535, 65536, 65537, 200001]; // a worker takes 65536 terms at a time
const OPENED = SELECTED_ENGINES.filter(({ opened }) => opened);

type Reductions = Record<"exsum" | "exasum" | "exdot" | "exnrm2", (...args: unknown[]) => number | Promise<number>>;
const reductions = (routines: object): Reductions => routines as Reductions;
const synchronous = reductions({ exsum, exasum, exdot, exnrm2 } satisfies Partial<Record<keyof AnyRoutines, unknown>>);

// Of every length in turn, with special values at the ends of what workers take, cancelling, and of every other kind.
function numbers(random: Random, n: number, kind: Kind): Float64Array {
  const x = vector(random, n, kind);
  if (kind === "special" && n > 65536) {
    x.fill(1.5); // specials at the borders only
    x[65535 + random.below(2)] = Number.POSITIVE_INFINITY;
    if (random.below(2)) x[n - 1] = [Number.NaN, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY][random.below(3)] as number;
  }
  return x;
}

async function same(label: string, x: Real, y: Real): Promise<void> {
  for (const round of MODES)
    for (const [name, args] of [
      ["exsum", [x, { round }]],
      ["exasum", [x, { round }]],
      ["exdot", [x, y, { round }]],
      ["exdot", [x, x, { round }]],
      ["exnrm2", [x, { round }]],
    ] as const) {
      const want = synchronous[name](...args);
      for (const { name: engine, routines } of OPENED) {
        const got = await reductions(routines)[name](...args);
        if (!Object.is(got, want)) expect.fail(`${name} ${round} of ${label} on ${engine}: ${got}, expected ${want}`);
      }
    }
  const [sum, dot] = [new Accumulator().add(x).toBytes(), new Accumulator().addProduct(x, y).toBytes()];
  for (const { name, routines } of OPENED) {
    expect((await routines.accumulate(x)).toBytes(), `accumulate(x) of ${label} on ${name}`).toEqual(sum);
    expect((await routines.accumulate(x, y)).toBytes(), `accumulate(x, y) of ${label} on ${name}`).toEqual(dot);
  }
}

describe(`reductions, HALFULP_SEED=${SEED}`, () => {
  const random = new Random(SEED);

  test.each(LENGTHS)("of %i terms", async (n) => {
    const kinds = n > 100 ? KINDS.filter((_, i) => (i + SEED) % 3 === 0 || KINDS[i] === "special") : KINDS;
    for (const kind of kinds) {
      const [x, y] = [numbers(random, n, kind), numbers(random, n, kind)];
      await same(`${n} ${kind} (HALFULP_SEED=${SEED})`, x, y);
      await same(`${n} ${kind} binary32 (HALFULP_SEED=${SEED})`, toSingle(random, x), toSingle(random, y));
    }
  });

  test.each([1e20, 1e40, 1e100])("of condition %s, which needs the later stages", async (condition) => {
    for (const n of [1000, 65600, 140001]) {
      const { x, y, dot } = illConditionedDot(n, condition, SEED);
      for (const { name, routines } of OPENED) expect(await routines.exdot(x, y), name).toBe(dot);
      await same(`condition ${condition}, ${n} terms (HALFULP_SEED=${SEED})`, x, y);
    }
  });

  test("that cancel to nothing, or to the smallest number", async () => {
    const n = 131073;
    const x = new Float64Array(n);
    for (let i = 0; i < n >> 1; i++) {
      x[i] = random.signed() * 2 ** (random.below(1800) - 900);
      x[n - 2 - i] = -(x[i] as number);
    }
    for (const last of [0, -0, 5e-324, -5e-324]) {
      x[n - 1] = last;
      for (const { routines } of OPENED) expect(await routines.exsum(x)).toBe(last === 0 ? 0 : last);
      await same(`what cancels (HALFULP_SEED=${SEED})`, x, x);
    }
  });

  test("of nothing but -0", async () => {
    for (const n of [0, 1, 70000]) {
      const x = new Float64Array(n).fill(-0);
      for (const { routines } of OPENED) {
        expect(await routines.exsum(x)).toBe(-0);
        expect(await routines.exasum(x)).toBe(0);
        expect(await routines.exdot(x, x)).toBe(0);
        expect(await routines.exnrm2(x)).toBe(0);
        expect((await routines.accumulate(x)).toBytes()).toEqual(new Accumulator().toBytes());
      }
    }
  });

  test("are what the oracle says", async () => {
    for (const n of [33, 65537]) {
      const [x, y] = [vector(random, n, "wide"), vector(random, n, "wide")];
      for (const round of MODES) {
        const sum = columnSum("sum", x, x, round, "binary64");
        const dot = columnSum("dot", x, y, round, "binary64");
        for (const { name, routines } of OPENED) {
          expect(await routines.exsum(x, { round }), name).toBe(sum);
          expect(await routines.exdot(x, y, { round }), name).toBe(dot);
        }
      }
    }
  });

  test("of two precisions are accumulated exactly", async () => {
    const x = Float64Array.of(2 ** 60, 0.1, 3);
    const y = Float32Array.of(1, 0.5, -7);
    for (const { routines } of OPENED)
      expect((await routines.accumulate(x, y)).toBytes()).toEqual(new Accumulator().addProduct(x, y).toBytes());
  });

  test("of parts that two engines accumulated merge to the whole", async () => {
    const x = vector(random, 100001, "cancelling");
    const want = new Accumulator().add(x).toBytes();
    for (const first of OPENED)
      for (const second of OPENED) {
        const parts = [await first.routines.accumulate(x.subarray(0, 70001)), await second.routines.accumulate(x.subarray(70001))] as const;
        expect(parts[0].merge(parts[1]).toBytes(), `${first.name} and ${second.name}`).toEqual(want);
      }
  });

  test("of residents are those of the vectors", async () => {
    for (const n of [5, 64, 65536, 70001])
      for (const { opened } of OPENED) {
        const engine = await (opened as NonNullable<typeof opened>)();
        const [x, y] = [vector(random, n, "narrow"), vector(random, n, "narrow")];
        const [rx, ry] = [await engine.upload(x), await engine.upload(y)];
        expect(await engine.exsum(rx)).toBe(exsum(x));
        expect(await engine.exnrm2(rx, { round: "up" })).toBe(exnrm2(x, { round: "up" }));
        expect(await engine.exdot(rx, ry)).toBe(exdot(x, y));
        expect(await engine.exdot(x, ry)).toBe(exdot(x, y));
        expect((await engine.accumulate(rx, y)).toBytes()).toEqual(new Accumulator().addProduct(x, y).toBytes());
        rx.free();
        ry.free();
      }
  });
});
