// halfulp trsv: a dense triangular system, by extrsv of an engine.
import type { Engine } from "../../api/engine.ts";
import { matrix, stridedView } from "../../arrays/matrix.ts";
import type { Matrix, Real, TriangularOptions } from "../../arrays/types.ts";
import { newVector } from "../../arrays/vectors.ts";
import { type Arguments, type Command, called, type Options } from "../command.ts";
import { asMatrix, asVector, loadEquations, toBinary64, widened } from "../input/load.ts";
import { COLUMN_OPTION, MATRIX_FILES, MATRIX_OPTIONS, MISSING_OPTION, readingsOf } from "../input/reading.ts";
import { formatOf, shortest } from "../output/numerals.ts";
import { Progress } from "../output/progress.ts";
import { OUTPUT_OPTIONS, present, seconds } from "../output/results.ts";
import { checkOutput } from "../output/save.ts";
import { ENGINE_OPTIONS, openEngine } from "./engine.ts";

/** The options that choose the triangle, for trsv and sptrsv. */
export const TRIANGLE_OPTIONS: Options = {
  upper: { type: "boolean", help: "use the upper triangle; default: the lower" },
  trans: { type: "boolean", help: "solve with the transpose of the triangle" },
  unit: { type: "boolean", help: "take the diagonal to be ones; the stored one is not read" },
};

export function triangleOf(args: Arguments): { uplo: "lower" | "upper"; trans: boolean; unit: boolean } {
  return { uplo: args.flag("upper") ? "upper" : "lower", trans: args.flag("trans"), unit: args.flag("unit") };
}

export const trsv: Command = {
  name: "trsv",
  summary: "solve a triangular system T x = b; each element is an exact sum, divided and rounded once",
  operands: "T b",
  count: [2, 2],
  options: {
    ...TRIANGLE_OPTIONS,
    rounding: { type: "string", value: "R", help: "single (default), paper or corrected" },
    refine: { type: "string", value: "N", help: "refine the whole system N times" },
    "refine-blocks": {
      type: "string",
      value: "N",
      help: "refine each diagonal block N times; only then do the bits depend on --block-size",
    },
    "block-size": { type: "string", value: "N", help: "number of unknowns per block" },
    ...MATRIX_OPTIONS,
    ...COLUMN_OPTION,
    ...MISSING_OPTION,
    ...OUTPUT_OPTIONS,
    ...ENGINE_OPTIONS,
  },
  help: `
Solves T x = b by substitution. The other triangle of T is not read. The bits are the same on every engine. A zero on the diagonal
gives exit code 1.
${MATRIX_FILES}`,
  examples: [
    ["halfulp trsv T.mtx b.mtx", "solve with the lower triangle; print a short solution and its hash"],
    ["halfulp trsv T.npy b.npy --upper -o x.npy", "solve with the upper triangle; write the solution to a file"],
  ],
  async run(args, io) {
    const [T, b] = args.operands as [string, string];
    const readings = readingsOf("trsv", args, [
      { path: T, kind: "matrix" },
      { path: b, kind: "vector" },
    ]);
    const output = args.text("output");
    await checkOutput(output);
    const options: TriangularOptions = {
      ...triangleOf(args),
      rounding: args.word("rounding", ["single", "paper", "corrected"]),
      refine: args.integer("refine", 0),
      refineBlocks: args.integer("refine-blocks", 0),
      blockSize: args.integer("block-size", 1),
    };
    const system = await loadEquations([T, b], readings, io);
    const [storedT, storedB] = [asMatrix(called(T), system.A), asVector(called(b), system.b)];
    const samePrecision = storedT.data.BYTES_PER_ELEMENT === storedB.BYTES_PER_ELEMENT;
    const matrixT = samePrecision ? (storedT as Matrix) : widened(storedT);
    const vectorB = samePrecision ? (storedB as Float64Array) : toBinary64(storedB);
    await using engine = await openEngine(args, matrixT.rows ** 2);
    const progress = new Progress(io, "trsv").tick();
    try {
      const start = performance.now();
      const x = await engine.extrsv(matrixT, vectorB, options);
      const time = performance.now() - start;
      const details = {
        method: `substitution, ${options.rounding ?? "single"} rounding`,
        engine: engine.device,
        unknowns: x.length,
        skipped: system.skipped,
        residual: await residual(engine, matrixT, vectorB, x, options),
        iterations: options.refine ?? 0,
        seconds: seconds(time),
      };
      return await present("trsv", x, details, args);
    } finally {
      progress.end();
    }
  },
};

// The largest |b - T x|, exact and rounded once, as the number to print.
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

/** The largest magnitude, or NaN if x has one. */
function largest(x: Real): number {
  let max = 0;
  for (const value of x) max = Math.max(max, Math.abs(value));
  return max;
}
