// Sparse matrices by block rows against the synchronous functions: random matrices, problems, cuts and options, from a seed. Arguments:
// the seed and the number of cases. Rank 0 prints the number of cases and how the solvers ended.
import { bicgstab, cg, convectionDiffusion, csc, csr, elasticity, exspmv, gmres, laplacian, toCsc, toCsr } from "../../../dist/index.js";
import { cutsOf, differenceOf, generator, openJob, outcomeOf } from "./common.mjs";

const [seed, cases] = [Number(process.argv[2] ?? 1), Number(process.argv[3] ?? 8)];
const ranks = await openJob();
const { rank, size } = ranks;
const random = generator(seed);
const { between, oneIn, pick, unit } = random;
const spread = (exponents) => unit() * 2 ** between(-exponents, exponents);
const vector = (n, exponents = 30) => Float64Array.from({ length: n }, () => spread(exponents));

// Rows [first, end) of a matrix, by rows or by columns.
function rowsOf(A, first, end, byColumns) {
  const R = toCsr(A);
  const [from, to] = [R.pointers[first], R.pointers[end]];
  const pointers = R.pointers.slice(first, end + 1).map((p) => p - from);
  const part = csr(end - first, A.cols, pointers, R.indices.slice(from, to), R.values.slice(from, to));
  return byColumns ? toCsc(part) : part;
}

// Some rows and columns are empty, some rows are long, and indices need not ascend.
function randomMatrix(n, exponents) {
  const pointers = new Int32Array(n + 1);
  const indices = [];
  for (let i = 0; i < n; i++) {
    const kind = random.next();
    const count = kind < 0.3 ? 0 : kind < 0.95 ? between(1, Math.min(n, 6)) : between(1, n);
    const columns = new Set(Array.from({ length: count }, () => random.integer(n)));
    indices.push(...columns);
    pointers[i + 1] = indices.length;
  }
  const A = csr(n, n, pointers, Int32Array.from(indices), vector(indices.length, exponents));
  return oneIn(2) ? A : toCsc(A);
}

let done = 0;
function same(what, got, expected) {
  const difference = differenceOf(got, expected);
  if (difference) throw new Error(`seed ${seed}, case ${done}, rank ${rank} of ${size}: ${what} is ${difference}`);
}

async function divided(A) {
  const starts = cutsOf(A.rows, size, random);
  const [first, end] = [starts[rank], starts[rank + 1]];
  const part = rowsOf(A, first, end, oneIn(2));
  const D = await ranks.sparse(part, first, A.rows);
  same("grid", [...D.grid], [size, 1]);
  for (const key of ["pointers", "indices", "values"]) same(`local.${key}`, D.local[key], toCsr(part)[key]);
  return { D, of: (x) => x.slice(first, end) };
}

async function products(A, special) {
  const n = A.rows;
  if (special && A.values.length > 0 && oneIn(2)) A.values[random.integer(A.values.length)] = pick([Infinity, NaN, -0, 1e308, 5e-324]);
  const { D, of } = await divided(A);
  for (const trans of [false, true, pick([false, true])]) {
    const alpha = pick([1, -1, 0, -0, 0.1, spread(20), ...(special ? [Infinity, NaN] : [])]);
    const beta = pick([0, 1, -1, -0, 0.3, spread(20), ...(special ? [-Infinity, NaN] : [])]);
    const [x, y] = [vector(n), vector(n)];
    if (special && n > 0) {
      x[random.integer(n)] = pick([Infinity, -Infinity, NaN, -0, 1e308, 5e-324]);
      y[random.integer(n)] = pick([Infinity, -Infinity, NaN, -0, 1e308, 5e-324]);
    }
    const [ownX, own] = [of(x), of(y)];
    const pending = ranks.exspmv(alpha, D, ownX, beta, own, { trans });
    ownX.fill(7); // the call has read it
    const result = await pending;
    same("the returned y", result === own, true);
    exspmv(alpha, A, x, beta, y, { trans });
    same(`y (alpha ${alpha}, beta ${beta}, trans ${trans}, order ${n})`, own, of(y));
  }
  D.free();
}

