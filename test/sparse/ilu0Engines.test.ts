// ilu0 on every engine: the bits and the errors of the reference engine, whose bits ilu0.test.ts compares with the definition.
import { expect, test } from "vitest";
import { csc, csr, laplacian, type Real, type Sparse, toCsc } from "../../src/index.ts";
import { elasticity } from "../../src/problems/elasticity.ts";
import { powerLaw } from "../../src/problems/powerLaw.ts";
import { Random } from "../../src/study.ts";
import { caught } from "../caught.ts";
import { cases, SEED } from "../effort.ts";
import { describeEngines } from "../engines.ts";
import { storedBits } from "../hex.ts";
import { pick } from "../matrices.ts";
import { range } from "../oracles/matrices.ts";
import { check, mapped, random, reference } from "./ilu0Cases.ts";

const single = (A: Sparse): Sparse<Float32Array> => csr(A.rows, A.cols, A.pointers, A.indices, Float32Array.from(A.values));

describeEngines(`ilu0 has the bits and the errors of the reference, HALFULP_SEED=${SEED}`, (routines, { every, opened, threads }) => {
  test.each(["binary64", "binary32"] as const)("on random patterns, %s", async (format) => {
    const source = new Random(SEED + (format === "binary64" ? 1 : 2));
    let [factored, failed] = [0, 0];
    for (let k = 0; k < cases(1200, 300) / Math.min(every, 4); k++) {
      const n = source.below(k % 20 === 0 ? 120 : 12);
      const density = pick(source, [0, 0.03, 0.1, 0.3, 0.6, 1]);
      const A = random(source, n, density, format, pick(source, ["csr", "csc"]), source.below(4) !== 0);
      if (await check(routines, A)) factored++;
      else failed++;
    }
    expect(Math.min(factored, failed)).toBeGreaterThan(2);
  });

  test("on problems of grids and webs", async () => {
    const source = new Random(SEED + 3);
    for (const A of [
      laplacian(40, 33),
      laplacian(17, 16, undefined, 9),
      laplacian(9, 10, 11),
      laplacian(7, 8, 9, 27),
      elasticity(5, 4, 3),
    ]) {
      const rough = mapped(A, (v) => v * (1 + source.signed() / 8));
      for (const B of [A, rough, toCsc(rough), single(A), single(rough)]) expect(await check(routines, B)).toBe(true);
    }
    const chain = laplacian(1500, 1); // each line waits for the one before it
    for (const A of [chain, toCsc(chain)])
      expect(
        await check(
          routines,
          mapped(A, (v) => v + source.signed() / 8),
        ),
      ).toBe(true);
    for (const A of [powerLaw(300, 3000, 1), toCsc(powerLaw(500, 2500, 2))]) await check(routines, A);
  });

  // The entries of a line are too far apart for one grid; sums lose what is left on the way.
  test("on lines whose entries have all magnitudes", async () => {
    const source = new Random(SEED + 4);
    for (const spread of [40, 120, 300, 500])
      for (const A of [laplacian(6, 7, 8, 27), toCsc(laplacian(30, 20, undefined, 9))]) {
        const wild = mapped(A, (v) => v * (1 + (source.signed() + 1) / 2) * 2 ** Math.round(spread * source.signed()));
        await check(routines, wild);
        await check(
          routines,
          mapped(wild, (v) => (source.below(5) === 0 ? 0 : v)),
        );
      }
  });

  // Line k fails, and all that depend on it; others may fail before it is found.
  test("the first failure in the order of lines, wherever others are", async () => {
    const n = 2000;
    const lines = range(n).map((i) =>
      [...new Set([i - 41, i - 1, i, i + 1, i + 41])].filter((j) => j >= 0 && j < n && !(j === i - 1 && i % 40 === 0)),
    );
    const pointers = Int32Array.from([
      0,
      ...lines.map(
        (
          (sum) => (line: number[]) =>
            (sum += line.length)
        )(0),
      ),
    ]);
    const indices = Int32Array.from(lines.flat());
    const rows = lines.flatMap((line, i) => line.map(() => i));
    const source = new Random(SEED + 5);
    for (let k = 0; k < 12; k++) {
      const bad = new Map(range(6).map((m) => [source.below(n), m === 5 ? 0 : source.below(3)])); // 0: all zeros
      const values = Float64Array.from(indices, (j, p) => {
        const i = rows[p] as number;
        const kind = bad.get(i);
        if (i === j) return kind === 0 ? 0 : kind === 1 ? 1e-300 : 5;
        return kind === 0 ? 0 : kind === 2 && j === i + 1 ? 1.7e308 : -1 - (source.signed() + 1) / 2;
      });
      for (const A of [csr(n, n, pointers, indices, values), csc(n, n, pointers, indices, values)])
        expect(await check(routines, A)).toBe(false);
    }
  });

  // Small matrices are done before a second worker wakes up.
  if (threads >= 2)
    test("where workers wait for each other", async () => {
      const [nx, ny] = [40, 40];
      const A = laplacian(nx, ny, 20, 27);
      const wanted = reference.ilu0(A).values;
      const { values } = await routines.ilu0(A);
      expect(values.findIndex((v, p) => !Object.is(v, wanted[p]))).toBe(-1);
      // The first line of a grid fails at its end, the next one at its start.
      for (let k = 0; k < 8; k++) {
        const first = nx * ny * 8 + k * nx;
        const bad = [first + nx - 4, first + nx];
        const broken = A.values.slice();
        for (const i of bad) broken.fill(0, A.pointers[i], A.pointers[i + 1]);
        const failing = csr(A.rows, A.cols, A.pointers, A.indices, broken);
        await expect((async () => routines.ilu0(failing))()).rejects.toMatchObject({ name: "SingularError", index: bad[0] });
      }
    });

  if (opened)
    test("calls at a time, residents, and matrices that change meanwhile", async () => {
      const engine = await (opened as NonNullable<typeof opened>)();
      const A = laplacian(12, 11, 10, 27);
      const wanted = storedBits(reference.ilu0(A).values);
      for (const B of [A, toCsc(A)]) {
        const resident = await engine.upload(B);
        const results = await Promise.all([engine.ilu0(resident), engine.ilu0(B), engine.ilu0(resident)]);
        const bits = storedBits(reference.ilu0(B).values);
        for (const F of results) {
          expect(storedBits(F.values)).toEqual(bits);
          expect(F.pointers).toEqual(B.pointers);
          expect(F.indices).toEqual(B.indices);
          expect(F.indices).not.toBe(B.indices);
        }
        expect(storedBits((await resident.read()).values)).toEqual(storedBits(B.values));
        resident.free();
        expect(results[0].indices).toEqual(B.indices);
      }
      const changed = csr(A.rows, A.cols, A.pointers.slice(), A.indices.slice(), A.values.slice());
      const pending = engine.ilu0(changed);
      changed.values.fill(Number.NaN);
      changed.indices.fill(0);
      expect(storedBits((await pending).values)).toEqual(wanted);
    });

  if (opened)
    test("refuses residents as it refuses matrices", async () => {
      const engine = await (opened as NonNullable<typeof opened>)();
      const bad = [
        csr(2, 2, Int32Array.of(0, 1, 2), Int32Array.of(0, 0), Float64Array.of(1, Number.NaN)),
        csr(2, 2, Int32Array.of(0, 1, 3), Int32Array.of(0, 0, 1), Float64Array.of(1, Number.NaN, 1)),
        csr(2, 2, Int32Array.of(0, 1, 3), Int32Array.of(0, 0, 1), Float64Array.of(0, 1, 1)),
        csr(2, 3, Int32Array.of(0, 1, 2), Int32Array.of(0, 1), Float64Array.of(1, 1)),
        csc(2, 2, Int32Array.of(0, 2, 4), Int32Array.of(1, 0, 1, 0), Float32Array.of(1, 1e-30, 1e30, 1e30)),
      ];
      for (const A of bad as Sparse<Real>[]) {
        const { name, message } = caught(() => reference.ilu0(A)) as Error;
        const resident = await engine.upload(A);
        await expect(engine.ilu0(resident)).rejects.toMatchObject({ name, message });
        await expect(engine.ilu0(A)).rejects.toMatchObject({ name, message });
        resident.free();
      }
    });
});
