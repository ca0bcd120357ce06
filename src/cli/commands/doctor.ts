// halfulp doctor: lists the table of engines, and runs the self-test on every configuration of it that works here.
import { cpus } from "node:os";
import { engines } from "../../api/open.ts";
import * as vectors from "../../api/vectorRoutines.ts";
import { Random } from "../../arrays/random.ts";
import { usualPools } from "../../engines/table.ts";
import { CORPUS_SIZES, type CorpusHashes, type CorpusSize, hashes } from "../../everywhere/corpus.ts";
import { EXPECTED } from "../../everywhere/expected.ts";
import type { DeviceInfo } from "../../opencl.ts";
import type { Context } from "../../ranks/context.ts";
import type { Arguments, Command, Io, Outcome } from "../command.ts";
import { everyOpening, type Opening } from "../engines.ts";
import { partOf } from "../input/numbers.ts";
import { Progress } from "../output/progress.ts";
import { version } from "../version.ts";
import { inJob } from "./job.ts";

export const doctor: Command = {
  name: "doctor",
  summary: "list the engines of this machine, say what is missing, and check that all return the same bits",
  operands: "",
  count: [0, 0],
  options: {
    list: { type: "boolean", help: "list engines and devices only, without the self-test" },
    corpus: {
      type: "string",
      value: "SIZE",
      help: '"short" (default), "full", with sizes at which kernels work by blocks, or "large", with those of matrix engines',
    },
    routines: { type: "boolean", help: "print the hash of every routine" },
  },
  help: `
Lists the engines and OpenCL devices of this machine and, for each missing engine, what to install. Then it runs the same inputs,
the corpus, through every routine in both precisions: with the synchronous functions, and with every engine, number of threads and
device. The hashes of the results must equal those expected on every machine; otherwise the exit code is 1. docs/everywhere.md has
the machines on which they are known to be equal.`,
  examples: [
    ["halfulp doctor", "takes up to a minute; send the last line to a colleague"],
    ["halfulp doctor --corpus full --routines", "larger inputs, and a hash for every routine"],
    ["mpirun -n 4 halfulp doctor", "test the MPI library instead: sums and dot products over four ranks"],
  ],
  underMpirun: true,
  run: (args, io) => inJob(({ context }) => (context ? doctorOfJob(context) : doctorOfMachine(args, io))),
};

async function doctorOfMachine(args: Arguments, io: Io): Promise<Outcome> {
  const found = await engines();
  const list = await (await import("../../opencl.ts")).devices().catch((): readonly DeviceInfo[] => []);
  const missing = found.flatMap(({ kind, reason }) => (reason === undefined ? [] : [{ engine: kind, reason }]));
  const machine = {
    halfulp: version(),
    node: process.versions.node,
    system: `${process.platform} ${process.arch}`,
    processor: processor(),
  };
  const tests: Test[] = [];
  const progress = new Progress(io, "doctor: self-test").tick();
  const corpus = args.word("corpus", CORPUS_SIZES) ?? "short";
  if (!args.flag("list")) for (const opening of (await everyOpening(usualPools())).openings) tests.push(await tested(opening, corpus));
  progress.end();
  const expected = EXPECTED[corpus];
  const equal = tests.every(({ sha256 }) => sha256 === expected.all);
  return {
    text: [
      `halfulp ${machine.halfulp}, Node ${machine.node}, ${machine.system}, ${machine.processor}`,
      ...section(
        "Engines",
        found.map(({ kind, device, reason }) => [kind, device ?? `missing: ${reason}`]),
      ),
      ...section("OpenCL devices", list.map(described)),
      ...section(
        `Self-test, ${corpus} corpus`,
        tests.map((test) => judged(test, expected)),
      ),
      ...section("Routines", args.flag("routines") ? Object.entries(expected.routines).map((row) => routine(row, tests)) : []),
      ...(tests.length === 0
        ? []
        : [
            "",
            equal ? `All ${tests.length} return the same bits, the right ones: ${expected.all}` : `WRONG bits. Expected: ${expected.all}`,
          ]),
    ].join("\n"),
    json: { command: "doctor", ...machine, engines: found, devices: list, missing, tests, corpus, expected: expected.all, equal },
    code: equal ? 0 : 1,
  };
}

