// The routines by every stage alone, on every synchronous engine: the shared vectors, random systems against the oracle,
// and that it is the stage asked for which does the work.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { allocate, free } from "../../src/api/memory.ts";
import { matrix } from "../../src/arrays/matrix.ts";
import type { Format, Real } from "../../src/arrays/types.ts";
import { type Kernels, kernels, Random, routinesBy, routinesOn, STAGES, type Stage } from "../../src/study.ts";
import { SEED } from "../effort.ts";
import type { AnyRoutines } from "../engines.ts";
import { fromHex, storedBits } from "../hex.ts";
import { KERNELS } from "../kernels.ts";
import { factorable, LAYOUTS, numbers, pick, scalar, system, type Table, table, transposed, vectorOf } from "../matrices.ts";
import { range } from "../oracles/matrices.ts";
import { batchCheck, type Check, gemmCheck, gemvCheck, luCheck, trsvCheck } from "./checks.ts";

const FORMATS: readonly Format[] = ["binary64", "binary32"];
const ROUNDINGS = ["single", "paper", "corrected"] as const;

const ROWS = KERNELS.flatMap(({ name, engine }) =>
  STAGES.map((stage) => ({ name: `${name} by ${stage}`, routines: routinesBy(stage, engine) as unknown as AnyRoutines })),
);
const onAll = async (check: Check, label: string): Promise<void> => {
  for (const { name, routines } of ROWS) await check(routines, `${label} on ${name} (HALFULP_SEED=${SEED})`);
};

const doubles = (hex: readonly string[]): Float64Array => Float64Array.from(hex, fromHex);
const tableOf = (rows: number, cols: number, hex: readonly string[]): Table => ({ rows, cols, values: doubles(hex) });

// The shared vectors as checks of the same problems; that the oracle agrees with what they want is tested with the engines.
const SHARED: Record<string, (line: ReturnType<typeof JSON.parse>) => Check> = {
  exgemv: ({ rows, cols, trans, alpha, beta, A, x, y }) =>
    gemvCheck(fromHex(alpha), tableOf(rows, cols, A), doubles(x), fromHex(beta), doubles(y), trans),
  exgemm: ({ m, n, k, alpha, beta, A, B, C }) =>
    gemmCheck(fromHex(alpha), tableOf(m, k, A), tableOf(k, n, B), fromHex(beta), tableOf(m, n, C)),
  extrsv({ n, T, b, op: _, want: __, uplo, ...options }) {
    const seen = options.trans ? transposed(tableOf(n, n, T)) : tableOf(n, n, T);
    return trsvCheck(seen, doubles(b), (uplo === "upper") !== (options.trans ?? false), options);
  },
  exlu: ({ rows, cols, A }) => luCheck(tableOf(rows, cols, A)),
};

