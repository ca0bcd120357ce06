// Timing on a device. A rival is { name, enqueue, finish, read?, slow? }: several calls, then one wait, so that the time is the
// device's wherever the host keeps up with it; or { name, run, calls?, read? }, timed until its promise resolves.
import { quick, rounds } from "../harness/options.mjs";
import { race, raceOrReport } from "../harness/race.mjs";

// A timing lasts about this long, in milliseconds: a wait costs some 10 µs.
const TIMING = quick ? 0.5 : 5;
const MAX_CALLS = 500;
// A rival with a longer call, in milliseconds, is dropped: the whole run has minutes.
const MAX_CALL = 5000;
const pace = { rounds, warmUp: quick ? 1 : 20 };

/**
 * Race these rivals, and the slow ones separately: rivals that are compared follow each other closely, whatever the host does.
 * Returns for each its result (what `read` returns), and median, minimum and all rounds in nanoseconds per call; or why it
 * failed.
 */
export async function raceOnDevice(rivals) {
  const ready = [];
  const failures = [];
  for (const { name, enqueue, finish, run: whole, calls: inOne = 1, read = () => undefined, slow = false } of rivals)
    try {
      if (whole) {
        await read(await whole());
        ready.push({ name, run: whole, read, calls: inOne, slow });
        continue;
      }
      const calls = callsPerTiming(enqueue, finish);
      const run = () => {
        for (let i = 0; i < calls; i++) enqueue();
        finish();
      };
      ready.push({ name, run, read, calls, slow });
    } catch (error) {
      failures.push({ name, failed: error.message.split("\n")[0] });
    }
  const outcomes = [];
  for (const field of [ready.filter(({ slow }) => !slow), ready.filter(({ slow }) => slow)])
    for (const [i, outcome] of (await race(field, pace)).entries()) outcomes.push(perCall(outcome, field[i].calls));
  return [...outcomes, ...failures];
}

/** An outcome whose times are those of several calls. */
export function perCall({ median, min, rounds: times, ...rest }, calls) {
  return { ...rest, median: median / calls, min: min / calls, rounds: times.map((time) => time / calls) };
}

/** Race rivals { name, run, prepare?, read? } that are timed from a call until its promise resolves; those that fail are reported. */
export async function raceCalls(rivals) {
  return raceOrReport(rivals, pace);
}

// The first call compiles, and the second still finds cold memory.
function callsPerTiming(enqueue, finish) {
  let once;
  for (let i = 0; i < 3; i++) {
    const start = performance.now();
    enqueue();
    finish();
    once = performance.now() - start;
    if (i > 0 && once > MAX_CALL) throw new Error(`one call takes ${Math.round(once)} ms, expected at most ${MAX_CALL}`);
  }
  return Math.max(1, Math.min(MAX_CALLS, Math.round(TIMING / once)));
}
