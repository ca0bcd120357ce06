// Cooperation of the workers on one job: the counter of pieces of work, waiting and waking, and the barrier. A single worker (in a
// memory that is not shared) never waits.
import { JOB_ARRIVED, JOB_NEXT, JOB_PHASE, JOB_SLEEPERS, JOB_WORKERS } from "./layout";

@inline export function i32At(job: usize, field: usize): i32 { return i32.load(job + field); }
@inline export function addressAt(job: usize, field: usize): usize { return load<usize>(job + field); }

// How often a waiting worker polls before it goes to sleep: waking up takes longer than most waits. With more workers than cores,
// sleeping is what lets the others run; the host then sets a small limit. Nobody knows whether other programs want the cores too,
// so the limit adapts: a wait that ends in sleep lowers it for the next ones, and one that does not raises it.
let maxSpins: i32 = 1000, spinLimit: i32 = 1000;
export function setSpins(count: i32): void { maxSpins = count; spinLimit = count; }
export function hasCoreForEachWorker(): bool { return maxSpins > 1000; }
function lowerSpinLimit(): void { spinLimit = max(spinLimit >> 1, maxSpins >> 4); }
function raiseSpinLimit(): void { spinLimit = min(spinLimit << 1, maxSpins); }

// Sleep while the counter has this value. This calls the host's Atomics.wait instead of memory.atomic.wait32, because in the
// baseline code of Node 20 that instruction overwrites a register in which the enclosing expression keeps a value (n in
// n - waitFor(...) * size became 0).
// @ts-ignore: decorator
@external("env", "sleep")
declare function sleep(counter: usize, value: i32): void;

// Take the next `count` pieces of work; returns the first.
export function take(job: usize, count: i32): i32 { return atomic.add<i32>(job + JOB_NEXT, count); }

// Wait until a counter is above a value; returns the counter. Sleepers are counted, so that nobody notifies when there are none (a
// notification takes about 100 ns). No wakeup is lost: either the notifier sees the sleeper's count, or the sleeper sees the counter's new
// value.
export function waitForMore(job: usize, counter: usize, value: i32): i32 {
  let now = 0;
  for (let i = 0; i < spinLimit; ++i) {
    now = atomic.load<i32>(counter);
    if (now <= value) continue;
    if (i > 0) raiseSpinLimit();
    return now;
  }
  lowerSpinLimit();
  atomic.add<i32>(job + JOB_SLEEPERS, 1);
  while (true) {
    now = atomic.load<i32>(counter);
    if (now > value) break;
    sleep(counter, now);
  }
  atomic.sub<i32>(job + JOB_SLEEPERS, 1);
  return now;
}
export function wake(job: usize, counter: usize): void {
  if (atomic.load<i32>(job + JOB_SLEEPERS) > 0) atomic.notify(counter, -1);
}
export function setAndWake(job: usize, counter: usize, value: i32): void {
  atomic.store<i32>(counter, value);
  wake(job, counter);
}

// No worker passes before all have arrived; the last one to arrive resets the counter of work taken to `next`.
export function barrier(job: usize, next: i32): void {
  const phase = atomic.load<i32>(job + JOB_PHASE);
  if (atomic.add<i32>(job + JOB_ARRIVED, 1) == i32At(job, JOB_WORKERS) - 1) {
    atomic.store<i32>(job + JOB_ARRIVED, 0);
    atomic.store<i32>(job + JOB_NEXT, next);
    setAndWake(job, job + JOB_PHASE, phase + 1);
  } else {
    waitForMore(job, job + JOB_PHASE, phase);
  }
}
