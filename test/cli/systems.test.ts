import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from "node:fs";
import { describe, expect, test, vi } from "vitest";
import { writeWhole } from "../../src/cli/output/save.ts";
import {
  engines,
  exlu,
  extrsv,
  factorizationError,
  laplacian,
  type Matrix,
  matrix,
  type Real,
  readMatrixMarket,
  readNpy,
  residualNorm,
  sptrsv,
} from "../../src/index.ts";
import { Random } from "../../src/study.ts";
import { storedBits } from "../hex.ts";
import { folder, halfulp, json, pieces } from "./cli.ts";

const { npy, mtx, put, at, path } = folder();
const random = new Random(3);
const numbers = (n: number): Float64Array => Float64Array.from({ length: n }, () => random.signed());

const n = 40;
const A = matrix(numbers(n * n), n, n);
for (let i = 0; i < n; i++) A.data[i * n + i] = 4 + random.signed();
const b = numbers(n);
const files = { A: npy("A.npy", A), b: npy("b.npy", b), mtxA: mtx("A.mtx", A), mtxb: mtx("b.mtx", matrix(b, n, 1)) };
const saved = (name: string): Real | Matrix<Real> => readNpy(new Uint8Array(readFileSync(at(name))));
const leftovers = (): string[] => readdirSync(path).filter((name) => name.endsWith(".tmp"));

describe("trsv", () => {
  test.each([
    [[], {}],
    [["--upper"], { uplo: "upper" }],
    [["--upper", "--trans"], { uplo: "upper", trans: true }],
    [["--unit"], { unit: true }],
    [["--rounding", "paper", "--refine", "2"], { rounding: "paper", refine: 2 }],
    [["--refine-blocks", "1", "--block-size", "8"], { refineBlocks: 1, blockSize: 8 }],
    [["--engine", "threads", "--threads", "2"], {}],
  ] as const)("with %j", async (flags, options) => {
    const x = extrsv(A, b, options as object);
    const said = await json(["trsv", files.A, files.b, ...flags, "-o", at("x.npy")]);
    expect(storedBits(saved("x.npy") as Real)).toEqual(storedBits(x));
    expect(said).toMatchObject({
      command: "trsv",
      unknowns: n,
      output: at("x.npy"),
      iterations: (options as { refine?: number }).refine ?? 0,
    });
    expect(said).not.toHaveProperty("x");
    expect(await json(["trsv", files.mtxA, files.mtxb, ...flags])).toMatchObject({ x: [...x], sha256: said.sha256 });
  });
  test("the residual is exact", async () => {
    for (const trans of [false, true]) {
      const T = matrix(new Float64Array(n * n), n, n);
      for (let i = 0; i < n; i++) for (let j = i; j < n; j++) T.data[i * n + j] = i === j ? 1 : (A.data[i * n + j] as number);
      const flags = ["--upper", "--unit", ...(trans ? ["--trans"] : [])];
      const { residual, x } = await json(["trsv", files.A, files.b, ...flags]);
      const of = trans ? { ...T, order: "column" as const } : T;
      expect(residual).toBe(residualNorm(of, Float64Array.from(x as number[]), b));
    }
  });
  test("binary32", async () => {
    const [T, c] = [matrix(Float32Array.from(A.data), n, n), Float32Array.from(b)];
    await json(["trsv", npy("T.npy", T as unknown as Matrix), npy("c.npy", c), "-o", at("y.npy")]);
    expect(storedBits(saved("y.npy") as Real)).toEqual(storedBits(extrsv(T, c)));
    const wide = matrix(Float64Array.from(T.data), n, n);
    expect(await json(["trsv", at("T.npy"), files.b])).toMatchObject({ x: [...extrsv(wide, b)] });
    expect(await json(["trsv", files.A, at("c.npy")])).toMatchObject({ x: [...extrsv(A, Float64Array.from(c))] });
  });
  test("a sparse file with zeros filled in, and a right-hand side from standard input", async () => {
    const S = laplacian(4, 4);
    const ones = new Float64Array(16).fill(1);
    const said = await halfulp(["trsv", mtx("S.mtx", S), "-", "--json"], pieces([...mtxText(ones)].join(""), 5));
    expect(JSON.parse(said.out)).toMatchObject({ x: [...sptrsv(S).solve(ones)] });
  });
  test("a zero on the diagonal: exit code 1", async () => {
    const Z = matrix(A.data.slice(), n, n);
    Z.data[5 * n + 5] = 0;
    const said = await halfulp(["trsv", npy("Z.npy", Z), files.b, "-o", at("none.npy")]);
    expect(said).toMatchObject({ code: 1, out: "", err: expect.stringMatching(/^halfulp: extrsv: entry \(5, 5\) of T is 0[^\n]*\n$/) });
    expect(existsSync(at("none.npy"))).toBe(false);
    const [first] = (await halfulp(["trsv", at("Z.npy"), files.b, "--json"])).out.split("\n");
    expect(JSON.parse(first as string)).toMatchObject({ error: { name: "SingularError" } });
  });
  test("a short solution is printed, of a long one the beginning", async () => {
    const said = await halfulp(["trsv", put("T.csv", "2,0\n1,4\n"), put("b.csv", "1\n1\n")]);
    expect(said.out).toMatch(/^x +0.5 0.125$/m);
    expect((await halfulp(["trsv", at("T.csv"), at("b.csv"), "-o", at("s.npy")])).out).toMatch(/^x +0.5 0.125$/m);
    expect((await halfulp(["trsv", files.A, files.b, "-o", at("s.npy")])).out).not.toMatch(/^x /m);
    expect((await halfulp(["trsv", files.A, files.b])).out).toMatch(/^x .* \.\.\. \(40 in all; use -o FILE to write them\)$/m);
  });
});

