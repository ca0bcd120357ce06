// solve() with rounding "correct", the default: the bits of the exact solution, rounded, on every engine; whatever is done to
// the system that leaves its solution alone, or changes it in a known way; and a proof that singular matrices are singular.

import { describe, expect, test } from "vitest";
import { csc, csr } from "../../src/arrays/sparse.ts";
import {
  illConditionedMatrix,
  type Matrix,
  matrix,
  ShapeError,
  SingularError,
  type Solution,
  type SolveOptions,
  solve,
  ValueError,
} from "../../src/index.ts";
import { type Kernels, kernels as kernelsOf, Random, routinesOn, type StridedMatrix } from "../../src/study.ts";
import { cases, FULL, LONG, SEED } from "../effort.ts";
import { type AnyRoutines, describeEngines, ENGINES, SELECTED_ENGINES } from "../engines.ts";
import { permutation, vector } from "../generators.ts";
import { storedBits, toHex } from "../hex.ts";
import { LAYOUTS, place } from "../matrices.ts";
import { range } from "../oracles/matrices.ts";
import { eliminate, enclose, type Ratio, roundRatio, solution } from "../oracles/system.ts";
import { readShared } from "../vectors/read.ts";
import { FILES, readCases } from "./cases.ts";
import { columns, failure, randoms, solutionColumns } from "./checks.ts";
import { described, knownIntegers, permuted, SYSTEM_KINDS, type System, scaled, singular, systemOf } from "./systems.ts";

type Right = Float64Array | Matrix;
const METHODS = ["auto", "mixed", "double", "exact"] as const;

const square = ({ n, A }: System): Matrix => matrix(A, n, n);

/** Component by component the same number, +0 and -0 told apart. */
function expectBits(x: ArrayLike<number>, want: ArrayLike<number>, what: () => string): void {
  if (x.length === want.length && Array.from(x).every((v, i) => Object.is(v, want[i]))) return;
  expect(Array.from(x, toHex), what()).toEqual(Array.from(want, toHex));
}

/** The answer is `want`, and proved. */
function expectAnswer(answer: Solution, want: ArrayLike<number>, what: () => string): void {
  expectBits(answer.x, want, what);
  if (!answer.certified || !answer.converged)
    expect({ certified: answer.certified, converged: answer.converged }, what()).toEqual({ certified: true, converged: true });
}

/** Solve and see that inputs stay as they are; `want` is the solution, or the index of a dependent column. */
async function expectSolved(
  call: () => unknown,
  inputs: readonly Float64Array[],
  want: readonly number[] | number,
  what: () => string,
): Promise<void> {
  const before = inputs.map((x) => x.slice());
  if (typeof want === "number") {
    const error = await failure(call);
    expect(error, what()).toBeInstanceOf(SingularError);
    expect(error.index, what()).toBe(want);
  } else expectAnswer((await call()) as Solution, want, what);
  for (const [k, x] of inputs.entries()) expectBits(x, before[k] as Float64Array, () => `inputs of ${what()}`);
}

const check = (
  routines: AnyRoutines,
  system: System,
  want: readonly number[] | number,
  what: string,
  options?: SolveOptions,
): Promise<void> =>
  expectSolved(
    () => routines.solve(square(system), system.b, options),
    [system.A, system.b],
    want,
    () => `${what}: ${described(system)}`,
  );

// ---------------------------------------------------------------- answers from elsewhere

const CASES = FILES.flatMap(readCases).map(({ system, want }) => ({
  system,
  want: want ?? (solution(system.n, system.A, system.b) as number),
}));

describe("the shared cases", () => {
  test.each(FULL ? ENGINES : SELECTED_ENGINES)(`the systems of ${FILES.join(" and ")}, on $name`, async ({ name, routines, every }) => {
    for (const [k, shared] of FILES.flatMap(readShared).entries())
      if (FULL || every === 1 || k % 4 === 0) expect(await shared.outcome(routines), `${shared.name}, on ${name}`).toEqual(shared.want);
  });

  test.each(METHODS)("whatever the method asked for: %s", async (method) => {
    for (const [k, { system, want }] of CASES.entries())
      if (LONG || k % (FULL ? 4 : 16) === 0) await check({ solve } as AnyRoutines, system, want, method, { method });
  });
});

