// solve() with rounding "backward" on one thread and on two (npm run bench:solve): binary32 with refinement, binary64 and exact beside
// OpenBLAS, numpy-ts, ml-matrix and math.js; the residual of each solution; where the time goes.
//   node bench/solve.mjs [--rounds 25] [--json FILE] [--quick]
import { measurePeaks, measureReading } from "./harness/floor.mjs";
import { engines, matrix, study } from "./harness/library.mjs";
import { quick, rounds } from "./harness/options.mjs";
import { race, timeOf, timings } from "./harness/race.mjs";
import { originOf, pace, printLimits, printOrigin, saveTimings } from "./harness/session.mjs";
import { count, figure, printTable, ratio } from "./harness/table.mjs";
import { openNumpy } from "./peers/dense.mjs";
import { openBlas } from "./peers/openBlas.mjs";
import { blasSolve, PACKAGES, packagePeers, shortestSolve } from "./peers/solve.mjs";
import { plainLoops, plainMemory, plainPeaks } from "./peers/wasm/kernels.mjs";
import { bytesOf, normsOf, operationsOf, ordersFor, scaledResidual, systemOf } from "./solve/cases.mjs";
import { solveLimits } from "./solve/limits.mjs";
import { fastestPhases, phaseWords, withClock } from "./solve/phases.mjs";
import { openPool, ourName, solveRivals } from "./solve/rivals.mjs";

const READING = 4096 ** 2; // numbers: in no cache even with --quick
const PHASES_OF = ["mixed", "double"];

const { orders, exact } = ordersFor(quick);
const space = plainMemory(2 * READING * 8);
const blas = await openBlas(blasSolve);
const numpy = await openNumpy();
const { pool, missing } = await openPool();
const origin = originOf("solve", PACKAGES, blas);

printOrigin(origin, blas, await shortestSolve(blas, pace));
for (const words of [numpy.missing, missing]) if (words) console.log(words);
const floor = await measureFloor();
const cases = [];
for (const n of orders) cases.push(await measure(systemOf(n)));
await pool?.close();
const limits = solveLimits(cases);
printLimits("solve()", limits);
saveTimings(origin, { floor, limits, cases });

async function measureFloor() {
  const reading = await measureReading(space, await plainLoops(space), READING, pace);
  const gflops = await measurePeaks(await plainPeaks(space, engines[0].name), pace);
  const rows = orders.map((n) => {
    const times = ["binary32", "binary64"].map((format) => figure(operationsOf(n) / gflops[format] / 1e6));
    return [
      `n = ${count(n)}`,
      figure(bytesOf(n) / 1e6),
      figure(bytesOf(n) / reading.readGBs / 1e6),
      figure(operationsOf(n) / 1e6),
      ...times,
    ];
  });
  printTable(["", "MB of A", "ms to read", "Mflop", "floor in binary32, ms", "in binary64"], rows);
  return { ...reading, gflops };
}

async function measure(system) {
  const { n } = system;
  const { rivals, slow, free } = solveRivals(system, { exact: n <= exact, pool, blas, packages: packagePeers(numpy) });
  // Rivals that take a second or more are raced separately: after them, a call of 20 ms would find its memory cold.
  const outcomes = [...(await race(rivals, pace)), ...(await race(slow, pace))];
  free();
  const norms = normsOf(system);
  const quality = outcomes.map(({ result: { x, iterations, method } }) => ({
    method,
    iterations,
    residual: scaledResidual(system, norms, x),
  }));
  const measured = timings(outcomes).map((one, k) => ({ ...one, ...quality[k] }));
  printCase(n, measured);
  const phases = {};
  for (const method of PHASES_OF) phases[method] = await phasesOf(system, method);
  return { n, rivals: measured, phases };
}

function printCase(n, measured) {
  const [openBlasTime, mixed] = ["OpenBLAS", ourName("mixed", engines[0].name)].map((name) => timeOf(measured, name));
  const rows = measured.map(({ name, median, min, rounds: times, iterations, residual }) => [
    name,
    figure(median / 1e6),
    figure(min / 1e6),
    figure(operationsOf(n) / median),
    figure(ratio(median, mixed)),
    figure(ratio(median, openBlasTime)),
    figure((median * floor.gflops.binary32) / operationsOf(n)),
    iterations === undefined ? undefined : String(iterations),
    residual.toPrecision(2),
    times.length < rounds ? `(${times.length === 1 ? "one call" : `${times.length} rounds`})` : undefined,
  ]);
  console.log(`\nA x = b, n = ${count(n)}, entries of A in (-1, 1)`);
  printTable(["", "ms", "minimum", "Gflop/s", "/ mixed", "/ dgesv", "/ floor", "steps", "scaled residual", ""], rows);
}

// On ordinary arrays.
async function phasesOf({ n, A, b }, method) {
  const { kernels, phases } = withClock(engines[0]);
  const { solve } = study.routinesOn(kernels);
  const M = matrix(A, n, n);
  const best = await fastestPhases(phases, () => solve(M, b, { rounding: "backward", method, fallback: false }));
  console.log(phaseWords(ourName(method, engines[0].name), best));
  return best;
}
