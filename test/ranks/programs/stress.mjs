// Many short calls of all kinds, most of them made before the previous ones are done, with inputs that change after the call where that is
// allowed: node stress.mjs SEED CALLS. Rank 0 prints the number of calls.
import { csr, exasum, exdot, exgemv, exnrm2, exspmv, exsum, extrsv, laplacian, matrix, toCsr } from "../../../dist/index.js";
import { cutsOf, differenceOf, generator, openJob } from "./common.mjs";

const [seed, count] = process.argv.slice(2).map(Number);
const ranks = await openJob();
const random = generator(seed);
const { integer, near, pick, oneIn } = random;

const n = 12;
const whole = matrix(
  Float64Array.from({ length: n * n }, (_, k) => (k % (n + 1) === 0 ? 5 : near(-2))),
  n,
  n,
);
const D = await ranks.matrix(n, n, (i, j) => whole.data[i * n + j], { blockSize: 5 });
const A = toCsr(laplacian(3, 4));
const starts = cutsOf(n, ranks.size, random);
const [first, end] = [starts[ranks.rank], starts[ranks.rank + 1]];
const [from, to] = [A.pointers[first], A.pointers[end]];
const rows = csr(
  end - first,
  n,
  A.pointers.slice(first, end + 1).map((p) => p - from),
  A.indices.slice(from, to),
  A.values.slice(from, to),
);
const S = await ranks.sparse(rows, first, n);

const vector = (length) => Float64Array.from({ length }, () => near(integer(200) - 100));
// A call and what it must return.
const CALLS = {
  reduction() {
    const x = vector(integer(40));
    const cuts = cutsOf(x.length, ranks.size, random);
    const part = x.slice(cuts[ranks.rank], cuts[ranks.rank + 1]);
    const [name, routine] = pick([
      ["exsum", exsum],
      ["exasum", exasum],
      ["exnrm2", exnrm2],
    ]);
    return [ranks[name](part), routine(x)];
  },
  dot() {
    const x = vector(n);
    return [ranks.exdot(x.slice(first, end), x.slice(first, end)), exdot(x, x)];
  },
  accumulate() {
    const x = vector(n);
    const part = x.slice(first, end);
    const pending = ranks.accumulate(part).then((sum) => sum.value());
    part.fill(1); // it was read
    return [pending, exsum(x)];
  },
  gemv() {
    const [x, y] = [vector(n), vector(n)];
    const pending = ranks.exgemv(1, D, x, 2, y.slice());
    const expected = exgemv(1, whole, x, 2, y);
    x.fill(1);
    return [pending, expected];
  },
  trsv() {
    const b = vector(n);
    const pending = ranks.extrsv(D, b);
    const expected = extrsv(whole, b);
    b.fill(1);
    return [pending, expected];
  },
  spmv() {
    const [x, y] = [vector(n), vector(n)];
    const trans = oneIn(2);
    const own = x.slice(first, end);
    const pending = ranks.exspmv(1, S, own, 1, y.slice(first, end), { trans });
    own.fill(1);
    return [pending, exspmv(1, A, x, 1, y, { trans }).slice(first, end)];
  },
  // A matrix that is made, used and freed before any of it has happened.
  matrix() {
    const size = 1 + integer(9);
    const pending = (async () => {
      const E = await ranks.matrix(size, size, (i, j) => i - 2 * j, { blockSize: 1 + integer(3) });
      return E.rows;
    })();
    return [pending, size];
  },
  // A call that every rank refuses, between others.
  refused() {
    const pending = ranks.exdot(new Float64Array(1), new Float64Array(2)).catch((error) => error.name);
    return [pending, "ShapeError"];
  },
};

let waiting = [];
const settle = async () => {
  const results = await Promise.all(waiting.map(([, pending]) => pending));
  for (const [i, [what, , expected]] of waiting.entries()) {
    const difference = differenceOf(results[i], expected);
    if (difference) throw new Error(`seed ${seed}, ${what}: ${difference}`);
  }
  waiting = [];
};
for (let k = 0; k < count; k++) {
  const name = pick(Object.keys(CALLS));
  const [pending, expected] = CALLS[name]();
  pending.catch(() => undefined); // settle() reports it
  waiting.push([`call ${k}, ${name}`, pending, expected]);
  if (oneIn(50)) await settle();
}
const closed = ranks.close(); // after all calls
await settle();
await closed;
if (ranks.rank === 0) console.log(`${count} calls`);
