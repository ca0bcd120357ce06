// The dense routines on many cores, for cores.mjs: exlu of ordinary arrays, extrsv with a resident matrix, and solve.

import { differentBits, expectSame } from "../harness/checks.mjs";
import { dominant, square, uniform } from "../harness/data.mjs";
import { matrix } from "../harness/library.mjs";
import { race, timings } from "../harness/race.mjs";
import { count, figure, printTable, ratio } from "../harness/table.mjs";

const COUNTS = [1, 2, 4, 8, 16];
const ROUNDS = 3;

// The order, that of a smoke test, and how many times faster many threads have to be than one. `once`: one call per number of threads,
// because those of one thread take seconds.
const CASES = [
  {
    routine: "exlu",
    order: 2048,
    small: 128,
    limit: 6,
    aim: 12,
    prepare: onHost(
      (engine, A) => engine.exlu(A),
      (factors) => factors.lu.data,
    ),
  },
  {
    routine: "exlu",
    order: 4096,
    small: 160,
    limit: 8,
    aim: 12,
    once: true,
    prepare: onHost(
      (engine, A) => engine.exlu(A),
      (factors) => factors.lu.data,
    ),
  },
  { routine: "extrsv", order: 8192, small: 256, limit: 8, aim: 12, prepare: substitution },
  {
    routine: "solve",
    order: 4000,
    small: 128,
    limit: 10,
    aim: 12,
    prepare: onHost(
      (engine, A, b) => engine.solve(A, b),
      ({ x }) => x,
    ),
  },
];

/** The cases and their limits: pools[i] has threads[i] workers, and `most` is the number of threads that the limits are for. */
export async function raceDense(pools, threads, most, { quick, pace }) {
  const used = threads.map((number, i) => ({ number, engine: pools[i] })).filter(({ number }) => COUNTS.includes(number));
  const cases = [];
  for (const { routine, order, small, once, prepare, ...bounds } of CASES) {
    const n = quick ? small : order;
    const rivals = await prepare(n, used);
    const outcomes = await race(
      rivals.map((rival, i) => ({ ...rival, name: nameOf(used[i].number), once })),
      { ...pace, rounds: Math.min(ROUNDS, pace.rounds) },
    );
    for (const { free } of rivals) free?.();
    expectSame(`${routine}, n = ${n}`, differentBits(outcomes));
    console.log(`\n${routine}, n = ${count(n)}`);
    const [one] = outcomes;
    printTable(
      ["", "ms/call", "minimum", "times faster"],
      outcomes.map(({ name, median, min }) => [name, figure(median / 1e6), figure(min / 1e6), figure(one.median / median)]),
    );
    cases.push({ routine, n, bounds, rivals: timings(outcomes) });
  }
  const limits = cases.map(({ routine, n, bounds, rivals }) => ({
    row: `${routine}, n = ${count(n)}, ${most} threads / one`,
    value: ratio(timeOn(rivals, 1), timeOn(rivals, most)),
    unit: " times faster",
    ...bounds,
    atLeast: true,
  }));
  return { cases: cases.map(({ bounds, ...measured }) => measured), limits };
}

function nameOf(number) {
  return number === 1 ? "1 thread" : `${number} threads`;
}

function timeOn(rivals, number) {
  return rivals.find(({ name }) => name === nameOf(number))?.median;
}

function onHost(call, read) {
  return (n, used) => {
    const A = matrix(square(n, 1), n, n);
    const b = uniform(n, 2);
    return used.map(({ engine }) => ({ run: () => call(engine, A, b), read }));
  };
}

async function substitution(n, used) {
  const T = matrix(dominant(n), n, n);
  const b = uniform(n, 4);
  return Promise.all(
    used.map(async ({ engine }) => {
      const resident = await engine.upload(T);
      return { run: () => engine.extrsv(resident, b), read: (x) => x.slice(), free: () => resident.free() };
    }),
  );
}
