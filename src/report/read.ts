// Reads the JSON files of earlier runs. The `benchmark` field identifies the kind of file, and each part is checked against its shape.
import { FormatError } from "../arrays/errors.ts";
import type { Accuracy, AccuracyCurve } from "./measure/accuracy.ts";
import type { Bits } from "./measure/bits.ts";
import type { ConvergenceCase } from "./measure/convergence.ts";
import type { SolveTables } from "./measure/solve.ts";
import type { SparseTables } from "./measure/sparse.ts";
import type { StageRace } from "./measure/stages.ts";
import type { Origin } from "./origin.ts";
import {
  boolean,
  count,
  dictionary,
  fields,
  list,
  number,
  type Of,
  optional,
  orNull,
  positive,
  refuse,
  type Shape,
  text,
} from "./shapes.ts";

const timing = fields({ name: text, median: positive, min: positive });
// A rival that failed has no times and is omitted.
const timings: Shape<Of<typeof timing>[]> = (value, place) => {
  const all = list(fields({ failed: optional(text) }))(value, place);
  return (value as unknown[]).flatMap((one, k) => (all[k]?.failed === undefined ? [timing(one, `${place}[${k}]`)] : []));
};
const race = fields({
  op: text,
  kind: optional(text),
  form: optional(text),
  n: optional(count),
  rows: optional(count),
  cols: optional(count),
  rivals: timings,
});
export type Race = Of<typeof race>;

const point: Shape<AccuracyCurve["points"][number]> = (value, place) => {
  const { asked, seed, condition } = fields({ asked: positive, seed: count, condition: positive })(value, place);
  const errors: Shape<Record<string, number | null>> = dictionary(orNull(number));
  return { ...errors(value, place), asked, seed, condition };
};
const curve = fields({ n: count, condition: text, points: list(point) });
const accuracy: Shape<Accuracy> = fields({ gemv: curve, trsv: curve, trsvRepresentable: curve, lu: curve });

const stageRace: Shape<StageRace> = fields({ op: text, kind: text, n: count, engine: text, stages: list(timing) });

const pays = optional(orNull(count));
const schedule = fields({
  mode: text,
  schedule: text,
  levels: list(count),
  setUp: positive,
  solve: positive,
  min: positive,
  gflops: positive,
  setUpInSolves: positive,
  paysAgainst: fields({ serial: pays, gsf: pays }),
});
const sparseCase = fields({
  name: text,
  precision: text,
  n: count,
  entries: count,
  schedules: optional(list(schedule)),
  missing: optional(text),
});
const tables: Shape<SparseTables> = fields({ engine: text, groups: list(fields({ title: text, cases: list(sparseCase) })) });

const convergence: Shape<ConvergenceCase> = fields({
  name: text,
  n: count,
  entries: count,
  curves: list(fields({ method: text, preconditioner: text, reason: text, iterations: count, residual: number, history: list(number) })),
});

const bits: Shape<Bits> = fields({
  inputs: text,
  rows: list(fields({ engine: text, schedule: text, hashes: dictionary(text), missing: optional(text) })),
});

const method = fields({ converged: boolean, iterations: count, residual: orNull(number) });
const solveRow = fields({
  engine: text,
  sharing: optional(fields({ panel: text, lookAhead: optional(count), forward: text, backward: text })),
  method: text,
  n: positive,
  time: optional(positive),
  min: optional(positive),
  gflops: optional(positive),
  iterations: optional(count),
  converged: optional(boolean),
  residual: optional(orNull(number)),
  missing: optional(text),
});
const solveEngines = fields({ device: optional(text), rows: optional(list(solveRow)), missing: optional(text) });
const answer: Shape<Of<typeof method> & { method: string }> = (value, place) => ({
  ...method(value, place),
  ...fields({ method: text })(value, place),
});
const solveTables: Shape<SolveTables> = fields({
  cpu: optional(solveEngines),
  gpu: optional(solveEngines),
  ill: optional(fields({ n: count, points: list(fields({ condition: positive, seed: count, mixed: method, answer })) })),
});

const grid = fields({ sizes: list(count), points: count });
const gpuSystem = fields({ grid, n: count, entries: count, solves: timings, analyses: timings });
const races = optional(list(race));
// Systems of equations differ only in their order.
const solveRaces: Shape<Race[]> = (value, place) =>
  list(fields({ n: count, rivals: timings }))(value, place).map((one) => ({ op: "solve()", ...one }));
