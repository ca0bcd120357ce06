// The command under mpirun.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { convectionDiffusion, exasum, exdot, exnrm2, exsum, laplacian, matrix, writeMatrixMarket, writeNpy } from "../../src/index.ts";
import { Random } from "../../src/study.ts";
import { LIBRARIES, MISSING, mpirun } from "../ranks/job.ts";
import { buildCli, main } from "./built.ts";
import { folder } from "./cli.ts";

const { npy, mtx, put, at } = folder();
beforeAll(buildCli, 120_000);

const random = new Random(7);
const vector = (n: number): Float64Array => Float64Array.from({ length: n }, () => random.signed() * 2 ** (100 * random.signed()));
const [x, y] = [vector(300_001), vector(300_001)];

// Larger than one block of the layout, and square, tall and wide.
const N = 70;
const numbers = (n: number): Float64Array => Float64Array.from({ length: n }, () => random.signed());
const [A, b] = [numbers(N * N), numbers(N)];
const csv = (rows: readonly (readonly number[])[]): string => rows.map((row) => `${row.join(",")}\n`).join("");
// A file of a symmetric matrix whose entries are in no order.
function shuffled(lines: readonly string[]): string[] {
  const all = [...lines];
  for (let k = all.length - 1; k > 0; k--) {
    const other = random.below(k + 1);
    [all[k], all[other]] = [all[other] as string, all[k] as string];
  }
  return all;
}
function symmetricFile(): string {
  const [, size, ...entries] = [...writeMatrixMarket(laplacian(6, 7))].join("").trimEnd().split("\n") as [string, string, ...string[]];
  const lower = entries.filter((line) => Number(line.split(" ")[0]) >= Number(line.split(" ")[1]));
  const order = size.split(" ")[0];
  return `%%MatrixMarket matrix coordinate real symmetric\n${order} ${order} ${lower.length}\n${shuffled(lower).join("\n")}\n`;
}

/** What a process says. */
interface Said {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}
// Times are those of the machine, and SPEC.md leaves it to an engine how solve finds the solution.
const settled = (out: string): string => {
  const free = /"command":"solve"|^certified /m.test(out) ? "seconds|condition|iterations|method|fellBack" : "seconds";
  return out.replace(new RegExp(`^(${free})( +).*$`, "gm"), "$1$2...").replace(new RegExp(`"(${free})":[^,}]*`, "g"), '"$1":0');
};
const said = (command: string, argv: readonly string[], cwd?: string): Said => {
  const { status, stdout, stderr } = spawnSync(command, argv, { encoding: "utf8", timeout: 60_000, cwd });
  return { code: status, out: stdout, err: stderr };
};
const alone = (...argv: string[]): Said => said(process.execPath, [main, ...argv]);
// mpirun adds lines of its own.
const reported = ({ err }: Said): string[] => err.split("\n").filter((line) => line.startsWith("halfulp: "));

