// The command as a process of its own, as built.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, openSync, readdirSync, readFileSync, truncateSync, writeSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { exsum, laplacian, matrix, writeNpy } from "../../src/index.ts";
import { Random } from "../../src/study.ts";
import { buildCli, main } from "./built.ts";
import { folder } from "./cli.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const { npy, mtx, put, at, path } = folder();
const environment = { PATH: process.env.PATH, HOME: process.env.HOME };

beforeAll(buildCli, 120_000);

function halfulp(argv: string[], input?: Uint8Array | string) {
  const { status, stdout, stderr, signal } = spawnSync(process.execPath, [main, ...argv], { input, encoding: "utf8", env: environment });
  return { code: status, out: stdout, err: stderr, signal };
}
const shell = (line: string) => {
  const { status, stdout, stderr } = spawnSync("bash", ["-c", `halfulp() { "${process.execPath}" "${main}" "$@"; }; ${line}`], {
    encoding: "utf8",
    env: environment,
  });
  return { code: status, out: stdout, err: stderr };
};

const x = Float64Array.of(1e16, 0.1, -1e16, 0.2);

describe("exit codes, and what goes where", () => {
  test("0: done", () => {
    expect(halfulp(["sum", npy("x.npy", x)])).toEqual({ code: 0, out: "0.30000000000000004\n", err: "", signal: null });
    expect(halfulp(["sum", "-", "--hex"], writeNpy(x))).toMatchObject({ code: 0, out: "3fd3333333333334\n" });
    expect(halfulp(["sum", "-", "--format", "csv"], x.join("\n"))).toMatchObject({ code: 0, out: "0.30000000000000004\n" });
    expect(halfulp(["--version"]).out).toBe(`${JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version}\n`);
  });
  test("1: the mathematics said no", () => {
    const said = halfulp(["lu", put("s.csv", "1,2\n2,4\n"), "-o", at("none.npy")]);
    expect(said).toEqual({
      code: 1,
      out: "",
      err: "halfulp: exlu: the pivot of column 1 is 0, expected a matrix of full rank\n",
      signal: null,
    });
    expect(existsSync(at("none.npy"))).toBe(false);
  });
  test("2: bad usage or input", () => {
    expect(halfulp(["sum", at("nothing.npy")])).toMatchObject({
      code: 2,
      out: "",
      err: `halfulp: ${at("nothing.npy")}: no such file or directory\n`,
    });
    expect(halfulp(["summ", at("nothing.npy")])).toMatchObject({ code: 2, out: "" });
    expect(halfulp([])).toMatchObject({ code: 2, err: "" });
    const { out, code } = halfulp(["sum", at("nothing.npy"), "--json"]);
    expect({ code, ...JSON.parse(out) }).toMatchObject({ code: 2, error: { name: "ENOENT" } });
  });
  test("pipes of the shell, also as files", () => {
    const file = put("x.f64", new Uint8Array(x.buffer));
    expect(shell(`cat ${file} | halfulp sum - --format raw`)).toEqual({ code: 0, out: "0.30000000000000004\n", err: "" });
    expect(shell(`halfulp sum <(cat ${npy("x.npy", x)})`)).toEqual({ code: 0, out: "0.30000000000000004\n", err: "" });
    expect(shell(`halfulp sum - --format raw < ${file}`)).toEqual({ code: 0, out: "0.30000000000000004\n", err: "" });
    expect(shell(`halfulp dot <(cat ${file}) ${file} --format raw --json | wc -l`).out.trim()).toBe("1");
  });
  test("a writer that takes its time is not waited for", async () => {
    const child = spawn(process.execPath, [main, "sum", "-"], { env: environment, stdio: ["pipe", "ignore", "ignore"] });
    child.stdin.write("nonsense\n"); // and never the end
    expect(await new Promise((done) => child.on("exit", done))).toBe(2);
    child.stdin.destroy();
  }, 20_000);
  test("a reader that has seen enough does not make it complain", () => {
    const [A, b] = [mtx("grid.mtx", laplacian(200, 200)), npy("ones.npy", new Float64Array(40_000).fill(1))];
    expect(shell(`halfulp sptrsv ${A} ${b} --json | head -c 10`)).toEqual({ code: 0, out: '{"command"', err: "" });
  });
  test("nor does he change the exit code", () => {
    const file = npy("x.npy", x);
    expect(shell(`halfulp hash ${file} --expect ffffffff | true; exit \${PIPESTATUS[0]}`)).toEqual({ code: 1, out: "", err: "" });
    expect(shell(`halfulp sum ${file} | true; exit \${PIPESTATUS[0]}`)).toEqual({ code: 0, out: "", err: "" });
  });
  test("an output that cannot be written is a failure, told in one line", () => {
    const file = npy("x.npy", x);
    expect(shell(`halfulp sum ${file} > /dev/full`)).toEqual({
      code: 2,
      out: "",
      err: "halfulp: standard output: no space left on the device\n",
    });
    expect(shell(`halfulp sum ${at("nothing.npy")} 2> /dev/full`)).toEqual({ code: 2, out: "", err: "" });
  });
  test("a matrix by columns through a pipe with a name", () => {
    const file = npy("F.npy", matrix(Float64Array.of(1, 2, 3, 4), 2, 2, { order: "column" }));
    const [piped, plain] = [
      shell(`mkfifo ${at("p.npy")}; cat ${file} > ${at("p.npy")} & timeout 10 "${process.execPath}" "${main}" hash ${at("p.npy")}`),
      halfulp(["hash", file]),
    ];
    expect(piped).toMatchObject({ code: 0, err: "" });
    expect(piped.out.slice(0, 64)).toBe(plain.out.slice(0, 64));
  });
});

