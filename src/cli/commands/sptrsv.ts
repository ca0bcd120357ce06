import { ShapeError } from "../../arrays/errors.ts";
import { toCsc, toCsr } from "../../arrays/sparse.ts";
import type { Sparse } from "../../arrays/types.ts";
import { Superaccumulator } from "../../exact/superaccumulator.ts";
import type { Schedule, SparseOptions } from "../../routines/sparse/types.ts";
import type { Command } from "../command.ts";
import { asVector, inBinary64, isSparse, load } from "../input/load.ts";
import { Progress } from "../output/progress.ts";
import { OUTPUT_OPTIONS, present, seconds } from "../output/results.ts";
import { checkOutput } from "../output/save.ts";
import { engineOptions, openEngine } from "./engine.ts";
import { TRIANGLE_OPTIONS, triangleOf } from "./trsv.ts";

const SCHEDULES: readonly Schedule[] = ["auto", "serial", "levr", "levc", "slfr", "slfc", "gsf"];

export const sptrsv: Command = {
  name: "sptrsv",
  summary: "solve a sparse triangular system L x = b, with the bits of trsv on the stored entries unless --plain is given",
  operands: "L b",
  count: [2, 2],
  options: {
    ...TRIANGLE_OPTIONS,
    plain: { type: "boolean", help: "ordinary arithmetic instead of exact sums: other bits, and with levc and slfc not always the same" },
    schedule: { type: "string", value: "S", help: `${SCHEDULES.join(", ")}; without --plain the bits are the same` },
    ...OUTPUT_OPTIONS,
    ...engineOptions("without --plain the bits are the same"),
  },
  help: `
Solves L x = b for a sparse triangle, a Matrix Market file in coordinate format; b is a .npy, Matrix Market or CSV file. StridedMatrix
outside the triangle are ignored, so that the file of L may be a whole matrix. A zero on the diagonal, or none, ends with exit code 1.`,
  examples: [
    ["halfulp sptrsv A.mtx b.mtx", "with the lower triangle of A"],
    ["halfulp sptrsv A.mtx b.npy --upper --engine threads --schedule slfr -o x.npy", "with the upper one, by one of the schedules"],
  ],
  async run(args, io) {
    const [L, b] = args.operands as [string, string];
    await checkOutput(args.text("output"));
    const options: SparseOptions = { ...triangleOf(args), exact: !args.flag("plain"), schedule: args.word("schedule", SCHEDULES) };
    const A = await load(L, io);
    if (!isSparse(A))
      throw new ShapeError(`${L} is dense, expected a sparse matrix (Matrix Market, coordinate); halfulp trsv solves dense ones`);
    const right = inBinary64(asVector(b, await load(b, io)));
    await using engine = await openEngine(args, A.values.length);
    const progress = new Progress(io, "sptrsv").tick();
    try {
      const start = performance.now();
      const plan = await engine.sptrsv(A, options);
      const analysed = performance.now();
      const x = await plan.solve(right);
      const end = performance.now();
      const facts = {
        method: `${options.exact === true ? "exact" : "plain"}, schedule ${plan.schedule} (${plan.reason})`,
        engine: engine.device,
        unknowns: x.length,
        entries: A.values.length,
        levels: plan.levels,
        residual: residual(A, right, x, options),
        iterations: 0,
        analysis: seconds(analysed - start),
        seconds: seconds(end - analysed),
      };
      return await present("sptrsv", x, facts, args);
    } finally {
      progress.end();
    }
  },
};

// max |b - L x| over the stored entries of the triangle, exact and rounded once.
function residual(A: Sparse, b: Float64Array, x: Float64Array, { uplo, trans, unit }: SparseOptions): number {
  const { pointers, indices, values } = trans === true ? toCsc(A) : toCsr(A);
  const belowInLines = (uplo === "lower") === (trans !== true); // whether a line holds the unknowns before its own
  const sum = new Superaccumulator();
  let most = 0;
  for (let i = 0; i < b.length; i++) {
    sum.clear().add(b[i] as number);
    if (unit === true) sum.add(-(x[i] as number));
    for (let p = pointers[i] as number; p < (pointers[i + 1] as number); p++) {
      const j = indices[p] as number;
      if (j === i ? unit !== true : belowInLines === j < i) sum.addProduct(-(values[p] as number), x[j] as number);
    }
    most = Math.max(most, Math.abs(sum.round()));
  }
  return most;
}
