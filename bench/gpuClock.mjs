// Timing on a device. A rival is { name, enqueue, finish, read?, slow? }: calls in a row, then one wait, so that what is measured
// is the device where the host keeps up with it.

import { quick, rounds } from "./gpuSession.mjs";
import { race } from "./harness.mjs";

// A timing lasts about this long, in milliseconds: a wait costs some 10 µs.
const LASTING = quick ? 0.5 : 5;
const MOST = 500;
// A call that takes longer, in milliseconds, is out: the whole run has minutes.
const PATIENCE = 5000;
const pace = { rounds, warmUp: quick ? 1 : 20 };

/**
 * Race these rivals, and the slow ones by themselves: those that are compared follow each other closely, whatever the host does.
 * Returns for each its result (what `read` makes of it), and median, minimum and all rounds in nanoseconds a call; or why it did
 * not run.
 */
export async function contest(rivals) {
  const ready = [];
  const failures = [];
  for (const { name, enqueue, finish, read = () => undefined, slow = false } of rivals)
    try {
      const many = callsInARow(enqueue, finish);
      const run = () => {
        for (let i = 0; i < many; i++) enqueue();
        finish();
      };
      ready.push({ name, run, read, many, slow });
    } catch (error) {
      failures.push({ name, failed: error.message.split("\n")[0] });
    }
  const outcomes = [];
  for (const field of [ready.filter(({ slow }) => !slow), ready.filter(({ slow }) => slow)])
    for (const [i, { median, min, rounds: times, ...rest }] of (await race(field, pace)).entries()) {
      const { many } = field[i];
      outcomes.push({ ...rest, median: median / many, min: min / many, rounds: times.map((time) => time / many) });
    }
  return [...outcomes, ...failures];
}

/** Race rivals that are timed from a call until its promise resolves, { name, run, prepare?, read? }; those that fail are told. */
export async function contestOf(rivals) {
  const ready = [];
  const failures = [];
  for (const rival of rivals)
    try {
      await rival.prepare?.();
      const { read = (result) => result } = rival;
      read(await rival.run());
      ready.push(rival);
    } catch (error) {
      failures.push({ name: rival.name, failed: error.message.split("\n")[0] });
    }
  return [...(await race(ready, pace)), ...failures];
}

// The first call compiles, and the second still finds cold memory.
function callsInARow(enqueue, finish) {
  let once;
  for (let i = 0; i < 3; i++) {
    const start = performance.now();
    enqueue();
    finish();
    once = performance.now() - start;
    if (i > 0 && once > PATIENCE) throw new Error(`one call takes ${Math.round(once)} ms, expected at most ${PATIENCE}`);
  }
  return Math.max(1, Math.min(MOST, Math.round(LASTING / once)));
}

/** What of an outcome goes into the file. */
export function timesOf(outcomes) {
  return outcomes.map(({ name, median, min, rounds: times, failed }) => (failed ? { name, failed } : { name, median, min, rounds: times }));
}

/** The median of the rival whose name begins so; undefined where it was not measured. */
export function timeOf(outcomes, start) {
  return outcomes.find(({ name }) => name.startsWith(start))?.median;
}
