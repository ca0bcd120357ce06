// Measures the phases of solve() for choices.solve.watch: how long CPU and GPU worked, and how long at the same time.
import type { Device, Interval, Work } from "../../device.ts";
import type { Cpu } from "./cpu.ts";

/** A phase of solve(), and how long CPU and GPU worked in it, in milliseconds. */
export interface Phase {
  readonly name: "factorize" | "forward" | "backward";
  readonly n: number;
  /** From its first command to the end of the last. */
  readonly wall: number;
  /** CPU time: panels on the threads, small products and solves. */
  readonly cpu: number;
  /** Time in which the device ran at least one command. */
  readonly gpu: number;
  /** Time in which both worked. */
  readonly overlap: number;
}

/** Called with each phase when it ends. */
export type Watch = (phase: Phase) => void;

/** Do work, and measure it if there is a `watch`: then this waits for all commands before it and in it. */
export function* watched<R>(device: Device, cpu: Cpu, watch: Watch | undefined, name: Phase["name"], n: number, work: Work<R>): Work<R> {
  if (!watch) return yield* work;
  yield device.finish();
  const [gpuTimes, cpuTimes] = [device.record(), cpu.record()];
  const from = performance.now();
  let times: readonly Interval[] = [];
  let wall = 0;
  let result: R;
  try {
    result = yield* work;
    device.waitFor(device.onSecondQueue(() => device.event()));
    yield device.finish();
    wall = performance.now() - from;
  } finally {
    times = gpuTimes();
  }
  const [gpu, busy] = [union(times), union(cpuTimes())];
  watch({
    name,
    n,
    wall,
    cpu: lengthOf(busy),
    gpu: lengthOf(gpu),
    overlap: Math.max(0, lengthOf(gpu) + lengthOf(busy) - lengthOf(union([...gpu, ...busy]))), // sums are rounded
  });
  return result;
}

// The union of intervals, as disjoint intervals.
function union(intervals: readonly Interval[]): Interval[] {
  const result: Interval[] = [];
  for (const [from, to] of [...intervals].sort((a, b) => a[0] - b[0])) {
    const last = result.at(-1);
    if (last && from <= last[1]) result[result.length - 1] = [last[0], Math.max(last[1], to)];
    else result.push([from, to]);
  }
  return result;
}

function lengthOf(intervals: readonly Interval[]): number {
  return intervals.reduce((sum, [from, to]) => sum + to - from, 0);
}
