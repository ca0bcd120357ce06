// halfulp spmv: a sparse matrix times a vector, by exspmv of an engine.
import { type Command, called } from "../command.ts";
import { asSparse, asVector, load, toBinary64 } from "../input/load.ts";
import { COLUMN_OPTION, MATRIX_FILES, MATRIX_OPTIONS, type Reading, readingsOf } from "../input/reading.ts";
import { OUTPUT_OPTIONS, present, seconds } from "../output/results.ts";
import { checkOutput } from "../output/save.ts";
import { ENGINE_OPTIONS, openEngine } from "./engine.ts";

export const spmv: Command = {
  name: "spmv",
  summary: "multiply a sparse matrix by a vector, y = A x; each element is an exact sum, rounded once",
  operands: "A x",
  count: [2, 2],
  options: {
    trans: { type: "boolean", help: "multiply by the transpose of A" },
    ...MATRIX_OPTIONS,
    ...COLUMN_OPTION,
    ...OUTPUT_OPTIONS,
    ...ENGINE_OPTIONS,
  },
  help: `
Computes y = A x for a sparse matrix, a Matrix Market file in coordinate format; every element of y is the
exact sum over the stored entries, rounded once. The bits are the same on every engine.
${MATRIX_FILES}`,
  examples: [
    ["halfulp spmv A.mtx x.npy -o y.npy", "write the product to a file and print its hash"],
    ["halfulp spmv A.mtx x.csv --trans", "multiply by the transpose"],
  ],
  async run(args, io) {
    const [left, right] = args.operands as [string, string];
    const [readingA, readingX] = readingsOf("spmv", args, [
      { path: left, kind: "matrix" },
      { path: right, kind: "vector" },
    ]) as [Reading, Reading];
    await checkOutput(args.text("output"));
    const trans = args.flag("trans");
    const A = asSparse(called(left), await load(left, io, readingA));
    const x = toBinary64(asVector(called(right), await load(right, io, readingX)));
    await using engine = await openEngine(args, A.values.length);
    const start = performance.now();
    const y = await engine.exspmv(1, A, x, 0, new Float64Array(trans ? A.cols : A.rows), { trans });
    const time = performance.now() - start;
    const details = { engine: engine.device, rows: A.rows, cols: A.cols, entries: A.values.length, seconds: seconds(time) };
    return await present("spmv", y, details, args, "y");
  },
};