const METHODS = { cg, bicgstab, gmres };
const reasons = new Set();
async function solves(A, method, options, b = vector(A.rows, 3)) {
  const { D, of } = await divided(A);
  const norms = [];
  const x0 = options.x0;
  const onIteration = (k, norm) => norms.push(k, norm);
  const expected = await outcomeOf(() => METHODS[method](A, b, options));
  const [ownB, ownX0] = [of(b), x0 && of(x0)];
  const pending = outcomeOf(() => ranks[method](D, ownB, { ...options, x0: ownX0, onIteration }));
  D.free(); // takes effect after the call
  ownB.fill(7); // the call has read it
  ownX0?.fill(7);
  const got = await pending;
  const what = `${method} ${JSON.stringify({ ...options, x0: x0 && "given" })} of order ${A.rows}`;
  reasons.add(expected.reason ?? expected.name);
  if (expected instanceof Error || got instanceof Error)
    return same(what, `${got.name}: ${got.message}`, `${expected.name}: ${expected.message}`);
  for (const key of ["reason", "iterations", "converged", "residual", "history"]) same(`${what}: ${key}`, got[key], expected[key]);
  same(`${what}: x`, got.x, of(expected.x));
  same(`${what}: onIteration`, Float64Array.from(norms), Float64Array.from([...expected.history].slice(1).flatMap((v, i) => [i + 1, v])));
}

function problem() {
  const [a, b, c] = [between(1, 6), between(1, 6), between(1, 4)];
  return pick([
    () => laplacian(a, b, c),
    () => laplacian(a, b),
    () => laplacian(a, b, c, 27),
    () => elasticity(Math.ceil(a / 2), 2),
    () => convectionDiffusion(a, b, c),
    () => convectionDiffusion(a, b),
  ])();
}

for (done = 0; done < cases; done++) {
  await products(randomMatrix(pick([0, 1, 2, between(3, 12), between(13, 60)]), pick([2, 40, 300])), oneIn(3));
  await products(problem(), false);
  const A = oneIn(4) ? randomMatrix(between(1, 20), 2) : problem();
  const method = pick(["cg", "bicgstab", "gmres"]);
  const options = { preconditioner: pick(["none", "jacobi"]), tolerance: pick([1e-10, 1e-4, 0]), maxIterations: pick([0, 3, 12, 40]) };
  if (oneIn(3)) options.x0 = vector(A.rows, 3);
  if (oneIn(3)) options.maxRestarts = between(0, 2);
  if (method === "gmres") options.restart = pick([1, 3, 30]);
  await solves(A, method, options);
}

// How recurrences end: default limits, a zero right-hand side, an indefinite or singular matrix, an overflow, order 0.
const diagonal = (values) => {
  const n = values.length;
  const pointers = Int32Array.from({ length: n + 1 }, (_, i) => i);
  return csr(n, n, pointers, pointers.slice(0, n), Float64Array.from(values));
};
for (const method of Object.keys(METHODS)) {
  await solves(laplacian(3, 3), method, { preconditioner: "jacobi" });
  await solves(laplacian(3, 3), method, {}, new Float64Array(9));
  await solves(diagonal([1, -1, 2, -2, 3]), method, { maxIterations: 5 }, Float64Array.of(1, 1, 1, 1, 1));
  await solves(diagonal([1, 0, 2, 0, 3]), method, { maxIterations: 5 }, Float64Array.of(1, 1, 1, 1, 1));
  await solves(diagonal([1e300, 1e-300, 1]), method, { maxIterations: 4 }, Float64Array.of(1e300, 1e300, 1));
  await solves(diagonal([1, 2, 0, 3]), method, { preconditioner: "jacobi" }, Float64Array.of(1, 1, 1, 1));
  await solves(diagonal([1e308, -1e308, 1e-308]), method, { maxIterations: 4 }, Float64Array.of(1, 1e-300, 1));
  await solves(laplacian(4, 4, 3), method, { tolerance: 1e-20, maxIterations: 45, maxRestarts: 1, restart: 5 });
  await solves(diagonal([2]), method, { absolute: 10 }, Float64Array.of(1));
  await solves(csc(0, 0, new Int32Array(1), new Int32Array(0), new Float64Array(0)), method, {}, new Float64Array(0));
}
if (rank === 0) console.log(`cases ${done}; ${[...reasons].sort().join(" ")}`);
await ranks.close();
