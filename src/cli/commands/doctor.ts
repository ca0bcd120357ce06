import { cpus } from "node:os";
import { engines, open } from "../../api/open.ts";
import type { DeviceInfo } from "../../engines/opencl/index.ts";
import type { Command } from "../command.ts";
import { Progress } from "../output/progress.ts";
import { EXPECTED, localEngines, selfTest, type Tested } from "../selfTest.ts";
import { version } from "../version.ts";

export const doctor: Command = {
  name: "doctor",
  summary: "what this machine can do, what is missing, and whether all of it returns the same bits",
  operands: "",
  count: [0, 0],
  options: { list: { type: "boolean", help: "only the engines and devices, without the self-test" } },
  help: `
Lists the engines and the OpenCL devices of this machine, and for what is missing the one command that installs it. Then every
engine runs the same conformance vectors, through all routines in both precisions: the hashes must be equal, here and on every
other machine. Exit code 1 if they are not.`,
  examples: [["halfulp doctor", "a minute at most; send the last line to a colleague"]],
  async run(args, io) {
    const found = await engines();
    const list = await (await import("../../engines/opencl/index.ts")).devices().catch((): readonly DeviceInfo[] => []);
    const missing = found.flatMap(({ kind, reason }) => (reason === undefined ? [] : [{ engine: kind, reason }]));
    const machine = {
      halfulp: version(),
      node: process.versions.node,
      system: `${process.platform} ${process.arch}`,
      processor: processor(),
    };
    const tests: Test[] = [];
    const progress = new Progress(io, "doctor: self-test").tick();
    if (!args.flag("list")) for (const [name, start] of candidates(found, list)) tests.push(await tested(name, start));
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
          : [
              "",
              equal ? `All ${tests.length} return the same bits, the right ones: ${EXPECTED}` : `NOT the same bits. Expected: ${EXPECTED}`,
            ]),
      ].join("\n"),
      json: { command: "doctor", ...machine, engines: found, devices: list, missing, tests, expected: EXPECTED, equal },
      code: equal ? 0 : 1,
    };
  },
};

// A title and rows of two columns, if there are any.
function section(title: string, rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.length === 0 ? [] : ["", `${title}:`, ...rows.map(([name, what]) => `  ${name.padEnd(width)}  ${what}`)];
}

interface Test {
  readonly engine: string;
  readonly sha256?: string;
  readonly error?: string;
  readonly seconds: number;
}

type Opened = { engine: Tested; close?(): Promise<void> };

// Every engine that can be opened here, and each device.
function candidates(
  found: Awaited<ReturnType<typeof engines>>,
  list: readonly DeviceInfo[],
): [name: string, start: () => Promise<Opened>][] {
  const opening =
    (...args: Parameters<typeof open>) =>
    async () => {
      const engine = await open(...args);
      return { engine, close: () => engine.close() };
    };
  const pools = [1, cpus().length].filter((n, k, all) => all.indexOf(n) === k);
  return [
    ...localEngines().map(({ name, engine }): [string, () => Promise<Opened>] => [name, async () => ({ engine })]),
    ...(found.some(({ kind, available }) => kind === "threads" && available)
      ? pools.map((threads): [string, () => Promise<Opened>] => [`threads, ${threads}`, opening("threads", { threads })])
      : []),
    ...list
      .filter(({ usable }) => usable)
      .map(({ index }): [string, () => Promise<Opened>] => [`opencl, device ${index}`, opening("opencl", { device: index })]),
  ];
}

async function tested(engine: string, start: () => Promise<Opened>): Promise<Test> {
  const begin = performance.now();
  const since = (): number => (performance.now() - begin) / 1000;
  try {
    const opened = await start();
    try {
      const sha256 = await selfTest(opened.engine);
      return { engine, sha256, seconds: since() };
    } finally {
      await opened.close?.();
    }
  } catch (error) {
    return { engine, error: `FAILED: ${(error as Error).message}`, seconds: since() };
  }
}

function judged({ engine, sha256, error, seconds }: Test): [string, string] {
  return [engine, `${error ?? `${sha256?.slice(0, 16)} ${sha256 === EXPECTED ? "right" : "WRONG"}`}, ${seconds.toFixed(1)} s`];
}

function described({ index, name, platform, type, usable }: DeviceInfo): [string, string] {
  return [String(index), `${name} (${type}, ${platform})${usable ? "" : ": lacks what the kernels need, see docs/opencl.md"}`];
}

function processor(): string {
  const all = cpus();
  return all[0] === undefined ? "processor unknown" : `${all.length} x ${all[0].model.trim()}`;
}
