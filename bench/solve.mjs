// solve() side by side, on one thread and on two: binary32 with refinement, binary64 and exact against OpenBLAS, numpy-ts,
// ml-matrix and math.js; what each solution is worth; where the time goes.
//   node bench/solve.mjs [--rounds 25] [--json FILE] [--quick]
import { openNumpy } from "./densePeers.mjs";
import { measurePeaks, measureReading } from "./floor.mjs";
import { race, timings } from "./harness.mjs";
import { engines, matrix, study } from "./library.mjs";
import { openBlas } from "./openBlas.mjs";
import { plainLoops, plainMemory, plainPeaks } from "./plain.mjs";
import { originOf, pace, printLimits, printOrigin, quick, rounds, save } from "./session.mjs";
import { bytesOf, normsOf, operationsOf, ordersFor, scaledResidual, systemOf } from "./solveCases.mjs";
import { solveLimits } from "./solveLimits.mjs";
import { blasSolve, PACKAGES, packagePeers } from "./solvePeers.mjs";
import { phaseRows, withClock } from "./solvePhases.mjs";
import { openPool, ourName, solveRivals } from "./solveRivals.mjs";
import { count, figure, printTable, ratio } from "./table.mjs";

const READING = 4096 ** 2; // numbers, in no cache however quick the run
const PHASES_OF = ["mixed", "double"];

const { orders, exact } = ordersFor(quick);
const space = plainMemory(2 * READING * 8);
const blas = await openBlas(blasSolve);
const numpy = await openNumpy();
const { pool, missing } = await openPool();
const origin = originOf("solve", PACKAGES, blas);

printOrigin(origin, blas, blas.missing ? undefined : await shortestCall());
for (const words of [numpy.missing, missing]) if (words) console.log(words);
const floor = await measureFloor();
const cases = [];
for (const n of orders) cases.push(await measure(systemOf(n)));
await pool?.close();
const limits = solveLimits(cases);
printLimits("solve() is", limits);
save(origin, { floor, limits, cases });

async function shortestCall() {
  const [{ system, run }] = blas.double;
  const own = system(systemOf(1));
  const [call] = await race([{ name: "call of order 1", run: () => run(own) }], pace);
  return call.median;
}

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
  // Those that take a second and more have a race of their own: behind them a call of 20 ms would find its memory cold.
  const outcomes = [...(await race(rivals, pace)), ...(await race(slow, pace))];
  free();
  const norms = normsOf(system);
  const worth = outcomes.map(({ result: { x, iterations, method } }) => ({
    method,
    iterations,
    residual: scaledResidual(system, norms, x),
  }));
  const measured = timings(outcomes).map((one, k) => ({ ...one, ...worth[k] }));
  printCase(n, measured);
  return { n, rivals: measured, phases: Object.fromEntries(PHASES_OF.map((method) => [method, phasesOf(system, method)])) };
}

function printCase(n, measured) {
  const timeOf = (start) => measured.find(({ name }) => name.startsWith(start))?.median;
  const [openBlasTime, mixed] = [timeOf("OpenBLAS"), timeOf(ourName("mixed", engines[0].name))];
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
  console.log(`\nA x = b, n = ${count(n)}, A of numbers in (-1, 1)`);
  printTable(["", "ms", "minimum", "Gflop/s", "/ mixed", "/ dgesv", "/ floor", "steps", "scaled residual", ""], rows);
}

// The quickest of some calls, on ordinary arrays.
function phasesOf({ n, A, b }, method) {
  const { kernels, phases } = withClock(engines[0]);
  const { solve } = study.routinesOn(kernels);
  const M = matrix(A, n, n);
  let best;
  for (let k = 0; k < 3; k++) {
    phases.clear();
    const start = performance.now();
    solve(M, b, { rounding: "backward", method, fallback: false });
    const total = (performance.now() - start) * 1e6;
    if (best === undefined || total < best.total) best = { total, rows: phaseRows(phases, total) };
  }
  const words = best.rows.map(({ phase, calls, time }) => `${phase}${calls > 1 ? ` (${calls} calls)` : ""} ${figure(time / 1e6)}`);
  console.log(`  ${ourName(method, engines[0].name)}, a call of ${figure(best.total / 1e6)} ms: ${words.join(", ")}.`);
  return best;
}
