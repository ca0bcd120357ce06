// Timing of rivals side by side. A machine has slow spells, so rivals take turns, round after round, and a spell meets all
// of them. The figures of a report are minima and medians of a few rounds; bench/ measures longer.

/** In nanoseconds a call. */
export interface Timing {
  readonly name: string;
  readonly median: number;
  readonly min: number;
}

export interface Rival {
  readonly name: string;
  run(): unknown;
}

// One timing lasts at least this long, in milliseconds: the clock's own 50 ns are then below a thousandth.
const MIN = 0.2;

// A loop of its own for promises: awaiting what is none costs more than short calls take.
async function timed(run: () => unknown, calls: number): Promise<number> {
  const start = performance.now();
  let result = run();
  if (result instanceof Promise) {
    await result;
    for (let i = 1; i < calls; i++) await run();
  } else {
    for (let i = 1; i < calls; i++) result = run();
  }
  return performance.now() - start;
}

// Run this long before timing, in milliseconds: the first calls are interpreted and compiled.
const WARM_UP = 5;

// The number of calls that make a timing.
async function calibrated(run: () => unknown): Promise<number> {
  const start = performance.now();
  for (let calls = 1; ; ) {
    const time = await timed(run, calls);
    if (time < MIN) calls *= 2;
    else if (performance.now() - start >= WARM_UP) return calls;
  }
}

/** Every rival timed once a round. */
export async function race(rivals: readonly Rival[], rounds: number): Promise<Timing[]> {
  const runners: { rival: Rival; calls: number; times: number[] }[] = [];
  for (const rival of rivals) runners.push({ rival, calls: await calibrated(rival.run), times: [] });
  for (let round = 0; round < rounds; round++)
    for (const { rival, calls, times } of runners) times.push(((await timed(rival.run, calls)) * 1e6) / calls);
  return runners.map(({ rival: { name }, times }) => ({ name, median: median(times), min: Math.min(...times) }));
}

export function median(times: readonly number[]): number {
  const sorted = times.slice().sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] as number;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2;
}
