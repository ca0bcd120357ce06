// solve() with rounding "backward": the two numbers it is judged by are those of SPEC.md, exact for the x that is returned and
// rounded once, and `converged` is what they say.

import { describe, expect, test } from "vitest";
import { illConditionedMatrix, type Matrix, matrix, SingularError, type Solution, type SolveOptions } from "../../src/index.ts";
import { Random } from "../../src/study.ts";
import { cases, LONG, SEED } from "../effort.ts";
import { describeEngines, SELECTED_ENGINES } from "../engines.ts";
import { toHex } from "../hex.ts";
import { range } from "../oracles/matrices.ts";
import { measures, solution } from "../oracles/system.ts";
import { columns, randoms, solutionColumns } from "./checks.ts";
import { described, SYSTEM_KINDS, type System, systemOf } from "./systems.ts";

type Measured = Solution & { readonly backwardError: number; readonly condition: number };
const BACKWARD: SolveOptions = { rounding: "backward" };
const METHODS = ["auto", "mixed", "double", "exact"] as const;

const dense = ({ rows: n, data, order, ld, offset }: Matrix): number[] =>
  range(n * n).map((k) => data[offset + (order === "row" ? Math.floor(k / n) * ld + (k % n) : (k % n) * ld + Math.floor(k / n))] as number);

/** The measures are the exact ones of x, the largest over right-hand sides, and they decide. */
function checkMeasures(answer: Solution, A: Matrix, b: Float64Array | Matrix, what: () => string): void {
  const { residual, backwardError, converged, certified } = answer as Measured;
  const n = A.rows;
  const [entries, xs] = [dense(A), solutionColumns(answer, b)];
  const each = columns(b).map((right, c) => measures(n, entries, xs[c] as number[], right));
  const want = { residual: Math.max(0, ...each.map((m) => m.residual)), backwardError: Math.max(0, ...each.map((m) => m.backwardError)) };
  expect({ residual, backwardError }, what()).toEqual(want);
  expect(converged, what()).toBe(want.residual <= 1 && want.backwardError <= (n + 1) * 2 ** -53);
  if (!certified) return;
  for (const [c, right] of columns(b).entries())
    expect(xs[c]?.map(toHex), what()).toEqual((solution(n, entries, right) as number[]).map(toHex));
}

describeEngines("by hand", ({ solve }) => {
  const of = async (A: number[], b: number[], method: (typeof METHODS)[number] = "double"): Promise<Measured> =>
    (await solve(matrix(Float64Array.from(A), b.length, b.length), Float64Array.from(b), { ...BACKWARD, method })) as Measured;

  test("3 x = 1", async () => {
    // x is 1/3 less 2^-54 / 3: the residual is 2^-54, and 3 x + 1 rounds to 2
    const { x, residual, backwardError, converged } = await of([3], [1]);
    expect([x[0], residual, backwardError, converged]).toEqual([1 / 3, 0.25, 2 ** -55, true]);
  });

  test("0/0 is 0: no unknowns, right-hand sides of zeros, a row of which nothing is left", async () => {
    expect(await of([], [])).toMatchObject({ residual: 0, backwardError: 0, converged: true });
    expect(await of([2, 1, 1, 3], [0, -0])).toMatchObject({ residual: 0, backwardError: 0, converged: true });
    expect(await of([2, 0, 0, 3], [0, 6])).toMatchObject({ x: Float64Array.of(0, 2), residual: 0, backwardError: 0, converged: true });
  });

  test("no right-hand sides", async () => {
    const none = await solve(matrix(Float64Array.of(2, 1, 1, 3), 2, 2), matrix(new Float64Array(0), 2, 0), BACKWARD);
    expect(none).toMatchObject({ x: new Float64Array(0), residual: 0, backwardError: 0, converged: true });
  });

  test("x that is not finite has no measures, and one that is lost has not converged", async () => {
    expect(await of([2 ** -600], [2 ** 600])).toMatchObject({ residual: Number.NaN, backwardError: Number.NaN, converged: false });
    expect(await of([2 ** 600], [2 ** -600])).toMatchObject({
      x: Float64Array.of(0),
      residual: 2 ** 53,
      backwardError: 1,
      converged: false,
    });
    const A = matrix(Float64Array.of(2 ** -600, 0, 0, 1), 2, 2);
    const B = matrix(Float64Array.of(0, 2 ** 600, 1, 1), 2, 2); // of two right-hand sides the second overflows
    expect(await solve(A, B, BACKWARD)).toMatchObject({ residual: Number.NaN, backwardError: Number.NaN, converged: false });
  });
});