describeEngines("by hand", ({ solve, factor }) => {
  const A = matrix(Float64Array.of(2, 1, 1, 3), 2, 2);

  test("two unknowns, and the default is correct", async () => {
    const [plain, correct] = [await solve(A, Float64Array.of(1, 1)), await solve(A, Float64Array.of(1, 1), { rounding: "correct" })];
    expect(Array.from(plain.x)).toEqual([2 / 5, 1 / 5]);
    expect(plain.x).toEqual(correct.x);
    for (const answer of [plain, correct]) expect(answer).toMatchObject({ converged: true, certified: true });
  });

  test("one third, and one", async () => {
    expectAnswer(await solve(matrix(Float64Array.of(3), 1, 1), Float64Array.of(-1)), [-1 / 3], () => "1/3");
    expectAnswer(await solve(matrix(Float64Array.of(-0.1), 1, 1), Float64Array.of(-0.1)), [1], () => "1");
  });

  test("no unknowns, no right-hand sides", async () => {
    const none = await solve(matrix(new Float64Array(0), 0, 0), new Float64Array(0));
    expect(none).toMatchObject({ x: new Float64Array(0), converged: true, certified: true });
    expect(await solve(A, matrix(new Float64Array(0), 2, 0))).toMatchObject({ x: new Float64Array(0), converged: true, certified: true });
    const factored = await factor(A);
    expect(await factored.solve(matrix(new Float64Array(0), 2, 0))).toMatchObject({ converged: true, certified: true });
    await factored.free();
  });

  test("zeros are +0: of b, of its negative, of what cancels, and of what is too small", async () => {
    expectAnswer(await solve(A, Float64Array.of(-0, 0)), [0, 0], () => "b = 0");
    expectAnswer(await solve(A, Float64Array.of(-0, -0)), [0, 0], () => "b = -0");
    expectAnswer(await solve(A, Float64Array.of(-1, -3)), [0, -1], () => "x = (0, -1)");
    expectAnswer(await solve(matrix(Float64Array.of(2), 1, 1), Float64Array.of(-Number.MIN_VALUE)), [0], () => "-2^-1075");
    expectAnswer(await solve(matrix(Float64Array.of(2 ** 600), 1, 1), Float64Array.of(-(2 ** -600))), [0], () => "-2^-1200");
    expectAnswer(
      await solve(matrix(Float64Array.of(-2), 1, 1), Float64Array.of(3 * Number.MIN_VALUE)),
      [-2 * Number.MIN_VALUE],
      () => "a tie",
    );
  });

  test("infinities are proved like other answers", async () => {
    const { POSITIVE_INFINITY: INFINITY, MAX_VALUE: MAX } = Number;
    expectAnswer(await solve(matrix(Float64Array.of(0.5), 1, 1), Float64Array.of(MAX)), [INFINITY], () => "2 MAX");
    expectAnswer(
      await solve(matrix(Float64Array.of(1, 0, 0, -(2 ** -1000)), 2, 2), Float64Array.of(MAX, MAX)),
      [MAX, -INFINITY],
      () => "one of two",
    );
    // x is b_0 + b_1 and b_0 - b_1: past MAX by half a last place, which is an infinity, and by less, which is not.
    const pair = matrix(Float64Array.of(0.5, 0.5, 0.5, -0.5), 2, 2);
    const below = 2 ** 1023 - 2 ** 970;
    expectAnswer(await solve(pair, Float64Array.of(below, 2 ** 969)), [2 ** 1023, below - 2 ** 970], () => "ties below 2^1023");
    expectAnswer(await solve(pair, Float64Array.of(MAX, 2 ** 969)), [MAX, MAX], () => "no tie");
    expectAnswer(await solve(pair, Float64Array.of(MAX, 2 ** 970)), [INFINITY, MAX - 2 ** 971], () => "the last tie");
    expectAnswer(await solve(pair, Float64Array.of(-MAX, -(2 ** 970))), [-INFINITY, 2 ** 971 - MAX], () => "and its negative");
  });
});

