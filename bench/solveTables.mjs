// The tables of the mixed-precision paper as data: effective Gflop/s (2/3 n^3 + 2 n^2 over the time of a solve) and refinement steps
// against n, for every division of the work between CPU and GPU, and without a GPU; how much of the work overlapped; ill-conditioned
// systems, and the condition from which refinement with binary32 factors no longer converges.
//   node bench/solveTables.mjs [--json FILE] [--only cpu,gpu,ill] [--no-gpu] [--device NAME] [--orders 512,1024] [--rounds 5]
//     [--seeds 10] [--quick]
// Engines are not interleaved: an idle one may still hold the device's memory and the CPU's threads.
import { main, matrix } from "./harness/library.mjs";
import { asWholeNumber, chosenOf, device, options, quick, rounds, wholeNumber } from "./harness/options.mjs";
import { race } from "./harness/race.mjs";
import { originOf, save } from "./harness/session.mjs";
import { compact, count, figure, json, printTable } from "./harness/table.mjs";
import { maxNorm, operationsOf, systemOf } from "./solve/cases.mjs";
import { cpuEngines, deviceEngines } from "./solve/engines.mjs";
import { measureIll } from "./solve/ill.mjs";

const seeds = wholeNumber("seeds", quick ? 2 : 10);
const ORDERS = quick ? { cpu: [64, 128], gpu: [64, 128] } : { cpu: [128, 256, 512, 1024, 2048], gpu: [512, 1024, 2048, 4096, 8192, 16384] };
const asked = options.orders?.split(",").map((word) => asWholeNumber("orders", word));
const ILL = { n: quick ? 40 : 100, conditions: conditions(), seeds, exactSeeds: quick ? 1 : 2 };
const WARM_UP = quick ? 0 : 50; // milliseconds
const SLOW = 1e9; // nanoseconds: a call expected to take longer is timed once
const TOO_SLOW = 1e10; // nanoseconds: a call expected to take longer is skipped

const firsts = new Map(); // solutions, by method and order
const systems = new Map(); // by order: generating the largest takes seconds
const parts = {
  cpu: async () => measureEngines("Without a GPU", cpuEngines(asked ?? ORDERS.cpu), ["mixed", "double"]),
  gpu: async () => (options["no-gpu"] ? undefined : measureDevice()),
  ill: async () => measureIll(ILL),
};
const results = {};
// An innermost object per line.
const text = (value) => compact(json(value));
for (const part of chosenOf(Object.keys(parts))) {
  results[part] = await parts[part]();
  save(originOf("solve-tables", ["koffi"]), { unit: "ns", rounds, ...results }, { standard: "solve-tables.json", text });
}

// Every power of ten from 1e2 to 1e16, and more near the limit of binary32.
function conditions() {
  const powers = Array.from({ length: 15 }, (_, k) => Number(`1e${k + 2}`));
  const between = [6, 7, 8, 9].flatMap((e) => [2, 5].map((digit) => Number(`${digit}e${e}`)));
  return (quick ? powers : [...powers, ...between]).sort((a, b) => a - b);
}

async function measureDevice() {
  const offered = (await main.engines()).find(({ kind }) => kind === "opencl");
  if (!offered.available) {
    console.log(`\nA GPU is not measured: ${offered.reason}`);
    return { missing: offered.reason };
  }
  return measureEngines("CPU and GPU", deviceEngines(asked ?? ORDERS.gpu, device), ["mixed"]);
}

/** { device, rows }, a row for every engine, method and order. */
async function measureEngines(title, engines, methods) {
  const rows = [];
  let on;
  for (const { name, sharing, orders, open, watched } of engines) {
    const engine = await open();
    on = engine.device;
    for (const method of methods) {
      let before;
      for (const n of orders) {
        before = { engine: name, sharing, method, n, ...(await measureSolves(engine, method, n, before)) };
        rows.push(before);
        if (before.missing) console.log(`${name}, ${method}, n = ${count(n)} is not measured: ${before.missing}`);
      }
    }
    await engine.close();
    if (watched)
      await addPhases(
        open,
        rows.filter((row) => row.engine === name && row.time !== undefined),
      );
  }
  for (const method of methods)
    printRows(
      `${title} (${on}), ${method}`,
      engines,
      rows.filter((row) => row.method === method),
    );
  return { device: on, rows };
}

