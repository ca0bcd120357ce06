// Sums, dot products and norms over ranks against the synchronous functions on the whole vectors, bit by bit: node level1.mjs SEED CASES
import { Accumulator, exasum, exdot, exnrm2, exsum } from "../../../dist/index.js";
import { openRanks } from "../../../dist/mpi.js";
import { cutsOf, generator, sameNumber } from "./common.mjs";

const [seed, cases] = process.argv.slice(2).map(Number);
const engines = process.env.RANK_ENGINES?.split(",") ?? ["wasm"];
const launched = Number(process.env.OMPI_COMM_WORLD_RANK ?? process.env.PMI_RANK ?? 0);
const ranks = await openRanks({ engine: engines[launched % engines.length], ...(engines.includes("threads") && { threads: 2 }) });
const { next, integer, pick, bits, near } = generator(seed);

const MODES = ["nearest", "up", "down", "zero"];
// Every rank makes the same vectors from the same seed, and takes its part.
const KINDS = {
  "bit patterns": () => bits(),
  "near one": () => near(0),
  "wide exponents": () => near(integer(600) - 300),
  integers: () => integer(2001) - 1000,
  subnormals: () => (integer(2001) - 1000) * 2 ** -1074,
  "negative zeros": () => -0,
  "with specials": () => pick([1, -1, Infinity, NaN, 2, 3, 4, -0, 0]),
  infinities: () => pick([1, -1, Infinity, 5]),
  largest: () => pick([Number.MAX_VALUE, -Number.MAX_VALUE, 2 ** 970, -(2 ** 970)]),
};

let compared = 0;
for (let c = 0; c < cases; c++) {
  const kind = pick(Object.keys(KINDS));
  const isSingle = integer(4) === 0;
  const n = pick([0, 1, 2, 3, 7, 64, 100, 1000, 5000]);
  const type = isSingle ? Float32Array : Float64Array;
  const x = type.from({ length: n }, KINDS[kind]);
  const y = type.from({ length: n }, KINDS[kind]);
  // What cancels: the second half repeats the first with the other sign, in another order.
  if (integer(3) === 0) for (let i = 0; i < n >> 1; i++) x[n - 1 - i] = -x[i];
  if (integer(3) === 0) for (let i = 0; i < n >> 1; i++) y[n - 1 - i] = y[i];
  const cuts = cutsOf(n, ranks.size, next);
  const part = (v) => v.slice(cuts[ranks.rank], cuts[ranks.rank + 1]);
  const round = pick(MODES);
  const check = (name, found, expected) => {
    compared++;
    if (!sameNumber(found, expected))
      throw new Error(
        `${name} of ${n} ${kind}, ${type.name}, ${round}, cuts ${cuts}: ${found}, expected ${expected} (seed ${seed}, case ${c})`,
      );
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
  for (const [found, expected] of [
    [sum, wholeSum],
    [product, wholeProduct],
  ])
    if (bytes(found) !== bytes(expected)) throw new Error(`accumulate: other bytes (seed ${seed}, case ${c}, ${kind}, ${n})`);
}
// Calls that overlap are made in order.
const x = Float64Array.of(ranks.rank, 1e300, 1);
const both = await Promise.all([
  ranks.exsum(x),
  ranks.exdot(
    x,
    x.map(() => 2),
  ),
  ranks.exasum(new Float64Array(0)),
]);
const whole = Float64Array.from({ length: 3 * ranks.size }, (_, i) => (i % 3 === 0 ? i / 3 : i % 3 === 1 ? 1e300 : 1));
if (
  !sameNumber(both[0], exsum(whole)) ||
  !sameNumber(
    both[1],
    exdot(
      whole,
      whole.map(() => 2),
    ),
  ) ||
  !sameNumber(both[2], 0)
)
  throw new Error(`overlapping calls: ${both}`);
await ranks.close();
if (ranks.rank === 0) console.log(`compared ${compared} on ${ranks.size} ranks, ${ranks.library}`);
