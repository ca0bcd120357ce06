import { readFileSync } from "node:fs";
import { describe, expect, test, vi } from "vitest";
import {
  bicgstab,
  cg,
  convectionDiffusion,
  csr,
  engines,
  exspmv,
  gmres,
  laplacian,
  matrix,
  powerLaw,
  type Real,
  readNpy,
  toCsc,
} from "../../src/index.ts";
import { Random } from "../../src/study.ts";
import { storedBits } from "../hex.ts";
import { folder, halfulp, json } from "./cli.ts";

const { npy, mtx, put, at } = folder();
const random = new Random(11);
const numbers = (n: number): Float64Array => Float64Array.from({ length: n }, () => random.signed());
const saved = (name: string): string[] => storedBits(readNpy(new Uint8Array(readFileSync(at(name)))) as Real);

describe("spmv", () => {
  const A = powerLaw(60, 200, 1);
  const x = numbers(60);
  const [file, vector] = [mtx("A.mtx", A), npy("x.npy", x)];
  test.each([
    [[], {}],
    [["--trans"], { trans: true }],
    [["--engine", "threads", "--threads", "2"], {}],
  ] as const)("with %j", async (flags, options) => {
    const y = exspmv(1, A, x, 0, new Float64Array(60), options);
    const said = await json(["spmv", file, vector, ...flags, "-o", at("y.npy")]);
    expect(saved("y.npy")).toEqual(storedBits(y));
    expect(said).toMatchObject({ command: "spmv", rows: 60, cols: 60, entries: 200, output: at("y.npy") });
    expect(await json(["spmv", file, vector, ...flags])).toMatchObject({ y: [...y], sha256: said.sha256 });
  });
  test("of a matrix that is not square, printed as y", async () => {
    const wide = mtx("wide.mtx", csr(2, 3, Int32Array.of(0, 2, 3), Int32Array.of(0, 2, 1), Float64Array.of(1e16, 1, 2)));
    expect((await halfulp(["spmv", wide, put("three.csv", "1\n1\n1\n")])).out).toMatch(
      /^y +10000000000000002 2$|^y +10000000000000000 2$/m,
    );
    expect(await json(["spmv", wide, put("two.csv", "1\n1\n"), "--trans"])).toMatchObject({ y: [1e16, 2, 1] });
    expect(await halfulp(["spmv", wide, at("two.csv")])).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringMatching(/^halfulp: exspmv: x has length 2, expected 3 \(the columns of A\)\n$/),
    });
  });
  test("what is dense is refused", async () => {
    expect(await halfulp(["spmv", put("dense.csv", "1,2\n3,4\n"), put("two.csv", "1\n1\n")])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/dense.csv is dense, expected a sparse matrix \(Matrix Market, coordinate\)\n$/),
    });
    const piped = await halfulp(["spmv", "-", put("two.csv", "1\n1\n"), "--format", "csv"], [Buffer.from("1,2\n3,4\n")]);
    expect(piped).toMatchObject({ code: 2, err: expect.stringMatching(/^halfulp: standard input is dense, expected a sparse/) });
  });
});

const METHODS = { cg, bicgstab, gmres } as const;
type Method = keyof typeof METHODS;
const ALL = Object.keys(METHODS) as Method[];
const GRIDS = { cg: laplacian(9, 8), bicgstab: convectionDiffusion(9, 8), gmres: convectionDiffusion(9, 8) };
const b = numbers(72);
const files = {
  cg: mtx("cg.mtx", GRIDS.cg),
  bicgstab: mtx("bicgstab.mtx", GRIDS.bicgstab),
  gmres: mtx("gmres.mtx", GRIDS.gmres),
  b: npy("b.npy", b),
};