function* mtxText(x: Float64Array): Generator<string> {
  yield `%%MatrixMarket matrix array real general\n${x.length} 1\n`;
  for (const value of x) yield `${value}\n`;
}

describe("lu", () => {
  const factors = exlu(A);
  test("factors and pivots", async () => {
    const said = await json(["lu", files.A, "-o", at("lu.npy"), "--pivots", at("p.npy"), "--error"]);
    expect(storedBits((saved("lu.npy") as Matrix).data)).toEqual(storedBits(factors.lu.data));
    expect([...(saved("p.npy") as Real)]).toEqual([...factors.pivots]);
    expect(said).toMatchObject({ rows: n, cols: n, error: factorizationError(A, factors) });
    for (const { kind, available } of await engines())
      if (available) expect((await json(["lu", files.mtxA, "--engine", kind])).sha256).toBe(said.sha256);
  });
  test("--error is the infinity norm, the largest sum of a row and not its largest entry", async () => {
    // 3 RN(1/3) is 1 - 2^-54, and the second row of P A - L U has two entries of 2^-54.
    expect(await json(["lu", put("third.csv", "3,3\n1,5\n"), "--error"])).toMatchObject({ error: 2 ** -53 });
  });
  test("as Matrix Market", async () => {
    await json(["lu", files.A, "-o", at("lu.mtx")]);
    const back = (await readMatrixMarket(readFileSync(at("lu.mtx"), "utf8"))) as Matrix;
    for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) expect(back.data[i + j * n]).toBe(factors.lu.data[i * n + j]);
  });
  test.each([
    ["singular", "1,2\n2,4\n", /pivot/],
    ["not finite", "1,nan\n2,4\n", /finite/],
  ])("%s: exit code 1", async (_, text, message) => {
    expect(await halfulp(["lu", put("bad.csv", text)])).toMatchObject({ code: 1, out: "", err: expect.stringMatching(message) });
  });
});

describe("empty matrices with many rows take no time", () => {
  const empty = (shape: string, fortran: "True" | "False"): Uint8Array => {
    const header = `{'descr': '<f8', 'fortran_order': ${fortran}, 'shape': ${shape}, }\n`;
    return Uint8Array.from(Buffer.from(`\x93NUMPY\x01\x00${String.fromCharCode(header.length)}\x00${header}`, "latin1"));
  };
  const nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
  test.each([
    ["empty1.npy", empty("(1000000000, 0)", "True")],
    ["empty2.npy", empty("(1000000000, 0)", "False")],
    ["empty3.npy", empty("(0, 2147483647)", "True")],
    ["empty4.mtx", "%%MatrixMarket matrix array real general\n1000000000 0\n"],
  ])("%s", async (name, content) => {
    const file = put(name, content);
    expect((await json(["hash", file])).files).toMatchObject([{ sha256: nothing }]);
    expect(await json(["lu", file, "--error", "-o", at("e.npy")])).toMatchObject({ sha256: nothing, error: 0 });
    expect((await json(["hash", at("e.npy")])).files).toMatchObject([{ sha256: nothing }]);
  });
  test.each(["(1000000000000000, 0)", "(0, 1000000000000000)"])("too many: %s", async (shape) => {
    for (const command of ["hash", "lu"])
      expect(await halfulp([command, put("e.npy", empty(shape, "True"))])).toMatchObject({
        code: 2,
        err: expect.stringMatching(/e.npy: shape .*, expected at most 2147483647 rows and columns/),
      });
  });
});

