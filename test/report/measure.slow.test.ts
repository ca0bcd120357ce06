import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test, vi } from "vitest";
import { everyOpening } from "../../src/cli/engines.ts";
import { embedded } from "../../src/engines/embedded.ts";
import { laplacian, matrix, open } from "../../src/index.ts";
import { ACCURACY_CURVES, type Accuracy, measureAccuracy } from "../../src/report/measure/accuracy.ts";
import { disagreements, measureBits } from "../../src/report/measure/bits.ts";
import { race } from "../../src/report/measure/clock.ts";
import { convergenceProblems, measureConvergence } from "../../src/report/measure/convergence.ts";
import { exactSolution, exactSolve, relativeError } from "../../src/report/measure/exactErrors.ts";
import { measureIll, measureSolve } from "../../src/report/measure/solve.ts";
import { measureMatrix, SCHEDULES } from "../../src/report/measure/sparse.ts";
import { KINDS, OPERATIONS, raceStages, type StagedOperation } from "../../src/report/measure/stages.ts";
import { STAGES } from "../../src/study.ts";

describe("errors against the condition", () => {
  const file = join(fileURLToPath(new URL("../..", import.meta.url)), "bench/results/accuracy.json");
  const kept = JSON.parse(readFileSync(file, "utf8")) as Accuracy;

  test.each(ACCURACY_CURVES)("of %s are those of bench/results/accuracy.json, to the bit", (which) => {
    const { n, points } = measureAccuracy(which, embedded(), { n: kept[which].n, seeds: 1, every: 7 });
    expect(n).toBe(40);
    expect(points.length).toBeGreaterThan(0);
    for (const point of points)
      expect(point).toEqual(kept[which].points.find(({ asked, seed }) => asked === point.asked && seed === point.seed));
  });

  test("exact solutions with and without the inverse are the same", () => {
    const A = matrix(Float64Array.of(1e-300, 2, 3, 4, 5, 6, 7, 8, 10), 3, 3);
    const b = Float64Array.of(1, 0.1, -7);
    const [{ x }, y] = [exactSolution(A, b), exactSolve(A, b)];
    for (const [i, numerator] of x.numerators.entries())
      expect(numerator * y.denominator).toBe((y.numerators[i] as bigint) * x.denominator);
    expect(relativeError(x, Float64Array.of(Number.NaN, 0, 0))).toBe(null);
  });
});

describe("stages", () => {
  test.each(Object.keys(OPERATIONS) as StagedOperation[])("of %s: all of them, and the plain loop", async (op) => {
    for (const kind of KINDS) {
      const race = await raceStages(op, kind, 16, embedded(), 1);
      expect(race).toMatchObject({ op, kind, n: 16, engine: embedded().name });
      expect(race.stages.map(({ name }) => name)).toEqual(["plain", ...STAGES]);
      for (const { median, min } of race.stages) expect(median).toBeGreaterThanOrEqual(min);
    }
  });

  test("take turns", async () => {
    let now = 0;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => now);
    const calls: string[] = [];
    const busy = (name: string) => ({
      name,
      run() {
        calls.push(name);
        now += 2;
      },
    });
    const timings = await race([busy("a"), busy("b")], 3);
    clock.mockRestore();
    expect(calls.slice(-6).join("")).toBe("ababab");
    expect(timings).toEqual(["a", "b"].map((name) => ({ name, median: 2e6, min: 2e6 })));
  });
});

describe("sparse schedules", () => {
  test("all of them, with what they pay", async () => {
    await using pool = await open("threads", { threads: 2 });
    const [one, ...others] = await measureMatrix(pool, { name: "8 x 8", make: () => laplacian(8, 8) }, ["binary64", "binary32"], 1);
    expect(others.length).toBe(1);
    expect(one).toMatchObject({ name: "8 x 8", precision: "binary64", n: 64, entries: 288 });
    expect(one?.schedules?.map(({ mode, schedule }) => `${mode} ${schedule}`)).toEqual(
      ["plain", "exact"].flatMap((mode) => SCHEDULES.map((schedule) => `${mode} ${schedule}`)),
    );
    for (const { gflops, setUp, solve, setUpInSolves } of one?.schedules ?? []) {
      expect(gflops).toBeCloseTo((2 * 288) / solve, 12);
      expect(setUpInSolves).toBeCloseTo(setUp / solve, 12);
    }
  });
});

