// The reductions on every engine: the shared vectors, the hard cases, and random vectors against the oracles.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Format, Real, Reduction, Rounding } from "../src/arrays/types.ts";
import { Accumulator } from "../src/index.ts";
import { Random, reduceBy, STAGES } from "../src/study.ts";
import { FULL, SEED, VECTORS } from "./effort.ts";
import { type AnyRoutines, describeEngines, ENGINES, SELECTED_ENGINES } from "./engines.ts";
import { KINDS, length, permutation, toSingle, vector } from "./generators.ts";
import { fromHex, toHex } from "./hex.ts";
import { KERNELS } from "./kernels.ts";
import { columnSum } from "./oracles/columns.ts";
import { type Exact, exactReduction, round, roundRoot } from "./oracles/rational.ts";
import { VECTOR_FILES } from "./vectors/cases.ts";
import { readShared } from "./vectors/read.ts";

const MODES: readonly Rounding[] = ["nearest", "up", "down", "zero"];
const lines = (name: string): string[] =>
  readFileSync(new URL(name, import.meta.url), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));

type Name = "exsum" | "exasum" | "exdot" | "exnrm2";
const OPERATION: Record<Name, Reduction> = { exsum: "sum", exasum: "asum", exdot: "dot", exnrm2: "dot" };

function call(routines: AnyRoutines, name: Name, x: Real, y: Real, mode: Rounding): number | Promise<number> {
  return name === "exdot" ? routines.exdot(x, y, { round: mode }) : routines[name](x, { round: mode });
}

function vectorOf(format: Format, numbers: number[]): Real {
  return format === "binary64" ? Float64Array.from(numbers) : Float32Array.from(numbers);
}

describeEngines("the shared vectors", (routines) => {
  const cases = readShared("level1.jsonl");

  test("there are 1600 of them", () => expect(cases).toHaveLength(VECTOR_FILES["level1.jsonl"]));

  test.each(["exsum", "exasum", "exdot", "exnrm2"] as const)("%s returns them", async (op) => {
    for (const shared of cases) if (shared.op === op) expect(await shared.outcome(routines), shared.name).toEqual(shared.want);
  });
});

// A device compiles every stage for every reduction and precision: for minutes.
const STAGED_KERNELS = KERNELS.filter(({ name }) => FULL || name !== "opencl");

describe("hard cases", () => {
  const cases = lines("hard-cases.txt").map((line) => {
    const [name, op, format, x, y, want] = line.split(";").map((part) => part.trim()) as [
      string,
      Reduction,
      Format,
      string,
      string,
      string,
    ];
    const parse = (text: string): Real =>
      vectorOf(
        format,
        text
          .split(" ")
          .flatMap((word) =>
            word === "" ? [] : Array<number>(Number(word.split("*")[1] ?? 1)).fill(fromHex(word.split("*")[0] as string)),
          ),
      );
    return {
      name,
      op,
      format,
      x: parse(x),
      y: op === "dot" ? parse(y) : parse(x),
      want: want.split(" ").map((w) => (w === "nan" ? Number.NaN : fromHex(w))),
    };
  });

  test.each(cases)("$name, $op of $format", async ({ op, format, x, y, want }) => {
    for (const [i, mode] of MODES.entries()) {
      for (const { name, routines } of ENGINES)
        expect(await call(routines, `ex${op}` as Name, x, y, mode), `${mode} on ${name}`).toBe(want[i]);
      for (const { name, engine } of STAGED_KERNELS)
        for (const stage of STAGES) expect(reduceBy(stage, engine, op, x, y, mode), `${mode} on ${name} by ${stage}`).toBe(want[i]);
      const exact = exactReduction(op, x, y);
      if (!Object.is(want[i], -0)) expect(round(exact, mode, format), "the rational oracle").toBe(want[i]);
      if (typeof exact === "bigint" && !Object.is(want[i], -0))
        expect(columnSum(op, x, y, mode, format), "the column oracle").toBe(want[i]);
    }
  });
});

// Every case, and the same case negated, permuted, repeated 2^k times, and cut into pieces that are accumulated apart and
// merged.
const NAMES: readonly Name[] = ["exsum", "exasum", "exdot", "exnrm2"];
const MIRROR: Record<Rounding, Rounding> = { nearest: "nearest", zero: "zero", up: "down", down: "up" };

describe(`random vectors, HALFULP_SEED=${SEED}`, () => {
  test.each(NAMES)(`%s of ${VECTORS / NAMES.length} vectors is what the oracles say`, async (name) => {
    const seed = SEED + NAMES.indexOf(name);
    for (let k = 0; k < VECTORS / NAMES.length; k++) await checkOne(name, new Random(seed * 2 ** 20 + k), k);
  });
});