describe.skipIf(MISSING !== "")(`the command under mpirun${MISSING}`, () => {
  describe.each(LIBRARIES)("%s", (library) => {
    const halfulp = (ranks: number, ...argv: string[]): Said => {
      const [command, flags] = mpirun(library, ranks);
      return said(command, [...flags, process.execPath, main, ...argv]);
    };

    test("sum, asum, dot and nrm2 print what one process prints, once", () => {
      const [fx, fy] = [npy("x.npy", x), npy("y.npy", y)];
      expect(halfulp(3, "sum", fx)).toMatchObject({ code: 0, out: `${exsum(x)}\n` });
      expect(halfulp(2, "asum", fx, "--round", "up")).toMatchObject({ code: 0, out: `${exasum(x, { round: "up" })}\n` });
      expect(halfulp(3, "dot", fx, fy)).toMatchObject({ code: 0, out: `${exdot(x, y)}\n` });
      expect(halfulp(2, "nrm2", fx)).toMatchObject({ code: 0, out: `${exnrm2(x)}\n` });
    });

    test("sums that cancel, short files and files of -0", () => {
      const cancelling = Float64Array.from({ length: 3001 }, (_, i) =>
        i === 3000 ? 1e-300 : (i % 2 === 0 ? 1 : -1) * (x[i >> 1] as number),
      );
      expect(halfulp(2, "sum", npy("c.npy", cancelling))).toMatchObject({ code: 0, out: "1e-300\n" });
      expect(halfulp(3, "sum", npy("one.npy", Float64Array.of(5)))).toMatchObject({ code: 0, out: "5\n" });
      expect(halfulp(2, "sum", npy("zeros.npy", new Float64Array(9).fill(-0)))).toMatchObject({ code: 0, out: "-0\n" });
      expect(JSON.parse(halfulp(2, "sum", npy("x.npy", x), "--json").out)).toMatchObject({ count: x.length, ranks: 2 });
    });

    test("an error is one line, from one rank", () => {
      const missing = halfulp(3, "sum", at("missing.npy"));
      expect(missing.code).not.toBe(0);
      expect(missing.out).toBe("");
      expect(reported(missing)).toEqual([`halfulp: ${at("missing.npy")}: no such file or directory`]);
      const short = at("short.npy");
      writeFileSync(short, Buffer.from(npyBytes()).subarray(0, -8));
      expect(reported(halfulp(3, "sum", short))).toHaveLength(1);
      expect(reported(halfulp(2, "sum", put("x.csv", "1\n2\n")))[0]).toMatch(/cannot be divided among ranks/);
      expect(reported(halfulp(2, "hash", short))[0]).toMatch(/hash runs on one rank, and mpirun has started 2/);
      expect(reported(halfulp(2, "sum"))[0]).toMatch(/0 operands, expected 1/);
    });

    // Open MPI's mpirun takes two seconds to end a job that has failed: it gets every fourth case.
    const casesHere = <C>(cases: readonly C[]): C[] => cases.filter((_, k) => library === "mpich" || k % 4 === 0);

    // One process and several ranks: the same text, and the same bytes in the files that they write.
    const compare = (ranks: number, argv: readonly string[], outputs: Readonly<Record<string, string>> = {}): Said => {
      const flags = Object.entries(outputs).flatMap(([flag, name]) => [flag, at(name)]);
      const files = Object.values(outputs).map(at);
      const expected = alone(...argv, ...flags);
      const bytes = files.map((file) => readFileSync(file));
      for (const file of files) rmSync(file);
      const found = halfulp(ranks, ...argv, ...flags);
      expect([expected.err, reported(found)]).toEqual(["", []]);
      expect(found.code).toBe(expected.code);
      const text = settled(found.out);
      expect(argv.includes("--json") ? text.replace(`,"ranks":${ranks}`, "") : text).toBe(settled(expected.out));
      expect(expected.out).not.toBe("");
      expect(files.map((file) => readFileSync(file))).toEqual(bytes);
      return found;
    };

    test("solve prints and writes what one process does", () => {
      const [byRows, right] = [npy("A.npy", matrix(A, N, N)), npy("b.npy", b)];
      compare(3, ["solve", byRows, right], { "-o": "x.npy" });
      const byColumns = npy("F.npy", matrix(A, N, N, { order: "column" }));
      expect(JSON.parse(compare(2, ["solve", byColumns, right, "--json"]).out)).toMatchObject({ certified: true, ranks: 2 });
      const singles = npy("S.npy", matrix(Float32Array.from(numbers(9), Math.fround), 3, 3) as never);
      compare(2, ["solve", singles, put("three.csv", "1\n2\n3\n")], { "-o": "x.mtx" });
    });

    test("solve and lu read Matrix Market and CSV files", () => {
      const small = put("small.csv", csv([...Array(3)].map((_, i) => [...numbers(3)].map((v, j) => (i === j ? v + 1 : v)))));
      compare(3, ["solve", small, put("three.csv", "1\n2\n3\n")]);
      compare(2, ["lu", mtx("A.mtx", matrix(A, N, N))]);
      compare(2, ["solve", mtx("G.mtx", laplacian(3, 4)), npy("twelve.npy", numbers(12))]);
    });

    test("lu prints and writes what one process does", () => {
      const file = npy("A.npy", matrix(A, N, N));
      compare(2, ["lu", file, "--error"], { "-o": "lu.npy", "--pivots": "p.npy" });
      expect(JSON.parse(compare(3, ["lu", file, "--json", "--engine", "wasm"]).out)).toMatchObject({ rows: N, ranks: 3 });
      compare(3, ["lu", npy("tall.npy", matrix(A, 98, 50, { order: "column" }))], { "-o": "lu.mtx" });
      compare(2, ["lu", npy("wide.npy", matrix(A, 35, 140)), "--error"]);
    });

    test("cg, bicgstab and gmres print and write what one process does", () => {
      const [grid, right] = [put("grid.mtx", symmetricFile()), npy("right.npy", numbers(42))];
      compare(3, ["cg", grid, right], { "-o": "x.npy" });
      const start = npy("start.npy", numbers(42));
      compare(2, ["cg", grid, right, "--preconditioner", "jacobi", "--x0", start, "--engine", "threads", "--threads", "1"]);
      const wind = mtx("wind.mtx", convectionDiffusion(5, 4));
      const short = put("short.csv", csv([...numbers(20)].map((v) => [v])));
      compare(3, ["bicgstab", wind, short, "--preconditioner", "jacobi"], { "-o": "x.mtx" });
      const { out } = compare(2, ["gmres", wind, short, "--restart", "5", "--json"]);
      expect(JSON.parse(out)).toMatchObject({ command: "gmres", ranks: 2, history: expect.any(Array) });
    });

    test("more ranks than rows, and a method that does not converge", () => {
      const tiny = put("tiny.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 4\n2 1 1\n2 2 3\n");
      const two = put("two.csv", "1\n2\n");
      compare(3, ["bicgstab", tiny, two]);
      compare(3, ["solve", tiny, two]);
      expect(compare(2, ["cg", put("grid.mtx", symmetricFile()), npy("right.npy", numbers(42)), "--max-iterations", "3"]).code).toBe(1);
    });

    test("what one process refuses, all ranks refuse in the same words, and nothing is written", () => {
      const [file, right] = [npy("A.npy", matrix(A, N, N)), npy("b.npy", b)];
      const grid = put("grid.mtx", symmetricFile());
      const cut = put("cut.npy", writeNpy(matrix(A, N, N)).subarray(0, -8));
      const cutText = put("cut.mtx", symmetricFile().split("\n").slice(0, -3).join("\n"));
      // The NaN belongs to the last rank.
      const withNaN = npy("nan.npy", numbers(42).fill(Number.NaN, 40));
      const singular = npy("ones.npy", matrix(new Float64Array(N * N).fill(1), N, N));
      const cases = [
        [1, "solve", singular, right],
        [1, "lu", singular, "--json"],
        [2, "solve", cut, right],
        [2, "solve", right, right],
        [2, "solve", file, withNaN],
        [2, "lu", file, "--pivots", at("nowhere/p.npy")],
        [2, "lu", at("missing.csv")],
        [1, "cg", grid, withNaN],
        [2, "cg", cutText, withNaN],
        [2, "cg", grid, right],
        [2, "gmres", grid, withNaN, "--x0", right],
        [2, "cg", grid, withNaN, "--engine", "nonsense"],
        [2, "cg", put("wide.mtx", "%%MatrixMarket matrix coordinate real general\n3 4 1\n1 1 1\n"), right],
      ] as const;
      for (const [k, [code, command, ...rest]] of casesHere(cases).entries()) {
        const argv = [command, ...rest, "-o", at("refused.npy")];
        const expected = alone(...argv);
        const found = halfulp(2 + (k % 2), ...argv);
        expect([found.code, found.out, reported(found)], argv.join(" ")).toEqual([code, expected.out, [expected.err.trimEnd()]]);
      }
      expect(existsSync(at("refused.npy"))).toBe(false);
      expect(readdirSync(dirname(at("refused.npy"))).filter((name) => name.endsWith(".tmp"))).toEqual([]);
    });

    test("what cannot be done on ranks is one line that says so", () => {
      const [file, right, grid] = [npy("A.npy", matrix(A, N, N)), npy("b.npy", b), put("grid.mtx", symmetricFile())];
      const [two, singles] = [npy("B.npy", matrix(A, N, 2)), npy("S.npy", matrix(new Float32Array(4), 2, 2) as never)];
      const cases = [
        [["solve", file, two], `${two} has 2 right-hand sides, expected one under mpirun`],
        [["solve", "-", right], "solve: standard input cannot be read by 2 ranks, expected a file"],
        [["solve", file, "/dev/null"], "/dev/null is a pipe or a device, expected a file that every rank can read"],
        [["lu", singles], `${singles} has 32-bit numbers, expected 64 bits under mpirun`],
        [["lu", file, "--threads", "2"], 'lu: --threads is "2", expected --engine wasm, the default, under mpirun'],
        [["cg", file, right], `${file} is dense, expected a sparse matrix under mpirun (.mtx, coordinate format)`],
        [["cg", grid, right, "--x0", "-"], "cg: standard input cannot be read by 2 ranks, expected a file"],
        [
          ["cg", grid, npy("right.npy", numbers(42)), "--preconditioner", "ilu0"],
          'cg: preconditioner is "ilu0", expected "none" or "jacobi" (on ranks)',
        ],
      ] as const;
      for (const [argv, message] of casesHere(cases)) {
        const found = halfulp(2, ...argv);
        expect([found.code, found.out, reported(found)]).toEqual([2, "", [`halfulp: ${message}`]]);
      }
    });

    test("a file that one rank does not have ends the job with the words of that rank", () => {
      for (const rank of [0, 1, 2]) {
        mkdirSync(at(`rank${rank}`), { recursive: true });
        writeFileSync(join(at(`rank${rank}`), "A.npy"), writeNpy(matrix(A, N, N)));
        if (rank !== 1) writeFileSync(join(at(`rank${rank}`), "b.npy"), writeNpy(b));
      }
      const [command, flags] = mpirun(library, 3);
      const inFolders = (...argv: string[]): Said =>
        said(command, [
          ...flags,
          "sh",
          "-c",
          `cd "${at("rank")}\${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" && exec "$@"`,
          "sh",
          process.execPath,
          main,
          ...argv,
        ]);
      for (const argv of [
        ["solve", "A.npy", "b.npy"],
        ["sum", "b.npy"],
      ]) {
        const found = inFolders(...argv);
        expect([found.code, found.out, reported(found)]).toEqual([2, "", ["halfulp: b.npy: no such file or directory"]]);
      }
      // The folders of the other ranks need not be there.
      expect(inFolders("lu", "A.npy", "-o", "lu.npy").code).toBe(0);
      expect([0, 1, 2].map((rank) => existsSync(join(at(`rank${rank}`), "lu.npy")))).toEqual([true, false, false]);
    });

    test("doctor names the library and tests it", () => {
      const { code, out } = halfulp(2, "doctor");
      expect(code).toBe(0);
      expect(out).toMatch(
        library === "mpich" ? /MPI: MPICH [\d.]+, 2 ranks: .* right bits/ : /MPI: Open MPI [\d.]+, 2 ranks: .* right bits/,
      );
    });
  });
});

const npyBytes = (): Uint8Array => new Uint8Array(spawnSync("cat", [npy("x.npy", x)], { maxBuffer: 2 ** 30 }).stdout);
