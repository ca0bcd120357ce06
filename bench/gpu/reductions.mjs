// exsum and exdot, for gpu.mjs: the library's certified reduction, every stage of the papers alone, a plain kernel, cuBLAS.

import { differentBits, farApart } from "../harness/checks.mjs";
import { WELL_CONDITIONED } from "../harness/data.mjs";
import { quick } from "../harness/options.mjs";
import { timeOf, timings } from "../harness/race.mjs";
import { count, figure, ratio } from "../harness/table.mjs";
import { PLAIN } from "../peers/opencl/kernels.mjs";
import { raceOnDevice } from "./clock.mjs";
import { withData } from "./data.mjs";
import { STAGES } from "./dense.mjs";
import { bandwidth, milliseconds, printOutcomes } from "./table.mjs";

const SIZES = quick ? [2 ** 12, 2 ** 16] : [2 ** 20, 2 ** 24, 2 ** 28];
const KINDS = [WELL_CONDITIONED, "condition 1e30"];
const GROUP = 256;
const GROUPS_PER_UNIT = 8;

export const LONGEST = SIZES.at(-1);
export const HARD = KINDS[1];
export const CERTIFIED = "certified";
export const CUBLAS = "cuBLAS";

/** Cases of { op, kind, n, bytes, rivals, wrong }. */
export async function* measureReductions(gpu) {
  for (const op of ["sum", "dot"])
    for (const kind of KINDS) for (const n of SIZES) yield await withData(gpu, (data) => measure(gpu, data, op, kind, n));
}

async function measure(gpu, data, op, kind, n) {
  const { x, y } = data.operands(kind, op, n);
  const bytes = 8 * n * (op === "dot" ? 2 : 1);
  const outcomes = await raceOnDevice([
    plainRival(gpu, data, op, x, y),
    ...ourRivals(gpu.device, op, x, y),
    ...peers(gpu.cuda, data, op, x, y),
  ]);
  const exact = outcomes.filter(({ name }) => name === CERTIFIED || STAGES.includes(name));
  // cuBLAS has only a sum of magnitudes, and rounded results say nothing where terms cancel.
  const near = kind === WELL_CONDITIONED && op === "dot" ? farApart(outcomes, 1e-6) : undefined;
  const wrong = differentBits(exact) ?? near;
  const peer = timeOf(outcomes, CUBLAS);
  const columns = { ...milliseconds, ...bandwidth(bytes, gpu.floor), "speed / cuBLAS": ({ median }) => figure(ratio(peer, median)) };
  printOutcomes(`ex${op}, n = ${count(n)}, ${kind}`, outcomes, columns, wrong);
  return { op, kind, n, bytes, rivals: timings(outcomes), wrong };
}

function ourRivals(device, op, x, y) {
  const rival = (name, call, slow = false) => {
    let result;
    const enqueue = () => {
      result = call(op, x.array, y.array);
    };
    return { name, enqueue, finish: () => device.finish(), read: () => Float64Array.of(result), slow };
  };
  return [
    rival(CERTIFIED, (...args) => device.reduce(...args)),
    ...STAGES.map((stage) => rival(stage, (...args) => device.reduceBy(stage, ...args), true)),
  ];
}

function plainRival({ device }, data, op, x, y) {
  const groups = GROUPS_PER_UNIT * device.computeUnits;
  const partial = data.allocate(groups);
  const shared = { localBytes: 8 * GROUP };
  const [first, total] = [op === "dot" ? "plainDot" : "plainSum", "plainTotal"].map((name) => device.kernel(name, PLAIN));
  const operands = op === "dot" ? [x.buffer, y.buffer] : [x.buffer];
  return {
    name: "plain kernel",
    enqueue() {
      device.launch(first, [groups], [GROUP], [BigInt64Array.of(BigInt(x.n)), ...operands, partial.buffer, shared]);
      device.launch(total, [1], [GROUP], [groups, partial.buffer, shared]);
    },
    finish: () => device.finish(),
    read: () => data.read({ ...partial, n: 1 }),
  };
}

// cuBLAS has no sum; a sum of magnitudes reads the same data. Ours return their result to the host, so one peer does, too.
function peers({ runtime, blas }, data, op, x, y) {
  if (blas.missing) return [];
  const result = data.allocate(1);
  const [name, enqueue] =
    op === "dot" ? ["Ddot", () => blas.dot(x.n, x.cuda, y.cuda, result.cuda)] : ["Dasum", () => blas.asum(x.n, x.cuda, result.cuda)];
  const read = () => data.readCuda(result);
  const withResult = () => {
    enqueue();
    read();
  };
  return [
    { name: `${CUBLAS} ${name}`, enqueue, finish: runtime.finish, read },
    { name: `result read, ${CUBLAS} ${name}`, enqueue: withResult, finish: runtime.finish, read },
  ];
}