// The times and the quality of the solution, or { missing } with the reason; `before` is the row of the previous order.
async function measureSolves(engine, method, n, before) {
  if (before?.missing) return { missing: before.missing };
  const expected = before ? before.time * (n / before.n) ** 3 : 0;
  if (expected > TOO_SLOW) return { missing: `a call would take ${figure(expected / 1e9)} s` };
  const { A, b } = system(n);
  let resident;
  try {
    resident = await engine.upload(A);
    const run = () => engine.solve(resident, b, { rounding: "backward", method, fallback: false });
    const [{ median: time, min, rounds: times, result }] = await race([{ name: "", run, once: expected > SLOW }], {
      rounds,
      warmUp: WARM_UP,
    });
    const { x, iterations, converged, residual } = result;
    return {
      time,
      min,
      rounds: times,
      gflops: operationsOf(n) / time,
      iterations,
      converged,
      residual,
      apart: apartFromFirst(method, n, x),
    };
  } catch (error) {
    return { missing: error.message.split("\n")[0] }; // the other rows are still measured
  } finally {
    resident?.free();
  }
}

function system(n) {
  if (!systems.has(n)) {
    const { A, b } = systemOf(n);
    systems.set(n, { A: matrix(A, n, n), b });
  }
  return systems.get(n);
}

// Adds to each row its phases, { name: { calls, wall, cpu, gpu, overlap } } in milliseconds, from an engine that reports them: those
// of the second call, which compiles nothing.
async function addPhases(open, rows) {
  let phases = [];
  const engine = await open((phase) => phases.push(phase));
  for (const row of rows) {
    const { A, b } = system(row.n);
    const resident = await engine.upload(A);
    for (let k = 0; k < (row.time > SLOW ? 1 : 2); k++) {
      phases = [];
      await engine.solve(resident, b, { rounding: "backward", method: row.method, fallback: false });
    }
    resident.free();
    row.phases = totals(phases);
  }
  await engine.close();
}

function totals(phases) {
  const sums = {};
  for (const { name, wall, cpu, gpu, overlap } of phases) {
    const { calls, ...sum } = sums[name] ?? { calls: 0, wall: 0, cpu: 0, gpu: 0, overlap: 0 };
    sums[name] = { calls: calls + 1, wall: sum.wall + wall, cpu: sum.cpu + cpu, gpu: sum.gpu + gpu, overlap: sum.overlap + overlap };
  }
  return sums;
}

// The largest difference between x and the solution of the first engine, in units of 2^-52 of its largest entry. Engines may differ
// in the last bits.
function apartFromFirst(method, n, x) {
  const key = `${method} ${n}`;
  if (!firsts.has(key)) firsts.set(key, x);
  const first = firsts.get(key);
  return maxNorm(x.map((v, i) => v - first[i])) / (maxNorm(first) * 2 ** -52);
}

function printRows(title, engines, rows) {
  const orders = [...new Set(rows.map(({ n }) => n))];
  const cells = (name, cell) => orders.map((n) => cell(rows.find((row) => row.engine === name && row.n === n) ?? {}));
  const table = (what, cell) => {
    console.log(`\n${title}: ${what}`);
    printTable(
      ["n =", ...orders.map(count)],
      engines.map(({ name }) => [name, ...cells(name, cell)]),
    );
  };
  table("Gflop/s", ({ gflops }) => figure(gflops));
  table("refinement steps", ({ iterations, converged }) =>
    iterations === undefined ? undefined : `${iterations}${converged ? "" : ", not converged"}`,
  );
  const maxOf = (of) => Math.max(...rows.map((row) => of(row) ?? 0)).toPrecision(2);
  console.log(
    `  The largest scaled residual is ${maxOf(({ residual }) => residual)}; solutions differ from those of the first engine by at most ${maxOf(({ apart }) => apart)}`,
  );
  console.log("  times 2^-52 of their largest entry.");
  if (rows.some(({ phases }) => phases))
    table("factorization: ms, of which CPU, GPU, both", ({ phases }) => {
      const { wall, cpu, gpu, overlap } = phases?.factorize ?? {};
      return wall === undefined ? undefined : [wall, cpu, gpu, overlap].map(figure).join(" ");
    });
}
