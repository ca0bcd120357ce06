// What happens if ranks differ, or fail: node faults.mjs KIND. Every rank prints the errors that it catches.
import { writeSync } from "node:fs";
import { openRanks } from "../../../dist/mpi.js";

const [kind] = process.argv.slice(2);
const ranks = await openRanks();
const last = ranks.rank === ranks.size - 1;
const x = Float64Array.of(1, 2, 3);
const say = (text) => writeSync(1, `[${ranks.rank}] ${text}\n`);

const caught = async (call) => {
  try {
    say(`returned ${await call()}`);
  } catch (error) {
    say(`${error.name}: ${error.message}`);
  }
};

const KINDS = {
  // Another routine, other options, another precision, bad arguments on one rank: an error on all, and the next call works.
  async differ() {
    await caught(() => (last ? ranks.exsum(x) : ranks.exasum(x)));
    await caught(() => ranks.exsum(x, { round: last ? "up" : "down" }));
    await caught(() => ranks.exsum(last ? new Float32Array(3) : x));
    await caught(() => ranks.exdot(x, last ? x.subarray(1) : x));
    await caught(() => ranks.exsum(last ? [1, 2, 3] : x));
    await caught(() => ranks.exsum(x));
    await ranks.close();
    await caught(() => ranks.exsum(x));
    await ranks.close();
  },
  // An exception that nobody catches ends the job, although the other ranks wait.
  async throws() {
    if (last) throw new Error("this rank has a problem");
    await ranks.exsum(x);
    say("went on");
  },
  // A rank that is killed.
  async killed() {
    if (last) process.kill(process.pid, "SIGKILL");
    await ranks.exsum(x);
    say("went on");
  },
  // A rank that ends without a word, while the others wait.
  async leaves() {
    if (last) process.exit(0);
    await ranks.exsum(x);
    say("went on");
  },
  // Without close().
  async forgets() {
    await caught(() => ranks.exsum(x));
  },
  async twice() {
    await caught(() => openRanks());
    await ranks.close();
    await caught(() => openRanks());
  },
  // How much processor time a rank uses that waits for a second.
  async waits() {
    await ranks.exsum(x);
    if (last) await new Promise((resolve) => setTimeout(resolve, 1000));
    const before = process.cpuUsage();
    await ranks.exsum(x);
    const { user, system } = process.cpuUsage(before);
    say(`${Math.round((user + system) / 1000)} ms`);
    await ranks.close();
  },
};
await KINDS[kind]();
