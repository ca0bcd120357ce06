// solve() beside cuSOLVER, with A on the device on both sides: Dgetrf and Dgetrs, DDgesv and DSgesv. A time runs from the call
// until x is known to be there; ours brings x to the caller too. Ours takes rows for what the others take for columns, which is
// the same work on the transpose.
import { openDevice } from "../dist/engines/opencl/device/device.js";
import { backendOn } from "../dist/engines/opencl/index.js";
import { contestOf } from "./gpuClock.mjs";
import { withData } from "./gpuData.mjs";
import { OURS } from "./gpuDense.mjs";
import { chosenDevice, quick } from "./gpuSession.mjs";
import { milliseconds, printOutcomes } from "./gpuTable.mjs";
import { matrix, study } from "./library.mjs";
import { bytesOf, maxNorm, operationsOf, scaled } from "./solveCases.mjs";
import { phaseRows, withClock } from "./solvePhases.mjs";
import { count, figure, ratio } from "./table.mjs";

const ORDERS = quick ? [64, 128] : [4096, 8192, 16384];
const METHODS = ["auto", "mixed", "double"]; // of rounding "backward"
const LARGEST_CORRECT = 8192; // beyond that binary64 factors of a random matrix have no proof
const RESIDUAL = 16; // what HPL accepts; ours is at most 1

/** What is compared with NVIDIA's, whose solutions have a small backward error, and the default call. */
export const BACKWARD = `${OURS}, backward`;
export const CORRECT = `${OURS}, correct`;
export const PEERS = ["cuSOLVER Dgetrf and Dgetrs", "cuSOLVER DDgesv", "cuSOLVER DSgesv"];

/** Cases of { n, rivals, phases, memory }. */
export async function* measureSolve(gpu) {
  const device = await openDevice(chosenDevice);
  const memory = countMemory(device);
  const { kernels, phases } = withClock(backendOn(device));
  const engine = study.engineOf(kernels);
  try {
    for (const n of ORDERS) yield await withData(gpu, (data) => measure(gpu, data, { engine, phases, memory }, n));
  } finally {
    await engine.close();
  }
}

// The bytes that are taken now, and the most there were since `most` was set.
function countMemory(device) {
  const memory = { now: 0, most: 0 };
  const { allocate, release } = device;
  const live = new Set();
  device.allocate = (...args) => {
    const buffer = allocate.apply(device, args);
    live.add(buffer);
    memory.now += buffer.size;
    memory.most = Math.max(memory.most, memory.now);
    return buffer;
  };
  device.release = (buffer, ...rest) => {
    if (live.delete(buffer)) memory.now -= buffer.size;
    release.call(device, buffer, ...rest);
  };
  return memory;
}

async function measure(gpu, data, ours, n) {
  const [A, b, x] = [data.matrix(n, n), data.vector(n, 2), data.room(n)];
  const [host, right] = [data.read(A), data.read(b)];
  const resident = await ours.engine.upload(matrix(host, n, n));
  const peers = cusolver(gpu.cuda, data, n, A, b, x);
  const rivals = [
    ...METHODS.map((method) => ({
      name: method === "auto" ? BACKWARD : `${OURS}, ${method}`,
      run: () => ours.engine.solve(resident, right, { rounding: "backward", method }),
      read: ({ x: solution, iterations, method: by, fellBack }) => ({ x: solution, iterations, by, fellBack, trans: false }),
    })),
    ...(n <= LARGEST_CORRECT ? [{ name: CORRECT, run: () => ours.engine.solve(resident, right), read: readCertified }] : []),
    ...peers.rivals,
  ];
  const outcomes = await contestOf(rivals);
  peers.free();
  const norms = normsOf(host, n, maxNorm(right));
  const measured = [];
  for (const { result, ...times } of outcomes)
    measured.push(times.failed ? times : { ...times, ...(await worthOf(ours.engine, resident, right, n, norms, result)) });
  const ran = measured.some(({ name, failed }) => name === BACKWARD && !failed);
  const phases = ran ? await phasesOf(ours, resident, right, n) : undefined;
  resident.free();
  return print(n, measured, phases);
}

function readCertified({ x, iterations, method, fellBack, certified }) {
  if (!certified) throw new Error(`${CORRECT}: the solution is not certified`);
  return { x, iterations, by: method, fellBack, trans: false };
}

