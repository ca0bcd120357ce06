// Sums, dot products and norms over ranks against the synchronous functions on the whole vectors, bit by bit: node level1.mjs SEED CASES
import { Accumulator, exasum, exdot, exnrm2, exsum } from "../../../dist/index.js";
import { cutsOf, differenceOf, generator, nearTie, openJob } from "./common.mjs";

const [seed, cases] = process.argv.slice(2).map(Number);
const ranks = await openJob();
const random = generator(seed);
const { integer, oneIn, pick, anyBits, near } = random;

const MODES = ["nearest", "up", "down", "zero"];
// Every rank makes the same vectors from the same seed, and takes its part.
const KINDS = {
  "bit patterns": anyBits,
  "finite bit patterns": () => [anyBits()].map((v) => (Number.isFinite(v) ? v : 1))[0],
  "near one": () => near(0),
  "wide exponents": () => near(integer(600) - 300),
  integers: () => integer(2001) - 1000,
  "products that underflow": () => near(-500 - integer(80)),
  "products that underflow, and others": () => near(oneIn(3) ? 0 : -530 - integer(20)),
  subnormals: () => (integer(2001) - 1000) * 2 ** -1074,
  "negative zeros": () => -0,
  "with specials": () => pick([1, -1, Infinity, NaN, 2, 3, 4, -0, 0]),
  infinities: () => pick([1, -1, Infinity, 5]),
  largest: () => pick([Number.MAX_VALUE, -Number.MAX_VALUE, 2 ** 970, -(2 ** 970)]),
};

let compared = 0;
for (let c = 0; c < cases; c++) {
  const kind = pick(Object.keys(KINDS));
  const isSingle = oneIn(4);
  const n = pick([0, 1, 2, 3, 7, 64, 100, 1000, 5000]);
  const type = isSingle ? Float32Array : Float64Array;
  const x = type.from({ length: n }, KINDS[kind]);
  const y = type.from({ length: n }, KINDS[kind]);
  // What cancels: the second half repeats the first with the other sign, in another order.
  if (oneIn(3)) for (let i = 0; i < n >> 1; i++) x[n - 1 - i] = -x[i];
  if (oneIn(3)) for (let i = 0; i < n >> 1; i++) y[n - 1 - i] = y[i];
  if (oneIn(4)) {
    x.set(nearTie(n, random));
    y.fill(1);
  }
  const cuts = cutsOf(n, ranks.size, random);
  const part = (v) => v.slice(cuts[ranks.rank], cuts[ranks.rank + 1]);
  const round = pick(MODES);
  const check = (name, found, expected) => {
    compared++;
    const difference = differenceOf(found, expected);
    if (difference)
      throw new Error(`${name} of ${n} ${kind}, ${type.name}, ${round}, cuts ${cuts}: ${difference} (seed ${seed}, case ${c})`);
  };
  check("exsum", await ranks.exsum(part(x), { round }), exsum(x, { round }));
  check("exasum", await ranks.exasum(part(x), { round }), exasum(x, { round }));
  check("exdot", await ranks.exdot(part(x), part(y), { round }), exdot(x, y, { round }));
  check("exnrm2", await ranks.exnrm2(part(x), { round }), exnrm2(x, { round }));
  const bytes = (accumulator) => Buffer.from(accumulator.toBytes()).toString("hex");
  const of = (accumulator) => (isSingle ? accumulator.value(round, "binary32") : accumulator.value(round));
  const [sum, product] = [await ranks.accumulate(part(x)), await ranks.accumulate(part(x), part(y))];
  const [wholeSum, wholeProduct] = [new Accumulator().add(x), new Accumulator().addProduct(x, y)];
  check("accumulate", of(sum), of(wholeSum));
  check("the bytes of accumulate(x)", bytes(sum), bytes(wholeSum));
  check("the bytes of accumulate(x, y)", bytes(product), bytes(wholeProduct));
}
await ranks.close();
if (ranks.rank === 0) console.log(`compared ${compared} on ${ranks.size} ranks, ${ranks.library}`);
