// Level 1 on one thread (npm run bench): exdot, exsum, exasum and exnrm2 beside the plain SIMD loop, OpenBLAS and npm packages.
//   node bench/level1.mjs [--rounds 25] [--json FILE] [--quick]
import { differentBits, expectSame } from "./harness/checks.mjs";
import { kindsFor, vectors, WELL_CONDITIONED } from "./harness/data.mjs";
import { measureReading } from "./harness/floor.mjs";
import { quick, rounds } from "./harness/options.mjs";
import { isOurs } from "./harness/ours.mjs";
import { race, timings } from "./harness/race.mjs";
import { originOf, pace, printLimits, printOrigin, saveTimings } from "./harness/session.mjs";
import { raceStages } from "./harness/stages.mjs";
import { count, figure, printTable } from "./harness/table.mjs";
import { limits } from "./level1/limits.mjs";
import { isExactPeer, PLAIN, rivalsFor } from "./level1/rivals.mjs";
import { blasLevel1, PACKAGES } from "./peers/level1.mjs";
import { openBlas } from "./peers/openBlas.mjs";
import { plainLoops, plainMemory } from "./peers/wasm/kernels.mjs";

const LONGEST = 16_000_000;
const BYTES = { dot: 16, sum: 8, asum: 8, nrm2: 8 };
const sizes = [10, 100, 1000, 10_000, 100_000, 1_000_000, LONGEST].filter((n) => !quick || n <= 100_000);
const hard = quick ? 100_000 : 1_000_000; // the length at which hard data and single stages are measured

const blas = await openBlas(blasLevel1);
const space = plainMemory(2 * LONGEST * 8);
const plain = await plainLoops(space);
const origin = originOf("level1", PACKAGES, blas);

printOrigin(origin, blas, blas.missing ? undefined : await emptyCall());
const floor = await measureReading(space, plain, LONGEST, pace);
for (const [op, bytes] of Object.entries(BYTES)) console.log(`  ${op}: ${bytes} bytes per element, ${figure(bytes / floor.readGBs)} ns`);
const cases = [];
for (const op of Object.keys(BYTES)) cases.push(...(await measure(op)));
const stages = await raceStages(hard, { ...pace, rounds: Math.min(5, rounds) });
const verdicts = limits(cases, { longest: sizes.at(-1), hard, sizes });
printLimits("level 1", verdicts);
saveTimings(origin, { floor, limits: verdicts, cases, stages });

async function emptyCall() {
  const empty = new Float64Array(0);
  const [call] = await race([{ name: "empty call", run: () => blas.dot[0].run(empty, empty) }], pace);
  return call.median;
}

async function measure(op) {
  const measured = [];
  for (const kind of kindsFor(op)) {
    for (const n of kind === WELL_CONDITIONED ? sizes : [hard]) {
      const { rivals, free } = rivalsFor(op, vectors(kind, op, n), { space, plain, blas });
      const outcomes = await race(rivals, pace);
      free();
      const ours = outcomes.filter((outcome) => isOurs(op, outcome));
      expectSame(`${op}, n = ${n}, ${kind}`, differentBits(ours));
      printCase(op, kind, n, outcomes);
      for (const { name, result } of outcomes.filter(isExactPeer)) {
        if (!Object.is(result, ours[0].result)) console.log(`  ${name} returns ${result}, the exact sum rounds to ${ours[0].result}`);
      }
      measured.push({ op, kind, n, rivals: timings(outcomes) });
    }
  }
  return measured;
}

function printCase(op, kind, n, outcomes) {
  console.log(`\n${op}, n = ${count(n)}, ${kind}`);
  const baseline = outcomes.find(({ name }) => name === blas[op]?.[0].name)?.median;
  const loop = outcomes.find(({ name }) => name === PLAIN).median;
  const rows = outcomes.map((outcome) => [
    outcome.name,
    n <= 1000 ? figure(outcome.median) : undefined,
    figure(outcome.median / n),
    figure(outcome.min / n),
    baseline && figure(outcome.median / baseline),
    figure(outcome.median / loop),
    isOurs(op, outcome) ? figure((outcome.median / n) * (floor.readGBs / BYTES[op])) : undefined,
    outcome.rounds.length < rounds ? `(${outcome.rounds.length} rounds)` : undefined,
  ]);
  printTable(["", "ns/call", "ns/element", "minimum", "/ OpenBLAS", "/ plain", "/ floor", ""], rows);
}
