// Under mpirun: exgemm or exlu of distributed matrices. Rank 0 prints one line of JSON: the median time, and the memory of the rank that
// used most, above that of an idle rank, as a share of the matrices that all ranks hold together.
//   mpirun -n 2 node bench/ranks/dense.mjs exgemm|exlu [ORDER] [ROUNDS]
import { readFileSync } from "node:fs";
import { openRanks } from "../../dist/mpi.js";

const routine = process.argv[2];
const [n = 1024, rounds = 5] = process.argv.slice(3).map(Number);
const ranks = await openRanks();
const megabytes = (field) => Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(readFileSync("/proc/self/status", "utf8"))[1]) / 1024;
// A warm-up of the compiled code and of the MPI library, so that an idle rank has both.
await run(await matricesOf(64));
const idle = megabytes("VmRSS");
const matrices = await matricesOf(n);
const times = [];
for (let k = 0; k < rounds; k++) {
  await ranks.exsum(new Float64Array(1)); // all ranks start together
  const start = performance.now();
  const result = await run(matrices);
  times.push(performance.now() - start);
  result.lu?.free();
}
times.sort((a, b) => a - b);
const mine = new Float64Array(ranks.size);
mine[ranks.rank] = megabytes("VmHWM") - idle;
let peak = 0;
for (const each of mine.keys()) peak = Math.max(peak, await ranks.exsum(mine.subarray(each, each + 1)));
if (ranks.rank === 0)
  console.log(JSON.stringify({ library: ranks.library, ranks: ranks.size, routine, n, ms: times[rounds >> 1], peakMB: peak }));
await ranks.close();

function matricesOf(order) {
  const make = (seed) => ranks.matrix(order, order, (i, j) => mixed(seed * order * order + i * order + j) / 2 ** 31);
  return Promise.all((routine === "exgemm" ? [1, 2, 3] : [1]).map(make));
}

function run([A, B, C]) {
  return routine === "exgemm" ? ranks.exgemm(1, A, B, 0, C) : ranks.exlu(A);
}

// A random-looking 32-bit integer.
function mixed(k) {
  let h = Math.imul(k + 1, 0x9e3779b1);
  h = Math.imul(h ^ (h >>> 15), 0x85ebca6b);
  return h ^ (h >>> 13);
}
