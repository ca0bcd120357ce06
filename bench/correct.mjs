// solve() with correct rounding on one thread (npm run bench:correct): beside rounding "backward", OpenBLAS and Arb, with further
// right-hand sides, and on hard systems. The floor is two factorizations in binary64: the factors and the inverses of their triangles.
//   node bench/correct.mjs [--rounds 25] [--json FILE] [--quick]
import { measurePeaks } from "./harness/floor.mjs";
import { engines, matrix, study } from "./harness/library.mjs";
import { quick } from "./harness/options.mjs";
import { race, timeOf, timings } from "./harness/race.mjs";
import { originOf, pace, printLimits, printOrigin, saveTimings } from "./harness/session.mjs";
import { count, figure, printTable, ratio } from "./harness/table.mjs";
import { openArb } from "./peers/arb.mjs";
import { openBlas } from "./peers/openBlas.mjs";
import { blasSolve, PACKAGES, shortestSolve } from "./peers/solve.mjs";
import { plainMemory, plainPeaks } from "./peers/wasm/kernels.mjs";
import { systemOf } from "./solve/cases.mjs";
import { HARD, hiddenZeros } from "./solve/hard.mjs";

const ORDERS = quick ? [100, 200] : [1000, 2000];
const ARB_ORDERS = quick ? [50] : [500, 1000];
const [FIRST] = ORDERS;
const LIMITS = {
  backward: { limits: [5, 4.5], aims: [4, 3.5] },
  dgesv: { limits: [7, 6], aims: [5, 4] },
  fast: { limits: [1.5, 1.4], aims: [1.2, 1.1] },
  arb: { limits: [20, 40], aims: [50, 100] },
};

const routines = study.routinesOn(engines[0]);
const blas = await openBlas(blasSolve);
const arb = await openArb();
const origin = originOf("correct", PACKAGES, blas);
printOrigin(origin, blas, await shortestSolve(blas, pace));
if (arb.missing) console.log(arb.missing);
const space = plainMemory(2 ** 20);
const gflops = await measurePeaks(await plainPeaks(space, engines[0].name), pace);
const limits = [];
const cases = [];
for (const [k, n] of ORDERS.entries()) cases.push(await random(k, n));
cases.push(await further(FIRST), await zeros(FIRST));
for (const [k, n] of ARB_ORDERS.entries()) cases.push(await besideArb(k, n));
const hard = [];
for (const one of HARD) if (!(quick && one.slow)) hard.push(measureHard(one));
printHard(hard);
printLimits("solve(), correctly rounded", limits);
saveTimings(origin, { gflops, limits, cases, hard });

function limit(row, value, { limits: limitsOf, aims }, k, atLeast = false) {
  limits.push({ row, value, unit: atLeast ? " times" : "", limit: limitsOf[k], aim: aims[k], atLeast });
}

function solving({ n, A, b }, options) {
  const M = matrix(A, n, n);
  return () => routines.solve(M, b, options);
}

function ours(system) {
  return [
    { name: "correct", run: solving(system) },
    { name: "backward", run: solving(system, { rounding: "backward" }) },
  ];
}

async function measured(title, n, rivals) {
  const outcomes = await race(rivals, pace);
  const rows = timings(outcomes);
  console.log(`\n${title}`);
  const floor = (4 / 3) * n ** 3;
  printTable(
    ["", "ms", "minimum", "/ floor"],
    rows.map(({ name, median, min }) => [name, figure(median / 1e6), figure(min / 1e6), figure((median * gflops.binary64) / floor)]),
  );
  return { title, n, rivals: rows };
}

function fastest({ rivals }, start) {
  const times = rivals.filter(({ name }) => name.startsWith(start)).map(({ median }) => median);
  return times.length === 0 ? undefined : Math.min(...times);
}

async function random(k, n) {
  const system = systemOf(n);
  const peers = blas.missing ? [] : blas.double;
  const others = peers.map(({ name, system: convert, run }) => {
    const own = convert(system);
    return { name, run: () => run(own) };
  });
  const result = await measured(`A x = b, n = ${count(n)}, entries of A in (-1, 1)`, n, [...ours(system), ...others]);
  const [correct, backward, dgesv] = [timeOf(result.rivals, "correct"), timeOf(result.rivals, "backward"), fastest(result, "OpenBLAS")];
  limit(`correct / backward, n = ${count(n)}`, ratio(correct, backward), LIMITS.backward, k);
  limit(`correct / OpenBLAS dgesv, n = ${count(n)}`, ratio(correct, dgesv), LIMITS.dgesv, k);
  limit(`backward / OpenBLAS dgesv, n = ${count(n)}`, ratio(backward, dgesv), LIMITS.fast, k);
  return result;
}

async function further(n) {
  const { A, b } = systemOf(n);
  const M = matrix(A, n, n);
  const [correct, backward] = [routines.factor(M), routines.factor(M, { rounding: "backward" })];
  const rivals = [
    { name: "correct", run: () => correct.solve(b) },
    { name: "backward", run: () => backward.solve(b) },
  ];
  const result = await measured(`A further right-hand side of factor(A), n = ${count(n)}`, n, rivals);
  for (const factors of [correct, backward]) factors.free();
  const value = ratio(timeOf(result.rivals, "correct"), timeOf(result.rivals, "backward"));
  limits.push({ row: `a further right-hand side, correct / backward, n = ${count(n)}`, value, unit: "", limit: 4, aim: 2 });
  return result;
}

async function zeros(n) {
  const rivals = [
    { name: "random", run: solving(systemOf(n)) },
    { name: "half of the components zero", run: solving(hiddenZeros(n)) },
  ];
  const result = await measured(`Zeros hidden by permutations, n = ${count(n)}`, n, rivals);
  const value = ratio(timeOf(result.rivals, "half"), timeOf(result.rivals, "random"));
  limits.push({ row: `half of the components zero / random, n = ${count(n)}`, value, unit: "", limit: 2, aim: 1.2 });
  return result;
}

async function besideArb(k, n) {
  const system = systemOf(n);
  const own = arb.missing ? undefined : arb.system(system);
  const peer = own ? [{ name: arb.name, once: true, run: () => arb.run(own) }] : [];
  const result = await measured(`Beside Arb, n = ${count(n)}`, n, [ours(system)[0], ...peer]);
  if (own) arb.free(own);
  limit(`Arb / correct, n = ${count(n)}`, ratio(timeOf(result.rivals, "Arb"), timeOf(result.rivals, "correct")), LIMITS.arb, k, true);
  return result;
}

// One call is long enough to time; it is the second of two, after compilation.
function measureHard({ name, limit: maxTime, aim, make, fails, slow }) {
  const system = make();
  const run = solving(system);
  let [time, method] = [0, undefined];
  for (let k = 0; k < (slow ? 1 : 2); k++) {
    const start = performance.now();
    try {
      const solution = run();
      if (fails || !solution.certified) throw new Error(`${name}: expected ${fails ? "a SingularError" : "a certified solution"}`);
      method = solution.method;
    } catch (error) {
      if (!fails || error.name !== "SingularError") throw error;
      method = "SingularError";
    }
    time = performance.now() - start;
  }
  if (maxTime !== undefined) limits.push({ row: name, value: time / 1000, unit: " s", limit: maxTime, aim });
  return { name, seconds: time / 1000, method };
}

function printHard(rows) {
  console.log("\nHard systems, one call each");
  printTable(
    ["", "s", "solved by"],
    rows.map(({ name, seconds, method }) => [name, figure(seconds), method]),
  );
}
