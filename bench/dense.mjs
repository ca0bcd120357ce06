// The dense routines side by side, on one thread: exgemv, extrsv, exgemm, exlu and exluBatch against plain kernels in the
// same engine, OpenBLAS, ml-matrix and numpy-ts; every stage alone; then two threads against one.
//   node bench/dense.mjs [--rounds 25] [--json FILE] [--quick]
import { WELL } from "./data.mjs";
import { casesFor, work } from "./denseCases.mjs";
import { denseLimits } from "./denseLimits.mjs";
import { blasDense, openNumpy, PACKAGES } from "./densePeers.mjs";
import { denseRivals, plainName } from "./denseRivals.mjs";
import { measureArithmetic, measureReading } from "./floor.mjs";
import { race, timings } from "./harness.mjs";
import { engines } from "./library.mjs";
import { openBlas } from "./openBlas.mjs";
import { plainDense, plainLoops, plainMemory } from "./plain.mjs";
import { checkPlain } from "./plainCheck.mjs";
import { isOurs, routineOf, sameBits } from "./rivals.mjs";
import { originOf, pace, printLimits, printOrigin, quick, rounds, save } from "./session.mjs";
import { raceDenseStages } from "./stages.mjs";
import { count, figure, printTable, ratio } from "./table.mjs";
import { raceThreads } from "./threads.mjs";

const CACHES = 2 ** 26; // bytes, more than they hold
const READING = 4096 ** 2; // numbers, as many as the largest matrix has, and in no cache however quick the run

const space = plainMemory(2 * READING * 8);
const loops = await plainLoops(space);
const plain = await Promise.all(engines.map(({ name }) => plainDense(space, name)));
for (const kernels of plain) checkPlain(space, kernels);
const blas = await openBlas(blasDense);
const numpy = await openNumpy();
const origin = originOf("dense", PACKAGES, blas);

printOrigin(origin, blas, blas.missing ? undefined : await shortestCall());
if (numpy.missing) console.log(numpy.missing);
const cases = casesFor({ quick, rivals: denseRivals({ space, plain, blas, numpy }) });
const floor = { ...(await measureReading(space, loops, READING, pace)), gflops: await measureArithmetic(space, plain, pace) };
printFloor();
const measured = [];
for (const one of cases) measured.push(await measure(one));
const stages = await raceDenseStages({ ...pace, rounds: Math.min(5, rounds) });
const threads = await raceThreads(quick, pace);
const limits = [...denseLimits(measured, quick), ...threads.limits];
printLimits("the dense routines are", limits);
save(origin, { floor, limits, cases: measured, stages, threads: threads.cases });

async function shortestCall() {
  const [A, x, y] = [1, 2, 3].map((v) => Float64Array.of(v));
  const [call] = await race([{ name: "call of order 1", run: () => blas.gemv[0].run(1, A, x, y) }], pace);
  return call.median;
}

// Nanoseconds: the longer of reading, for data that are in no cache, and arithmetic.
function floorOf(one) {
  const { bytes, operations } = work(one);
  return Math.max(bytes > CACHES ? bytes / floor.readGBs : 0, operations / Math.max(...Object.values(floor.gflops)));
}

function isSmall({ n, count: many }) {
  return n <= 64 && many === undefined;
}

function printFloor() {
  const rows = cases
    .filter((one) => one.kind === WELL && !isSmall(one))
    .map((one) => {
      const { bytes, operations } = work(one);
      return [titleOf(one), figure(bytes / 1e6), figure(operations / 1e6), figure(floorOf(one) / 1e6)];
    });
  printTable(["", "MB read", "Mflop", "floor, ms"], rows);
}

async function measure(one) {
  const { op, form, kind, n, count: many } = one;
  const { rivals, free, expected } = one.setUp();
  const outcomes = await race(rivals, pace);
  free();
  const ours = outcomes.filter((outcome) => isOurs(op, outcome));
  sameBits(expected ? [{ name: "the exact solution", result: expected }, ...ours] : ours, titleOf(one));
  if (kind === WELL) for (const other of outcomes) closeTo(ours[0], other, titleOf(one));
  printCase(one, outcomes);
  return { op, form, kind, n, count: many, rivals: timings(outcomes) };
}

// A rival that computes something else is no rival.
function closeTo(ours, other, what) {
  const size = ours.result.reduce((largest, v) => Math.max(largest, Math.abs(v)), 0);
  const index = ours.result.findIndex((v, i) => !(Math.abs(v - other.result[i]) <= 1e-8 * size));
  if (index >= 0)
    throw new Error(`${what}: ${ours.name} returns ${ours.result[index]}, ${other.name} returns ${other.result[index]} (entry ${index})`);
}

function titleOf({ op, form, kind, n, count: many }) {
  const what = [routineOf(op), form, many && `${count(many)} systems`, `n = ${count(n)}`, kind];
  return what.filter(Boolean).join(", ");
}

function printCase(one, outcomes) {
  const [unit, scale] = isSmall(one) ? ["ns", 1] : ["ms", 1e6];
  const baseline = outcomes.find(({ name }) => name.startsWith("OpenBLAS"))?.median;
  const own = outcomes.find(({ name }) => plain.some(({ engine }) => name === plainName(one.op, engine)))?.median;
  const rows = outcomes.map(({ name, median, min, rounds: times }) => [
    name,
    figure(median / scale),
    figure(min / scale),
    figure(ratio(median, baseline)),
    figure(ratio(median, own)),
    isSmall(one) ? undefined : figure(median / floorOf(one)),
    times.length < rounds ? `(${times.length} rounds)` : undefined,
  ]);
  console.log(`\n${titleOf(one)}`);
  printTable(["", `${unit}/call`, "minimum", "/ OpenBLAS", "/ plain", "/ floor", ""], rows);
}
