// The dense routines on one thread (npm run bench:dense): exgemv, extrsv, exgemm, exlu and exluBatch beside plain kernels with the
// same instructions, OpenBLAS, ml-matrix and numpy-ts; matrices with structure; many right-hand sides; every stage alone; then two threads
// against one.
//   node bench/dense.mjs [--rounds 25] [--only routines,structure,columns,stages,threads] [--json FILE] [--quick]
import { casesFor, work } from "./dense/cases.mjs";
import { raceColumns } from "./dense/columns.mjs";
import { denseLimits } from "./dense/limits.mjs";
import { denseRivals, plainName } from "./dense/rivals.mjs";
import { raceStructure } from "./dense/structure.mjs";
import { raceThreads } from "./dense/threads.mjs";
import { differentBits, expectSame, farApart } from "./harness/checks.mjs";
import { WELL_CONDITIONED } from "./harness/data.mjs";
import { measureArithmetic, measureReading } from "./harness/floor.mjs";
import { engines } from "./harness/library.mjs";
import { chosenOf, quick, rounds } from "./harness/options.mjs";
import { isOurs, routineOf } from "./harness/ours.mjs";
import { race, timeOf, timings } from "./harness/race.mjs";
import { originOf, pace, printLimits, printOrigin, saveTimings } from "./harness/session.mjs";
import { raceDenseStages } from "./harness/stages.mjs";
import { count, figure, printTable, ratio } from "./harness/table.mjs";
import { blasDense, openNumpy, PACKAGES } from "./peers/dense.mjs";
import { openBlas } from "./peers/openBlas.mjs";
import { checkPlain } from "./peers/wasm/check.mjs";
import { plainDense, plainLoops, plainMemory } from "./peers/wasm/kernels.mjs";

const CACHES = 2 ** 26; // bytes: more than the caches hold
const READING = 4096 ** 2; // numbers: the size of the largest matrix, in no cache even with --quick

const space = plainMemory(2 * READING * 8);
const loops = await plainLoops(space);
const plain = await Promise.all(engines.map(({ name }) => plainDense(space, name)));
for (const kernels of plain) checkPlain(space, kernels);
const blas = await openBlas(blasDense);
const numpy = await openNumpy();
const origin = originOf("dense", PACKAGES, blas);

printOrigin(origin, blas, blas.missing ? undefined : await shortestCall());
if (numpy.missing) console.log(numpy.missing);
const chosen = chosenOf(["routines", "structure", "columns", "stages", "threads"]);
const cases = chosen.includes("routines") ? casesFor({ quick, rivals: denseRivals({ space, plain, blas, numpy }) }) : [];
const floor = { ...(await measureReading(space, loops, READING, pace)), gflops: await measureArithmetic(space, plain, pace) };
if (cases.length > 0) printFloor();
const measured = [];
for (const one of cases) measured.push(await measure(one));
const nothing = { cases: [], limits: [] };
const structure = chosen.includes("structure") ? await raceStructure(quick, pace) : nothing;
const columns = chosen.includes("columns") ? await raceColumns(quick, pace) : nothing;
const stages = chosen.includes("stages") ? await raceDenseStages({ ...pace, rounds: Math.min(5, rounds) }) : [];
const threads = chosen.includes("threads") ? await raceThreads(quick, pace) : nothing;
const limits = [...(cases.length > 0 ? denseLimits(measured, quick) : []), ...[structure, columns, threads].flatMap((part) => part.limits)];
printLimits("the dense routines", limits);
const sections = { structure: structure.cases, columns: columns.cases, stages, threads: threads.cases };
saveTimings(origin, { floor, limits, cases: measured, ...sections });

async function shortestCall() {
  const [A, x, y] = [1, 2, 3].map((v) => Float64Array.of(v));
  const [call] = await race([{ name: "call of order 1", run: () => blas.gemv[0].run(1, A, x, y) }], pace);
  return call.median;
}

// Nanoseconds: the maximum of reading, for data in no cache, and arithmetic.
function floorOf(one) {
  const { bytes, operations } = work(one);
  return Math.max(bytes > CACHES ? bytes / floor.readGBs : 0, operations / Math.max(...Object.values(floor.gflops)));
}

function isSmall({ n, count: many }) {
  return n <= 64 && many === undefined;
}

function printFloor() {
  const rows = cases
    .filter((one) => one.kind === WELL_CONDITIONED && !isSmall(one))
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
  const known = expected ? [{ name: "the exact solution", result: expected }] : [];
  expectSame(titleOf(one), differentBits([...known, ...ours]));
  // Rivals must compute the same thing.
  if (kind === WELL_CONDITIONED) expectSame(titleOf(one), farApart(outcomes));
  printCase(one, outcomes);
  return { op, form, kind, n, count: many, rivals: timings(outcomes) };
}

function titleOf({ op, form, kind, n, count: many }) {
  const what = [routineOf(op), form, many && `${count(many)} systems`, `n = ${count(n)}`, kind];
  return what.filter(Boolean).join(", ");
}

function printCase(one, outcomes) {
  const [unit, scale] = isSmall(one) ? ["ns", 1] : ["ms", 1e6];
  const baseline = timeOf(outcomes, "OpenBLAS");
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
