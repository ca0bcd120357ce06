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

// Warm up, and find out how many iterations make a timing.
function calibrate(run, warmUp) {
  const start = performance.now();
  let iterations = 1;
  for (;;) {
    const time = timed(run, iterations);
    if (time < LEAST) iterations *= 2;
    else if (performance.now() - start >= warmUp) return { iterations, once: time / iterations };
  }
}

/**
 * Every rival, { name, run }, timed once a round. Returns for each its result, and median, minimum and all the rounds
 * in nanoseconds a call.
 */
export function race(rivals, { rounds, warmUp }) {
  const runners = rivals.map(({ run }) => {
    const { iterations, once } = calibrate(run, warmUp);
    const turns = Math.min(rounds, Math.max(3, Math.floor(PATIENCE / once)));
    return { run, iterations, once, every: Math.ceil(rounds / turns), times: [] };
  });
  for (let round = 0; round < rounds; round++) {
    for (const { run, iterations, once, every, times } of runners) {
      if (round % every !== 0) continue;
      if (once < CACHED) timed(run, 1);
      times.push((timed(run, iterations) * 1e6) / iterations);
    }
  }
  return rivals.map(({ name, run }, i) => {
    const { times } = runners[i];
    return { name, result: run(), median: median(times), min: Math.min(...times), rounds: times };
  });
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
