// Under mpirun: exdot of short parts, exdot of a long vector in engine memory, and what a rank uses that waits for a second.
//   mpirun -n 4 node bench/ranks/level1.mjs [LENGTH] [CALLS] [ROUNDS]
import { allocate } from "../../dist/index.js";
import { finish, ranks, share, timed } from "./job.mjs";

const [length = 16_000_000, calls = 2000, rounds = 15] = process.argv.slice(2).map(Number);
const short = Float64Array.of(ranks.rank, 1, 2, 3);
const shortUs = 1000 * (await timed(calls, () => ranks.exdot(short, short)));

const longMs = length > 0 ? await long() : undefined;
async function long() {
  const [from, to] = share(length);
  const [x, y] = [allocate(to - from), allocate(to - from)];
  for (let i = from; i < to; i++) {
    x[i - from] = Math.sin(i);
    y[i - from] = Math.cos(3 * i);
  }
  return timed(rounds, () => ranks.exdot(x, y));
}

if (ranks.rank === ranks.size - 1) await new Promise((resolve) => setTimeout(resolve, 1000));
const before = process.cpuUsage();
await ranks.exsum(short);
const { user, system } = process.cpuUsage(before);
await finish({ shortUs, length, longMs, waitCpuMs: (user + system) / 1000 });
