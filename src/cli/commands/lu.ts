// halfulp lu: the factors of a matrix, by exlu of an engine.
import { resolve } from "node:path";
import type { Matrix } from "../../arrays/types.ts";
import { factorizationError } from "../../routines/dense/measures.ts";
import type { LU } from "../../routines/types.ts";
import { type Command, UsageError } from "../command.ts";
import { asMatrix, load } from "../input/load.ts";
import { hashOf } from "../output/hashing.ts";
import { Progress } from "../output/progress.ts";
import { alignedLines, seconds } from "../output/results.ts";
import { checkOutput, save } from "../output/save.ts";
import { ENGINE_OPTIONS, openEngine } from "./engine.ts";

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
      help: "write L and U as one matrix (unit L below the diagonal): .npy or .mtx",
    },
    pivots: { type: "string", value: "FILE", help: "write the pivots, counted from 0: row k was swapped with row pivots[k]" },
    error: {
      type: "boolean",
      help: "print the infinity norm of P A - L U (the largest sum of magnitudes in a row), exact and rounded once; slow",
    },
    ...ENGINE_OPTIONS,
  },
  help: `
Factors a matrix, square or not, from a .npy, Matrix Market or CSV file. On every engine the bits are those of the unblocked
algorithm. The hash covers the factors, row by row, and the pivots (32 bits each). A zero pivot gives exit code 1.`,
  examples: [
    ["halfulp lu A.npy", "print the time and the hash of the factors"],
    ["halfulp lu A.npy -o lu.npy --pivots p.npy", "write factors and pivots to files"],
  ],
  async run(args, io) {
    const [path] = args.operands as [string];
    const [output, pivots] = [args.text("output"), args.text("pivots")];
    if (output !== undefined && pivots !== undefined && resolve(output) === resolve(pivots))
      throw new UsageError(`lu: -o and --pivots are both ${output}, expected different files`);
    await Promise.all([checkOutput(output), checkOutput(pivots)]);
    const A = asMatrix(path, await load(path, io)) as Matrix;
    await using engine = await openEngine(args, A.rows * A.cols * Math.min(A.rows, A.cols));
    const progress = new Progress(io, "lu").tick();
    try {
      const start = performance.now();
      const factors = await engine.exlu(A);
      const time = performance.now() - start;
      if (output !== undefined) await save(output, factors.lu);
      if (pivots !== undefined) await save(pivots, Float64Array.from(factors.pivots));
      const details = {
        method: "exact inner products, partial pivoting",
        engine: engine.device,
        rows: A.rows,
        cols: A.cols,
        swaps: factors.pivots.reduce((count, row, k) => count + (row === k ? 0 : 1), 0),
        error: args.flag("error") ? factorizationError(A, factors as unknown as LU) : undefined,
        seconds: seconds(time),
        sha256: hashOf(factors.lu, factors.pivots),
        output,
        pivots,
      };
      return { text: alignedLines(details), json: { command: "lu", ...details } };
    } finally {
      progress.end();
    }
  },
};
