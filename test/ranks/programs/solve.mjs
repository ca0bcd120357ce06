// solve() and factor() of halfulp/mpi against the synchronous functions, bit for bit, on random systems of many kinds and on the systems of
// test/vectors. Arguments: the seed and the number of cases. Every rank draws the same numbers. Rank 0 prints the number of cases.
import { readFileSync } from "node:fs";
import { factor, illConditionedMatrix, matrix, solve } from "../../../dist/index.js";
import { generator, openJob } from "./common.mjs";

const seed = Number(process.argv[2] ?? 1);
const count = Number(process.argv[3] ?? 10);
const ranks = await openJob();
const random = generator(seed);
let done = 0;

const filled = (rows, cols, number) => matrix(Float64Array.from({ length: rows * cols }, number), rows, cols);
const small = (k) => () => random.integer(2 * k + 1) - k;
function finiteBits() {
  for (;;) {
    const v = random.anyBits();
    if (Number.isFinite(v)) return v;
  }
}
// Systems whose solution is decided by each of the stages of solve().
const KINDS = {
  random: (n) => filled(n, n, () => random.near(0)),
  integers: (n) => filled(n, n, small(9)),
  bits: (n) => filled(n, n, finiteBits),
  wide: (n) => filled(n, n, () => random.near(random.integer(80) - 40)),
  graded(n) {
    const powers = Array.from({ length: n }, () => random.integer(1200) - 600);
    return filled(n, n, (_, k) => random.near(Math.max(-1000, Math.min(1000, powers[Math.floor(k / n)] - powers[k % n]))));
  },
  sparse: (n) => filled(n, n, (_, k) => (k % (n + 1) === 0 || random.integer(5) === 0 ? random.near(0) : 0)),
  triangular: (n) => filled(n, n, (_, k) => (k % n > Math.floor(k / n) ? 0 : 1 + random.integer(4))),
  singular(n) {
    const A = filled(n, n, small(5));
    if (n > 1) for (let i = 0; i < n; i++) A.data[i * n + n - 1] = A.data[i * n] - 3 * A.data[i * n + (n >> 1)];
    return A;
  },
  conditioned: (n) => illConditionedMatrix(Math.max(20, n), 10 ** (2 + random.integer(40)), 1 + random.integer(1000)),
};
const RIGHTS = {
  ones: (n) => new Float64Array(n).fill(1),
  random: (n) => Float64Array.from({ length: n }, () => random.near(0)),
  integers: (n) => Float64Array.from({ length: n }, small(3)),
  unit: (n) => new Float64Array(n).fill(1, n >> 1, (n >> 1) + 1),
  zero: (n) => new Float64Array(n),
};

function gridOptions() {
  const divisors = Array.from({ length: ranks.size }, (_, i) => i + 1).filter((d) => ranks.size % d === 0);
  const rows = random.pick(divisors);
  return { grid: [rows, ranks.size / rows], blockSize: random.pick([1, 7, 32, 64]) };
}

const spread = (A) => ranks.matrix(A.rows, A.cols, (i, j) => A.data[i * A.cols + j], gridOptions());

async function outcome(call) {
  try {
    return await call();
  } catch (error) {
    return error;
  }
}

// What must be equal: x, its proof, its measures; or the error with its place.
const NAMES = ["certified", "converged", "residual", "backwardError"];
function compare(found, wanted, what) {
  done++;
  const fail = (reason) => {
    throw new Error(`seed ${seed}, ${what}, rank ${ranks.rank}: ${reason}`, { cause: found });
  };
  if (wanted instanceof Error) {
    const isSame = found instanceof Error && found.constructor.name === wanted.constructor.name && found.message === wanted.message;
    if (!isSame || found.index !== wanted.index) fail(`${found}, expected ${wanted}`);
    return;
  }
  if (found instanceof Error) fail(String(found));
  const at = wanted.x.findIndex((v, j) => !Object.is(v, found.x[j]));
  if (at >= 0 || found.x.length !== wanted.x.length) fail(`x[${at}] is ${found.x[at]}, expected ${wanted.x[at]}`);
  for (const name of NAMES) if (!Object.is(found[name], wanted[name])) fail(`${name} is ${found[name]}, expected ${wanted[name]}`);
}

for (let k = 0; k < count; k++) {
  const kind = Object.keys(KINDS)[k % Object.keys(KINDS).length];
  const A = KINDS[kind](random.pick([1, 2, 3, 5, 8, 13, 20, 33, 50]));
  const n = A.rows;
  const right = random.pick(Object.keys(RIGHTS));
  const b = RIGHTS[right](n);
  const what = `case ${k}: ${kind}, n = ${n}, b ${right}`;
  const D = await spread(A);
  compare(await outcome(() => ranks.solve(D, b)), await outcome(() => solve(A, b)), what);
  if (k % 4 === 0) {
    const options = { method: "exact" };
    compare(await outcome(() => ranks.solve(D, b, options)), await outcome(() => solve(A, b, options)), `${what}, exact`);
  }
  if (k % 4 === 1) {
    // "backward" has defined bits with exlu's factors only.
    const options = { rounding: "backward", method: "exact", fallback: false };
    compare(await outcome(() => ranks.solve(D, b, options)), await outcome(() => solve(A, b, options)), `${what}, backward`);
  }
  if (k % 4 === 2) {
    const B = matrix(Float64Array.from({ length: 3 * n }, small(4)), n, 3, { order: random.pick(["row", "column"]) });
    const [found, wanted] = [await outcome(() => ranks.factor(D)), await outcome(() => factor(A))];
    if (wanted instanceof Error) compare(found, wanted, `${what}, factor`);
    else {
      D.free(); // the factors have their own copy
      compare(await found.solve(b), wanted.solve(b), `${what}, factor`);
      compare(await found.solve(B), wanted.solve(B), `${what}, factor, three right-hand sides`);
      await found.free();
      const after = await outcome(() => found.solve(b));
      if (!/the factors were freed/.test(after.message)) throw new Error(`solve with freed factors: ${after}`);
    }
  }
  D.free();
}

const numbers = (words) => new Float64Array(BigUint64Array.from(words, (word) => BigInt(`0x${word}`)).buffer);
for (const file of ["solve", "solve-ties"]) {
  const lines = readFileSync(new URL(`../../vectors/${file}.jsonl`, import.meta.url), "utf8")
    .trim()
    .split("\n");
  const step = Math.max(1, Math.floor(lines.length / count));
  for (let k = seed % step; k < lines.length; k += step) {
    const { n, A, b, want, kind } = JSON.parse(lines[k]);
    const D = await spread(matrix(numbers(A), n, n));
    const found = await outcome(() => ranks.solve(D, numbers(b)));
    if (want === undefined || want === null)
      compare(found, await outcome(() => solve(matrix(numbers(A), n, n), numbers(b))), `${file} ${k}`);
    else {
      done++;
      const x = numbers(want);
      if (found instanceof Error || !found.certified || x.some((v, j) => !Object.is(v, found.x[j])))
        throw new Error(`${file}, line ${k} (${kind}), rank ${ranks.rank}: ${found.x ?? found}, expected ${x}`);
    }
    D.free();
  }
}

if (ranks.rank === 0) console.log(`cases ${done}`);
await ranks.close();
