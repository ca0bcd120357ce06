// Whole calls of the engine, from the call to its promise's end: what a user pays beside the device's own work.
import { uniform } from "./data.mjs";
import { quick, rounds } from "./gpuSession.mjs";
import { printOutcomes } from "./gpuTable.mjs";
import { race, timings } from "./harness.mjs";
import { main } from "./library.mjs";
import { count, figure } from "./table.mjs";

const LENGTHS = quick ? [2 ** 10, 2 ** 14] : [2 ** 10, 2 ** 20, 2 ** 24];
const ORDERS = quick ? [64] : [64, 4096];
const PACE = { rounds, warmUp: 20 };

/** Timings of calls with data on the engine, and of the same with the caller's arrays. */
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
      { name: "on the engine", run: () => call(...residents), read: () => undefined },
      { name: "the caller's arrays", run: () => call(...values), read: () => undefined },
    ],
    PACE,
  );
  for (const resident of residents) resident.free();
  printOutcomes(`Whole calls, ${name}`, outcomes, { µs: ({ median }) => figure(median / 1e3), minimum: ({ min }) => figure(min / 1e3) });
  return timings(outcomes);
}