// Under mpirun: the library, and whether sums of all ranks have the bits of one machine.
async function doctorOfJob(job: Context): Promise<Outcome> {
  const { comm } = job;
  const { rankReductions } = await import("../../ranks/level1.ts");
  const { exsum, exdot } = rankReductions(job);
  const random = new Random(20);
  const x = Float64Array.from({ length: 10_000 }, () => random.signed() * 2 ** (200 * random.signed()));
  const y = x.map((v, i) => (i % 2 === 0 ? v : -(x[i - 1] as number)));
  const part = (v: Float64Array): Float64Array => v.subarray(...partOf(v.length, comm));
  const found = [await exsum(part(x)), await exsum(part(y)), await exdot(part(x), part(y))];
  const expected = [vectors.exsum(x), vectors.exsum(y), vectors.exdot(x, y)];
  const wrong = BigInt64Array.of(found.every((value, i) => Object.is(value, expected[i])) ? 0n : 1n);
  await comm.sum(wrong).wait(); // the number of ranks with other bits
  const equal = wrong[0] === 0n;
  const judgement = equal ? "sums over all ranks have the right bits" : "WRONG bits";
  return {
    text: `halfulp ${version()}, Node ${process.versions.node}\n\nMPI: ${comm.library}, ${comm.size} ranks: ${judgement}`,
    json: { command: "doctor", halfulp: version(), library: comm.library, ranks: comm.size, equal },
    code: equal ? 0 : 1,
  };
}

// A title and rows of two columns; nothing without rows.
function section(title: string, rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.length === 0 ? [] : ["", `${title}:`, ...rows.map(([name, what]) => `  ${name.padEnd(width)}  ${what}`)];
}

interface Test {
  /** A configuration of the table of engines, or the kernels behind the synchronous functions. */
  readonly engine: string;
  readonly synchronous: boolean;
  readonly sha256?: string;
  readonly routines?: CorpusHashes["routines"];
  readonly error?: string;
  readonly seconds: number;
}

async function tested({ name: engine, synchronous, open }: Opening, corpus: CorpusSize): Promise<Test> {
  const begin = performance.now();
  const since = (): number => (performance.now() - begin) / 1000;
  try {
    const { routines, close } = await open();
    try {
      const { all: sha256, routines: found } = (await hashes(routines, { corpus }))[corpus] as CorpusHashes;
      return { engine, synchronous, sha256, routines: found, seconds: since() };
    } finally {
      await close();
    }
  } catch (error) {
    return { engine, synchronous, error: `FAILED: ${(error as Error).message}`, seconds: since() };
  }
}

function judged({ engine, synchronous, sha256, routines, error, seconds }: Test, expected: CorpusHashes): [string, string] {
  const wrong = Object.keys(expected.routines).filter((name) => routines?.[name] !== expected.routines[name]);
  const judgement = error ?? `${sha256?.slice(0, 16)} ${sha256 === expected.all ? "right" : `WRONG in ${wrong.join("; ")}`}`;
  return [synchronous ? `functions, ${engine}` : engine, `${judgement}, ${seconds.toFixed(1)} s`];
}

// The hash of a routine, and who has another one.
function routine([name, sha256]: readonly [string, string], tests: readonly Test[]): [string, string] {
  const others = tests.filter(({ routines }) => routines?.[name] !== sha256).map(({ engine }) => engine);
  return [name, others.length === 0 ? sha256 : `${sha256}, WRONG: ${others.join("; ")}`];
}

function described({ index, name, platform, type, usable }: DeviceInfo): [string, string] {
  return [String(index), `${name} (${type}, ${platform})${usable ? "" : ": lacks features that the kernels need, see docs/opencl.md"}`];
}

function processor(): string {
  const all = cpus();
  return all[0] === undefined ? "processor unknown" : `${all.length} x ${all[0].model.trim()}`;
}
