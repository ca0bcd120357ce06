// Every stage of a reduction alone, in engine memory: what each costs when it has to do all the work, on easy data
// and on hard ones.
import { vectors, WELL } from "./data.mjs";
import { race, timings } from "./harness.mjs";
import { engines, study } from "./library.mjs";
import { copyInto, sameBits } from "./rivals.mjs";
import { count, figure, printTable } from "./table.mjs";

const KINDS = [WELL, "condition 1e30"];

/** Race the stages against each other, print a table for each operation, and return all timings. */
export async function raceStages(n, pace) {
  const all = [];
  for (const op of ["dot", "sum"]) {
    const races = [];
    for (const kind of KINDS) {
      const data = vectors(kind, op, n);
      for (const kernels of engines) races.push({ op, kind, n, engine: kernels.name, stages: await raceOn(kernels, op, data, pace) });
    }
    console.log(`\nStages of ${op} alone, n = ${count(n)}, ns/element in engine memory`);
    const rows = study.STAGES.map((stage, i) => [stage, ...races.map(({ stages }) => figure(stages[i].median / n))]);
    printTable(["", ...races.map(({ kind, engine }) => `${kind}, ${engine}`)], rows);
    all.push(...races);
  }
  return all;
}

async function raceOn(kernels, op, data, pace) {
  const { arrays, free } = copyInto(kernels, data);
  const { x, y } = arrays;
  const rivals = study.STAGES.map((stage) => ({ name: stage, run: () => study.reduceBy(stage, kernels, op, x, y) }));
  const outcomes = await race(rivals, pace);
  free();
  sameBits(outcomes, `stages of ${op} on ${kernels.name}`);
  return timings(outcomes);
}