describe.each(ALL)("%s", (name) => {
  const [A, solve, file] = [GRIDS[name], METHODS[name], files[name]];

  test.each([
    [[], {}],
    [["--preconditioner", "jacobi"], { preconditioner: "jacobi" }],
    [["--preconditioner", "ilu0", "--tolerance", "1e-6"], { preconditioner: "ilu0", tolerance: 1e-6 }],
    [["--absolute", ".01", "--tolerance", "0"], { absolute: 0.01, tolerance: 0 }],
    [["--max-restarts", "0", "--max-iterations", "7"], { maxRestarts: 0, maxIterations: 7 }],
    [["--engine", "threads", "--threads", "3"], {}],
  ] as const)("with %j: the result of the function, to the bit", async (flags, options) => {
    const { x, history, ...rest } = solve(A, b, options);
    const said = await json([name, file, files.b, ...flags, "-o", at("x.npy")]);
    expect(saved("x.npy")).toEqual(storedBits(x));
    expect(said).toMatchObject({ command: name, unknowns: 72, entries: A.values.length, output: at("x.npy"), ...rest });
    expect(said.history).toEqual([...history]);
    expect(said.preconditioner).toBe("preconditioner" in options ? options.preconditioner : "none");
    expect(await json([name, file, files.b, ...flags])).toMatchObject({ x: [...x], sha256: said.sha256 });
  });

  test("with every engine: the same hash, iterations and history", async () => {
    const ways = (await engines()).filter(({ available }) => available).map(({ kind }) => ["--engine", kind]);
    const results = [];
    for (const flags of [[], ...ways]) {
      const { sha256, iterations, history, residual } = await json([name, file, files.b, "--preconditioner", "ilu0", ...flags]);
      results.push({ sha256, iterations, history, residual });
    }
    for (const result of results) expect(result).toEqual(results[0]);
  });

  test("starts from a vector in a file", async () => {
    const x0 = numbers(72);
    const { x, iterations } = solve(A, b, { x0 });
    expect(await json([name, file, files.b, "--x0", npy("x0.npy", x0)])).toMatchObject({ x: [...x], iterations });
    expect(await halfulp([name, file, files.b, "--x0", npy("short.npy", numbers(3))])).toMatchObject({
      code: 2,
      err: expect.stringMatching(new RegExp(`^halfulp: ${name}: [^\n]*x0 has length 3, expected 72[^\n]*\n$`)),
    });
  });

  test("a dense matrix, and one by columns", async () => {
    const dense = matrix(new Float64Array(72 * 72), 72, 72);
    const { pointers, indices, values } = toCsc(A);
    for (let j = 0; j < 72; j++)
      for (let p = pointers[j] as number; p < (pointers[j + 1] as number); p++)
        dense.data[72 * (indices[p] as number) + j] = values[p] as number;
    const { x } = solve(A, b);
    expect(await json([name, npy("dense.npy", dense), files.b])).toMatchObject({ x: [...x], entries: 72 * 72 });
  });

  test("not converged: exit code 1, with the reason, the last iterate and its residual", async () => {
    const { code, out, err } = await halfulp([name, file, files.b, "--max-iterations", "2", "-o", at("last.npy")]);
    expect({ code, err }).toEqual({ code: 1, err: "" });
    expect(out).toMatch(/^iterations +2\nreason +maxIterations\nconverged +false$/m);
    expect(saved("last.npy")).toEqual(storedBits(solve(A, b, { maxIterations: 2 }).x));
  });

  test("shows iterations and residuals on a terminal", async () => {
    const clock = vi.spyOn(performance, "now");
    let now = 0;
    clock.mockImplementation(() => {
      now += 300;
      return now;
    });
    const { err } = await halfulp([name, file, files.b], [], true);
    clock.mockRestore();
    expect(err).toMatch(new RegExp(`\r\x1b\\[K${name} \\d+ iterations, norm of the residual \\d\\.\\de[+-]\\d+, [\\d.]+ s`));
    expect(err.endsWith("\r\x1b[K")).toBe(true);
  });

  test.each([
    [["--tolerance=-1"], /--tolerance is "-1", expected a finite number of at least 0/],
    [["--tolerance", "nan"], /--tolerance is "nan", expected a finite number of at least 0/],
    [["--absolute", "1e999"], /--absolute is "1e999", expected a finite number of at least 0/],
    [["--preconditioner", "magic"], /--preconditioner is "magic", expected none, jacobi or ilu0/],
    [["--max-iterations", "many"], /--max-iterations is "many", expected an integer of at least \d/],
  ])("%j is refused in one line", async (flags, message) => {
    const said = await halfulp([name, file, files.b, ...flags]);
    expect(said).toMatchObject({ code: 2, out: "" });
    expect(said.err.trimEnd()).toMatch(message);
    expect(said.err).toMatch(/^halfulp: [^\n]+\n$/);
  });

  test("what cannot be solved: an error in one line", async () => {
    const gap = put("gap.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1\n1 2 1\n2 1 1\n");
    for (const preconditioner of ["jacobi", "ilu0"])
      expect(await halfulp([name, gap, put("two.csv", "1\n1\n"), "--preconditioner", preconditioner])).toMatchObject({
        code: 1,
        out: "",
        err: expect.stringMatching(/^halfulp: [^\n]+\n$/),
      });
    expect(await halfulp([name, file, put("nan.csv", `${"1\n".repeat(71)}nan\n`)])).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringMatching(new RegExp(`^halfulp: ${name}: [^\n]+\n$`)),
    });
    const wide = mtx("wide.mtx", csr(2, 3, Int32Array.of(0, 1, 2), Int32Array.of(0, 1), Float64Array.of(1, 1)));
    expect(await halfulp([name, wide, at("two.csv")])).toMatchObject({ code: 2, err: expect.stringMatching(/2 by 3, expected/) });
  });
});

test("--restart is for gmres", async () => {
  const { x, iterations } = gmres(GRIDS.gmres, b, { restart: 4 });
  const said = await json(["gmres", files.gmres, files.b, "--restart", "4"]);
  expect(said).toMatchObject({ x: [...x], iterations, method: "generalized minimal residuals, restarted after 4 iterations" });
  expect(await halfulp(["cg", files.cg, files.b, "--restart", "4"])).toMatchObject({
    code: 2,
    err: expect.stringMatching(/cg: Unknown option '--restart'/),
  });
});
