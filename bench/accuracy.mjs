// The accuracy figures of the papers as data (docs/accuracy.md): relative forward errors against the condition number, each computed
// exactly from the exact solution and rounded once. Every engine returns the same bits, so the errors depend on the commit alone.
//   node bench/accuracy.mjs [--json FILE] [--seeds 5] [--engine embedded] [--quick]
import { measurements, study } from "./harness/library.mjs";
import { options, quick, wholeNumber } from "./harness/options.mjs";
import { originOf, save } from "./harness/session.mjs";
import { compact, printTable } from "./harness/table.mjs";

const { ACCURACY_CURVES, measureAccuracy, methodsOf, worst } = measurements.accuracy;
const seeds = wholeNumber("seeds", quick ? 1 : 5);
const engine = study.kernels(options.engine ?? "embedded");
if (engine === undefined) throw new Error(`--engine is ${options.engine}, which does not run here`);

const TITLES = { gemv: "gemv", trsv: "trsv", trsvRepresentable: "trsv with a representable solution", lu: "LU" };
const results = {};
for (const which of ACCURACY_CURVES) {
  results[which] = measureAccuracy(which, engine, { n: 40, seeds, every: quick ? 4 : 1 });
  print(TITLES[which], results[which]);
}
// A point per line, all digits. An error of null belongs to a solution that is not finite.
const text = (value) => `${compact(JSON.stringify(value, undefined, 2))}\n`;
save({ ...originOf("accuracy", []), engine: engine.name }, results, { standard: "accuracy.json", text });

function print(title, curve) {
  const methods = methodsOf(curve);
  const conditions = [...new Set(curve.points.map(({ asked }) => asked))];
  console.log(`\n${title}, n = ${curve.n}: the largest error of ${seeds} seeds`);
  printTable(
    ["condition", ...methods],
    conditions.map((asked) => [asked.toExponential(0), ...methods.map((method) => worst(curve, asked, method).toExponential(1))]),
  );
}
