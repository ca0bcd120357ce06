// Timing of rivals. Machines have slow periods, so rivals alternate, round by round, and a slow period affects all of them. A report
// shows minima and medians of a few rounds; bench/ measures longer.

/** In nanoseconds per call. */
export interface Timing {
  readonly name: string;
  readonly median: number;
  readonly min: number;
}

export interface Rival {
  readonly name: string;
  run(): unknown;
}

// The shortest timing, in milliseconds: the clock's resolution of 50 ns is then below a thousandth.
const MIN_TIME = 0.2;

// A separate loop for promises: awaiting a value that is not a promise costs more than a short call.
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

// Milliseconds to run before timing: the first calls are interpreted and compiled.
const WARM_UP = 5;

// The number of calls per timing.
async function calibrated(run: () => unknown): Promise<number> {
  const start = performance.now();
  for (let calls = 1; ; ) {
    const time = await timed(run, calls);
    if (time < MIN_TIME) calls *= 2;
    else if (performance.now() - start >= WARM_UP) return calls;
  }
}

/** Times every rival once per round. */
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
