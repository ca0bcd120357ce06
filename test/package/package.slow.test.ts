// The package as npm publishes it, installed in an empty folder: its files, command and types.
import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as library from "../../src/index.ts";
import { install, root } from "./installed.ts";
import { resultsOf } from "./results.ts";

let folder: string;
beforeAll(() => {
  ({ folder } = install());
}, 180_000);
afterAll(() => rmSync(folder, { recursive: true }));

const SUBPATHS = ["halfulp", "halfulp/opencl", "halfulp/study"];

describe("the package as published", () => {
  test("brings nothing else with it", () => {
    expect(readdirSync(join(folder, "node_modules")).filter((name) => !name.startsWith("."))).toEqual(["halfulp"]);
  });

  test("holds what is built and what is written, no sources and no tests", () => {
    const names = readdirSync(join(folder, "node_modules/halfulp")).sort();
    expect(names).toEqual(["CHANGELOG.md", "LICENSE", "README.md", "dist", "docs", "package.json"]);
  });

  test("returns the bits of the sources in this Node", async () => {
    const printed = execFileSync(process.execPath, ["run.js"], { cwd: folder, encoding: "utf8" });
    expect(JSON.parse(printed)).toEqual(await resultsOf(library));
  });

  test("has a command", () => {
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const { status, stdout } = spawnSync(join(folder, "node_modules/.bin/halfulp"), ["--version"], { encoding: "utf8" });
    expect([status, stdout.trim()]).toEqual([0, version]);
  });

  test("solves a system by the commands of the README", () => {
    const [, text = ""] = readFileSync(join(root, "README.md"), "utf8").split("## Your own system");
    const [, commands = ""] = text.match(/```sh\n(.*?)```/s) ?? [];
    const printed = execFileSync("sh", ["-ec", commands], { cwd: folder, encoding: "utf8" });
    expect(printed).toMatch(/^converged +true$/m);
    expect(printed).toMatch(/^x +1 2$/m);
    expect(printed).toMatch(/return the same bits, the right ones/);
  });

  // A program may have neither a browser's types nor Node's.
  test.each([
    ["nodenext", "nodenext", undefined],
    ["esnext", "bundler", undefined],
    ["nodenext", "nodenext", ["ES2022"]],
    ["esnext", "bundler", ["ES2022"]],
  ])("has types for every way in: module %s, moduleResolution %s, lib %j", (module, moduleResolution, lib) => {
    const uses = SUBPATHS.map((path, i) => `import * as m${i} from "${path}";\nexport const all${i} = Object.keys(m${i});`);
    writeFileSync(join(folder, "use.ts"), [...uses, USE].join("\n"));
    const compilerOptions = { strict: true, noEmit: true, target: "es2022", module, moduleResolution, lib, skipLibCheck: false, types: [] };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["use.ts"] }));
    const { status, stdout } = spawnSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", folder], {
      encoding: "utf8",
    });
    expect([status, stdout]).toEqual([0, ""]);
  });
});

// Types of results, not of names alone: a declaration that cannot be found would be any, and pass.
const USE = `
import {
  csr, exaxpy, exdot, exgemm, exgemv, exlu, exluBatch, exscal, exsum, extrsv, matrix, open, readNpy, solve, sptrsv,
  type Engine, type Matrix, type Real, type Solution, type Sparse,
} from "halfulp";
import { devices } from "halfulp/opencl";
import type { Random } from "halfulp/study";
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const x = new Float64Array(4);
const A: Matrix = matrix(x, 2, 2);
const dot = exdot(x, x);
export const checks: [
  Same<typeof dot, number>,
  Same<ReturnType<typeof solve>, Solution>,
  Same<Awaited<ReturnType<typeof open>>["device"], string>,
  Same<Awaited<ReturnType<typeof devices>>[number]["name"], string>,
  Same<ReturnType<Random["below"]>, number>,
] = [true, true, true, true, true];
// @ts-expect-error the two precisions are never mixed
exdot(x, new Float32Array(4));
// @ts-expect-error
exgemv(1, A, new Float32Array(2), 0, new Float32Array(2));
// @ts-expect-error
exaxpy(1, x, new Float32Array(4));
export const factors = exlu(A).pivots satisfies Int32Array;

// A precision that is known when the program runs.
export function ofFile(bytes: Uint8Array): number {
  const value = readNpy(bytes);
  if (!("data" in value)) return exsum(value) + exdot(value, value) + exscal(2, value).length;
  const matrix: Matrix<Real> = value;
  return exlu(matrix).lu.data.length;
}
export function either<V extends Real>(x: V, y: V, S: Sparse<V>): V {
  const A: Matrix<V> = matrix(x, 1, x.length);
  const C: Matrix<V> = exgemm(1, A, A, 0, A, { transB: true });
  const plan = sptrsv(csr(S.rows, S.cols, S.pointers, S.indices, S.values));
  const u: V = exgemv(exsum(x) + exdot(x, y), C, exscal(2, x), 1, exaxpy(2, x, y));
  const v: V = exlu(C).solve(extrsv(C, u), { refine: 1 });
  return plan.solve(v, exluBatch(v, 1, 1).lu);
}
export async function onEngine<V extends Real>(engine: Engine, x: V, y: V, A: Matrix<V>, S: Sparse<V>): Promise<V> {
  const [kept, sum]: [{ read(): Promise<V> }, number] = [await engine.upload(x), await engine.exsum(x)];
  const u: V = await engine.exgemv(sum + (await engine.exdot(x, y)), A, await engine.exscal(2, x), 1, await engine.exaxpy(2, x, y));
  const v: V = await (await engine.exlu(A)).solve(await engine.extrsv(A, u), { refine: 1 });
  return (await engine.sptrsv(S)).solve(v, await kept.read());
}
export async function stillNotMixed(engine: Engine): Promise<void> {
  // @ts-expect-error
  await engine.exdot(x, new Float32Array(4));
  // @ts-expect-error
  await engine.exgemv(1, A, new Float32Array(2), 0, new Float32Array(2));
}
`;