describe("sptrsv", () => {
  const S = laplacian(9, 9);
  const c = numbers(81);
  const [file, right] = [mtx("grid.mtx", S), npy("grid.npy", c)];
  test.each([
    [[], {}],
    [["--upper"], { uplo: "upper" }],
    [["--upper", "--trans"], { uplo: "upper", trans: true }],
    [["--unit"], { unit: true }],
    [["--plain"], { exact: false }],
    [["--schedule", "slfr", "--engine", "threads"], { schedule: "slfr" }],
  ] as const)("with %j", async (flags, options) => {
    const x = sptrsv(S, options as object).solve(c);
    const said = await json(["sptrsv", file, right, ...flags]);
    expect(said).toMatchObject({ x: [...x], entries: S.values.length });
    // The residual by the dense routine.
    if (!flags.includes("--plain" as never) && !flags.includes("--schedule" as never))
      expect(said.residual).toBe((await json(["trsv", file, right, ...flags])).residual);
  });
  test("binary32 is widened", async () => {
    const single = Float32Array.from(c);
    expect(await json(["sptrsv", file, npy("single.npy", single)])).toMatchObject({ x: [...sptrsv(S).solve(Float64Array.from(single))] });
  });
  test("what is dense, or has a gap on the diagonal", async () => {
    expect(await halfulp(["sptrsv", files.A, files.b])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/is dense, expected a sparse/),
    });
    const gap = put("gap.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 1 1\n");
    expect(await halfulp(["sptrsv", gap, put("two.csv", "1\n1\n")])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^halfulp: sptrsv: /),
    });
  });
});

describe("solve", () => {
  test("methods and engines", async () => {
    for (const flags of [[], ["--method", "mixed"], ["--method", "exact"], ["--method", "double", "--engine", "threads"]]) {
      const said = await json(["solve", files.A, files.mtxb, "--rounding", "backward", ...flags, "-o", at("x.npy")]);
      expect(said).toMatchObject({ rounding: "backward", converged: true, fellBack: false, unknowns: n, certified: false });
      expect(said.residual).toBeLessThanOrEqual(1);
      expect(residualNorm(A, saved("x.npy") as Float64Array, b)).toBeLessThan(1e-13);
    }
  });
  test("the correctly rounded solution has one hash, whatever the method and the engine", async () => {
    const ways = [[], ["--method", "mixed"], ["--method", "exact"], ["--engine", "wasm"], ["--engine", "threads", "--threads", "3"]];
    const hashes = new Set<unknown>();
    for (const flags of ways) {
      const said = await json(["solve", files.A, files.mtxb, ...flags]);
      expect(said).toMatchObject({ rounding: "correct", converged: true, certified: true });
      hashes.add(said.sha256);
    }
    expect(hashes.size).toBe(1);
  });
  test("one unknown and several right-hand sides", async () => {
    const said = await json([
      "solve",
      npy("one.npy", matrix(Float64Array.of(4), 1, 1)),
      npy("three.npy", matrix(Float64Array.of(4, 8, 2), 1, 3)),
    ]);
    expect(said.x).toEqual([[1, 2, 0.5]]);
  });
  test("several right-hand sides, in either order", async () => {
    const B = matrix(numbers(2 * n), n, 2);
    const columns = matrix(
      Float64Array.from({ length: 2 * n }, (_, k) => B.data[(k % n) * 2 + Math.floor(k / n)] as number),
      n,
      2,
      { order: "column" },
    );
    const [rows, cols] = [
      await json(["solve", files.A, npy("B.npy", B)]),
      await json(["solve", files.A, npy("C.npy", columns), "-o", at("X.npy")]),
    ];
    expect(rows.sha256).toBe(cols.sha256);
    expect(saved("X.npy")).toMatchObject({ rows: n, cols: 2, order: "column" });
    expect((rows.x as number[][]).length).toBe(n);
  });
  test("what cannot be solved: exit code 1", async () => {
    const right = put("two.csv", "1\n1\n");
    expect(await halfulp(["solve", put("s.csv", "1,2\n2,4\n"), right])).toMatchObject({ code: 1, out: "" });
    const hard = put("hard.csv", "1,1\n1,1.0000000000000002\n");
    const said = await json(["solve", hard, right, "--method", "mixed", "--no-fallback", "--max-iterations", "3"]).catch(() => undefined);
    const { code } = await halfulp(["solve", hard, right, "--method", "mixed", "--no-fallback", "--max-iterations", "3"]);
    expect(code).toBe(said?.converged === true ? 0 : 1);
  });
  test("binary32 is widened", async () => {
    const A32 = matrix(Float32Array.from(A.data), n, n);
    expect(await json(["solve", npy("A32.npy", A32 as unknown as Matrix), files.b])).toMatchObject({ converged: true });
  });
});

