// solve() beside cuSOLVER's Dgetrf and Dgetrs, DDgesv and DSgesv, for gpu.mjs. A is on the device. Times run from the call until x is
// computed; ours also copies x to the host. Ours reads as rows what the others read as columns, which is the same work on the
// transpose.
import { matrix, study } from "../harness/library.mjs";
import { device as chosenDevice, quick } from "../harness/options.mjs";
import { count, figure, ratio } from "../harness/table.mjs";
import { bytesOf, maxNorm, operationsOf, scaled } from "../solve/cases.mjs";
import { fastestPhases, phaseWords, withClock } from "../solve/phases.mjs";
import { raceCalls } from "./clock.mjs";
import { withData } from "./data.mjs";
import { OURS } from "./dense.mjs";
import { milliseconds, printOutcomes } from "./table.mjs";

const ORDERS = quick ? [64, 128] : [4096, 8192, 16384];
const METHODS = ["auto", "mixed", "double"]; // of rounding "backward"
const LARGEST_CORRECT = 8192; // above it, binary64 factors of a random matrix cannot be certified
const RESIDUAL = 16; // what HPL accepts; ours is at most 1

/** The call that is compared with NVIDIA's, whose solutions have a small backward error, and the default call. */
export const BACKWARD = `${OURS}, backward`;
export const CORRECT = `${OURS}, correct`;
export const PEERS = ["cuSOLVER Dgetrf and Dgetrs", "cuSOLVER DDgesv", "cuSOLVER DSgesv"];

/** Cases of { n, rivals, phases, wrong }. */
export async function* measureSolve(gpu) {
  const device = await study.openclDevice(chosenDevice);
  const memory = device.countMemory();
  const { kernels, phases } = withClock(device.backend());
  const engine = study.engineOf(kernels);
  try {
    for (const n of ORDERS) yield await withData(gpu, (data) => measure(gpu, data, { engine, phases, memory }, n));
  } finally {
    await engine.close();
  }
}

async function measure(gpu, data, ours, n) {
  const [A, b, x] = [data.matrix(n, n), data.vector(n, 2), data.allocate(n)];
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
  const outcomes = await raceCalls(rivals);
  peers.free();
  const norms = normsOf(host, n, maxNorm(right));
  const measured = [];
  for (const { result, ...times } of outcomes)
    measured.push(times.failed ? times : { ...times, ...(await qualityOf(ours.engine, resident, right, n, norms, result)) });
  const ran = measured.some(({ name, failed }) => name === BACKWARD && !failed);
  const phases = ran ? await phasesOf(ours, resident, right, n) : undefined;
  resident.free();
  return print(n, measured, phases);
}

function readCertified({ x, iterations, method, fellBack, certified }) {
  if (!certified) throw new Error(`${CORRECT}: the solution is not certified`);
  return { x, iterations, by: method, fellBack, trans: false };
}

// Each works in place, on a copy made before the timing.
function cusolver({ runtime, solver }, data, n, A, b, x) {
  if (solver.missing) return { rivals: [], free() {} };
  const copy = data.allocate(n * n);
  const factors = solver.getrf(n, copy.cuda);
  const refined = ["binary64", "binary32"].map((format) => solver.gesv(format, n, copy.cuda, b.cuda, x.cuda));
  const prepare = () => {
    runtime.copy(copy.cuda, A.cuda, 8 * n * n);
    runtime.copy(x.cuda, b.cuda, 8 * n);
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
      return { x: data.readCuda(x), iterations: iterations(), trans: true };
    },
  });
  const runs = [
    [
      factors,
      () => {
        factors.run();
        factors.solve(x.cuda);
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

// The residual is exact: our exgemv computes it, correctly rounded.
async function qualityOf(engine, A, b, n, norms, { x, trans, iterations, by, fellBack }) {
  const residual = maxNorm(await engine.exgemv(-1, A, x, 1, b.slice(), { trans }));
  return { iterations, by, fellBack, residual: scaled(residual, n, { A: trans ? norms.columns : norms.rows, b: norms.b }, x) };
}

// Of the backward call: its phases, and its memory on the device in addition to the matrix.
function phasesOf({ engine, phases, memory }, A, b, n) {
  const before = memory.now;
  const call = () => {
    memory.peak = memory.now;
    return engine.solve(A, b, { rounding: "backward" });
  };
  return fastestPhases(phases, call, () => ({ extraMemory: (memory.peak - before) / bytesOf(n) }));
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
  if (phases) {
    console.log(phaseWords(BACKWARD, phases));
    console.log(`  On the device it uses ${figure(phases.extraMemory)} times the matrix in addition to the matrix.`);
  }
  return { n, rivals: measured, phases, wrong };
}