describe("convergence", () => {
  test("of every method and preconditioner, relative to the right-hand side", () => {
    const problems = convergenceProblems(8);
    expect(problems.map(({ name }) => name)).toEqual([
      "Laplacian, 8 x 8, 5 points",
      "Convection and diffusion, 8 x 8",
      "Elasticity, 4 x 4",
    ]);
    for (const problem of problems) {
      const { n, entries, curves } = measureConvergence(problem);
      const A = problem.make();
      expect([n, entries]).toEqual([A.rows, A.values.length]);
      expect(curves.map(({ method, preconditioner }) => `${method} ${preconditioner}`)).toEqual(
        problem.methods.flatMap((method) => problem.preconditioners.map((preconditioner) => `${method} ${preconditioner}`)),
      );
      for (const { reason, iterations, residual, history } of curves) {
        expect(reason).toBe("tolerance");
        expect(history.length).toBe(iterations + 1);
        expect(history[0]).toBe(1);
        for (const last of [residual, history.at(-1) as number]) expect(last).toBeLessThanOrEqual(1e-10 * (1 + 2 ** -50));
      }
    }
  });
});

describe("the solver", () => {
  test("speed and steps", async () => {
    await using engine = await open("wasm");
    const row = await measureSolve(engine, "one thread", "mixed", 32, 2);
    expect(row).toMatchObject({ engine: "one thread", method: "mixed", n: 32, converged: true });
    expect(row.iterations).toBeGreaterThan(0);
  });

  test("ill-conditioned systems", () => {
    expect(measureIll(24, 1e3, 1)).toMatchObject({ mixed: { converged: true }, answer: { method: "mixed", converged: true } });
    expect(measureIll(24, 1e12, 1)).toMatchObject({ mixed: { converged: false }, answer: { method: "double", converged: true } });
  });
});

describe("bits", () => {
  test("of all engines are the same", async () => {
    const bits = await measureBits();
    expect(disagreements(bits)).toEqual([]);
    const ran = bits.rows.filter(({ missing }) => missing === undefined);
    const { openings } = await everyOpening([1, 2, 3, 4, 7]);
    expect(new Set(ran.map(({ engine }) => engine)).size).toBe(openings.length);
    for (const { hashes } of ran) for (const hash of Object.values(hashes)) expect(hash).toMatch(/^[0-9a-f]{64}$/);
    // What they were when they were first computed: a change of an input, or of a result, shows here.
    const short = Object.fromEntries(Object.entries(ran[0]?.hashes ?? {}).map(([name, hash]) => [name, hash.slice(0, 8)]));
    expect(short).toEqual({
      exsum: "e58a4a02",
      exdot: "8fd9c41c",
      exnrm2: "590a4241",
      exgemv: "ef134ecc",
      exgemm: "c9be3306",
      extrsv: "0ff7e0bb",
      exlu: "af80d04a",
      exluBatch: "9745f5f6",
      exspmv: "39e94880",
      cg: "c4fbc39f",
      bicgstab: "16bec793",
      gmres: "f3211731",
      solve: "5dc50db0",
      sptrsv: "65a59738",
    });
  });

  test("that differ are found", () => {
    const row = (hashes: Record<string, string>) => ({ engine: "e", schedule: "s", hashes });
    expect(disagreements({ inputs: "", rows: [row({ a: "1", b: "2" }), row({ a: "1" }), row({ b: "3" })] })).toEqual(["b"]);
  });
});