// Each in place, on a copy that is made before the time runs.
function cusolver({ runtime, solver }, data, n, A, b, x) {
  if (solver.missing) return { rivals: [], free() {} };
  const copy = data.room(n * n);
  const factors = solver.getrf(n, copy.there);
  const refined = ["binary64", "binary32"].map((format) => solver.gesv(format, n, copy.there, b.there, x.there));
  const prepare = () => {
    runtime.copy(copy.there, A.there, 8 * n * n);
    runtime.copy(x.there, b.there, 8 * n);
    runtime.finish();
  };
  const rival = (name, { info }, run, iterations = () => undefined) => ({
    name,
    prepare,
    run: () => {
      run();
      runtime.finish();
    },
    read: () => {
      const [status] = runtime.read(info, new Int32Array(1));
      if (status !== 0) throw new Error(`${name}: info is ${status}, expected 0`);
      return { x: data.readThere(x), iterations: iterations(), trans: true };
    },
  });
  const runs = [
    [
      factors,
      () => {
        factors.run();
        factors.solve(x.there);
      },
    ],
    ...refined.map((one) => [one, one.run, one.iterations]),
  ];
  return {
    rivals: PEERS.map((name, k) => rival(name, ...runs[k])),
    free() {
      for (const one of [factors, ...refined]) one.free();
    },
  };
}

// || A ||, || A' || and || b ||.
function normsOf(A, n, b) {
  const columns = new Float64Array(n);
  let rows = 0;
  for (let i = 0; i < n; i++) {
    let sum = 0;
    for (let j = 0, k = i * n; j < n; j++, k++) {
      const size = Math.abs(A[k]);
      sum += size;
      columns[j] += size;
    }
    rows = Math.max(rows, sum);
  }
  return { rows, columns: maxNorm(columns), b };
}

// The residual is exact: the engine's own, correctly rounded.
async function worthOf(engine, A, b, n, norms, { x, trans, iterations, by, fellBack }) {
  const residual = maxNorm(await engine.exgemv(-1, A, x, 1, b.slice(), { trans }));
  return { iterations, by, fellBack, residual: scaled(residual, n, { A: trans ? norms.columns : norms.rows, b: norms.b }, x) };
}

// Of the backward call: where its time goes, and what it takes on the device beside the matrix.
async function phasesOf({ engine, phases, memory }, A, b, n) {
  let best;
  for (let k = 0; k < 3; k++) {
    phases.clear();
    memory.most = memory.now;
    const before = memory.now;
    const start = performance.now();
    await engine.solve(A, b, { rounding: "backward" });
    const total = (performance.now() - start) * 1e6;
    if (best === undefined || total < best.total)
      best = { total, rows: phaseRows(phases, total), beside: (memory.most - before) / bytesOf(n) };
  }
  return best;
}

function print(n, measured, phases) {
  const best = Math.min(...measured.filter(({ name, failed }) => !failed && PEERS.includes(name)).map(({ median }) => median));
  const peer = Number.isFinite(best) ? best : undefined;
  const columns = {
    ...milliseconds,
    "Gflop/s": ({ median }) => figure(operationsOf(n) / median),
    "time / best of NVIDIA": ({ median }) => figure(ratio(median, peer)),
    method: ({ by, fellBack }) => by && `${by}${fellBack ? ", fell back" : ""}`,
    steps: ({ iterations }) => iterations?.toString(),
    "scaled residual": ({ residual }) => residual.toPrecision(2),
  };
  const poor = measured.find(({ residual }) => residual !== undefined && !(residual <= RESIDUAL));
  const wrong = poor && `the scaled residual of ${poor.name} is ${poor.residual}, expected at most ${RESIDUAL}`;
  printOutcomes(`solve, n = ${count(n)}`, measured, columns, wrong);
  if (phases) printPhases(phases);
  return { n, rivals: measured, phases, wrong };
}

function printPhases({ total, rows, beside }) {
  const words = rows.map(({ phase, calls, time }) => `${phase}${calls > 1 ? ` (${calls} calls)` : ""} ${figure(time / 1e6)}`);
  console.log(`  ${BACKWARD}, a call of ${figure(total / 1e6)} ms: ${words.join(", ")}.`);
  console.log(`  On the device it takes ${figure(beside)} times the matrix beside the matrix.`);
}
