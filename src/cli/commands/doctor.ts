// halfulp doctor: lists the table of engines, and runs the self-test on every configuration of it that works here.
import { cpus } from "node:os";
import { engines } from "../../api/open.ts";
import { usualPools } from "../../engines/table.ts";
import type { DeviceInfo } from "../../opencl.ts";
import type { Command } from "../command.ts";
import { everyOpening, type Opening } from "../engines.ts";
import { Progress } from "../output/progress.ts";
import { EXPECTED, selfTest } from "../selfTest.ts";
import { version } from "../version.ts";

export const doctor: Command = {
  name: "doctor",
  summary: "list the engines of this machine, say what is missing, and check that all return the same bits",
  operands: "",
  count: [0, 0],
  options: { list: { type: "boolean", help: "list engines and devices only, without the self-test" } },
  help: `
Lists the engines and OpenCL devices of this machine and, for each missing engine, what to install. Then it runs the same test
vectors through every routine in both precisions: with the synchronous functions, and with every engine, number of threads and
device. The hashes of the results must equal the one expected on every machine; otherwise the exit code is 1.`,
  examples: [["halfulp doctor", "takes up to a minute; send the last line to a colleague"]],
  async run(args, io) {
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
    if (!args.flag("list")) for (const opening of (await everyOpening(usualPools())).openings) tests.push(await tested(opening));
    progress.end();
    const equal = tests.every(({ sha256 }) => sha256 === EXPECTED);
    return {
      text: [
        `halfulp ${machine.halfulp}, Node ${machine.node}, ${machine.system}, ${machine.processor}`,
        ...section(
          "Engines",
          found.map(({ kind, device, reason }) => [kind, device ?? `missing: ${reason}`]),
        ),
        ...section("OpenCL devices", list.map(described)),
        ...section("Self-test", tests.map(judged)),
        ...(tests.length === 0
          ? []
          : ["", equal ? `All ${tests.length} return the same bits, the right ones: ${EXPECTED}` : `WRONG bits. Expected: ${EXPECTED}`]),
      ].join("\n"),
      json: { command: "doctor", ...machine, engines: found, devices: list, missing, tests, expected: EXPECTED, equal },
      code: equal ? 0 : 1,
    };
  },
};

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
  readonly error?: string;
  readonly seconds: number;
}

async function tested({ name: engine, synchronous, open }: Opening): Promise<Test> {
  const begin = performance.now();
  const since = (): number => (performance.now() - begin) / 1000;
  try {
    const { routines, close } = await open();
    try {
      return { engine, synchronous, sha256: await selfTest(routines), seconds: since() };
    } finally {
      await close();
    }
  } catch (error) {
    return { engine, synchronous, error: `FAILED: ${(error as Error).message}`, seconds: since() };
  }
}

function judged({ engine, synchronous, sha256, error, seconds }: Test): [string, string] {
  return [
    synchronous ? `functions, ${engine}` : engine,
    `${error ?? `${sha256?.slice(0, 16)} ${sha256 === EXPECTED ? "right" : "WRONG"}`}, ${seconds.toFixed(1)} s`,
  ];
}

function described({ index, name, platform, type, usable }: DeviceInfo): [string, string] {
  return [String(index), `${name} (${type}, ${platform})${usable ? "" : ": lacks features that the kernels need, see docs/opencl.md"}`];
}

function processor(): string {
  const all = cpus();
  return all[0] === undefined ? "processor unknown" : `${all.length} x ${all[0].model.trim()}`;
}
