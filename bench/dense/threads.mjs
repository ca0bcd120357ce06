// Two threads against one, for dense.mjs: awaited calls on ordinary arrays.

import { differentBits, expectSame } from "../harness/checks.mjs";
import { square } from "../harness/data.mjs";
import { main, matrix, missingThreads } from "../harness/library.mjs";
import { race, timings } from "../harness/race.mjs";
import { count, figure, printTable, ratio } from "../harness/table.mjs";
import { ordersFor } from "./cases.mjs";

const LIMIT = 1.6;
const THREADS = [1, 2];

/** The cases and their limits; none where this machine cannot run threads. */
export async function raceThreads(quick, pace) {
  const missing = await missingThreads();
  if (missing) {
    console.log(`\n${missing}`);
    return { cases: [], limits: [] };
  }
  const pools = await Promise.all(THREADS.map((threads) => main.open("threads", { threads })));
  const { gemm, lu } = ordersFor(quick);
  const cases = [
    await measure("exlu", lu, { call: (engine, A) => engine.exlu(A), read: (factors) => factors.lu.data }),
    await measure("exgemm", gemm, { call: (engine, A, B, C) => engine.exgemm(1, A, B, 0, C), read: (C) => C.data.slice() }),
  ];
  for (const pool of pools) await pool.close();
  return { cases, limits: cases.map(limitOf) };

  async function measure(routine, n, { call, read }) {
    const [A, B, C] = [square(n, 1), square(n, 2), new Float64Array(n * n)].map((data) => matrix(data, n, n));
    const rivals = pools.map((engine, i) => ({ name: nameOf(routine, THREADS[i]), run: () => call(engine, A, B, C), read }));
    const outcomes = await race(rivals, pace);
    expectSame(`${routine}, n = ${n}`, differentBits(outcomes));
    console.log(`\n${routine}, n = ${count(n)}, engine "threads", awaited calls`);
    const rows = outcomes.map(({ name, median, min }) => [
      name,
      figure(median / 1e6),
      figure(min / 1e6),
      figure(outcomes[0].median / median),
    ]);
    printTable(["", "ms/call", "minimum", "times faster"], rows);
    return { routine, n, rivals: timings(outcomes) };
  }
}

function nameOf(routine, threads) {
  return `${routine}, ${threads} thread${threads === 1 ? "" : "s"}`;
}

function limitOf({ routine, n, rivals: [one, two] }) {
  return {
    row: `${routine}, 2 threads, n = ${count(n)}`,
    value: ratio(one.median, two.median),
    unit: " times faster",
    limit: LIMIT,
    atLeast: true,
  };
}
