// Timing of rivals side by side. A machine has slow spells of 1.3 to 2 times, so rivals take turns, round after round,
// and a spell meets all of them. The collector is left alone: a full collection between rounds throws away compiled
// code with the last object of a kind, and made d3-array's fsum seven times slower than it is.

// One timing lasts at least this long, in milliseconds: the clock's own 50 ns are then below a thousandth.
const LEAST = 0.2;

// A rival is called once untimed before each timing, so that its data are in cache if they fit, not its neighbour's.
// Calls longer than this, in milliseconds, have data that fit no cache, or take far longer than reading them does.
const CACHED = 10;

// No rival gets more than this, in milliseconds, unless three rounds take longer; its rounds are then spread over all.
// The slowest, math.sumprecise, takes 2 s a call at n = 16,000,000.
const PATIENCE = 60_000;

/** The last result of what was timed: read by nobody, but no compiler can know that. */
export let kept;

function timed(run, iterations) {
  let result;
  const start = performance.now();
  for (let i = 0; i < iterations; i++) result = run();
  const time = performance.now() - start;
  kept = result;
  return time;
}

// A loop of its own: awaiting what is no promise costs more than the short calls above take.
async function timedAwaited(run, iterations) {
  const start = performance.now();
  for (let i = 0; i < iterations; i++) kept = await run();
  return performance.now() - start;
}

// Warm up, and find out how many iterations make a timing.
async function calibrate(run, warmUp) {
  const start = performance.now();
  const first = run();
  const clock = first instanceof Promise ? timedAwaited : timed;
  await first;
  let iterations = 1;
  for (;;) {
    const time = await clock(run, iterations);
    if (time < LEAST) iterations *= 2;
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
 * Every rival, { name, run }, timed once a round; where run returns a promise, until it resolves. `prepare` comes before each
 * timing and is not timed; a rival with `once` is called once in all: a call of a minute needs no warming up. Returns for each
 * its result (as `read` makes it of what run returns, where there is one), and median, minimum and all the rounds in
 * nanoseconds a call.
 */
export async function race(rivals, { rounds, warmUp }) {
  const runners = [];
  for (const rival of rivals) {
    const { clock, iterations, once } = await rehearse(rival, warmUp);
    const turns = rival.once ? 1 : Math.min(rounds, Math.max(3, Math.floor(PATIENCE / once)));
    runners.push({ rival, clock, iterations, once, every: Math.ceil(rounds / turns), times: [] });
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
    outcomes.push({ name, result: read(last), median: median(times), min: Math.min(...times), rounds: times });
  }
  return outcomes;
}

function median(times) {
  const sorted = times.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** What of an outcome goes into the file. */
export function timings(outcomes) {
  return outcomes.map(({ name, median, min, rounds }) => ({ name, median, min, rounds }));
}
