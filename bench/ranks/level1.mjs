// Under mpirun: exdot of short parts, exdot of a long vector in engine memory, and what a rank uses that waits for a second. Rank 0 prints
// one line of JSON. bench/ranks.mjs starts it with several numbers of ranks.
//   mpirun -n 4 node bench/ranks/level1.mjs [--length 16000000] [--calls 2000] [--rounds 15]
import { parseArgs } from "node:util";
import { allocate } from "../../dist/index.js";
import { openRanks } from "../../dist/mpi.js";

const { values } = parseArgs({
  options: {
    length: { type: "string", default: "16000000" },
    calls: { type: "string", default: "2000" },
    rounds: { type: "string", default: "15" },
  },
});
const [length, calls, rounds] = [values.length, values.calls, values.rounds].map(Number);
const ranks = await openRanks();
const median = (times) => times.sort((a, b) => a - b)[times.length >> 1];

async function timed(count, call) {
  const times = [];
  for (let i = 0; i < count; i++) {
    await ranks.exsum(new Float64Array(1)); // all begin together
    const start = performance.now();
    await call();
    times.push(performance.now() - start);
  }
  return median(times);
}

const short = Float64Array.of(ranks.rank, 1, 2, 3);
const shortMs = await timed(calls, () => ranks.exdot(short, short));
const n = Math.floor((length * (ranks.rank + 1)) / ranks.size) - Math.floor((length * ranks.rank) / ranks.size);
const [x, y] = [allocate(n), allocate(n)];
for (let i = 0; i < n; i++) {
  x[i] = Math.sin(i + ranks.rank);
  y[i] = Math.cos(3 * i);
}
const longMs = await timed(rounds, () => ranks.exdot(x, y));
const last = ranks.rank === ranks.size - 1;
if (last) await new Promise((resolve) => setTimeout(resolve, 1000));
const before = process.cpuUsage();
await ranks.exsum(short);
const { user, system } = process.cpuUsage(before);
const result = { library: ranks.library, ranks: ranks.size, shortUs: 1000 * shortMs, length, longMs, waitCpuMs: (user + system) / 1000 };
if (ranks.rank === 0) console.log(JSON.stringify(result));
await ranks.close();
