// halfulp lu: the factors of a matrix, by exlu of an engine or of the ranks of a job.
import { resolve } from "node:path";
import type { Matrix } from "../../arrays/types.ts";
import type { Context } from "../../ranks/context.ts";
import { factorizationError } from "../../routines/dense/measures.ts";
import type { LU } from "../../routines/types.ts";
import { type Arguments, type Command, called, type Io, UsageError } from "../command.ts";
import { asMatrix, loadRows } from "../input/load.ts";
import { distributedMatrix } from "../input/ranks.ts";
import { MATRIX_FILES, MATRIX_OPTIONS, MISSING_OPTION, type Reading, readingsOf } from "../input/reading.ts";
import { hashOf, hashOfParts } from "../output/hashing.ts";
import { Progress } from "../output/progress.ts";
import { alignedLines, seconds } from "../output/results.ts";
import { checkOutput, save } from "../output/save.ts";
import { ENGINE_OPTIONS, openEngine } from "./engine.ts";
import { checkFiles, checkNoEngine, inJob, type Job, outcomeOf } from "./job.ts";

export const lu: Command = {
  name: "lu",
  summary: "factor P A = L U with partial pivoting; every entry is an exact inner product, rounded once",
  operands: "A",
  count: [1, 1],
  options: {
    output: {
      type: "string",
      short: "o",
      value: "FILE",
      help: "write L and U as one matrix (unit L below the diagonal): .npy, .mtx, .csv or .tsv",
    },
    pivots: { type: "string", value: "FILE", help: "write the pivots, counted from 0: row k was swapped with row pivots[k]" },
    error: {
      type: "boolean",
      help: "print the infinity norm of P A - L U (the largest sum of magnitudes in a row), exact and rounded once; slow",
    },
    ...MATRIX_OPTIONS,
    ...MISSING_OPTION,
    ...ENGINE_OPTIONS,
  },
  help: `
Factors a matrix, square or not. On every engine the bits are those of the unblocked algorithm. The hash
covers the factors, row by row, and the pivots (32 bits each). A zero pivot gives exit code 1. Under mpirun the bits are the same, and
each rank reads its own part of a .npy file of binary64 numbers; -o and --error collect the factors on rank 0.
${MATRIX_FILES}`,
  examples: [
    ["halfulp lu A.npy", "print the time and the hash of the factors"],
    ["halfulp lu A.npy -o lu.npy --pivots p.npy", "write factors and pivots to files"],
    ["mpirun -n 4 halfulp lu A.npy", "the same on four ranks of MPI, each with a part of the matrix"],
  ],
  underMpirun: true,
  async run(args, io) {
    const [path] = args.operands as [string];
    const [reading] = readingsOf("lu", args, [{ path, kind: "matrix" }]) as [Reading];
    const [output, pivots] = [args.text("output"), args.text("pivots")];
    if (output !== undefined && pivots !== undefined && resolve(output) === resolve(pivots))
      throw new UsageError(`lu: -o and --pivots are both ${output}, expected different files`);
    checkFiles("lu", args.operands);
    checkNoEngine("lu", args);
    return inJob(async (job) => {
      await job.atRoot(() => Promise.all([checkOutput(output), checkOutput(pivots)]));
      await using system = await (job.context ? onRanks(job, job.context, path, reading, io) : onEngine(args, path, reading, io));
      const { device, rows, cols } = system;
      const progress = new Progress(io, "lu").tick();
      try {
        const start = performance.now();
        const factors = await system.factor();
        const time = performance.now() - start;
        const sha256 = await factors.hash();
        const needsError = args.flag("error");
        const lu = needsError || output !== undefined ? await factors.whole() : undefined;
        const A = needsError ? await system.whole() : undefined;
        const printed = await job.atRoot(async () => {
          if (output !== undefined) await save(output, lu as Matrix);
          if (pivots !== undefined) await save(pivots, Float64Array.from(factors.pivots));
          const details = {
            method: "exact inner products, partial pivoting",
            engine: device,
            rows,
            cols,
            skipped: system.skipped,
            swaps: factors.pivots.reduce((count, row, k) => count + (row === k ? 0 : 1), 0),
            error: needsError ? factorizationError(A as Matrix, { lu, pivots: factors.pivots } as LU) : undefined,
            seconds: seconds(time),
            sha256,
            output,
            pivots,
          };
          return { text: alignedLines(details), json: { command: "lu", ...details } };
        });
        return outcomeOf(job, printed);
      } finally {
        progress.end();
      }
    });
  },
};

/** A matrix that was read. What is whole is so on rank 0 only. */
interface System extends AsyncDisposable {
  readonly device: string;
  readonly rows: number;
  readonly cols: number;
  /** Rows that were left out because a value is missing. */
  readonly skipped: number | undefined;
  whole(): Promise<Matrix | undefined>;
  factor(): Promise<{ readonly pivots: Int32Array; whole(): Promise<Matrix | undefined>; hash(): Promise<string> }>;
}

async function onEngine(args: Arguments, path: string, reading: Reading, io: Io): Promise<System> {
  const { A: loaded, skipped } = await loadRows(path, reading, io);
  const A = asMatrix(called(path), loaded) as Matrix;
  const { rows, cols } = A;
  const engine = await openEngine(args, rows * cols * Math.min(rows, cols));
  return {
    device: engine.device,
    rows,
    cols,
    skipped,
    whole: async () => A,
    async factor() {
      const { lu, pivots } = await engine.exlu(A);
      return { pivots, whole: async () => lu as Matrix, hash: async () => hashOf(lu, pivots) };
    },
    [Symbol.asyncDispose]: () => engine.close(),
  };
}

async function onRanks(job: Job, context: Context, path: string, reading: Reading, io: Io): Promise<System> {
  const { exlu } = await import("../../ranks/dense/lu.ts");
  const { gather, rowStrips } = await import("../../ranks/dense/transfer.ts");
  const A = await distributedMatrix(job, context, path, reading, io, "binary64");
  const { rows, cols } = A;
  return {
    device: context.backend.device,
    rows,
    cols,
    skipped: undefined,
    whole: () => gather(context, A),
    async factor() {
      const { lu, pivots } = await exlu(context, A);
      return { pivots, whole: () => gather(context, lu), hash: () => hashOfParts(rowStrips(context, lu), pivots) };
    },
    [Symbol.asyncDispose]: async () => A.free(),
  };
}
