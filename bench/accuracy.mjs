// The accuracy figures of the papers as data: relative forward errors against the condition number, each computed
// exactly from the exact solution and rounded once.
//   node bench/accuracy.mjs [--json FILE] [--seeds 5] [--engine embedded]
// Every engine returns the same bits, so the errors depend on nothing but the commit.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { exactProduct, exactSolution, exactSubstitution, relativeError } from "./exactErrors.mjs";
import { main, study } from "./library.mjs";
import { commit, machine, ROOT, versions } from "./provenance.mjs";
import { printTable } from "./table.mjs";

const { illConditionedMatrix, illConditionedMatrixVector, illConditionedTriangular, representableTriangular } = main;
const { factorizationError, matrix, skeelCondition } = main;

const { values: options } = parseArgs({
  options: { json: { type: "string" }, seeds: { type: "string", default: "5" }, engine: { type: "string", default: "embedded" } },
});
const seeds = Number(options.seeds);
if (!(Number.isInteger(seeds) && seeds > 0)) throw new Error(`--seeds is ${options.seeds}, expected a whole number from 1 on`);
const engine = study.kernels(options.engine);
if (engine === undefined) throw new Error(`--engine is ${options.engine}, which does not run here`);
const { exgemv, extrsv, exlu } = study.routinesOn(engine);

const N = 40;
const results = {
  gemv: measure("gemv", "|| |A| |x| || / ||A x||", powers(2, 40, 2), gemv),
  trsv: measure("trsv", "Skeel's", powers(5, 35, 2), trsv),
  trsvRepresentable: measure("trsv with a representable solution", "Skeel's", powers(5, 35, 5), trsvRepresentable),
  lu: measure("LU", "||A|| ||A^-1||", powers(2, 41, 3), lu),
};
save();

function powers(from, to, step) {
  return Array.from({ length: (to - from) / step + 1 }, (_, i) => Number(`1e${from + i * step}`));
}

/** One point for each condition and seed, and a table with the largest error of the seeds, 1 being the most there is. */
function measure(title, meaning, conditions, errorsOf) {
  const points = conditions.flatMap((asked) =>
    Array.from({ length: seeds }, (_, seed) => {
      const { condition, errors } = errorsOf(asked, seed + 1);
      return { asked, seed: seed + 1, condition, ...errors };
    }),
  );
  const names = Object.keys(points[0]).slice(3);
  console.log(`\n${title}, n = ${N}: the largest error of ${seeds} seeds`);
  printTable(
    ["condition", ...names],
    conditions.map((asked) => [asked.toExponential(0), ...names.map((name) => worst(points, asked, name).toExponential(1))]),
  );
  return { n: N, condition: meaning, points };
}

function worst(points, asked, name) {
  return Math.max(...points.filter((point) => point.asked === asked).map((point) => Math.min(point[name] ?? 1, 1)));
}

function gemv(asked, seed) {
  const { A, x } = illConditionedMatrixVector(N, asked, seed);
  const { y, condition } = exactProduct(A, x);
  const errors = {
    plain: relativeError(y, plainProduct(A, x)),
    exact: relativeError(y, exgemv(1, A, x, 0, new Float64Array(N))),
  };
  return { condition, errors };
}

function trsv(asked, seed) {
  const { T, b } = illConditionedTriangular(N, asked, seed);
  return triangularErrors(T, b);
}

function trsvRepresentable(asked, seed) {
  const { T, b } = representableTriangular(N, asked, seed);
  return triangularErrors(T, b);
}

function triangularErrors(T, b) {
  const exact = exactSubstitution(T, b);
  const error = (x) => relativeError(exact, x);
  const errors = {
    plain: error(plainSubstitution(T, b, false, false)),
    doubleDouble: error(study.doubleDoubleTrsv(T, b)),
    single: error(extrsv(T, b)),
    paper: error(extrsv(T, b, { rounding: "paper" })),
    corrected: error(extrsv(T, b, { rounding: "corrected" })),
    refine1: error(extrsv(T, b, { refine: 1 })),
    refine2: error(extrsv(T, b, { refine: 2 })),
  };
  return { condition: skeelCondition(T, rounded(exact)), errors };
}

// The right-hand side is that of a solution of random numbers: made by rounding A x, it has an exact solution of its own.
function lu(asked, seed) {
  const A = illConditionedMatrix(N, asked, seed);
  const random = new study.Random(seed);
  const b = exgemv(
    1,
    A,
    Float64Array.from({ length: N }, () => random.signed()),
    0,
    new Float64Array(N),
  );
  const { x, condition } = exactSolution(A, b);
  const plain = plainFactors(A);
  const exact = exlu(A);
  const errors = {
    plain: relativeError(x, plainSolve(plain, b)),
    exact: relativeError(x, exact.solve(b)),
    refine1: relativeError(x, exact.solve(b, { refine: 1 })),
    refine2: relativeError(x, exact.solve(b, { refine: 2 })),
    plainFactorization: factorizationError(A, plain),
    exactFactorization: factorizationError(A, exact),
  };
  return { condition, errors };
}

function rounded({ numerators, denominator }) {
  return Float64Array.from(numerators, (n) => Number((n << 200n) / denominator) / 2 ** 200);
}

// Plain binary64 arithmetic, one rounding an operation.

function plainProduct(A, x) {
  return Float64Array.from(x, (_, i) => x.reduce((s, v, j) => s + A.data[i * N + j] * v, 0));
}

function plainSubstitution(T, b, upper, unit) {
  const x = Float64Array.from(b);
  for (let count = 0; count < N; count++) {
    const i = upper ? N - 1 - count : count;
    const [from, to] = upper ? [i + 1, N] : [0, i];
    for (let j = from; j < to; j++) x[i] -= T.data[i * N + j] * x[j];
    if (!unit) x[i] /= T.data[i * N + i];
  }
  return x;
}

function plainFactors(A) {
  const a = A.data.slice();
  const pivots = new Int32Array(N);
  for (let k = 0; k < N; k++) {
    let p = k;
    for (let i = k + 1; i < N; i++) if (Math.abs(a[i * N + k]) > Math.abs(a[p * N + k])) p = i;
    pivots[k] = p;
    for (let j = 0; j < N; j++) [a[k * N + j], a[p * N + j]] = [a[p * N + j], a[k * N + j]];
    for (let i = k + 1; i < N; i++) {
      a[i * N + k] /= a[k * N + k];
      for (let j = k + 1; j < N; j++) a[i * N + j] -= a[i * N + k] * a[k * N + j];
    }
  }
  return { lu: matrix(a, N, N), pivots };
}

function plainSolve({ lu: factors, pivots }, b) {
  const right = Float64Array.from(b);
  for (const [k, p] of pivots.entries()) [right[k], right[p]] = [right[p], right[k]];
  return plainSubstitution(factors, plainSubstitution(factors, right, false, true), true, false);
}

function save() {
  const file = options.json ?? join(ROOT, "bench/results/accuracy.json");
  const origin = {
    benchmark: "accuracy",
    date: new Date().toISOString(),
    commit: commit(),
    machine: machine(),
    versions: versions([]),
    engine: engine.name,
  };
  // One point a line. An error of null is one of a solution that is not finite.
  const text = JSON.stringify({ ...origin, ...results }, undefined, 2).replace(/\{\s+"asked"[^}]*\}/g, (point) =>
    point.replace(/\s+/g, " "),
  );
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${text}\n`);
  console.log(`\nRaw results: ${file}`);
}
