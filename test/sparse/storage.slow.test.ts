// The forms in which a plan keeps its entries: lines as they are stored where they ascend and hold one triangle only, else
// copied, counted, or by levels. On a grid that is large enough for blocks of several grid lines, every form has the same bits.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { allocate, csr, exscal, free, laplacian, open, type Sparse, sptrsv, toCsc, toCsr } from "../../src/index.ts";
import { type Engine, Random } from "../../src/study.ts";
import { range } from "../oracles/matrices.ts";

const random = new Random(11);
const grid = laplacian(36, 30, 20);
const A: Sparse = { ...grid, values: grid.values.map((v) => v + 0.25 * random.signed()) };
const n = A.rows;
const b = Float64Array.from({ length: n }, () => random.signed());

// The entries of A that pass, row by row, in an order of choice.
function chosen(keep: (i: number, j: number) => boolean, reversed = false): Sparse {
  const pointers = new Int32Array(n + 1);
  const places: number[] = [];
  for (const i of range(n)) {
    const row = range((A.pointers[i + 1] as number) - (A.pointers[i] as number)).map((p) => (A.pointers[i] as number) + p);
    const kept = row.filter((p) => keep(i, A.indices[p] as number));
    places.push(...(reversed ? kept.reverse() : kept));
    pointers[i + 1] = places.length;
  }
  const indices = Int32Array.from(places, (p) => A.indices[p] as number);
  return csr(
    n,
    n,
    pointers,
    indices,
    Float64Array.from(places, (p) => A.values[p] as number),
  );
}

const same = (x: Float64Array, y: Float64Array): boolean => x.length === y.length && x.every((v, i) => Object.is(v, y[i]));

const SCHEDULES = ["serial", "levr", "levc", "slfr", "slfc", "gsf", "auto"] as const;
let engines: Engine[];
beforeAll(async () => {
  engines = [await open("threads", { threads: 2 }), await open("threads", { threads: 5 })];
});
afterAll(async () => {
  for (const engine of engines) await engine.close();
});

test("what other routines left in the scratch of an arena does not matter", () => {
  const x = allocate(10_000);
  for (const i of range(x.length)) x[i] = -Math.sqrt(i + 0.5);
  exscal(1.1, x);
  expect(sptrsv(laplacian(10, 10)).solve(new Float64Array(100))).toEqual(new Float64Array(100));
  free(x);
});

describe.each(["lower", "upper"] as const)("%s", (uplo) => {
  const inside = (i: number, j: number): boolean => i === j || j < i === (uplo === "lower");
  const strictly = (i: number, j: number): boolean => i !== j && inside(i, j);
  const triangle = chosen(inside);
  const forms: [string, Sparse, boolean][] = [
    ["one triangle, by rows", triangle, false],
    ["one triangle, by columns", toCsc(triangle), false],
    ["both triangles", A, false],
    ["both triangles, by columns", toCsc(A), false],
    ["rows that descend", chosen(inside, true), false],
    ["one triangle without a diagonal, by rows", chosen(strictly), true],
    ["one triangle without a diagonal, by columns", toCsc(chosen(strictly)), true],
  ];

  test.each(forms)("%s", async (_, form, unit) => {
    for (const trans of [false, true]) {
      const want = sptrsv(
        chosen(() => true, true),
        { uplo, trans, unit },
      ).solve(b);
      const options = { uplo, trans, unit };
      expect(same(sptrsv(form, options).solve(b), want)).toBe(true);
      for (const engine of engines) {
        for (const schedule of SCHEDULES) {
          const plan = await engine.sptrsv(form, { ...options, schedule });
          expect(same(await plan.solve(b), want), `${schedule}, trans ${trans}`).toBe(true);
          await plan.update(form.values.map((v) => 2 * v));
          await plan.update(form.values);
          expect(same(await plan.solve(b), want), `${schedule} after updates`).toBe(true);
          expect(plan.bytes).toBeLessThan(3 * (form.values.byteLength + form.indices.byteLength + form.pointers.byteLength));
          await plan.free();
        }
      }
    }
  });

  test.each(forms)("%s, plain: rows have the bits of the loop", async (_, form, unit) => {
    const want = sptrsv(toCsr(form), { uplo, unit, exact: false }).solve(b);
    for (const engine of engines)
      for (const schedule of ["levr", "slfr", "gsf", "auto"] as const) {
        const plan = await engine.sptrsv(toCsr(form), { uplo, unit, exact: false, schedule });
        expect(same(await plan.solve(b), want), schedule).toBe(true);
        await plan.free();
      }
  });

  // Whole numbers: whatever the order of updates, nothing is rounded, and none may be lost.
  test.each(forms)("%s, plain: columns lose no update", async (_, form, unit) => {
    const values = new Float64Array(form.values.length).fill(1);
    const solution = Float64Array.from({ length: n }, () => random.below(2001) - 1000);
    const right = unit ? solution.slice() : new Float64Array(n);
    for (const line of range(n)) {
      for (let p = form.pointers[line] as number; p < (form.pointers[line + 1] as number); p++) {
        const [i, j] = form.format === "csr" ? [line, form.indices[p] as number] : [form.indices[p] as number, line];
        if (unit ? strictly(i, j) : inside(i, j)) right[i] = (right[i] as number) + (solution[j] as number);
      }
    }
    const W = { ...form, values };
    for (const engine of engines) {
      for (const schedule of ["levc", "slfc"] as const) {
        const plan = await engine.sptrsv(W, { uplo, unit, exact: false, schedule });
        for (const repetition of range(20)) expect(same(await plan.solve(right), solution), `${schedule} ${repetition}`).toBe(true);
        await plan.free();
      }
    }
  });
});