describe(`random systems, HALFULP_SEED=${SEED}`, () => {
  const count = LONG ? 1500 : cases(150, 24);
  test.each(SELECTED_ENGINES)(`${count} of all kinds, on $name`, async ({ name, routines, every }) => {
    const random = new Random(SEED);
    for (let round = 0; round < count; round++) {
      const system: System = systemOf(random, SYSTEM_KINDS[round % SYSTEM_KINDS.length] as (typeof SYSTEM_KINDS)[number]);
      const [method, several] = [METHODS[random.below(4)] as "auto", random.below(3) === 0];
      const others = randoms(random, system.n * 2, 2 ** (random.below(200) - 100));
      if (round % (name === "reference" ? 8 : every) !== 0) continue;
      const { n, A, b } = system;
      const M = matrix(A, n, n);
      const right = several ? matrix(Float64Array.of(...others, ...b), n, 3, { order: "column" }) : b;
      const options = { ...BACKWARD, method, fallback: round % 4 > 0, ...(round % 5 === 0 ? { maxIterations: round % 3 } : {}) };
      const what = () => `${JSON.stringify(options)}, ${several ? "the last of 3, " : ""}round ${round} on ${name}: ${described(system)}`;
      const answer = await Promise.resolve()
        .then(() => routines.solve(M, right, options))
        .catch((error) => error as Error);
      if (!(answer instanceof Error)) checkMeasures(answer, M, right, what);
      else if (answer instanceof SingularError) expect(solution(n, A, b), what()).toBe(answer.index);
      else throw answer;
    }
  });

  test("well-conditioned ones of every order converge, alone and side by side", async () => {
    const random = new Random(SEED + 1);
    for (let n = 1; n <= 40; n++)
      for (const { name, routines } of SELECTED_ENGINES) {
        if (n > 8 && n % 8 !== 0 && name !== "embedded") continue;
        const A = matrix(randoms(random, n * n), n, n);
        for (const b of [randoms(random, n), matrix(randoms(random, 3 * n), n, 3)]) {
          const answer = await routines.solve(A, b, BACKWARD);
          checkMeasures(answer, A, b, () => `n = ${n} on ${name}`);
          expect(answer.converged, `n = ${n} on ${name}`).toBe(true);
        }
      }
  });

  test("ill-conditioned ones converge too, and from factors", async () => {
    const random = new Random(SEED + 2);
    for (const condition of [1e6, 1e12, 1e16])
      for (const { name, routines } of SELECTED_ENGINES) {
        const A = illConditionedMatrix(40, condition, 1 + random.below(1000));
        const factored = await routines.factor(A, BACKWARD);
        for (const b of [randoms(random, 40), matrix(randoms(random, 80), 40, 2, { order: "column" })])
          for (const answer of [await routines.solve(A, b, BACKWARD), await factored.solve(b)]) {
            checkMeasures(answer, A, b, () => `condition ${condition} on ${name}`);
            expect(answer.converged, `condition ${condition} on ${name}`).toBe(true);
          }
        await factored.free();
      }
  });

  test('method "exact" has the same bits on every engine', async () => {
    const random = new Random(SEED + 3);
    for (const n of [3, 17, 40]) {
      const [A, b] = [matrix(randoms(random, n * n), n, n), randoms(random, n)];
      const all: string[][] = [];
      for (const { routines } of SELECTED_ENGINES)
        all.push(Array.from((await routines.solve(A, b, { ...BACKWARD, method: "exact" })).x, toHex));
      for (const x of all) expect(x).toEqual(all[0]);
    }
  });

  test('with rounding "correct" the measures are those of x too', async () => {
    const random = new Random(SEED + 4);
    for (const kind of ["random", "spread", "nearlySingular", "outOfRange", "hilbert"] as const)
      for (const { name, routines } of SELECTED_ENGINES) {
        const system: System = systemOf(random, kind);
        const { n, A, b } = system;
        const answer = (await routines.solve(matrix(A, n, n), b, { rounding: "correct" })) as Measured;
        const { residual, backwardError } = answer;
        expect({ residual, backwardError }, `${name}: ${described(system)}`).toEqual(measures(n, A, answer.x, b));
      }
  });
});
