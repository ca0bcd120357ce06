import { matrix } from "../../arrays/matrix.ts";
import type { Matrix } from "../../arrays/types.ts";
import type { SolveOptions } from "../../routines/solve/types.ts";
import type { Command } from "../command.ts";
import { asMatrix, asVector, inBinary64, isVector, type Loaded, load, widened } from "../input/load.ts";
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
      help: "correct (default): proved, the same bits everywhere; backward: faster, a small residual",
    },
    method: { type: "string", value: "M", help: "auto (default), mixed, double or exact: the method to begin with" },
    "no-fallback": { type: "boolean", help: "do not go on to costlier methods if the first one does not converge" },
    "max-iterations": { type: "string", value: "N", help: "the most corrections with one set of factors; default 30" },
    ...OUTPUT_OPTIONS,
    ...engineOptions("the bits are the same, except with --rounding backward"),
  },
  help: `
Solves A x = b for a square matrix and one right-hand side or, as the columns of a matrix, several, from .npy, Matrix Market or
CSV files. The default answer is the exact solution of the system as it is stored, every component rounded once. It comes with a proof
(certified: true), and its bits are the same with every --engine. With --rounding backward it is the solution of a nearby system:
residual at most 1 and backwardError at most (n + 1) 2^-53. Exit code 1 if the matrix is singular or the answer did not converge.`,
  examples: [
    ["halfulp solve A.mtx b.mtx -o x.npy", "into a file, with a summary"],
    ["halfulp solve A.csv b.csv --rounding backward", "faster, without a proof"],
  ],
  async run(args, io) {
    const [left, right] = args.operands as [string, string];
    await checkOutput(args.text("output"));
    const options: SolveOptions = {
      rounding: args.word("rounding", ["correct", "backward"]),
      method: args.word("method", ["auto", "mixed", "double", "exact"]),
      fallback: !args.flag("no-fallback"),
      maxIterations: args.whole("max-iterations", 1),
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
      const facts = {
        rounding: options.rounding ?? "correct",
        method: fellBack ? `${method} (a cheaper one did not converge)` : method,
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
      const outcome = await present("solve", result, facts, args);
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

// One column is a vector, and so is one row, unless there is one unknown; several columns are right-hand sides.
function rightHandSide(name: string, value: Loaded, unknowns: number): Float64Array | Matrix {
  if (isVector(value) || value.cols === 1 || (value.rows === 1 && unknowns !== 1)) return inBinary64(asVector(name, value));
  return widened(asMatrix(name, value));
}
