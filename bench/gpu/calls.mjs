// Whole calls of the engine, until the promise resolves, for gpu.mjs: what a user pays beyond the device's own work.
import { uniform } from "../harness/data.mjs";
import { main } from "../harness/library.mjs";
import { quick, rounds } from "../harness/options.mjs";
import { race, timings } from "../harness/race.mjs";
import { count, figure } from "../harness/table.mjs";
import { printOutcomes } from "./table.mjs";

const LENGTHS = quick ? [2 ** 10, 2 ** 14] : [2 ** 10, 2 ** 20, 2 ** 24];
const ORDERS = quick ? [64] : [64, 4096];
const PACE = { rounds, warmUp: 20 };

/** Timings of calls with resident data, and with ordinary arrays. */
export async function* measureCalls({ device }) {
  const engine = await main.open("opencl", { device: device.name });
  for (const n of LENGTHS) {
    const vectors = [1, 2].map((seed) => uniform(n, seed));
    yield* await both(engine, `exdot, n = ${count(n)}`, vectors, (x, y) => engine.exdot(x, y));
  }
  for (const n of ORDERS) {
    const system = [main.matrix(uniform(n * n, 1), n, n), uniform(n, 2), new Float64Array(n)];
    yield* await both(engine, `exgemv, n = ${count(n)}`, system, (A, x, y) => engine.exgemv(1, A, x, 0, y));
  }
  await engine.close();
}

async function both(engine, name, values, call) {
  const residents = await Promise.all(values.map((value) => engine.upload(value)));
  const outcomes = await race(
    [
      { name: "resident", run: () => call(...residents), read: () => undefined },
      { name: "ordinary arrays", run: () => call(...values), read: () => undefined },
    ],
    PACE,
  );
  for (const resident of residents) resident.free();
  printOutcomes(`Whole calls, ${name}`, outcomes, { µs: ({ median }) => figure(median / 1e3), minimum: ({ min }) => figure(min / 1e3) });
  return timings(outcomes);
}