async function checkOne(name: Name, random: Random, k: number): Promise<void> {
  const label = `HALFULP_SEED=${SEED}, case ${k}`;
  const op = OPERATION[name];
  const n = length(random);
  const wide = vector(random, n, KINDS[random.below(KINDS.length)] as (typeof KINDS)[number]);
  const other = vector(random, n, KINDS[random.below(KINDS.length)] as (typeof KINDS)[number]);
  const single = random.below(4) === 0;
  const format: Format = single ? "binary32" : "binary64";
  const x: Real = single ? toSingle(random, wide) : wide;
  const y: Real = name === "exdot" ? (single ? toSingle(random, other) : other) : x;
  const mode = MODES[random.below(6)] ?? "nearest";
  const root = name === "exnrm2";

  const exact = exactReduction(op, x, y);
  const finish = (v: Exact, m: Rounding): number => (root ? roundRoot(v, m, format) : round(v, m, format));
  const negativeZero = name === "exsum" && x.every((v) => Object.is(v, -0));
  const want = negativeZero ? -0 : finish(exact, mode);
  const check = (got: number, wanted: number, what: string): void => {
    if (!Object.is(got, wanted)) expect.fail(`${name} ${format} ${mode}, ${what}: ${toHex(got)}, expected ${toHex(wanted)} (${label})`);
  };

  if (typeof exact === "bigint" && !root && !negativeZero && random.below(20) === 0)
    check(columnSum(op, x, y, mode, format), want, "the two oracles differ");

  const order = permutation(random, n);
  const times = 1 << random.below(4);
  const permutedX = x.map((_, i) => x[order[i] as number] as number);
  const permutedY = y === x ? permutedX : y.map((_, i) => y[order[i] as number] as number);
  const repeated = (v: Real): Real => vectorOf(format, Array.from({ length: times }, () => Array.from(v)).flat());
  const longX = repeated(x);
  const longY = y === x ? longX : repeated(y);
  const longWant = negativeZero ? -0 : finish(typeof exact === "bigint" ? exact * BigInt(times) : exact, mode);
  const negated = x.map((v) => -v);
  const negatedWant =
    name === "exsum" && negated.every((v) => Object.is(v, -0)) ? -0 : finish(typeof exact === "bigint" ? -exact : -exact, MIRROR[mode]);

  for (const { name: engine, routines, every } of SELECTED_ENGINES) {
    if (k % every !== 0) continue;
    check(await call(routines, name, x, y, mode), want, engine);
    check(await call(routines, name, permutedX, permutedY, mode), want, `${engine}, permuted`);
    check(await call(routines, name, longX, longY, mode), longWant, `${engine}, ${times} times`);
    if (name === "exsum" || name === "exdot")
      check(await call(routines, name, negated, y, MIRROR[mode]), negatedWant, `${engine}, negated`);
    else check(await call(routines, name, negated, negated, mode), want, `${engine}, negated`);
  }

  if (!root) {
    const whole = accumulate(op, x, y, 1, random);
    if (name !== "exasum")
      for (const { name: engine, routines, every } of SELECTED_ENGINES)
        if (k % (4 * every) === 0)
          expect((await routines.accumulate(x, name === "exdot" ? y : undefined)).toBytes(), `accumulate on ${engine} (${label})`).toEqual(
            whole.toBytes(),
          );
    const pieces = accumulate(op, permutedX, permutedY, 1 + random.below(random.below(10) === 0 ? 1024 : 8), random);
    check(pieces.value(mode, format), name === "exsum" || n === 0 ? (n === 0 ? -0 : want) : want, "merged");
    expect(pieces.toBytes(), `bytes (${label})`).toEqual(whole.toBytes());
  }
}

// The terms in `count` pieces, merged in random order.
function accumulate(op: Reduction, x: Real, y: Real, count: number, random: Random): Accumulator {
  const pieces = Array.from({ length: count }, () => new Accumulator());
  let from = 0;
  for (let i = 0; i < count; i++) {
    const to = i === count - 1 ? x.length : Math.min(x.length, from + random.below(Math.ceil((2 * x.length) / count) + 1));
    const piece = pieces[i] as Accumulator;
    if (op === "dot") piece.addProduct(x.subarray(from, to), y.subarray(from, to));
    else piece.add(op === "asum" ? x.subarray(from, to).map(Math.abs) : x.subarray(from, to));
    from = to;
  }
  while (pieces.length > 1) {
    const [taken] = pieces.splice(random.below(pieces.length), 1) as [Accumulator];
    (pieces[random.below(pieces.length)] as Accumulator).merge(taken);
  }
  return pieces[0] as Accumulator;
}
