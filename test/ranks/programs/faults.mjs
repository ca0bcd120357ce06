// What happens if ranks differ, or fail: node faults.mjs KIND. Every rank prints the errors that it catches.
import { spawn } from "node:child_process";
import { writeSync } from "node:fs";
import { csr } from "../../../dist/index.js";
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

// SIGKILL for this process, some time after the others have begun to work with it.
const killSoon = () => spawn("sh", ["-c", `sleep 0.3; kill -9 ${process.pid}`], { stdio: "ignore" });

// Rows of the identity.
const identity = () => {
  const rows = 4;
  const pointers = Int32Array.from({ length: rows + 1 }, (_, i) => i);
  const indices = Int32Array.from({ length: rows }, (_, i) => rows * ranks.rank + i);
  return ranks.sparse(
    csr(rows, rows * ranks.size, pointers, indices, new Float64Array(rows).fill(1)),
    rows * ranks.rank,
    rows * ranks.size,
  );
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
  // In the middle of calls that follow each other without end.
  async "is killed in exlu"() {
    const A = await ranks.matrix(100, 100, (i, j) => Math.sin(i * 100 + j), { blockSize: 7 });
    if (last) killSoon();
    for (;;) (await ranks.exlu(A)).lu.free();
  },
  async "is killed in cg"() {
    const A = await identity();
    if (last) killSoon();
    for (;;) await ranks.cg(A, new Float64Array(4).fill(1));
  },
  // The others wait in the event loop by then.
  async "is killed while others wait"() {
    if (last) {
      killSoon();
      await new Promise((resolve) => setTimeout(resolve, 30_000));
    }
    await ranks.exsum(x);
    say("went on");
  },
  // Exceptions that nobody catches, inside of calls.
  async "throws in an entry"() {
    const entry = (i) => {
      if (last) throw new Error("this rank has a problem");
      return i;
    };
    await ranks.matrix(9, 9, entry, { blockSize: 1 });
    say("went on");
  },
  async "throws in onIteration"() {
    const onIteration = () => {
      if (last) throw new Error("this rank has a problem");
    };
    await ranks.cg(await identity(), new Float64Array(4).fill(1), { onIteration });
    say("went on");
  },
  // While the others are in the middle of a factorization.
  async "leaves before exlu"() {
    const A = await ranks.matrix(100, 100, (i, j) => Math.sin(i * 100 + j), { blockSize: 7 });
    if (last) process.exit(0);
    await ranks.exlu(A);
    say("went on");
  },
  async "leaves with calls under way"() {
    for (let k = 0; k < 10; k++) ranks.exsum(x).catch(() => undefined);
    if (last) process.exit(0);
    for (let k = 0; k < 10; k++) await ranks.exsum(x);
    say("went on");
  },
  // One rank closes while the others go on.
  async "closes alone"() {
    if (last) await ranks.close();
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
