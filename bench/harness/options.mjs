// The command line of every benchmark, parsed once. A benchmark takes the common options and those listed for it here:
//   --rounds N    rounds of timings
//   --json FILE   where results go (--out is the same); default: the file of this benchmark in bench/results
//   --quick       a smoke test: small cases, few rounds, and no file unless --json names one
//   --only A,B    these sections alone
//   --device NAME this OpenCL device: a part of its name, or its place in the list; default: the best
import { basename, join } from "node:path";
import { parseArgs } from "node:util";

const COMMON = { rounds: "string", json: "string", out: "string", quick: "boolean" };

// Standard rounds (those of a smoke test after them), and options beside the common ones.
const BENCHMARKS = {
  accuracy: { rounds: [1, 1], seeds: "string", engine: "string" },
  compare: { rounds: [25, 2], only: "string", device: "string", pairs: "string", opencl: "boolean", large: "boolean" },
  cores: { rounds: [15, 3], only: "string", threads: "string", schedules: "string" },
  dense: { rounds: [25, 3], only: "string" },
  // A round runs every command once over 1 GB.
  files: { rounds: [3, 1], mb: "string" },
  // A timing on a device is a batch of calls already.
  gpu: { rounds: [9, 3], only: "string", device: "string" },
  krylov: { rounds: [15, 3], only: "string" },
  // A round starts every job once, and a job times several calls.
  ranks: { rounds: [3, 1], ranks: "string", only: "string" },
  solveTables: { rounds: [5, 2], only: "string", device: "string", "no-gpu": "boolean", orders: "string", seeds: "string" },
  sparseTables: { rounds: [5, 5], scale: "string" },
};

/** The name of the benchmark that runs. */
export const benchmark = basename(process.argv[1], ".mjs");

const { rounds: standard, ...own } = BENCHMARKS[benchmark] ?? { rounds: [25, 3] };
const types = Object.entries({ ...COMMON, ...own }).map(([name, type]) => [name, { type }]);
const parsed = parseArgs({ options: Object.fromEntries(types), allowPositionals: benchmark === "compare" });

/** What the command line says. */
export const options = parsed.values;
export const { positionals } = parsed;
export const quick = options.quick ?? false;
export const rounds = wholeNumber("rounds", standard[quick ? 1 : 0]);
export const device = /^\d+$/.test(options.device ?? "") ? Number(options.device) : options.device;

/** The file that the command line names; $OUT, where it is set, is a folder for results of runs on another machine. */
export const file = options.json ?? options.out ?? (process.env.OUT && join(process.env.OUT, `${benchmark}.json`));

/** The value of an option that is a whole number. */
export function wholeNumber(name, otherwise) {
  return asWholeNumber(name, options[name] ?? otherwise);
}

/** The same for one word of an option. */
export function asWholeNumber(name, word) {
  const value = Number(word);
  if (!(Number.isInteger(value) && value > 0)) throw new Error(`--${name} is ${word}, expected a whole number of at least 1`);
  return value;
}

/** The sections that --only names; default: all of them. */
export function chosenOf(sections) {
  const words = options.only?.split(",");
  const unknown = words?.find((word) => !sections.includes(word));
  if (unknown !== undefined) throw new Error(`--only is ${unknown}, expected some of ${sections.join(",")}`);
  return words ?? sections;
}
