// Every stage alone, in engine memory: what each costs when it does all the work, on easy and on hard data. For level1.mjs and
// dense.mjs; the stages are those of docs/stages.md.
import { differentBits, expectSame } from "./checks.mjs";
import { HARD, vectors, WELL_CONDITIONED } from "./data.mjs";
import { engines, measurements, study } from "./library.mjs";
import { copyInto, routineOf } from "./ours.mjs";
import { race, timings } from "./race.mjs";
import { count, figure, printTable } from "./table.mjs";

const { OPERATIONS } = measurements.stages;

// Orders at which all stages together take half a minute.
const DENSE = [
  { op: "gemv", n: 256, entries: 256, kinds: [WELL_CONDITIONED, HARD] },
  { op: "trsv", n: 256, entries: 256, kinds: [WELL_CONDITIONED, HARD] },
  { op: "lu", n: 96, entries: 96 ** 2, kinds: [WELL_CONDITIONED] },
];

/** Race the stages of reductions against each other, print a table for each operation, and return all timings. */
export async function raceStages(n, pace) {
  const all = [];
  for (const op of ["dot", "sum"]) {
    const data = Object.fromEntries([WELL_CONDITIONED, HARD].map((kind) => [kind, () => vectors(kind, op, n)]));
    const bind =
      (stage, kernels, { x, y }) =>
      () =>
        study.reduceBy(stage, kernels, op, x, y);
    all.push(...(await raceKinds({ op, n, data, bind }, { unit: "ns/element", per: n }, pace)));
  }
  return all;
}

/** The same for matrix routines. */
export async function raceDenseStages(pace) {
  const all = [];
  for (const { op, n, entries, kinds } of DENSE) {
    const { data, run } = OPERATIONS[op];
    const arraysOf = Object.fromEntries(kinds.map((kind) => [kind, () => ({ y: new Float64Array(n), ...data[kind](n) })]));
    const bind = (stage, kernels, arrays) => {
      const routines = study.routinesBy(stage, kernels);
      return () => run(routines, n, arrays);
    };
    all.push(...(await raceKinds({ op, n, data: arraysOf, bind }, { unit: "µs/entry", per: 1000 * entries }, pace)));
  }
  return all;
}

async function raceKinds({ op, n, data, bind }, { unit, per }, pace) {
  const races = [];
  for (const [kind, make] of Object.entries(data)) {
    const ordinary = make(n);
    for (const kernels of engines) {
      const { arrays, free } = copyInto(kernels, ordinary);
      const rivals = study.STAGES.map((stage) => ({ name: stage, run: bind(stage, kernels, arrays) }));
      const outcomes = await race(rivals, pace);
      free();
      expectSame(`stages of ${op} on ${kernels.name}`, differentBits(outcomes));
      races.push({ op, kind, n, engine: kernels.name, stages: timings(outcomes) });
    }
  }
  console.log(`\nStages of ${routineOf(op)} alone, n = ${count(n)}, ${unit} in engine memory`);
  const rows = study.STAGES.map((stage, i) => [stage, ...races.map(({ stages }) => figure(stages[i].median / per))]);
  printTable(["", ...races.map(({ kind, engine }) => `${kind}, ${engine}`)], rows);
  return races;
}
