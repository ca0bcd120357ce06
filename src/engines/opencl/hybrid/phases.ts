import type { Device, Interval, Work } from "../../device.ts";
import type { Cpu } from "./cpu.ts";

/** A part of solve(), and how long CPU and GPU were at work in it, in milliseconds. */
export interface Phase {
  readonly name: "factorize" | "forward" | "backward";
  readonly n: number;
  /** From its first command until the last is through. */
  readonly wall: number;
  /** In which the CPU worked: panels on the threads, small products and solves. */
  readonly cpu: number;
  /** In which the device ran at least one command. */
  readonly gpu: number;
  /** In which both did. */
  readonly overlap: number;
}

/** Told of every phase as it ends. */
export type Watch = (phase: Phase) => void;

/** Do work, and tell how it went if somebody wants to know: then everything before it and in it is waited for. */
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
    device.follow(device.aside(() => device.mark()));
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

// The same moments, in intervals that do not meet.
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
