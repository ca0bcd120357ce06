// Sparse triangular solves side by side: plain and exact against CXSparse on one thread, every schedule on two threads, what
// the analysis takes, what a plan holds; math.js where it is small.
//   node bench/sparse.mjs [--rounds 25] [--json FILE] [--quick]
import { openCxSparse } from "./cxSparse.mjs";
import { measureReading } from "./floor.mjs";
import { race } from "./harness.mjs";
import { main } from "./library.mjs";
import { plainLoops, plainMemory } from "./plain.mjs";
import { originOf, pace, printLimits, printOrigin, quick, save } from "./session.mjs";
import { bytesOf, gridsFor, systemOf, titleOf, traffic } from "./sparseCases.mjs";
import { sparseLimits } from "./sparseLimits.mjs";
import { mathJs, PACKAGES } from "./sparsePeers.mjs";
import { CXSPARSE, raceSolves, serialRivals } from "./sparseRivals.mjs";
import { missingThreads, raceThreads } from "./sparseThreads.mjs";
import { count, figure, printTable, ratio } from "./table.mjs";

const CACHES = 2 ** 26; // bytes, more than they hold
const READING = 4096 ** 2; // numbers, in no cache however quick the run

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
const beside = await measureSmall(systemOf(small));
const limits = sparseLimits(cases);
printLimits("sparse solves are", limits);
save(origin, { floor, limits, cases, small: beside });

async function shortestCall() {
  const one = Float64Array.of(1);
  const L = cx.lower(main.csc(1, 1, Int32Array.of(0, 1), Int32Array.of(0), one));
  const [call] = await race([{ name: "call of order 1", run: () => L.solve(one, one) }], pace);
  L.free();
  return call.median;
}

// Nanoseconds: to read the matrix and b and to write x, for data that are in no cache.
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
  const baseline = outcomes.find(({ name }) => name === CXSPARSE)?.median;
  const rows = outcomes.map(({ name, median, min }) => [
    name,
    figure(median / 1e6),
    figure(min / 1e6),
    figure(ratio(median, baseline)),
    figure(ratio(median, floor)),
  ]);
  printTable(["", "ms/solve", "minimum", "/ CXSparse", "/ floor"], rows);
}
