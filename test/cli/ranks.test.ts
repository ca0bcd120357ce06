// The command under mpirun.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { exasum, exdot, exnrm2, exsum } from "../../src/index.ts";
import { Random } from "../../src/study.ts";
import { LIBRARIES, MISSING, mpirun } from "../ranks/job.ts";
import { buildCli, main } from "./built.ts";
import { folder } from "./cli.ts";

const { npy, put, at } = folder();
beforeAll(buildCli, 120_000);

const random = new Random(7);
const vector = (n: number): Float64Array => Float64Array.from({ length: n }, () => random.signed() * 2 ** (100 * random.signed()));
const [x, y] = [vector(300_001), vector(300_001)];

describe.skipIf(MISSING !== "")(`the command under mpirun${MISSING}`, () => {
  describe.each(LIBRARIES)("%s", (library) => {
    const halfulp = (ranks: number, ...argv: string[]) => {
      const [command, flags] = mpirun(library, ranks);
      const { status, stdout, stderr } = spawnSync(command, [...flags, process.execPath, main, ...argv], {
        encoding: "utf8",
        timeout: 60_000,
      });
      return { code: status, out: stdout, err: stderr };
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
      const lines = (text: string): string[] => text.split("\n").filter((line) => line.startsWith("halfulp: "));
      const missing = halfulp(3, "sum", at("missing.npy"));
      expect(missing.code).not.toBe(0);
      expect(missing.out).toBe("");
      expect(lines(missing.err)).toEqual([`halfulp: ${at("missing.npy")}: no such file or directory`]);
      const short = at("short.npy");
      writeFileSync(short, Buffer.from(npyBytes()).subarray(0, -8));
      expect(lines(halfulp(3, "sum", short).err)).toHaveLength(1);
      expect(lines(halfulp(2, "sum", put("x.csv", "1\n2\n")).err)[0]).toMatch(/cannot be divided among ranks/);
      expect(lines(halfulp(2, "hash", short).err)[0]).toMatch(/hash runs on one rank, and mpirun has started 2/);
      expect(lines(halfulp(2, "sum").err)[0]).toMatch(/0 operands, expected 1/);
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
