import { resolve } from "node:path";
import type { Matrix } from "../../arrays/types.ts";
import { factorizationError } from "../../routines/dense/measures.ts";
import type { LU } from "../../routines/types.ts";
import { type Command, UsageError } from "../command.ts";
import { asMatrix, load } from "../input/load.ts";
import { hashOf } from "../output/hashing.ts";
import { Progress } from "../output/progress.ts";
import { lines, seconds } from "../output/results.ts";
import { checkOutput, save } from "../output/save.ts";
import { ENGINE_OPTIONS, openEngine } from "./engine.ts";

export const lu: Command = {
  name: "lu",
  summary: "factor P A = L U with partial pivoting, every entry an exact inner product, rounded once",
  operands: "A",
  count: [1, 1],
  options: {
    output: {
      type: "string",
      short: "o",
      value: "FILE",
      help: "write L and U there, in one matrix (unit L below the diagonal): .npy or .mtx",
    },
    pivots: { type: "string", value: "FILE", help: "write the pivots there: row k was swapped with row pivots[k], from 0" },
    error: {
      type: "boolean",
      help: "also the infinity norm of P A - L U (the largest sum of magnitudes in a row), exact and rounded once; slow",
    },
    ...ENGINE_OPTIONS,
  },
  help: `
Factors a matrix, square or not, from a .npy, Matrix Market or CSV file. The bits are those of the unblocked algorithm on every
engine. The hash is that of the factors, row by row, and of the pivots (32 bits each). A zero pivot ends with exit code 1.`,
  examples: [
    ["halfulp lu A.npy", "how long it takes, and the hash of the factors"],
    ["halfulp lu A.npy -o lu.npy --pivots p.npy", "into files"],
  ],
  async run(args, io) {
    const [path] = args.operands as [string];
    const [output, pivots] = [args.text("output"), args.text("pivots")];
    if (output !== undefined && pivots !== undefined && resolve(output) === resolve(pivots))
      throw new UsageError(`lu: -o and --pivots are both ${output}, expected two files`);
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
      const facts = {
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
      return { text: lines(facts), json: { command: "lu", ...facts } };
    } finally {
      progress.end();
    }
  },
};