describe("files in and out", () => {
  test.each([
    ["another length", ["trsv", files.A, npy("short.npy", new Float64Array(3))], /b has length 3, expected 40/],
    ["a vector for a matrix", ["lu", files.b], /is a vector of 40 numbers, expected a matrix/],
    ["a matrix for a vector", ["trsv", files.A, files.A], /is a matrix, 40 by 40, expected a vector/],
    [
      "a matrix that would not fit",
      ["lu", put("large.mtx", "%%MatrixMarket matrix coordinate real general\n1000000 1000000 1\n1 1 1\n")],
      /large.mtx is a sparse matrix, 1000000 by 1000000, expected at most 134217728 entries/,
    ],
    [
      "a few bytes that would fill gigabytes",
      ["lu", put("zeros.mtx", "%%MatrixMarket matrix coordinate real general\n20000 20000 1\n1 1 1\n")],
      /zeros.mtx is a sparse matrix, 20000 by 20000, expected at most 134217728 entries/,
    ],
    ["one file for two results", ["lu", files.A, "-o", at("s.npy"), "--pivots", `${path}/./s.npy`], /-o and --pivots are both/],
    ["a number gone wrong in line 1", ["lu", put("first.csv", "1,2,x\n1,2,3\n")], /first.csv: line 1 has "x" in column 3/],
    ["and of a vector", ["trsv", files.A, put("firstb.csv", "1x\n1\n")], /firstb.csv: line 1 has "1x" in column 1/],
    ["an empty cell", ["lu", put("gap.csv", "a,b\n1,2\n3,\n")], /gap.csv: line 3 has no value in column 2, expected a number$/],
    ["a blank line in a vector", ["trsv", files.A, put("gapb.csv", "1\n\n2\n")], /gapb.csv: line 2 has no value in column 1/],
    ["names beside a number", ["lu", put("mixed.csv", "a,2\n1,2\n")], /mixed.csv: line 1 has "a" in column 1/],
    [
      "rows without end",
      ["lu", put("huge.mtx", "%%MatrixMarket matrix coordinate real general\n2000000000 2000000000 1\n1 1 1\n")],
      /huge.mtx: line 2 has 2000000000 rows for 1 entries, expected at most 16777216/,
    ],
    ["no such file", ["lu", at("none.npy")], /none.npy: no such file/],
    [
      "a broken file",
      ["lu", put("broken.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n2\nx\n")],
      /broken.mtx: line 5 has value "x"/,
    ],
    ["a ragged file", ["lu", put("ragged.csv", "1,2\n3\n")], /ragged.csv: line 2 has 1 columns, expected 2/],
    ["a table of words", ["lu", put("words.csv", "a,b\n1,x\n")], /words.csv: line 2 has "x" in column 2/],
    [
      "an output of no format",
      ["trsv", files.A, files.b, "-o", at("x.txt")],
      /has an unknown format, expected a name ending in .npy, .mtx/,
    ],
    ["an output in no folder", ["trsv", files.A, files.b, "-o", at("no/x.npy")], /no such file or directory/],
    ["an output that is a folder", ["trsv", files.A, files.b, "-o", path], /has an unknown format|is a directory/],
  ])("%s", async (_, argv, message) => {
    const said = await halfulp(argv as string[]);
    expect(said).toMatchObject({ code: 2, out: "" });
    expect(said.err.trimEnd()).toMatch(message);
    expect(said.err).toMatch(/^halfulp: [^\n]+\n$/);
  });
  test.each([
    [["lu", "-"], "y\n", /standard input: line 1 has "y", expected "%%MatrixMarket/],
    [["sum", "-", "--format", "csv"], "1\nx\n", /standard input: line 2 has "x"/],
    [["sum", "-"], "y\n", /standard input has an unknown format/],
    [["lu", "-"], "\x93NUMPY\x01\x00\x02\x00{}", /standard input: the header has no key 'descr'/],
  ])("%j of a stream without end that is no such thing: it is closed", async (argv, text, message) => {
    let closed = false;
    function* endless(): Generator<Uint8Array> {
      try {
        for (;;) yield Uint8Array.from(Buffer.from(text, "latin1"));
      } finally {
        closed = true;
      }
    }
    expect(await halfulp(argv, endless())).toMatchObject({ code: 2, err: expect.stringMatching(message) });
    expect(closed).toBe(true);
  });
  test("a matrix from a stream, in pieces", async () => {
    const said = await halfulp(["lu", "-", "--json"], pieces(new Uint8Array(readFileSync(files.A)), 1000));
    expect(JSON.parse(said.out).sha256).toBe((await json(["lu", files.A])).sha256);
    const header = "{'descr': '<f8', 'fortran_order': False, 'shape': (20000, 20000), }\n";
    const announced = Buffer.from(`\x93NUMPY\x01\x00${String.fromCharCode(header.length)}\x00${header}${"12345678".repeat(9)}`, "latin1");
    const less = await halfulp(["lu", "-"], [Uint8Array.from(announced)]);
    expect(less).toMatchObject({ code: 2, err: expect.stringMatching(/ends after 72 bytes of numbers, expected 3200000000/) });
    const more = announced.toString("latin1").replace("(20000, 20000)", "(92681, 92681)");
    let asked = false;
    const stream = (function* () {
      yield Uint8Array.from(Buffer.from(more, "latin1"));
      asked = true;
    })();
    expect(await halfulp(["lu", "-"], stream)).toMatchObject({
      code: 2,
      err: expect.stringMatching(/standard input has 8589767761 numbers .*, expected at most 536870912 from a stream/),
    });
    expect(asked).toBe(false);
  });
  test("nothing is left beside an output, and what was there is replaced", async () => {
    put("x.npy", "old");
    await json(["trsv", files.A, files.b, "-o", at("x.npy")]);
    expect((saved("x.npy") as Real).length).toBe(n);
    expect(leftovers()).toEqual([]);
  });
  test("a failure to write names the file", async () => {
    symlinkSync("/dev/full", at("full.npy"));
    expect(await halfulp(["trsv", files.A, files.b, "-o", at("full.npy")])).toMatchObject({
      code: 2,
      out: "",
      err: `halfulp: ${at("full.npy")}: no space left on the device\n`,
    });
  });
  // Root may write everywhere.
  if (process.getuid?.() !== 0)
    test("a folder that cannot be written is found before the work", async () => {
      mkdirSync(at("closed"), { mode: 0o500 });
      const said = await halfulp(["trsv", at("nothing.npy"), files.b, "-o", at("closed/x.npy")]);
      expect(said).toMatchObject({ code: 2, err: `halfulp: ${at("closed/x.npy")}: permission denied (its directory cannot be written)\n` });
    });
  test("a signal is caught before there is a file", async () => {
    const on = vi.spyOn(process, "on");
    const seen: string[][] = [];
    on.mockImplementation(() => {
      seen.push(leftovers());
      return process;
    });
    await writeWhole(at("caught.txt"), ["all of it"]);
    on.mockRestore();
    expect(seen).toEqual([[], [], []]);
    expect(readFileSync(at("caught.txt"), "utf8")).toBe("all of it");
  });
  test("a file of the same name beside the place is left as it is", async () => {
    const beside = put(`.taken.txt.${process.pid}.tmp`, "of somebody else");
    await expect(writeWhole(at("taken.txt"), ["all of it"])).rejects.toThrow(/EEXIST/);
    expect(readFileSync(beside, "utf8")).toBe("of somebody else");
    rmSync(beside);
  });
  test("a signal that comes when the file has just been moved", async () => {
    const kill = vi.spyOn(process, "kill").mockReturnValue(true);
    const before = process.listeners("SIGINT");
    function* pieces(): Generator<string> {
      yield "all of it";
      const beside = leftovers()[0] as string;
      renameSync(at(beside), at("moved.txt"));
      const stop = process.listeners("SIGINT").find((each) => !before.includes(each)) as (signal: string) => void;
      stop("SIGINT");
    }
    await expect(writeWhole(at("whole.txt"), pieces())).rejects.toThrow(/ENOENT.*rename/);
    expect(kill).toHaveBeenCalledWith(process.pid, "SIGINT");
    kill.mockRestore();
  });
  test("a link is followed, a device is written as it is", async () => {
    put("target.npy", "old");
    symlinkSync(at("target.npy"), at("link.npy"));
    await json(["trsv", files.A, files.b, "-o", at("link.npy")]);
    expect((saved("target.npy") as Real).length).toBe(n);
    symlinkSync("/dev/null", at("null.npy"));
    await json(["trsv", files.A, files.b, "-o", at("null.npy")]);
    expect(statSync("/dev/null").isCharacterDevice()).toBe(true);
    expect(statSync(at("null.npy")).isCharacterDevice()).toBe(true);
  });
});
