import { matrix } from "../matrix.ts";
import type { SolveOptions } from "../solve/types.ts";
import type { Matrix } from "../types.ts";
import type { Command } from "./command.ts";
import { engineOptions, openEngine } from "./engine.ts";
import { asMatrix, asVector, inBinary64, isVector, type Loaded, load, widened } from "./load.ts";
import { Progress } from "./progress.ts";
import { OUTPUT_OPTIONS, present, seconds } from "./results.ts";
import { checkOutput } from "./save.ts";

export const solve: Command = {
  name: "solve",
  summary: "solve A x = b: fast factors, refined with exact residuals until LINPACK's criterion holds",
  operands: "A b",
  count: [2, 2],
  options: {
    method: { type: "string", value: "M", help: "auto (unless said otherwise), mixed, double or exact: the factors to begin with" },
    "no-fallback": { type: "boolean", help: "do not go on to dearer factors where the first ones do not converge" },
    "max-iterations": { type: "string", value: "N", help: "corrections at most with the factors of one method; 30 unless said otherwise" },
    ...OUTPUT_OPTIONS,
    ...engineOptions("the last bits may differ, but not with --method exact"),
  },
  help: `
Solves A x = b for a square matrix and one right-hand side or, as the columns of a matrix, several, from .npy, Matrix Market or
CSV files. The residual is LINPACK's, exact and rounded once: at most 1 is converged. Exit code 1 for a singular matrix, or where it
did not converge.`,
  examples: [
    ["halfulp solve A.mtx b.mtx -o x.npy", "into a file, with a summary"],
    ["halfulp solve A.csv b.csv --method exact", "with exact factors from the start"],
  ],
  async run(args, io) {
    const [left, right] = args.operands as [string, string];
    await checkOutput(args.text("output"));
    const options: SolveOptions = {
      method: args.word("method", ["auto", "mixed", "double", "exact"]),
      fallback: !args.flag("no-fallback"),
      maxIterations: args.whole("max-iterations", 1),
    };
    const A = widened(asMatrix(left, await load(left, io)));
    const b = rightHandSide(right, await load(right, io));
    await using engine = await openEngine(args, A.rows ** 3);
    const progress = new Progress(io, "solve").tick();
    try {
      const start = performance.now();
      const { x, converged, method, fellBack, iterations, residual, certified } = await engine.solve(A, b, options);
      const time = performance.now() - start;
      const facts = {
        method: fellBack ? `${method} (a cheaper one did not converge)` : method,
        engine: engine.device,
        unknowns: A.rows,
        residual,
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

// One column or row is a vector; several columns are so many right-hand sides.
function rightHandSide(name: string, value: Loaded): Float64Array | Matrix {
  if (isVector(value) || value.rows === 1 || value.cols === 1) return inBinary64(asVector(name, value));
  return widened(asMatrix(name, value));
}
