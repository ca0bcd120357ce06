// Sparse matrices by block rows against the synchronous functions: random matrices, problems, cuts and options, from a seed. Arguments:
// the seed, the number of cases, and the engine.
import { bicgstab, cg, convectionDiffusion, csc, csr, elasticity, exspmv, gmres, laplacian, toCsc, toCsr } from "../../../dist/index.js";
import { openRanks } from "../../../dist/mpi.js";

const [seed, cases, engine = "wasm"] = [Number(process.argv[2] ?? 1), Number(process.argv[3] ?? 8), process.argv[4]];
const ranks = await openRanks({ engine });
const { rank, size } = ranks;

// The same on every rank: mulberry32.
let state = seed;
function uniform() {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
}
const integer = (from, to) => from + Math.floor(uniform() * (to - from + 1));
const choose = (list) => list[integer(0, list.length - 1)];
const spread = (exponents) => (uniform() - 0.5) * 2 ** integer(-exponents, exponents);
const vector = (n, exponents = 30) => Float64Array.from({ length: n }, () => spread(exponents));

// Where the rows of each rank begin, and the end: even, random with empty parts, or all on one rank.
function cut(n) {
  const kind = integer(0, 3);
  if (kind === 0) return Array.from({ length: size + 1 }, (_, r) => Math.floor((r * n) / size));
  if (kind === 1) {
    const owner = integer(0, size - 1);
    return Array.from({ length: size + 1 }, (_, r) => (r <= owner ? 0 : n));
  }
  const inner = Array.from({ length: size - 1 }, () => integer(0, n)).sort((a, b) => a - b);
  return [0, ...inner, n];
}

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
    const kind = uniform();
    const count = kind < 0.3 ? 0 : kind < 0.95 ? integer(1, Math.min(n, 6)) : integer(1, n);
    const columns = new Set(Array.from({ length: count }, () => integer(0, n - 1)));
    indices.push(...columns);
    pointers[i + 1] = indices.length;
  }
  const A = csr(n, n, pointers, Int32Array.from(indices), vector(indices.length, exponents));
  return uniform() < 0.5 ? A : toCsc(A);
}

let done = 0;
function same(what, got, expected) {
  const [a, b] = [got, expected].map((v) => (typeof v === "number" ? Float64Array.of(v) : v));
  const equal =
    a instanceof Float64Array ? a.length === b.length && a.every((v, i) => Object.is(v, b[i])) : JSON.stringify(a) === JSON.stringify(b);
  if (!equal) throw new Error(`case ${done} of seed ${seed}, rank ${rank} of ${size}: ${what} is ${got}, expected ${expected}`);
}

async function divided(A) {
  const starts = cut(A.rows);
  const [first, end] = [starts[rank], starts[rank + 1]];
  const D = await ranks.sparse(rowsOf(A, first, end, uniform() < 0.5), first, A.rows);
  same("grid", [...D.grid], [size, 1]);
  same("local.values", D.local.values, rowsOf(A, first, end, false).values);
  return { D, of: (x) => x.slice(first, end) };
}

async function products(A, special) {
  const { D, of } = await divided(A);
  const n = A.rows;
  for (const trans of [false, true, choose([false, true])]) {
    const alpha = choose([1, -1, 0, -0, 0.1, spread(20), ...(special ? [Infinity, NaN] : [])]);
    const beta = choose([0, 1, -1, -0, 0.3, spread(20), ...(special ? [-Infinity, NaN] : [])]);
    const [x, y] = [vector(n), vector(n)];
    if (special && n > 0) {
      x[integer(0, n - 1)] = choose([Infinity, -Infinity, NaN, -0, 1e308, 5e-324]);
      y[integer(0, n - 1)] = choose([Infinity, -Infinity, NaN, -0, 1e308, 5e-324]);
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
async function solves(A, method, options, b = vector(A.rows, 3)) {
  const { D, of } = await divided(A);
  const norms = [];
  const x0 = options.x0;
  const onIteration = (k, norm) => norms.push(k, norm);
  const expected = METHODS[method](A, b, options);
  const pending = ranks[method](D, of(b), { ...options, x0: x0 && of(x0), onIteration });
  D.free(); // takes effect after the call
  const got = await pending;
  const what = `${method} ${JSON.stringify({ ...options, x0: x0 && "given" })} of order ${A.rows}`;
  for (const key of ["reason", "iterations", "converged", "residual", "history"]) same(`${what}: ${key}`, got[key], expected[key]);
  same(`${what}: x`, got.x, of(expected.x));
  same(`${what}: onIteration`, Float64Array.from(norms), Float64Array.from([...expected.history].slice(1).flatMap((v, i) => [i + 1, v])));
}

function problem() {
  const [a, b, c] = [integer(1, 6), integer(1, 6), integer(1, 4)];
  return choose([
    () => laplacian(a, b, c),
    () => laplacian(a, b),
    () => laplacian(a, b, c, 27),
    () => elasticity(Math.ceil(a / 2), 2),
    () => convectionDiffusion(a, b, c),
    () => convectionDiffusion(a, b),
  ])();
}

for (done = 0; done < cases; done++) {
  await products(randomMatrix(choose([0, 1, 2, integer(3, 12), integer(13, 60)]), choose([2, 40, 300])), uniform() < 0.4);
  await products(problem(), false);
  const A = problem();
  const method = choose(["cg", "bicgstab", "gmres"]);
  const options = { preconditioner: choose(["none", "jacobi"]), tolerance: choose([1e-10, 1e-4, 0]), maxIterations: choose([0, 3, 12]) };
  if (uniform() < 0.4) options.x0 = vector(A.rows, 3);
  if (uniform() < 0.3) options.maxRestarts = integer(0, 2);
  if (method === "gmres") options.restart = choose([1, 3, 30]);
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
  await solves(diagonal([2]), method, { absolute: 10 }, Float64Array.of(1));
  await solves(csc(0, 0, new Int32Array(1), new Int32Array(0), new Float64Array(0)), method, {}, new Float64Array(0));
}
if (rank === 0) console.log(`cases ${done}`);
await ranks.close();