// ---------------------------------------------------------------- random systems

/** A system that follows from another one, and the solution it must have; `solved` how to solve it, if not as it stands. */
interface Variant {
  readonly name: string;
  readonly system: System;
  readonly want: readonly number[] | number;
  readonly run?: (routines: AnyRoutines, what: () => string) => Promise<void>;
}

/** What may be done to a system without changing its solution, or changing it in a known way. */
function variants(random: Random, system: System, exact: readonly Ratio[] | number): readonly (() => Variant)[] {
  const { n, A, b } = system;
  const straight = range(n);
  const dependent = typeof exact === "number";
  const want = dependent ? exact : exact.map((x) => roundRatio(x));
  const opposite = typeof want === "number" ? want : want.map((x) => 0 - x);
  const powers = (): number[] =>
    range(n)
      .map(() => random.below(2001) - 1000)
      .map((k) => (random.below(2) ? k : Math.trunc(k / 100)));
  // Powers of two that leave all entries doubles: ever smaller ones, at last none.
  const scaling = (rows: readonly number[], cols: readonly number[]): { system: System; cols: readonly number[] } => {
    for (let [r, c] = [rows, cols]; ; [r, c] = [r.map((k) => Math.trunc(k / 2)), c.map((k) => Math.trunc(k / 2))]) {
      const result = scaled(system, r, c);
      if (result) return { system: result, cols: c };
    }
  };
  const others = [vector(random, n, "bits"), random.below(2) ? new Float64Array(n) : randoms(random, n)];

  return [
    () => ({ name: "rows permuted", system: permuted(system, permutation(random, n), straight), want }),
    () => {
      const order = permutation(random, n);
      const moved = permuted(system, straight, order);
      if (typeof want !== "number") return { name: "columns permuted", system: moved, want: Array.from(order, (j) => want[j] as number) };
      return { name: "columns permuted", system: moved, want: solution(n, moved.A, b) };
    },
    () => {
      const { system: result, cols } = scaling(powers(), powers());
      const unknowns = dependent ? exact : exact.map((x, j) => roundRatio(x, -(cols[j] as number)));
      return { name: "rows and columns scaled", system: result, want: unknowns };
    },
    () => ({ name: "A negated", system: { ...system, A: A.map((v) => -v) }, want: opposite }),
    () => ({ name: "b negated", system: { ...system, b: b.map((v) => -v) }, want: opposite }),
    ...(["row", "column"] as const).flatMap((order) =>
      [0, 2].map((where) => () => ({
        name: `beside others, by ${order}s, at ${where}`,
        system,
        want,
        run: (routines: AnyRoutines, what: () => string) => besideOthers(routines, system, others, where, order, want, what),
      })),
    ),
    () => ({ name: "from factors", system, want, run: (routines, what) => fromFactors(routines, system, others, want, what) }),
  ];
}

/** b as a column of three, the others of which are solved too. */
async function besideOthers(
  routines: AnyRoutines,
  system: System,
  others: readonly Float64Array[],
  where: number,
  order: "row" | "column",
  want: readonly number[] | number,
  what: () => string,
): Promise<void> {
  const { n, A, b } = system;
  const rights = where === 0 ? [b, ...others] : [...others, b];
  const at = (k: number): number => (order === "row" ? rights[k % 3]?.[Math.floor(k / 3)] : rights[Math.floor(k / n)]?.[k % n]) as number;
  const B = matrix(
    Float64Array.from({ length: 3 * n }, (_, k) => at(k)),
    n,
    3,
    { order },
  );
  const all = eliminate(n, A, rights);
  if (typeof want === "number" || "dependent" in all)
    return expectSolved(() => routines.solve(square(system), B), [A, B.data], want as number, what);
  const answer = await routines.solve(square(system), B);
  expect(answer.certified && answer.converged, what()).toBe(true);
  const found = solutionColumns(answer, B);
  expectBits(found[where] as number[], want, what);
  for (const [c, x] of found.entries())
    expectBits(
      x,
      (all.columns[c] as Ratio[]).map((v) => roundRatio(v)),
      () => `column ${c}, ${what()}`,
    );
}

