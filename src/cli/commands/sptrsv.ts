// halfulp sptrsv: a sparse triangular system, by sptrsv of an engine.
import { toCsc, toCsr } from "../../arrays/sparse.ts";
import type { Sparse } from "../../arrays/types.ts";
import { Superaccumulator } from "../../exact/superaccumulator.ts";
import type { Schedule, SparseOptions } from "../../routines/sparse/types.ts";
import { type Command, called } from "../command.ts";
import { asSparse, asVector, load, toBinary64 } from "../input/load.ts";
import { COLUMN_OPTION, MATRIX_FILES, MATRIX_OPTIONS, type Reading, readingsOf } from "../input/reading.ts";
import { Progress } from "../output/progress.ts";
import { OUTPUT_OPTIONS, present, seconds } from "../output/results.ts";
import { checkOutput } from "../output/save.ts";
import { engineOptions, openEngine } from "./engine.ts";
import { TRIANGLE_OPTIONS, triangleOf } from "./trsv.ts";

const SCHEDULES: readonly Schedule[] = ["auto", "serial", "levr", "levc", "slfr", "slfc", "gsf"];

export const sptrsv: Command = {
  name: "sptrsv",
  summary: "solve a sparse triangular system L x = b, with the bits of trsv unless --plain is given",
  operands: "L b",
  count: [2, 2],
  options: {
    ...TRIANGLE_OPTIONS,
    plain: { type: "boolean", help: "use ordinary arithmetic: the bits differ, and with levc and slfc they may vary from run to run" },
    schedule: { type: "string", value: "S", help: `${SCHEDULES.join(", ")}; the bits are the same, except with --plain` },
    ...MATRIX_OPTIONS,
    ...COLUMN_OPTION,
    ...OUTPUT_OPTIONS,
    ...engineOptions("the bits are the same, except with --plain"),
  },
  help: `
Solves L x = b for a sparse triangular matrix, a Matrix Market file in coordinate format.
Entries outside the triangle are ignored, so the file may hold a full matrix. A zero or missing diagonal entry gives exit code 1.
${MATRIX_FILES}`,
  examples: [
    ["halfulp sptrsv A.mtx b.mtx", "solve with the lower triangle of A"],
    [
      "halfulp sptrsv A.mtx b.npy --upper --engine threads --schedule slfr -o x.npy",
      "solve with the upper triangle, using one of the schedules",
    ],
  ],
  async run(args, io) {
    const [L, b] = args.operands as [string, string];
    const [readingL, readingB] = readingsOf("sptrsv", args, [
      { path: L, kind: "matrix" },
      { path: b, kind: "vector" },
    ]) as [Reading, Reading];
    await checkOutput(args.text("output"));
    const options: SparseOptions = { ...triangleOf(args), exact: !args.flag("plain"), schedule: args.word("schedule", SCHEDULES) };
    const A = asSparse(called(L), await load(L, io, readingL), "halfulp trsv");
    const right = toBinary64(asVector(called(b), await load(b, io, readingB)));
    await using engine = await openEngine(args, A.values.length);
    const progress = new Progress(io, "sptrsv").tick();
    try {
      const start = performance.now();
      const plan = await engine.sptrsv(A, options);
      const afterAnalysis = performance.now();
      const x = await plan.solve(right);
      const end = performance.now();
      const details = {
        method: `${options.exact === true ? "exact" : "plain"}, schedule ${plan.schedule} (${plan.reason})`,
        engine: engine.device,
        unknowns: x.length,
        entries: A.values.length,
        levels: plan.levels,
        residual: residual(A, right, x, options),
        iterations: 0,
        analysis: seconds(afterAnalysis - start),
        seconds: seconds(end - afterAnalysis),
      };
      return await present("sptrsv", x, details, args);
    } finally {
      progress.end();
    }
  },
};

// The largest |b - L x|, from the stored entries of the triangle, exact and rounded once.
function residual(A: Sparse, b: Float64Array, x: Float64Array, { uplo, trans, unit }: SparseOptions): number {
  const { pointers, indices, values } = trans === true ? toCsc(A) : toCsr(A);
  const precedes = (uplo === "lower") === (trans !== true); // whether row i depends on the unknowns before i
  const sum = new Superaccumulator();
  let largest = 0;
  for (let i = 0; i < b.length; i++) {
    sum.clear().add(b[i] as number);
    if (unit === true) sum.add(-(x[i] as number));
    for (let p = pointers[i] as number; p < (pointers[i + 1] as number); p++) {
      const j = indices[p] as number;
      if (j === i ? unit !== true : precedes === j < i) sum.addProduct(-(values[p] as number), x[j] as number);
    }
    largest = Math.max(largest, Math.abs(sum.round()));
  }
  return largest;
}
