// halfulp cg, bicgstab and gmres: systems solved step by step, by the routines of the same names of an engine or of the ranks of a job.
import { checkSize } from "../../arrays/checks.ts";
import { ShapeError } from "../../arrays/errors.ts";
import type { Matrix, Sparse } from "../../arrays/types.ts";
import type { Context } from "../../ranks/context.ts";
import type { IterativeOptions, IterativeSolution } from "../../routines/krylov/types.ts";
import { type Arguments, type Command, called, type Io, type Options } from "../command.ts";
import { asMatrix, asVector, isSparse, isVector, type Loaded, load, loadEquations, toBinary64, widened } from "../input/load.ts";
import { loadOnRank, sparseRows } from "../input/ranks.ts";
import { COLUMN_OPTION, MATRIX_FILES, MATRIX_OPTIONS, MISSING_OPTION, type Reading, readingsOf } from "../input/reading.ts";
import { Progress } from "../output/progress.ts";
import { OUTPUT_OPTIONS, present, seconds } from "../output/results.ts";
import { checkOutput } from "../output/save.ts";
import { ENGINE_OPTIONS, openBackend, openEngine } from "./engine.ts";
import { checkFiles, gathered, inJob, type Job, outcomeOf } from "./job.ts";

const PRECONDITIONERS = ["none", "jacobi", "ilu0"] as const;

const OPTIONS: Options = {
  preconditioner: {
    type: "string",
    value: "P",
    help: "none (default), jacobi (the diagonal) or ilu0 (incomplete LU factors without fill)",
  },
  tolerance: { type: "string", value: "T", help: "stop if the norm of the residual is at most T times that of b; default: 1e-10" },
  absolute: { type: "string", value: "T", help: "stop if the norm of the residual is at most T; default: 0" },
  "max-iterations": { type: "string", value: "N", help: "maximum number of iterations; default: 10 per unknown, at least 100" },
  "max-restarts": { type: "string", value: "N", help: "how often to start again from the true residual; default: 3" },
  x0: { type: "string", value: "FILE", help: "start from this vector; default: zeros" },
};

interface Method {
  readonly name: "cg" | "bicgstab" | "gmres";
  readonly summary: string;
  /** The line "method" of the result. */
  readonly title: (restart: number | undefined) => string;
  readonly options?: Options;
  /** What it is and which systems it is for. */
  readonly about: string;
  readonly examples: Command["examples"];
}

function iterative({ name, summary, title, options = {}, about, examples }: Method): Command {
  return {
    name,
    summary,
    operands: "A b",
    count: [2, 2],
    options: { ...OPTIONS, ...options, ...MATRIX_OPTIONS, ...COLUMN_OPTION, ...MISSING_OPTION, ...OUTPUT_OPTIONS, ...ENGINE_OPTIONS },
    help: `
${about}
A sparse matrix stays sparse. Every product, sum and norm is exact and rounded once, so x, the number of iterations and the residual
of each of them are the same on every engine. residual is the norm of b - A x, computed exactly, over that of b. --json has the whole
history of residual norms. The exit code is 1 if the method did not converge; reason is then maxIterations, stagnation, breakdown or
notFinite, and x is the last iterate. Under mpirun the bits are the same; A must be sparse, and the preconditioner none or jacobi.
${MATRIX_FILES}`,
    examples: [
      ...examples,
      [`mpirun -n 4 halfulp ${name} A.mtx b.npy`, "the same on four ranks of MPI, each with some rows of the matrix"],
    ],
    underMpirun: true,
    async run(args, io) {
      const [left, right] = args.operands as [string, string];
      const restart = name === "gmres" ? args.integer("restart", 1) : undefined;
      const given = {
        preconditioner: args.word("preconditioner", PRECONDITIONERS),
        tolerance: args.number("tolerance"),
        absolute: args.number("absolute"),
        maxIterations: args.integer("max-iterations", 0),
        maxRestarts: args.integer("max-restarts", 0),
        ...(restart === undefined ? {} : { restart }),
      } satisfies IterativeOptions;
      const x0 = args.text("x0");
      checkFiles(name, [left, right, x0]);
      const readings = readingsOf(name, args, [
        { path: left, kind: "matrix" },
        { path: right, kind: "vector" },
        ...(x0 === undefined ? [] : [{ path: x0, kind: "vector", holdsEquations: false } as const]),
      ]);
      return inJob(
        async (job) => {
          await job.atRoot(() => checkOutput(args.text("output")));
          const read = { name, left, right, x0, readings };
          await using system = await (job.context ? onRanks(job, job.context, read, io) : onEngine(args, read, io));
          const progress = new Progress(io, name).tick();
          try {
            const begin = performance.now();
            const onIteration = (iteration: number, norm: number): void =>
              progress.report(iteration, undefined, `iterations, norm of the residual ${norm.toExponential(1)},`);
            const { x, history, reason, iterations, residual, converged } = await system.solve({ ...given, onIteration });
            const details = {
              method: title(restart),
              preconditioner: given.preconditioner ?? "none",
              engine: system.device,
              unknowns: system.unknowns,
              entries: system.entries,
              skipped: system.skipped,
              residual,
              iterations,
              reason,
              converged,
              seconds: seconds(performance.now() - begin),
            };
            const printed = await job.atRoot(() => present(name, x, details, args));
            const outcome = outcomeOf(job, printed, converged ? 0 : 1);
            return { ...outcome, json: { ...outcome.json, history } };
          } finally {
            progress.end();
          }
        },
        () => openBackend(args),
      );
    },
  };
}