/** factor(A).solve(b), alone and after another right-hand side. */
async function fromFactors(
  routines: AnyRoutines,
  system: System,
  others: readonly Float64Array[],
  want: readonly number[] | number,
  what: () => string,
): Promise<void> {
  const solveTwice = async (): Promise<readonly Solution[]> => {
    const factored = await routines.factor(square(system));
    try {
      const first = await factored.solve(system.b);
      await factored.solve(others[0] as Float64Array);
      return [first, await factored.solve(system.b)];
    } finally {
      await factored.free();
    }
  };
  if (typeof want === "number") return expectSolved(solveTwice, [system.A, system.b], want, what);
  for (const answer of await solveTwice()) expectAnswer(answer, want, what);
}

const COUNT = LONG ? 3000 : cases(300, 24);
// Of these systems every engine but the first takes its share, and of what is done to them one or two in turn.
const share = (name: string, every: number): number => (name === "reference" ? 8 : every);

describe(`random systems, HALFULP_SEED=${SEED}`, () => {
  const [first] = SELECTED_ENGINES.filter(({ name }) => name === "embedded");
  test.each(SELECTED_ENGINES)(`${COUNT} of all kinds, and what follows from them, on $name`, async ({ name, routines, every }) => {
    const random = new Random(SEED);
    for (let round = 0; round < COUNT; round++) {
      const system: System = systemOf(random, SYSTEM_KINDS[round % SYSTEM_KINDS.length] as (typeof SYSTEM_KINDS)[number]);
      const seed = random.word() >>> 0;
      if (round % share(name, every) !== 0) continue;
      const result = eliminate(system.n, system.A, [system.b]);
      const exact = "dependent" in result ? result.dependent : (result.columns[0] as Ratio[]);
      const want = typeof exact === "number" ? exact : exact.map((x) => roundRatio(x));
      await check(routines, system, want, `round ${round} on ${name}`);
      const all = variants(new Random(seed), system, exact);
      const chosen = name === first?.name || LONG ? all : [all[round % all.length], all[(round * 7 + 3) % all.length]];
      for (const make of chosen as typeof all) {
        const variant = make();
        const what = () => `${variant.name}, round ${round} on ${name}: ${described(variant.system)}`;
        if (variant.run) await variant.run(routines, what);
        else await check(routines, variant.system, variant.want, `${variant.name}, round ${round} on ${name}`);
      }
    }
  });

  test("in every layout", async () => {
    const random = new Random(SEED + 1);
    for (const { name, routines } of SELECTED_ENGINES)
      for (const at of LAYOUTS)
        for (const kind of ["random", "ties", "nearlySingular"] as const) {
          const system: System = systemOf(random, kind);
          const { n, A, b } = system;
          const M = place({ rows: n, cols: n, values: A }, at) as Matrix;
          const B = place({ rows: n, cols: 1, values: b }, at) as Matrix;
          const want = solution(n, A, b);
          const what = () => `${JSON.stringify(at)} on ${name}: ${described(system)}`;
          for (const right of [b, B] as Right[]) await expectSolved(() => routines.solve(M, right), [M.data, B.data], want, what);
        }
  });

  test("some of more than 24 unknowns", async () => {
    const random = new Random(SEED + 2);
    for (const n of LONG ? [33, 40, 50, 60, 64, 65] : FULL ? [33, 50] : [33]) {
      const system: System = { kind: "random", n, A: randoms(random, n * n), b: randoms(random, n) };
      const want = solution(n, system.A, system.b);
      for (const { name, routines } of SELECTED_ENGINES) await check(routines, system, want, name);
    }
  });
});

