// The corpus: its hash function, its expected hashes, and that one wrong bit in any routine changes them.
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { ValueError } from "../../src/arrays/errors.ts";
import { synchronousFunctions } from "../../src/cli/engines.ts";
import { CORPUS_SIZES, type CorpusRoutines, hashes, routineNames } from "../../src/everywhere/corpus.ts";
import { Digest } from "../../src/everywhere/digest.ts";
import { EXPECTED } from "../../src/everywhere/expected.ts";
import { Sha256 } from "../../src/everywhere/sha256.ts";
import { excovariance, exmean, exvariance } from "../../src/index.ts";
import { statistics } from "../../src/routines/statistics.ts";
import { kernels, type LocalKernels, Random, routinesOn } from "../../src/study.ts";
import { FULL, SEED } from "../effort.ts";
import { covarianceOf, type Data, meanOf } from "../oracles/statistics.ts";

const { routines: functions } = await synchronousFunctions().open();
const routines: CorpusRoutines = { ...functions, exmean, exvariance, excovariance };

describe("SHA-256", () => {
  test(`of random bytes in random pieces is that of node:crypto, HALFULP_SEED=${SEED}`, () => {
    const random = new Random(SEED);
    for (const n of [0, 1, 55, 56, 63, 64, 65, 119, 120, 128, 1000, 5000]) {
      const bytes = Uint8Array.from({ length: n }, () => random.below(256));
      const hash = new Sha256();
      for (let at = 0; at < n; ) {
        const end = at + 1 + random.below(100);
        hash.update(bytes.subarray(at, end));
        at = end;
      }
      expect(hash.hex()).toBe(createHash("sha256").update(bytes).digest("hex"));
      expect(hash.hex()).toBe(hash.hex());
    }
  });
});

describe("the corpus", () => {
  test("has the expected hashes on the synchronous functions", async () => {
    const corpus = FULL ? "large" : "short";
    const found = await hashes(routines, { corpus });
    for (const size of CORPUS_SIZES) if (found[size]) expect(found[size]).toEqual(EXPECTED[size]);
    expect(Object.keys(found)).toEqual(FULL ? [...CORPUS_SIZES] : ["short"]);
  });

  test("has the expected hashes on the reference engine", async () => {
    const engine = kernels("reference") as LocalKernels;
    const reference = { ...routines, ...routinesOn(engine), ...statistics(() => engine) } as unknown as CorpusRoutines;
    expect((await hashes(reference)).short).toEqual(EXPECTED.short);
  });

  test("has the expected hashes of the statistics on rational numbers, which share no code with them", async () => {
    const varianceOf = (x: Data, ddof: number): number => covarianceOf(x, x, ddof);
    const rational = { ...functions, exmean: meanOf, exvariance: varianceOf, excovariance: covarianceOf };
    const only = routineNames.filter((name) => /^ex(mean|variance|covariance)/.test(name));
    const found = (await hashes(rational as CorpusRoutines, { only })).short.routines;
    expect(Object.keys(found)).toHaveLength(8);
    for (const name of only) expect(found[name], name).toBe(EXPECTED.short.routines[name]);
  });

  test("takes the synchronous functions for the statistics where an engine has none", async () => {
    const only = ["exmean", "exvariance, binary32", "Moments"];
    const found = (await hashes(functions, { only })).short.routines;
    for (const name of only) expect(found[name], name).toBe(EXPECTED.short.routines[name]);
  });

  test("can be run in part, and tells what it does", async () => {
    const told: unknown[] = [];
    const only = ["exdot", "files: .npy"];
    const { short, full } = await hashes(routines, { only, onRoutine: (...told1) => void told.push(told1) });
    expect(told).toEqual([
      ["exdot", 0, 2],
      ["files: .npy", 1, 2],
    ]);
    expect([short.all, Object.keys(short.routines), full]).toEqual(["", only, undefined]);
    expect(short.routines.exdot).toBe(EXPECTED.short.routines.exdot);
  });

  test("every routine has a hash of its own", () => {
    for (const size of CORPUS_SIZES) {
      expect(Object.keys(EXPECTED[size].routines)).toEqual(routineNames);
      expect(new Set(Object.values(EXPECTED[size].routines)).size).toBe(routineNames.length);
    }
  });
});

describe("one wrong bit of a routine changes its hash, and no other", () => {
  type WithFault = (routines: CorpusRoutines, fault: { routine: string; period: number }) => CorpusRoutines;
  const program = new URL("../../scripts/everywhere/fault.mjs", import.meta.url).href;
  const faulty = async (routine: string): Promise<CorpusRoutines> =>
    ((await import(program)) as { withFault: WithFault }).withFault(routines, { routine, period: 3 });

  const NAMES = [
    ...["exsum", "exasum", "exdot", "exnrm2", "exaxpy", "exscal", "exinvscal", "exgemv", "exgemm", "extrsv", "extrsm", "exlu"],
    ...["exmean", "exvariance", "excovariance", "exluBatch", "exspmv", "ilu0", "cg", "bicgstab", "gmres", "solve"],
  ];
  test.each(NAMES)("%s", async (routine) => {
    const own = routineNames.filter((name) => name.split(", ").includes(routine));
    const wrong = (await hashes(await faulty(routine), { only: own })).short;
    for (const name of own.filter((each) => !each.startsWith("cg,")))
      expect(wrong.routines[name], name).not.toBe(EXPECTED.short.routines[name]);
    const another = routine === "exsum" ? "exdot" : "exsum";
    expect((await hashes(await faulty(routine), { only: [another] })).short.routines[another]).toBe(EXPECTED.short.routines[another]);
  });
});

test("an error counts with the places that it names, whatever else a machine has given it", async () => {
  const digestOf = async (error: Error): Promise<string> => {
    const out = new Digest();
    await out.outcome(async () => {
      throw error;
    });
    return out.hex();
  };
  const [plain, other] = [new ValueError("x", 3, 4), Object.assign(new ValueError("y", 3, 4), { line: 17 })];
  expect(await digestOf(plain)).toBe(await digestOf(other));
  expect(await digestOf(plain)).not.toBe(await digestOf(new ValueError("x", 3, 5)));
  await expect(digestOf(new TypeError("x"))).rejects.toThrow(TypeError);
});
