// Sparse products and conjugate gradients on the CPU (npm run bench:krylov): exspmv beside CXSparse's cs_gaxpy and a plain loop, an
// iteration of cg beside the same loop of plain products and dots. Both on one thread, and on two for comparison.
//   node bench/krylov.mjs [--only products,cg] [--rounds 15] [--json FILE] [--quick]
import { measureReading } from "./harness/floor.mjs";
import { main, missingThreads } from "./harness/library.mjs";
import { chosenOf } from "./harness/options.mjs";
import { race } from "./harness/race.mjs";
import { originOf, pace, printLimits, printOrigin, saveTimings } from "./harness/session.mjs";
import { measureCg } from "./krylov/cg.mjs";
import { krylovLimits } from "./krylov/limits.mjs";
import { measureProducts } from "./krylov/products.mjs";
import { openCxSparse } from "./peers/cxSparse.mjs";
import { plainLoops, plainMemory } from "./peers/wasm/kernels.mjs";

const READING = 4096 ** 2; // numbers: in no cache
const CASES = { products: measureProducts, cg: measureCg };

const chosen = chosenOf(Object.keys(CASES));
const cx = await openCxSparse();
const origin = originOf("krylov", ["koffi", "assemblyscript"], cx, "cxsparse");
printOrigin(origin, cx, cx.missing ? undefined : await shortestCall());
const missing = await missingThreads();
if (missing) console.log(missing);
const session = { cx, missingThreads: missing, floor: await measureFloor(), pace };

const results = {};
for (const name of chosen) {
  results[name] = [];
  for await (const one of CASES[name](session)) results[name].push(one);
}
const limits = krylovLimits(results);
printLimits("sparse products and conjugate gradients", limits);
saveTimings(origin, { floor: session.floor, limits, ...results });

function measureFloor() {
  const space = plainMemory(2 * READING * 8);
  return plainLoops(space).then((loops) => measureReading(space, loops, READING, pace));
}

async function shortestCall() {
  const [one, sum] = [Float64Array.of(1), Float64Array.of(0)];
  const A = cx.product(main.csc(1, 1, Int32Array.of(0, 1), Int32Array.of(0), one));
  const [call] = await race([{ name: "call of order 1", run: () => A.add(one, sum) }], pace);
  A.free();
  return call.median;
}