describe("the shared vectors", () => {
  const cases = readFileSync(new URL("../vectors/matrices.jsonl", import.meta.url), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

  test.each(Object.keys(SHARED))("%s by every stage", async (op) => {
    const ours = cases.filter((c) => c.op === op);
    expect(ours.length).toBeGreaterThan(0);
    for (const [k, c] of ours.entries()) await onAll((SHARED[op] as (typeof SHARED)[string])(c), `case ${k}`);
  });
});

// Lengths on both sides of what engines leave to the reference, and of a multiple of 8.
const SIZES = [0, 1, 2, 7, 33, 48];

describe(`random systems, HALFULP_SEED=${SEED}`, () => {
  const random = new Random(SEED);
  let turn = 0;
  const nextLayout = () => LAYOUTS[turn++ % LAYOUTS.length] as (typeof LAYOUTS)[number];

  test.each(FORMATS)("exgemv, plain and transposed, %s", async (format) => {
    for (const rows of SIZES)
      for (const cols of SIZES)
        for (const trans of [false, true]) {
          const [m, n] = trans ? [cols, rows] : [rows, cols];
          const [x, y] = [numbers(random, n, format), numbers(random, m, format)];
          const A = table(random, rows, cols, format, random.below(4) > 0);
          await onAll(gemvCheck(scalar(random), A, x, scalar(random), y, trans, nextLayout()), "random");
        }
  });

  test.each(FORMATS)("exgemm, the four cases, %s", async (format) => {
    for (const [m, n, k] of [
      [0, 2, 3],
      [2, 3, 0],
      [3, 2, 1],
      [5, 4, 40],
    ] as const)
      for (const transA of [false, true])
        for (const transB of [false, true]) {
          const A = transA ? table(random, k, m, format) : table(random, m, k, format);
          const B = transB ? table(random, n, k, format) : table(random, k, n, format);
          const at = [nextLayout(), nextLayout(), nextLayout()];
          await onAll(gemmCheck(scalar(random), A, B, scalar(random), table(random, m, n, format), transA, transB, at), "random");
        }
  });

  test.each(FORMATS)("extrsv, the eight cases with every option, %s", async (format) => {
    for (const n of SIZES)
      for (const upper of [false, true])
        for (const trans of [false, true])
          for (const unit of [false, true]) {
            const { T, b } = system(random, n, format, upper);
            const options = {
              trans,
              unit,
              rounding: pick(random, ROUNDINGS),
              refine: pick(random, [0, 0, 1, 2]),
              refineBlocks: pick(random, [0, 0, 1, 2]),
              blockSize: pick(random, [1, 5, 16, 64]),
            };
            await onAll(trsvCheck(T, b, upper, options, nextLayout()), "random");
          }
  });

  test.each(FORMATS)("exlu and its solve, and exluBatch, %s", async (format) => {
    for (const rows of [0, 1, 2, 7, 33])
      for (const cols of [0, 1, 2, 7, 33]) {
        const b = rows === cols ? numbers(random, rows, format, "narrow") : undefined;
        await onAll(luCheck(factorable(random, rows, cols, format), nextLayout(), b, random.below(3)), "random");
      }
    for (const n of [0, 1, 3, 8])
      await onAll(
        batchCheck(
          range(3).map(() => factorable(random, n, n, format)),
          n,
          format,
        ),
        "random",
      );
  });

  test.each(FORMATS)("reductions, %s", (format) => {
    for (const n of SIZES)
      for (const { name, engine } of KERNELS) {
        const [x, y] = [numbers(random, n, format), numbers(random, n, format)] as [Float64Array, Float64Array];
        const want = reductions(routinesOn(engine), x, y);
        for (const stage of STAGES) expect(reductions(routinesBy(stage, engine), x, y), `${name} by ${stage}`).toEqual(want);
      }
  });
});

function reductions({ exsum, exasum, exdot, exnrm2 }: ReturnType<typeof routinesOn>, x: Float64Array, y: Float64Array): number[] {
  return (["nearest", "up", "down", "zero"] as const).flatMap((round) => [
    exsum(x, { round }),
    exasum(x, { round }),
    exdot(x, y, { round }),
    exnrm2(x, { round }),
  ]);
}

test("products that cancel, and what they leave cancels again", async () => {
  // Eight apart, so that lanes of any number meet them all.
  const values = Float64Array.from({ length: 40 }, (_, k) =>
    k % 8 === 0 ? ([1, 2 ** -200, 2 ** -300, -(2 ** -200), -1][k / 8] as number) : 0,
  );
  await onAll(gemvCheck(1, { rows: 1, cols: 40, values }, new Float64Array(40).fill(1), 0, new Float64Array(1)), "cancelling");
});

test("lines of no entries, which lie outside their array", () => {
  const A = matrix(new Float64Array(0), 2, 0, { ld: 5 });
  const B = matrix(new Float64Array(0), 0, 2, { order: "column", ld: 5 });
  for (const { name, engine } of KERNELS)
    for (const stage of STAGES) {
      const C = matrix(Float64Array.of(1, 2, 3, 4), 2, 2);
      expect(routinesBy(stage, engine).exgemm(1, A, B, 2, C).data, `${name} by ${stage}`).toEqual(Float64Array.of(2, 4, 6, 8));
    }
});

type Three = [Float64Array, Float64Array, Float64Array];
test.each(FORMATS)("matrices in engine memory, of which lines are read where they are, %s", (format) => {
  const n = 45;
  const random = new Random(SEED);
  const inMemory = (values: Real): Real => {
    const array: Real = format === "binary64" ? allocate(values.length) : allocate(values.length, "binary32");
    array.set(values);
    return array;
  };
  const values = vectorOf(
    format,
    range(n * n).map((k) => random.signed() + (k % (n + 1) === 0 ? 2 : 0)),
  );
  const [data, x, y] = [values, numbers(random, n, format, "narrow"), numbers(random, n, format, "narrow")].map(inMemory) as Three;
  const A = matrix(data, n, n);
  const answers = (routines: ReturnType<typeof routinesOn>): string[][] =>
    [
      routines.exgemv(1, A, x, 0, y),
      routines.exgemv(1, A, x, 0, y, { trans: true }),
      routines.extrsv(A, x),
      routines.extrsv(A, x, { uplo: "upper" }),
      routines.exlu(A).lu.data,
    ].map(storedBits);
  const engine = kernels("embedded") as Kernels;
  const want = answers(routinesOn(engine));
  for (const stage of STAGES) expect(answers(routinesBy(stage, engine)), stage).toEqual(want);
  for (const array of [data, x, y]) free(array);
});

describe("the stage asked for", () => {
  // Which kernels of the engine are called; of accumulateBy by which stage, of accumulate whether exactly.
  function watched(): { engine: Kernels; asked: Set<unknown> } {
    const asked = new Set<unknown>();
    const reference = kernels("reference") as Kernels;
    const watch =
      (name: keyof Kernels, kernel: (...args: unknown[]) => unknown) =>
      (...args: unknown[]): unknown => {
        asked.add(name === "accumulateBy" ? args[0] : name === "accumulate" && args[4] ? "ladder" : name);
        return kernel.apply(reference, args);
      };
    const engine = new Proxy(reference, {
      get(target, name: keyof Kernels) {
        const kernel = target[name];
        return typeof kernel === "function" ? watch(name, kernel as unknown as (...args: unknown[]) => unknown) : kernel;
      },
    });
    return { engine, asked };
  }

  const alone: readonly Stage[] = STAGES.filter((stage) => stage !== "certified");
  test.each(alone)("%s does all the work", (stage) => {
    const A = matrix(Float64Array.of(4, 1, 2, 5), 2, 2);
    const B = matrix(new Float64Array(4), 2, 2);
    const x = Float64Array.of(1, 2);
    const calls: readonly ((routines: ReturnType<typeof routinesOn>) => unknown)[] = [
      ({ exsum }) => exsum(x),
      ({ exasum }) => exasum(x),
      ({ exdot }) => exdot(x, x),
      ({ exnrm2 }) => exnrm2(x),
      ({ exgemv }) => exgemv(1, A, x, 0, Float64Array.of(0, 0)),
      ({ exgemm }) => exgemm(1, A, A, 0, B),
      ({ extrsv }) => extrsv(A, x, { refine: 1 }),
      ({ exlu }) => exlu(A).solve(x, { refine: 1 }),
      ({ exluBatch }) => exluBatch(A.data, 2, 1),
    ];
    for (const call of calls) {
      const { engine, asked } = watched();
      call(routinesBy(stage, engine));
      expect([...asked], call.toString()).toEqual([stage]);
    }
  });

  test("certified is the engine as it is", () => {
    const { engine, asked } = watched();
    const A = matrix(Float64Array.of(4, 1, 2, 5), 2, 2);
    routinesBy("certified", engine).exlu(A).solve(Float64Array.of(1, 2));
    expect([...asked]).toEqual(["lu", "trsv"]);
  });

  test("is one of the list", () => {
    const engine = kernels("reference") as Kernels;
    expect(() => routinesBy("fpe9" as Stage, engine)).toThrow(/^routinesBy: stage is "fpe9", expected/);
  });
});
