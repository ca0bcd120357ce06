// Timing of rivals side by side. A machine has slow spells of 1.3 to 2 times, so rivals are interleaved round by round and a spell
// affects all of them. No garbage collection is forced: a full collection between rounds discards compiled code with the last
// object of a kind, and made d3-array's fsum seven times slower than it is.

// One timing lasts at least this long, in milliseconds: the clock's own 50 ns are then below a thousandth.
const MIN_TIMING = 0.2;

// A rival is called once untimed before each timing, so that its data are in cache if they fit, not its neighbour's.
// Calls longer than this, in milliseconds, have data that fit no cache, or take far longer than reading them does.
const CACHED = 10;

// No rival gets more than this, in milliseconds, unless three rounds take longer; its rounds are then spread over all.
// The slowest, math.sumprecise, takes 2 s per call at n = 16,000,000.
const MAX_TIME = 60_000;

/** The last result of what was timed. Nothing reads it; exporting it keeps the compiler from dropping the calls. */
export let kept;

function timed(run, iterations) {
  let result;
  const start = performance.now();
  for (let i = 0; i < iterations; i++) result = run();
  const time = performance.now() - start;
  kept = result;
  return time;
}

// A separate loop: an await costs more than the short calls above, even if there is no promise.
async function timedAwaited(run, iterations) {
  const start = performance.now();
  for (let i = 0; i < iterations; i++) kept = await run();
  return performance.now() - start;
}

/**
 * Warm up for at least `warmUp` milliseconds, and find how many iterations make a timing of at least `minTiming`. Returns the loop
 * to time with, the iterations, and the milliseconds of one call.
 */
export async function calibrate(run, warmUp, minTiming = MIN_TIMING) {
  const start = performance.now();
  const first = run();
  const clock = first instanceof Promise ? timedAwaited : timed;
  await first;
  let iterations = 1;
  for (;;) {
    const time = await clock(run, iterations);
    if (time < minTiming) iterations *= 2;
    else if (performance.now() - start >= warmUp) return { clock, iterations, once: time / iterations };
  }
}

// A rival that has to be prepared, or is too slow to be called twice, is timed one call at a time.
async function rehearse({ run, prepare, once: single }, warmUp) {
  if (!single && !prepare) return calibrate(run, warmUp);
  let once = Number.POSITIVE_INFINITY;
  for (let k = 0; k < 2 && !single; k++) {
    await prepare();
    once = await timedAwaited(run, 1);
  }
  return { clock: timedAwaited, iterations: 1, once };
}

/**
 * Every rival, { name, run }, timed once per round; if run returns a promise, until it resolves. `prepare` runs before each
 * timing and is not timed; a rival with `once` is called once in total: a call of a minute needs no warming up. Returns for each
 * its result (as `read` extracts it from what run returns, if given, or as its promise resolves), and median, minimum and all rounds in nanoseconds per call.
 */
export async function race(rivals, { rounds, warmUp }) {
  const runners = [];
  for (const rival of rivals) {
    const { clock, iterations, once } = await rehearse(rival, warmUp);
    const timings = rival.once ? 1 : Math.min(rounds, Math.max(3, Math.floor(MAX_TIME / once)));
    runners.push({ rival, clock, iterations, once, every: Math.ceil(rounds / timings), times: [] });
  }
  for (let round = 0; round < rounds; round++) {
    for (const runner of runners) {
      const { rival, clock, iterations, once, every, times } = runner;
      if (round % every !== 0) continue;
      if (once < CACHED) await clock(rival.run, 1);
      await rival.prepare?.();
      times.push(((await clock(rival.run, iterations)) * 1e6) / iterations);
      if (rival.once) runner.result = kept;
    }
  }
  const outcomes = [];
  for (const { rival, result, times } of runners) {
    const { name, run, prepare, read = (what) => what } = rival;
    if (!rival.once) await prepare?.();
    const last = rival.once ? result : await run();
    outcomes.push({ name, result: await read(last), median: quantile(times, 0.5), min: Math.min(...times), rounds: times });
  }
  return outcomes;
}

/** The same for rivals that may fail, now or in their first call: they are reported as { name, failed }, after the others. */
export async function raceOrReport(rivals, pace) {
  const ready = [];
  const failures = [];
  for (const rival of rivals)
    try {
      await rival.prepare?.();
      const { read = (result) => result } = rival;
      await read(await rival.run());
      ready.push(rival);
    } catch (error) {
      failures.push({ name: rival.name, failed: error.message.split("\n")[0] });
    }
  return [...(await race(ready, pace)), ...failures];
}

/** A rival that this build of the library does not have. */
export function absent(name) {
  return {
    name,
    run() {
      throw new Error("this build does not have it");
    },
  };
}

/** The quantile q of these numbers, interpolated: the median for q = 0.5. */
export function quantile(numbers, q) {
  const sorted = numbers.toSorted((a, b) => a - b);
  const at = q * (sorted.length - 1);
  const below = Math.floor(at);
  return sorted[below] + (at - below) * ((sorted[below + 1] ?? sorted[below]) - sorted[below]);
}

/** What of outcomes goes into the file. */
export function timings(outcomes) {
  return outcomes.map(({ name, median, min, rounds, failed }) => (failed ? { name, failed } : { name, median, min, rounds }));
}

/** The median of the first rival whose name starts like this; undefined where it was not measured. */
export function timeOf(outcomes, start) {
  return outcomes.find(({ name }) => name.startsWith(start))?.median;
}
