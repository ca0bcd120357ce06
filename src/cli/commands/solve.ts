// halfulp solve: a dense system, by solve of an engine or of the ranks of a job.
import { ShapeError } from "../../arrays/errors.ts";
import { matrix } from "../../arrays/matrix.ts";
import type { Matrix } from "../../arrays/types.ts";
import type { Context } from "../../ranks/context.ts";
import type { Solution, SolveOptions } from "../../routines/solve/types.ts";
import { type Arguments, type Command, called, type Io, type Option } from "../command.ts";
import { asMatrix, asVector, isVector, type Loaded, loadEquations, toBinary64, widened } from "../input/load.ts";
import { distributedMatrix, loadOnRank } from "../input/ranks.ts";
import { COLUMN_OPTION, MATRIX_FILES, MATRIX_OPTIONS, MISSING_OPTION, type Reading, readingsOf } from "../input/reading.ts";
import { Progress } from "../output/progress.ts";
import { OUTPUT_OPTIONS, present, seconds } from "../output/results.ts";
import { checkOutput } from "../output/save.ts";
import { engineOptions, openBackend, openEngine } from "./engine.ts";
import { checkFiles, inJob, type Job, outcomeOf } from "./job.ts";

export const solve: Command = {
  name: "solve",
  summary: "solve A x = b: the exact solution, every component rounded once",
  operands: "A b",
  count: [2, 2],
  options: {
    rounding: {
      type: "string",
      value: "R",
      help: "correct (default): proved, the same bits everywhere; backward: faster, small residual",
    },
    method: { type: "string", value: "M", help: "the method to try first: auto (default), mixed, double or exact" },
    "no-fallback": { type: "boolean", help: "fail if the first method does not converge, instead of trying costlier ones" },
    "max-iterations": { type: "string", value: "N", help: "maximum number of corrections with one set of factors; default: 30" },
    ...MATRIX_OPTIONS,
    column: {
      ...(COLUMN_OPTION.column as Option),
      help: "CSV: a column of b, by name or number from 1; several give several right-hand sides",
    },
    ...MISSING_OPTION,
    ...OUTPUT_OPTIONS,
    ...engineOptions("the bits are the same, except with --rounding backward"),
  },
  help: `
Solves A x = b for a square matrix and one right-hand side, or several as the columns of a matrix.
By default the result is the exact solution of the stored system, every component rounded once. It is proved (certified: true)
and has the same bits with every --engine. With --rounding backward it solves a nearby system exactly: residual is at most 1 and
backwardError at most (n + 1) 2^-53. The exit code is 1 if the matrix is singular or the solution did not converge.
Under mpirun the bits are the same, each rank reads its own part of a .npy file, and there is one right-hand side.
${MATRIX_FILES}`,
  examples: [
    ["halfulp solve A.mtx b.mtx -o x.npy", "write the solution to a file and print a summary"],
    ["halfulp solve A.csv b.csv --rounding backward", "faster, without a proof"],
    ["halfulp solve table.csv table.csv --columns a,b,c --column y", "named columns of one table as the matrix and the right-hand side"],
    ["mpirun -n 4 halfulp solve A.npy b.npy -o x.npy", "the same on four ranks of MPI, each with a part of the matrix"],
  ],
  underMpirun: true,
  async run(args, io) {
    const [left, right] = args.operands as [string, string];
    const files = [left, right] as const;
    const readings = readingsOf("solve", args, [
      { path: left, kind: "matrix" },
      { path: right, kind: "vector" },
    ]);
    const options: SolveOptions = {
      rounding: args.word("rounding", ["correct", "backward"]),
      method: args.word("method", ["auto", "mixed", "double", "exact"]),
      fallback: !args.flag("no-fallback"),
      maxIterations: args.integer("max-iterations", 1),
    };
    checkFiles("solve", args.operands);
    return inJob(
      async (job) => {
        await job.atRoot(() => checkOutput(args.text("output")));
        await using system = await (job.context ? onRanks(job, job.context, files, readings, io) : onEngine(args, files, readings, io));
        const { unknowns, b } = system;
        const progress = new Progress(io, "solve").tick();
        try {
          const start = performance.now();
          const onProgress = (stage: string, done: number): void => progress.report(done, 1, "", stage);
          const { x, fellBack, ...solution } = await system.solve({ ...options, onProgress });
          const { converged, method, iterations, residual, backwardError, condition, certified } = solution;
          const time = performance.now() - start;
          const details = {
            rounding: options.rounding ?? "correct",
            method: fellBack ? `${method} (a cheaper method did not converge)` : method,
            engine: system.device,
            unknowns,
            skipped: system.skipped,
            residual,
            backwardError,
            condition,
            iterations,
            converged,
            certified,
            seconds: seconds(time),
          };
          const result = isVector(b) ? x : matrix(x, b.rows, b.cols, { order: b.order });
          const printed = await job.atRoot(() => present("solve", result, details, args));
          const outcome = outcomeOf(job, printed, converged ? 0 : 1);
          return { ...outcome, json: { ...outcome.json, method, fellBack } };
        } finally {
          progress.end();
        }
      },
      () => openBackend(args),
    );
  },
};

/** A system that was read. */
interface System extends AsyncDisposable {
  readonly device: string;
  readonly unknowns: number;
  /** Rows that were left out because a value is missing. */
  readonly skipped: number | undefined;
  readonly b: Float64Array | Matrix;
  solve(options: SolveOptions): Promise<Solution>;
}

type Files = readonly [left: string, right: string];

async function onEngine(args: Arguments, files: Files, readings: readonly Reading[], io: Io): Promise<System> {
  const system = await loadEquations(files, readings, io);
  const A = widened(asMatrix(called(files[0]), system.A));
  const b = rightHandSide(files[1], system.b, A.rows);
  const engine = await openEngine(args, A.rows ** 3);
  return {
    device: engine.device,
    unknowns: A.rows,
    skipped: system.skipped,
    b,
    solve: (options) => engine.solve(A, b, options),
    [Symbol.asyncDispose]: () => engine.close(),
  };
}

async function onRanks(job: Job, context: Context, [left, right]: Files, readings: readonly Reading[], io: Io): Promise<System> {
  const { solve } = await import("../../ranks/solve/solve.ts");
  const A = await distributedMatrix(job, context, left, readings[0] as Reading, io);
  const b = await job.each(async () => {
    const found = rightHandSide(right, await loadOnRank(right, readings[1] as Reading, io), A.rows);
    if (isVector(found)) return found;
    throw new ShapeError(`${right} has ${found.cols} right-hand sides, expected one under mpirun`);
  });
  return {
    device: context.backend.device,
    unknowns: A.rows,
    skipped: undefined,
    b,
    solve: (options) => solve(context, A, b, options),
    [Symbol.asyncDispose]: async () => A.free(),
  };
}

// A single column is a vector, and so is a single row unless there is only one unknown. Several columns are right-hand sides.
function rightHandSide(name: string, value: Loaded, unknowns: number): Float64Array | Matrix {
  if (isVector(value) || value.cols === 1 || (value.rows === 1 && unknowns !== 1)) return toBinary64(asVector(called(name), value));
  return widened(asMatrix(called(name), value));
}