/** The files of a system. */
interface Files {
  readonly name: Method["name"];
  readonly left: string;
  readonly right: string;
  readonly x0: string | undefined;
  readonly readings: readonly Reading[];
}

/** A system that was read. */
interface System extends AsyncDisposable {
  readonly device: string;
  readonly unknowns: number;
  readonly entries: number;
  /** Rows that were left out because a value is missing. */
  readonly skipped: number | undefined;
  /** The x of the result is whole, on rank 0. */
  solve(options: GivenOptions): Promise<IterativeSolution>;
}

type GivenOptions = IterativeOptions & { preconditioner?: (typeof PRECONDITIONERS)[number] | undefined };

async function onEngine(args: Arguments, { name, left, right, x0, readings }: Files, io: Io): Promise<System> {
  const system = await loadEquations([left, right], readings, io);
  const A = systemOf(left, system.A);
  const b = toBinary64(asVector(called(right), system.b));
  const start = x0 === undefined ? undefined : toBinary64(asVector(called(x0), await load(x0, io, readings[2] as Reading)));
  const entries = "format" in A ? A.values.length : A.rows * A.cols;
  const engine = await openEngine(args, USUAL_ITERATIONS * entries);
  return {
    device: engine.device,
    unknowns: A.rows,
    entries,
    skipped: system.skipped,
    solve: (options) => engine[name](A, b, { ...options, x0: start }),
    [Symbol.asyncDispose]: () => engine.close(),
  };
}

async function onRanks(job: Job, context: Context, { name, left, right, x0, readings }: Files, io: Io): Promise<System> {
  const { solveOnRanks } = await import("../../ranks/krylov.ts");
  const { sparse } = await import("../../ranks/sparse.ts");
  const { first, A, rows, cols, entries } = await sparseRows(job, context, left, readings[0] as Reading);
  // The part of a vector that belongs to the rows of this rank. Every rank reads the whole.
  const vector = async (argument: string, path: string, reading: Reading | undefined): Promise<Float64Array> => {
    const whole = toBinary64(asVector(called(path), await loadOnRank(path, reading as Reading, io)));
    checkSize(name, argument, whole, rows, "the order of A");
    return whole.slice(first, first + A.rows);
  };
  const [b, start] = await job.each(async () => {
    if (rows !== cols) throw new ShapeError(`${name}: A is ${rows} by ${cols}, expected a square matrix`);
    return [await vector("b", right, readings[1]), x0 === undefined ? undefined : await vector("x0", x0, readings[2])] as const;
  });
  const distributed = await sparse(context, A, first, rows);
  return {
    device: context.backend.device,
    unknowns: rows,
    entries,
    skipped: undefined,
    async solve(options) {
      const solution = await solveOnRanks(context, name, distributed, b, { ...options, x0: start });
      return { ...solution, x: await gathered(context, solution.x, rows) };
    },
    [Symbol.asyncDispose]: async () => distributed.free(),
  };
}

// The number of iterations is not known before; this many decide whether threads are worth starting.
const USUAL_ITERATIONS = 100;

function systemOf(name: string, value: Loaded): Matrix | Sparse {
  return !isVector(value) && isSparse(value) ? value : widened(asMatrix(called(name), value));
}

export const cg = iterative({
  name: "cg",
  summary: "solve a symmetric positive definite system A x = b by conjugate gradients",
  title: () => "conjugate gradients",
  about: "Solves A x = b by conjugate gradients. A must be symmetric and positive definite, which is not checked.",
  examples: [
    ["halfulp cg A.mtx b.mtx --preconditioner ilu0 -o x.npy", "write the solution to a file and print a summary"],
    ["halfulp cg A.mtx b.npy --tolerance 1e-6 --json", "print the solution and the residual of every iteration"],
  ],
});

export const bicgstab = iterative({
  name: "bicgstab",
  summary: "solve a system A x = b by the stabilized biconjugate gradient method, for any square matrix",
  title: () => "stabilized biconjugate gradients",
  about: "Solves A x = b by BiCGSTAB with right preconditioning. A need not be symmetric. It needs little memory.",
  examples: [["halfulp bicgstab A.mtx b.mtx --preconditioner ilu0", "solve with incomplete LU factors as the preconditioner"]],
});

export const gmres = iterative({
  name: "gmres",
  summary: "solve a system A x = b by the generalized minimal residual method, for any square matrix",
  title: (restart = 30) => `generalized minimal residuals, restarted after ${restart} iterations`,
  options: {
    restart: { type: "string", value: "M", help: "number of vectors to keep; more converge in fewer iterations; default: 30" },
  },
  about: "Solves A x = b by restarted GMRES with right preconditioning. A need not be symmetric. Residuals never grow in a cycle.",
  examples: [["halfulp gmres A.mtx b.mtx --preconditioner jacobi --restart 50", "keep 50 vectors instead of 30"]],
});