// Runs it, and prints the peak of its memory in kilobytes after what it prints itself.
function withPeak(argv: string[]) {
  const hook = "process.on('exit', () => console.error(process.resourceUsage().maxRSS))";
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--import", `data:text/javascript,${hook}`, main, ...argv], {
    encoding: "utf8",
    env: environment,
  });
  const [, err, peak] = /^(.*?)(\d+)\n$/s.exec(stderr) ?? [];
  return { code: status, out: stdout, err, peak: Number(peak) };
}

describe("hostile files: a named error in less than 200 MB", () => {
  const header = (text: string): string => `\x93NUMPY\x01\x00${String.fromCharCode(text.length & 255, text.length >> 8)}${text}`;
  const latin1 = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, "latin1"));
  test.each([
    ["10^18 rows", "a.npy", header("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000000,), }\n")],
    ["10^12 rows", "b.npy", header("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }\n")],
    ["Python code", "c.npy", header("__import__('os').system('touch pwned')\n")],
    ["a truncated header", "d.npy", header("{'descr': '<f8', 'fortran_order': False, 'shape'").slice(0, 30)],
    ["nothing", "e.npy", ""],
    ["rows without end", "f.mtx", "%%MatrixMarket matrix coordinate real general\n2000000000 2000000000 1\n1 1 1\n"],
    ["10^18 rows as text", "g.mtx", "%%MatrixMarket matrix array real general\n1000000000000000000 1\n1\n"],
    ["a line without end", "h.csv", "1".repeat(2 ** 21)],
  ])("%s", (_, name, content) => {
    const file = put(name, latin1(content));
    for (const argv of [["lu", file], ...(name.endsWith(".mtx") ? [] : [["sum", file]])]) {
      const { peak, ...said } = withPeak(argv);
      expect(said).toEqual({ code: 2, out: "", err: expect.stringMatching(/^halfulp: [^\n]{1,300}\n$/) });
      expect(peak).toBeLessThan(200_000);
    }
  });
});

describe("files larger than memory should be", () => {
  test("a quarter of a gigabyte is summed in less than 200 MB", () => {
    const file = put("large.f64", new Uint8Array(8));
    truncateSync(file, 2 ** 28); // a hole: no disk is used
    const handle = openSync(file, "r+");
    const [first, last] = [Float64Array.of(0.1), Float64Array.of(0.25)];
    writeSync(handle, first);
    writeSync(handle, last, 0, 8, 2 ** 28 - 8);
    const { out, err, peak } = withPeak(["sum", file]);
    expect([Number(out), err]).toEqual([0.1 + 0.25, ""]);
    expect(peak).toBeLessThan(200_000);
  });
});

describe("Ctrl-C", () => {
  test("in the middle of writing leaves nothing behind", async () => {
    const n = 1000;
    const random = new Random(1);
    const A = npy(
      "A.npy",
      matrix(
        Float64Array.from({ length: n * n }, () => random.signed()),
        n,
        n,
      ),
    );
    const before = readdirSync(path);
    const child = spawn(process.execPath, [main, "lu", A, "-o", at("lu.mtx")], { env: environment, stdio: ["ignore", "pipe", "pipe"] });
    const ended = new Promise<{ code: number | null; signal: string | null }>((done) => {
      child.on("exit", (code, signal) => done({ code, signal }));
    });
    const begun = (): boolean => readdirSync(path).some((name) => name.endsWith(".tmp"));
    while (!begun() && child.exitCode === null) await new Promise((next) => setTimeout(next, 2));
    expect(begun()).toBe(true);
    child.kill("SIGINT");
    expect(await ended).toEqual({ code: null, signal: "SIGINT" });
    expect(readdirSync(path)).toEqual(before);
  });
});

test("what it prints is what the library returns", () => {
  const random = new Random(5);
  const y = Float64Array.from({ length: 100_000 }, () => random.signed() * 2 ** (random.below(600) - 300));
  expect(Number(halfulp(["sum", npy("y.npy", y)]).out)).toBe(exsum(y));
});
