// Every stage alone, in engine memory: what each costs when it has to do all the work, on easy data and on hard ones.
import { OPERATIONS } from "../dist/report/measure/stages.js";
import { vectors, WELL } from "./data.mjs";
import { HARD } from "./denseData.mjs";
import { race, timings } from "./harness.mjs";
import { engines, study } from "./library.mjs";
import { copyInto, routineOf, sameBits } from "./rivals.mjs";
import { count, figure, printTable } from "./table.mjs";

// Orders at which all stages together take half a minute.
const DENSE = [
  { op: "gemv", n: 256, entries: 256, kinds: [WELL, HARD] },
  { op: "trsv", n: 256, entries: 256, kinds: [WELL, HARD] },
  { op: "lu", n: 96, entries: 96 ** 2, kinds: [WELL] },
];

/** Race the stages of reductions against each other, print a table for each operation, and return all timings. */
export async function raceStages(n, pace) {
  const all = [];
  for (const op of ["dot", "sum"]) {
    const data = Object.fromEntries([WELL, HARD].map((kind) => [kind, () => vectors(kind, op, n)]));
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
    const made = Object.fromEntries(kinds.map((kind) => [kind, () => ({ y: new Float64Array(n), ...data[kind](n) })]));
    const bind = (stage, kernels, arrays) => {
      const routines = study.routinesBy(stage, kernels);
      return () => run(routines, n, arrays);
    };
    all.push(...(await raceKinds({ op, n, data: made, bind }, { unit: "µs/entry", per: 1000 * entries }, pace)));
  }
  return all;
}

async function raceKinds({ op, n, data, bind }, { unit, per }, pace) {
  const races = [];
  for (const [kind, make] of Object.entries(data)) {
    const made = make(n);
    for (const kernels of engines) {
      const { arrays, free } = copyInto(kernels, made);
      const rivals = study.STAGES.map((stage) => ({ name: stage, run: bind(stage, kernels, arrays) }));
      const outcomes = await race(rivals, pace);
      free();
      sameBits(outcomes, `stages of ${op} on ${kernels.name}`);
      races.push({ op, kind, n, engine: kernels.name, stages: timings(outcomes) });
    }
  }
  console.log(`\nStages of ${routineOf(op)} alone, n = ${count(n)}, ${unit} in engine memory`);
  const rows = study.STAGES.map((stage, i) => [stage, ...races.map(({ stages }) => figure(stages[i].median / per))]);
  printTable(["", ...races.map(({ kind, engine }) => `${kind}, ${engine}`)], rows);
  return races;
}
