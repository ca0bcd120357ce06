import type { Engine } from "../../api/engine.ts";
import { matrix, stridedView } from "../../arrays/matrix.ts";
import type { Matrix, Real, TriangularOptions } from "../../arrays/types.ts";
import { newVector } from "../../arrays/vectors.ts";
import type { Arguments, Command, Options } from "../command.ts";
import { asMatrix, asVector, inBinary64, load, widened } from "../input/load.ts";
import { formatOf, shortest } from "../output/numerals.ts";
import { Progress } from "../output/progress.ts";
import { OUTPUT_OPTIONS, present, seconds } from "../output/results.ts";
import { checkOutput } from "../output/save.ts";
import { ENGINE_OPTIONS, openEngine } from "./engine.ts";

/** Which triangle is meant: of trsv and sptrsv alike. */
export const TRIANGLE_OPTIONS: Options = {
  upper: { type: "boolean", help: "the upper triangle; the lower unless said" },
  trans: { type: "boolean", help: "solve with the transpose" },
  unit: { type: "boolean", help: "ones on the diagonal, which is not read" },
};

export function triangleOf(args: Arguments): { uplo: "lower" | "upper"; trans: boolean; unit: boolean } {
  return { uplo: args.flag("upper") ? "upper" : "lower", trans: args.flag("trans"), unit: args.flag("unit") };
}

export const trsv: Command = {
  name: "trsv",
  summary: "solve a triangular system T x = b, each element the exact sum, divided and rounded once",
  operands: "T b",
  count: [2, 2],
  options: {
    ...TRIANGLE_OPTIONS,
    rounding: { type: "string", value: "R", help: "single (unless said otherwise), paper or corrected" },
    refine: { type: "string", value: "N", help: "steps of iterative refinement on the whole system" },
    "refine-blocks": {
      type: "string",
      value: "N",
      help: "steps on each diagonal block; the only option whose bits depend on the block size",
    },
    "block-size": { type: "string", value: "N", help: "unknowns in a block" },
    ...OUTPUT_OPTIONS,
    ...ENGINE_OPTIONS,
  },
  help: `
Solves T x = b by substitution. T and b are .npy, Matrix Market or CSV files; the other triangle of T is not read. The same
system gives the same bits on every engine. A zero on the diagonal ends with exit code 1.`,
  examples: [
    ["halfulp trsv T.mtx b.mtx", "a lower triangle; prints a short solution and its hash"],
    ["halfulp trsv T.npy b.npy --upper -o x.npy", "an upper one, into a file"],
  ],
  async run(args, io) {
    const [T, b] = args.operands as [string, string];
    const output = args.text("output");
    await checkOutput(output);
    const options: TriangularOptions = {
      ...triangleOf(args),
      rounding: args.word("rounding", ["single", "paper", "corrected"]),
      refine: args.whole("refine", 0),
      refineBlocks: args.whole("refine-blocks", 0),
      blockSize: args.whole("block-size", 1),
    };
    const [givenT, givenB] = [asMatrix(T, await load(T, io)), asVector(b, await load(b, io))];
    const alike = givenT.data.BYTES_PER_ELEMENT === givenB.BYTES_PER_ELEMENT;
    const matrixT = alike ? (givenT as Matrix) : widened(givenT);
    const vectorB = alike ? (givenB as Float64Array) : inBinary64(givenB);
    await using engine = await openEngine(args, matrixT.rows ** 2);
    const progress = new Progress(io, "trsv").tick();
    try {
      const start = performance.now();
      const x = await engine.extrsv(matrixT, vectorB, options);
      const time = performance.now() - start;
      const facts = {
        method: `substitution, ${options.rounding ?? "single"} rounding`,
        engine: engine.device,
        unknowns: x.length,
        residual: await residual(engine, matrixT, vectorB, x, options),
        iterations: options.refine ?? 0,
        seconds: seconds(time),
      };
      return await present("trsv", x, facts, args);
    } finally {
      progress.end();
    }
  },
};

// max |b - T x|, exact and rounded once, as the number to print.
async function residual(engine: Engine, T: Matrix, b: Float64Array, x: Float64Array, options: TriangularOptions): Promise<number> {
  const { data, offset, rowStride, colStride } = stridedView(T);
  const n = b.length;
  const copy = newVector("trsv", T.data, n * n);
  for (let i = 0; i < n; i++)
    for (let j = options.uplo === "upper" ? i : 0; j < (options.uplo === "upper" ? n : i + 1); j++)
      copy[i * n + j] = i === j && options.unit === true ? 1 : (data[offset + i * rowStride + j * colStride] as number);
  const r = await engine.exgemv(-1, matrix(copy, n, n), x, 1, b.slice(), { trans: options.trans });
  return shortest(largest(r), formatOf(r.BYTES_PER_ELEMENT));
}

/** The largest magnitude; NaN where there is one. */
function largest(x: Real): number {
  let most = 0;
  for (const value of x) most = Math.max(most, Math.abs(value));
  return most;
}