const gpu = fields({
  device: fields({ name: text, driver: optional(text) }),
  reductions: races,
  gemv: races,
  trsv: races,
  lu: races,
  luBatch: races,
  gemm: races,
  solve: optional(solveRaces),
  sparse: optional(list(gpuSystem)),
});
export type Gpu = Of<typeof gpu>;

const origin: Shape<Origin> = fields({
  benchmark: text,
  date: text,
  commit: optional(text),
  machine: fields({ processor: text, processors: count, memoryGiB: number, kernel: text, architecture: text }),
  versions: dictionary(text),
  engine: optional(text),
});

/** The parts that can be drawn; every file has some of them. */
export interface Parts {
  readonly accuracy?: Accuracy;
  readonly stages?: readonly StageRace[];
  /** Our routines compared with other libraries. */
  readonly races?: readonly Race[];
  readonly sparse?: SparseTables;
  readonly convergence?: readonly ConvergenceCase[];
  readonly solve?: SolveTables;
  readonly gpu?: Gpu;
  readonly bits?: Bits;
  /** What was not measured, and why. */
  readonly missing?: readonly string[];
}

/** One run: its origin and its parts. */
export interface Run {
  readonly origin: Origin;
  readonly parts: Parts;
}

// How to find the parts in each kind of file.
const KINDS: Readonly<Record<string, Shape<Parts>>> = {
  report: fields({
    accuracy: optional(accuracy),
    stages: optional(list(stageRace)),
    sparse: optional(tables),
    convergence: optional(list(convergence)),
    solve: optional(solveTables),
    bits: optional(bits),
    missing: optional(list(text)),
  }),
  accuracy: (value, place) => ({ accuracy: accuracy(value, place) }),
  level1: rivals,
  dense: rivals,
  solve: (value, place) => ({ races: solveRaces(fields({ cases: (cases) => cases })(value, place).cases, "cases") }),
  sparse: sparseRaces,
  "sparse-tables": (value, place) => ({ sparse: tables(value, place) }),
  "solve-tables": (value, place) => ({ solve: solveTables(value, place) }),
  gpu: (value, place) => ({ gpu: gpu(value, place) }),
};

function rivals(value: unknown, place: string): Parts {
  const { cases, stages } = fields({ cases: list(race), stages: optional(list(stageRace)) })(value, place);
  return { races: cases, ...(stages ? { stages } : {}) };
}

// Serial solves compared with other libraries.
function sparseRaces(value: unknown, place: string): Parts {
  const system = fields({ grid, n: count, serial: timings });
  const { cases, small } = fields({ cases: list(system), small: optional(system) })(value, place);
  const named = [...cases, ...(small ? [small] : [])].map(({ grid: { sizes, points }, n, serial }) => ({
    op: "sptrsv",
    form: `${sizes.join(" x ")}, ${points} points`,
    n,
    rivals: serial,
  }));
  return { races: named };
}

// Far more than any run writes. Without a limit, a huge file would take seconds and gigabytes.
const MAX_BYTES = 32 * 2 ** 20;

/** Reads a run from the bytes of a file; `name` is its name in messages. */
export async function readRun(name: string, bytes: AsyncIterable<Uint8Array>): Promise<Run> {
  try {
    const value = parsed(await textOf(bytes));
    const about = origin(value, "");
    const kind = about.benchmark.startsWith("gpu-") ? "gpu" : about.benchmark;
    const parts = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
    if (!parts) refuse(about.benchmark, "benchmark", `one of ${Object.keys(KINDS).join(", ")}`);
    return { origin: about, parts: parts(value, "") };
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    throw new FormatError(`report: ${name}: ${error.message}`);
  }
}

async function textOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let [text, size] = ["", 0];
  for await (const piece of bytes) {
    size += piece.length;
    if (size > MAX_BYTES) throw new FormatError(`this has more than ${MAX_BYTES} bytes, expected the JSON file of a run`);
    text += decoder.decode(piece, { stream: true });
  }
  return text + decoder.decode();
}

// The parser's message quotes the file, including line breaks.
function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new FormatError(`this is not JSON (${(error as Error).message.replace(/\s+/g, " ").slice(0, 100)})`);
  }
}
