// Workers on one job. Alone (in a memory that is not shared) nobody ever waits.
import { JOB_ARRIVED, JOB_NEXT, JOB_PHASE, JOB_SLEEPERS, JOB_WORKERS } from "./layout";

@inline export function i32At(job: usize, field: usize): i32 { return i32.load(job + field); }
@inline export function addressAt(job: usize, field: usize): usize { return load<usize>(job + field); }

// Tries before a waiting worker goes to sleep: to wake up takes longer than most waits. With more workers than cores it is
// sleep that lets the others on; the host knows. Where other programs want the cores too nobody does: a wait that ended in
// sleep makes the next ones less patient, one that did not makes them more so.
let spins: i32 = 1000, patience: i32 = 1000;
export function setSpins(count: i32): void { spins = count; patience = count; }
// Whether every worker has a core.
export function isPatient(): bool { return spins > 1000; }
function slept(): void { patience = max(patience >> 1, spins >> 4); }
function spun(): void { patience = min(patience << 1, spins); }

// Sleep while the counter has this value. The host's Atomics.wait and not memory.atomic.wait32: in the baseline code of
// Node 20 that instruction overwrites a register in which the enclosing expression keeps a value (n in
// n - waitFor(...) * size became 0).
// @ts-ignore: decorator
@external("env", "sleep")
declare function sleep(counter: usize, value: i32): void;

// The first of `count` pieces of work that nobody has taken.
export function take(job: usize, count: i32): i32 { return atomic.add<i32>(job + JOB_NEXT, count); }

// Wait until a counter is below a value, or above one; its value then. Who sleeps is counted, so that nobody calls for
// sleepers where there are none (some 100 ns): either the sleeper is seen, or it sees the counter's new value first.
export function waitForLess(job: usize, counter: usize, value: i32): i32 { return waitFor(job, counter, i32.MIN_VALUE, value - 1); }
export function waitForMore(job: usize, counter: usize, value: i32): i32 { return waitFor(job, counter, value + 1, i32.MAX_VALUE); }
function waitFor(job: usize, counter: usize, low: i32, high: i32): i32 {
  let now = 0;
  for (let i = 0; i < patience; ++i) {
    now = atomic.load<i32>(counter);
    if (now < low || now > high) continue;
    if (i > 0) spun();
    return now;
  }
  slept();
  atomic.add<i32>(job + JOB_SLEEPERS, 1);
  while (true) {
    now = atomic.load<i32>(counter);
    if (now >= low && now <= high) break;
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

// Nobody goes on before all have come here; the last to come sets the count of work taken.
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