if (LONG)
  describe(`systems of order 50 to 120, of conditions up to 1e60, HALFULP_SEED=${SEED}`, () => {
    const random = new Random(SEED + 3);
    const sizes = range(40).map((k) => [50 + random.below(71), 10 ** (5 + Math.round((55 * k) / 39)), 1 + random.below(2 ** 30)] as const);
    test.each(sizes)("order %d, condition %d, seed %d", async (n, condition, seed) => {
      const { data: A } = illConditionedMatrix(n, condition, seed);
      const system: System = { kind: "ill-conditioned", n, A, b: randoms(new Random(seed), n) };
      const proved = enclose(n, A, system.b);
      const want = proved.includes(undefined) ? solution(n, A, system.b) : (proved as number[]);
      for (const { name, routines, every } of SELECTED_ENGINES)
        if (name !== "reference" && every === 1) await check(routines, system, want, `condition ${condition}, seed ${seed} on ${name}`);
    });
  });

describe(`integers with a known solution, HALFULP_SEED=${SEED}`, () => {
  const rows = LONG
    ? SELECTED_ENGINES.filter(({ name }) => name !== "reference")
    : SELECTED_ENGINES.filter(({ name }) => name === "embedded");
  const systems = rows.flatMap(({ name, routines }) => (LONG ? [1000, 3000] : FULL ? [1000] : [300]).map((n) => ({ name, routines, n })));
  test.each(systems)("of order $n on $name", async ({ name, routines, n }) => {
    const { A, b, x } = knownIntegers(new Random(SEED + 4), n);
    expectAnswer(
      await routines.solve(matrix(A, n, n), b),
      x.map((v) => v + 0),
      () => `order ${n} on ${name}`,
    );
  });
});

// ---------------------------------------------------------------- singular

describe(`singular matrices, HALFULP_SEED=${SEED}`, () => {
  const count = LONG ? 1000 : cases(120, 24);
  test.each(SELECTED_ENGINES)(`${count} of them, on $name`, async ({ name, routines, every }) => {
    const random = new Random(SEED + 5);
    for (let round = 0; round < count; round++) {
      const system = singular(random, 1 + random.below(20));
      if (round % share(name, every) !== 0) continue;
      const what = `round ${round} on ${name}`;
      await check(routines, system, system.index, what);
      await expectSolved(
        () => routines.factor(square(system)),
        [system.A],
        system.index,
        () => `factor, ${what}: ${described(system)}`,
      );
      // Another right-hand side changes nothing, and neither does one that has a solution.
      await check(routines, { ...system, b: new Float64Array(system.n) }, system.index, `b = 0, ${what}`);
    }
  });

  test("of larger orders", async () => {
    const random = new Random(SEED + 6);
    for (const n of LONG ? [60, 130, 400] : FULL ? [60, 130] : [60]) {
      const system = singular(random, n);
      for (const { name, routines } of SELECTED_ENGINES)
        if (name !== "reference") await check(routines, system, system.index, `order ${n} on ${name}`);
    }
  });

  test("as close to singular as binary64 allows, yet regular", async () => {
    const m = 2 ** 52 - 2;
    const systems: System[] = [
      { kind: "determinant -1", n: 2, A: Float64Array.of(m, m + 1, m + 1, m + 2), b: Float64Array.of(1, 3) },
      { kind: "determinant 2^-1074", n: 1, A: Float64Array.of(2 ** -1074), b: Float64Array.of(2 ** -1074) },
      { kind: "one last place", n: 3, A: Float64Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9 + 2 ** -49), b: Float64Array.of(1, 1, 2) },
      { kind: "determinant 2^-2148", n: 2, A: Float64Array.of(2 ** -1074, 0, 0, 2 ** -1074), b: Float64Array.of(3 * 2 ** -1074, 1) },
    ];
    for (const { name, routines } of SELECTED_ENGINES)
      for (const system of systems) await check(routines, system, solution(system.n, system.A, system.b), name);
  });
});

// ---------------------------------------------------------------- options and arguments

