// Sparse triangular solves (npm run bench:sparse): plain and exact beside CXSparse on one thread, every schedule on two threads, the
// time of the analysis, the memory of a plan; math.js on a small grid.
//   node bench/sparse.mjs [--rounds 25] [--json FILE] [--quick]
import { measureReading } from "./harness/floor.mjs";
import { main, missingThreads } from "./harness/library.mjs";
import { quick } from "./harness/options.mjs";
import { race, timeOf } from "./harness/race.mjs";
import { originOf, pace, printLimits, printOrigin, saveTimings } from "./harness/session.mjs";
import { count, figure, printTable, ratio } from "./harness/table.mjs";
import { openCxSparse } from "./peers/cxSparse.mjs";
import { mathJs, PACKAGES } from "./peers/sparse.mjs";
import { plainLoops, plainMemory } from "./peers/wasm/kernels.mjs";
import { bytesOf, gridsFor, systemOf, titleOf, traffic } from "./sparse/cases.mjs";
import { sparseLimits } from "./sparse/limits.mjs";
import { CXSPARSE, raceSolves, serialRivals } from "./sparse/rivals.mjs";
import { raceThreads } from "./sparse/threads.mjs";

const CACHES = 2 ** 26; // bytes: more than the caches hold
const READING = 4096 ** 2; // numbers: in no cache even with --quick

const { grids, small } = gridsFor(quick);
const cx = await openCxSparse();
const space = plainMemory(2 * READING * 8);
const loops = await plainLoops(space);
const origin = originOf("sparse", PACKAGES, cx, "cxsparse");
printOrigin(origin, cx, cx.missing ? undefined : await shortestCall());
const missing = await missingThreads();
if (missing) console.log(missing);
const floor = await measureReading(space, loops, READING, pace);

const cases = [];
for (const grid of grids) cases.push(await measure(systemOf(grid)));
const withMathJs = await measureSmall(systemOf(small));
const limits = sparseLimits(cases);
printLimits("sparse solves", limits);
saveTimings(origin, { floor, limits, cases, small: withMathJs });

async function shortestCall() {
  const one = Float64Array.of(1);
  const L = cx.lower(main.csc(1, 1, Int32Array.of(0, 1), Int32Array.of(0), one));
  const [call] = await race([{ name: "call of order 1", run: () => L.solve(one, one) }], pace);
  L.free();
  return call.median;
}

// Nanoseconds to read the matrix and b and to write x, for data in no cache.
function floorOf({ byRows }) {
  return bytesOf(byRows) > CACHES ? traffic(byRows) / floor.readGBs : undefined;
}

async function measure(system) {
  const { grid, byRows } = system;
  const floor = floorOf(system);
  console.log(
    `\n${titleOf(grid)}: ${count(byRows.rows)} rows, ${count(byRows.values.length)} entries in the triangle, ${figure(bytesOf(byRows) / 1e6)} MB${floor === undefined ? "" : `, floor ${figure(floor / 1e6)} ms`}`,
  );
  const serial = await raceSolves(system, serialRivals(system, cx), () => true, pace, titleOf(grid));
  printSerial(serial, floor);
  const threads = missing ? undefined : await raceThreads(system, pace);
  return { grid, n: byRows.rows, entries: byRows.values.length, bytes: bytesOf(byRows), floor, serial, threads };
}

async function measureSmall(system) {
  const rivals = [...serialRivals(system, cx), { name: mathJs.name, ...mathJs.lower(system.byColumns) }];
  console.log(`\n${titleOf(system.grid)}, beside math.js`);
  const serial = await raceSolves(system, rivals, () => true, pace, titleOf(system.grid));
  printSerial(serial);
  return { grid: system.grid, n: system.byRows.rows, entries: system.byRows.values.length, serial };
}

function printSerial(outcomes, floor) {
  const baseline = timeOf(outcomes, CXSPARSE);
  const rows = outcomes.map(({ name, median, min }) => [
    name,
    figure(median / 1e6),
    figure(min / 1e6),
    figure(ratio(median, baseline)),
    figure(ratio(median, floor)),
  ]);
  printTable(["", "ms/solve", "minimum", "/ CXSparse", "/ floor"], rows);
}
