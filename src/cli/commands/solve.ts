// halfulp solve: a dense system, by solve of an engine.
import { matrix } from "../../arrays/matrix.ts";
import type { Matrix } from "../../arrays/types.ts";
import type { SolveOptions } from "../../routines/solve/types.ts";
import type { Command } from "../command.ts";
import { asMatrix, asVector, isVector, type Loaded, load, toBinary64, widened } from "../input/load.ts";
import { Progress } from "../output/progress.ts";
import { OUTPUT_OPTIONS, present, seconds } from "../output/results.ts";
import { checkOutput } from "../output/save.ts";
import { engineOptions, openEngine } from "./engine.ts";

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
    ...OUTPUT_OPTIONS,
    ...engineOptions("the bits are the same, except with --rounding backward"),
  },
  help: `
Solves A x = b for a square matrix and one right-hand side, or several as the columns of a matrix, from .npy, Matrix Market or CSV
files. By default the result is the exact solution of the stored system, every component rounded once. It is proved (certified: true)
and has the same bits with every --engine. With --rounding backward it solves a nearby system exactly: residual is at most 1 and
backwardError at most (n + 1) 2^-53. The exit code is 1 if the matrix is singular or the solution did not converge.`,
  examples: [
    ["halfulp solve A.mtx b.mtx -o x.npy", "write the solution to a file and print a summary"],
    ["halfulp solve A.csv b.csv --rounding backward", "faster, without a proof"],
  ],
  async run(args, io) {
    const [left, right] = args.operands as [string, string];
    await checkOutput(args.text("output"));
    const options: SolveOptions = {
      rounding: args.word("rounding", ["correct", "backward"]),
      method: args.word("method", ["auto", "mixed", "double", "exact"]),
      fallback: !args.flag("no-fallback"),
      maxIterations: args.integer("max-iterations", 1),
    };
    const A = widened(asMatrix(left, await load(left, io)));
    const b = rightHandSide(right, await load(right, io), A.rows);
    await using engine = await openEngine(args, A.rows ** 3);
    const progress = new Progress(io, "solve").tick();
    try {
      const start = performance.now();
      const onProgress = (stage: string, done: number): void => progress.report(done, 1, "", stage);
      const { x, fellBack, ...solution } = await engine.solve(A, b, { ...options, onProgress });
      const { converged, method, iterations, residual, backwardError, condition, certified } = solution;
      const time = performance.now() - start;
      const details = {
        rounding: options.rounding ?? "correct",
        method: fellBack ? `${method} (a cheaper method did not converge)` : method,
        engine: engine.device,
        unknowns: A.rows,
        residual,
        backwardError,
        condition,
        iterations,
        converged,
        certified,
        seconds: seconds(time),
      };
      const result = isVector(b) ? x : matrix(x, b.rows, b.cols, { order: b.order });
      const outcome = await present("solve", result, details, args);
      return {
        ...outcome,
        json: { ...outcome.json, method, fellBack },
        code: converged ? 0 : 1,
      };
    } finally {
      progress.end();
    }
  },
};

// A single column is a vector, and so is a single row unless there is only one unknown. Several columns are right-hand sides.
function rightHandSide(name: string, value: Loaded, unknowns: number): Float64Array | Matrix {
  if (isVector(value) || value.cols === 1 || (value.rows === 1 && unknowns !== 1)) return toBinary64(asVector(name, value));
  return widened(asMatrix(name, value));
}