describe(`options, HALFULP_SEED=${SEED}`, () => {
  const LIMITED: readonly SolveOptions[] = [
    { fallback: false },
    { maxIterations: 0 },
    { maxIterations: 1, fallback: false },
    { maxIterations: 0, fallback: false },
    ...(["mixed", "double", "exact"] as const).map((method) => ({ method, fallback: false, maxIterations: 0 })),
  ];

  test("that forbid work may leave an answer without a proof, never with a wrong one", async () => {
    const random = new Random(SEED + 7);
    for (let round = 0; round < (LONG ? 600 : cases(90, 9)); round++) {
      const system: System = systemOf(random, SYSTEM_KINDS[round % SYSTEM_KINDS.length] as (typeof SYSTEM_KINDS)[number]);
      const { n, A, b } = system;
      const want = solution(n, A, b);
      for (const { name, routines, every } of SELECTED_ENGINES) {
        if (round % share(name, every) !== 0) continue;
        for (const options of LIMITED) {
          const what = () => `${JSON.stringify(options)}, round ${round} on ${name}: ${described(system)}`;
          // A matrix that is singular may be found to be so, and is never solved.
          const answer = await Promise.resolve()
            .then(() => routines.solve(square(system), b, options))
            .catch((error) => error as Error);
          if (answer instanceof Error) {
            expect(answer, what()).toBeInstanceOf(SingularError);
            expect((answer as SingularError).index, what()).toBe(want);
            continue;
          }
          expect(answer.x.length, what()).toBe(n);
          expect(answer.converged, what()).toBe(answer.certified);
          if (!answer.certified) continue;
          if (typeof want === "number") expect.fail(`a proof of what is not so, ${what()}`);
          else expectBits(answer.x, want, what);
        }
      }
    }
  });

  test("residual and backwardError are those of the x that is returned, whichever method came first", async () => {
    const random = new Random(SEED + 11);
    for (let round = 0; round < 40; round++) {
      const system = systemOf(random, (["integers", "ties", "blocks"] as const)[round % 3] as "blocks");
      if (typeof solution(system.n, system.A, system.b) === "number") continue;
      const answers = METHODS.map((method) => solve(square(system), system.b, { method }));
      for (const { residual, backwardError } of answers)
        expect({ residual, backwardError }, described(system)).toEqual({
          residual: answers[3]?.residual,
          backwardError: answers[3]?.backwardError,
        });
    }
  });

  test("an inverse modulo p that is wrong in one entry gives an error, no answer with a proof", () => {
    const reference = kernelsOf("reference") as Kernels;
    const kernels = Object.assign(Object.create(reference), {
      approximate: {
        ...reference.approximate,
        subtractModulo(_routine: string, C: StridedMatrix, P: Float64Array, Q: Float64Array, depth: number, p: number): void {
          const { data, rows, cols } = C;
          for (let e = 0; e < rows * cols; e++) {
            let sum = data[e] as number;
            for (let k = 0; k < depth; k++) sum -= (P[Math.floor(e / cols) * depth + k] as number) * (Q[k * cols + (e % cols)] as number);
            data[e] = sum - p * Math.round(sum / p) + Number(e === 0);
          }
        },
      },
    });
    const random = new Random(SEED + 12);
    for (let round = 0; round < 100; round++) {
      const n = 1 + random.below(4);
      const [A, b] = [n * n, n].map((count) => Float64Array.from({ length: count }, () => random.below(19) - 9)) as [
        Float64Array,
        Float64Array,
      ];
      const want = solution(n, A, b);
      if (typeof want === "number") continue;
      try {
        expectAnswer(routinesOn(kernels).solve(matrix(A, n, n), b, { method: "exact" }), want, () => `round ${round}`);
      } catch (error) {
        expect((error as Error).message).toMatch(/p-adic/);
      }
    }
  });

  test("maxIterations does not limit the exact stages", async () => {
    const random = new Random(SEED + 8);
    for (const kind of ["random", "ties", "nearlySingular", "hilbert"] as const) {
      const system: System = systemOf(random, kind);
      const want = solution(system.n, system.A, system.b);
      for (const { name, routines } of SELECTED_ENGINES) await check(routines, system, want, name, { maxIterations: 0 });
    }
  });

  test("an option that is not one is named, in what factor() and its solves are given too", async () => {
    const A = matrix(Float64Array.of(2, 1, 1, 3), 2, 2);
    const b = Float64Array.of(1, 2);
    const wrong: readonly [SolveOptions, string][] = [
      [{ rounding: "up" as "correct" }, 'rounding is "up"'],
      [{ method: "modular" as "auto" }, 'method is "modular"'],
      [{ maxIterations: -1 }, "maxIterations is -1"],
      [{ fallback: 1 as unknown as boolean }, "fallback is 1"],
      [{ certified: true } as SolveOptions, '"certified"'],
    ];
    for (const { routines } of SELECTED_ENGINES) {
      const factored = await routines.factor(A);
      for (const [options, message] of wrong)
        for (const call of [() => routines.solve(A, b, options), () => routines.factor(A, options), () => factored.solve(b, options)]) {
          const error = await failure(call);
          expect(error).toBeInstanceOf(ShapeError);
          expect(error.message).toContain(message);
        }
      await factored.free();
    }
  });

  test("that contradict each other are either refused by name or give the bits all the same", async () => {
    const random = new Random(SEED + 9);
    const system: System = systemOf(random, "random");
    const want = solution(system.n, system.A, system.b) as number[];
    for (const { name, routines } of SELECTED_ENGINES)
      for (const [made, asked] of [
        [{ rounding: "backward" }, { rounding: "correct" }],
        [{ method: "mixed" }, { method: "exact", rounding: "correct" }],
        [{ method: "exact", rounding: "backward" }, { rounding: "correct" }],
      ] as const) {
        const factored = await routines.factor(square(system), made);
        const answer = await Promise.resolve()
          .then(() => factored.solve(system.b, asked))
          .catch((error) => error as Error);
        if (answer instanceof Error) {
          expect(answer, name).toBeInstanceOf(ShapeError);
          for (const option of Object.keys(asked)) expect(answer.message).toContain(option);
        } else expectAnswer(answer, want, () => `${JSON.stringify([made, asked])} on ${name}`);
        await factored.free();
      }
  });
});

describeEngines("what is not finite", (routines) => {
  test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
    "%d is refused with its place, and nothing is written",
    async (bad) => {
      const n = 5;
      const good = Float64Array.from({ length: n * n }, (_, k) => (k % (n + 1) === 0 ? 7 : k % 3));
      for (const order of ["row", "column"] as const) {
        const A = matrix(good.slice(), n, n, { order });
        A.data[2 * n + 4] = bad;
        const [row, column] = order === "row" ? [2, 4] : [4, 2];
        const b = new Float64Array(n).fill(1);
        const before = [storedBits(A.data), storedBits(b)];
        for (const call of [() => routines.solve(A, b, { rounding: "correct" }), () => routines.factor(A, { rounding: "correct" })]) {
          const error = await failure(call);
          expect(error).toBeInstanceOf(ValueError);
          expect([error.row, error.column]).toEqual([row, column]);
        }
        expect([storedBits(A.data), storedBits(b)]).toEqual(before);

        const B = matrix(new Float64Array(2 * n).fill(1), n, 2, { order });
        B.data[order === "row" ? 2 * 3 + 1 : n + 3] = bad;
        const error = await failure(() => routines.solve(matrix(good, n, n), B));
        expect(error).toBeInstanceOf(ValueError);
        expect([error.row, error.column]).toEqual([3, 1]);
        expect(columns(B)[1]?.[3]).toBe(bad);
      }
    },
  );

  test("comes before singular: a matrix that is both", async () => {
    const error = await failure(() => routines.solve(matrix(Float64Array.of(0, 0, 0, Number.NaN), 2, 2), Float64Array.of(1, 1)));
    expect(error).toBeInstanceOf(ValueError);
  });
});

// ---------------------------------------------------------------- sparse

/** The entries of a system that are not zero, and now and then one that is, by rows or by columns. */
function sparseOf(random: Random, { n, A }: System, format: "csr" | "csc") {
  const [pointers, indices, values]: [number[], number[], number[]] = [[0], [], []];
  for (let line = 0; line < n; line++) {
    for (const k of permutation(random, n)) {
      const v = (format === "csr" ? A[line * n + k] : A[k * n + line]) as number;
      if (v === 0 && random.below(10) > 0) continue;
      indices.push(k);
      values.push(v);
    }
    pointers.push(indices.length);
  }
  return (format === "csr" ? csr : csc)(n, n, Int32Array.from(pointers), Int32Array.from(indices), Float64Array.from(values));
}

describe(`sparse matrices, HALFULP_SEED=${SEED}`, () => {
  test.each(SELECTED_ENGINES)("are the same system as their dense form, on $name", async ({ name, routines, every }) => {
    const random = new Random(SEED + 10);
    for (let round = 0; round < (LONG ? 400 : cases(60, 12)); round++) {
      const regular = round % 6 > 0;
      const system: System = regular
        ? systemOf(random, (["blocks", "integers", "badlyScaled", "ties", "random"] as const)[(round % 6) - 1] as "blocks")
        : singular(random, 1 + random.below(15));
      const sparse = (["csr", "csc"] as const).map((format) => sparseOf(random, system, format));
      if (round % Math.min(share(name, every), 10) !== 0) continue;
      const want = solution(system.n, system.A, system.b);
      for (const S of sparse) {
        const what = () => `${S.format}, round ${round} on ${name}: ${described(system)}`;
        await expectSolved(() => routines.solve(S, system.b), [S.values, system.b], want, what);
        if (typeof want === "number") continue;
        const factored = await routines.factor(S);
        expectAnswer(await factored.solve(system.b), want, what);
        await factored.free();
      }
    }
  });
});

describeEngines("options that forbid exact arithmetic", ({ solve }) => {
  test("do not make a singular matrix pass for a regular one", async () => {
    const A = matrix(Float64Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9), 3, 3);
    for (const method of METHODS) {
      const error = await failure(() => solve(A, Float64Array.of(1, 1, 1), { fallback: false, method }));
      expect(error, method).toBeInstanceOf(SingularError);
      expect(error.index, method).toBe(2);
    }
  });

  test("the condition is estimated whatever the method", async () => {
    const A = matrix(Float64Array.of(4, 1, 2, 3), 2, 2);
    for (const method of METHODS) {
      const { condition } = await solve(A, Float64Array.of(6, 8), { method });
      expect(condition, method).toBeGreaterThan(1);
      expect(condition, method).toBeLessThan(30);
    }
  });
});

describeEngines(`quotients as near to a tie as any can be, HALFULP_SEED=${SEED}`, ({ solve }) => {
  // q x = b with b 2^54 = m q + s for odd q and m, s = 1 or -1: x is m / 2^54 + s / (q 2^54), and m / 2^54 is a tie.
  test("are rounded to the right side of it", async () => {
    const random = new Random(SEED);
    const [half, whole] = [1n << 53n, 1n << 54n];
    for (let found = 0; found < 12; ) {
      const q = (1n << 52n) + 2n * BigInt(random.word() >>> 0) * 2n ** 15n + BigInt(random.below(2 ** 15)) * 2n + 1n;
      let inverse = 1n; // of q, modulo 2^54, by Newton's iteration
      for (let k = 0; k < 6; k++) inverse = (inverse * (2n - q * inverse)) % whole;
      for (const s of [1n, -1n]) {
        const m = (((-s * inverse) % whole) + whole) % whole;
        if (m < half) continue; // it has fewer than 54 bits
        found++;
        const b = (m * q + s) / whole;
        const { x, certified } = await solve(matrix(Float64Array.of(Number(q)), 1, 1), Float64Array.of(Number(b)));
        expect([x[0], certified], `${b} / ${q}`).toEqual([Number((m + s) / 2n) / 2 ** 53, true]);
      }
    }
  });
});
