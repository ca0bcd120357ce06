// exsum and exdot: every stage of the papers alone, the certified way that the library takes, a plain kernel, cuBLAS.
import { WELL } from "./data.mjs";
import { differentBits, farApart } from "./gpuChecks.mjs";
import { contest, timeOf, timesOf } from "./gpuClock.mjs";
import { withData } from "./gpuData.mjs";
import { STAGES } from "./gpuOurs.mjs";
import { PLAIN } from "./gpuPlain.mjs";
import { quick } from "./gpuSession.mjs";
import { bandwidth, milliseconds, printOutcomes } from "./gpuTable.mjs";
import { count, figure, ratio } from "./table.mjs";

const SIZES = quick ? [2 ** 12, 2 ** 16] : [2 ** 20, 2 ** 24, 2 ** 28];
const KINDS = [WELL, "condition 1e30"];
const GROUP = 256;
const GROUPS_A_UNIT = 8;

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
  const outcomes = await contest([plainRival(gpu, data, op, x, y), ...ourRivals(gpu.ours, op, x, y), ...peers(gpu.cuda, data, op, x, y)]);
  const exact = outcomes.filter(({ name }) => name === CERTIFIED || STAGES.includes(name));
  // Of a sum cuBLAS has that of the magnitudes; and what is rounded says nothing where terms cancel.
  const near = kind === WELL && op === "dot" ? farApart(outcomes, 1e-6) : undefined;
  const wrong = differentBits(exact) ?? near;
  const peer = timeOf(outcomes, CUBLAS);
  const columns = { ...milliseconds, ...bandwidth(bytes, gpu.floor), "speed / cuBLAS": ({ median }) => figure(ratio(peer, median)) };
  printOutcomes(`ex${op}, n = ${count(n)}, ${kind}`, outcomes, columns, wrong);
  return { op, kind, n, bytes, rivals: timesOf(outcomes), wrong };
}

function ourRivals(ours, op, x, y) {
  const rival = (name, call, slow = false) => {
    let result;
    const enqueue = () => {
      result = call(op, x.here, y.here);
    };
    return { name, enqueue, finish: ours.finish, read: () => Float64Array.of(result), slow };
  };
  return [rival(CERTIFIED, ours.reduce), ...STAGES.map((stage) => rival(stage, (...args) => ours.reduceBy(stage, ...args), true))];
}

function plainRival({ device, ours }, data, op, x, y) {
  const groups = GROUPS_A_UNIT * device.units;
  const partial = data.room(groups);
  const shared = { local: 8 * GROUP };
  const [first, total] = [op === "dot" ? "plainDot" : "plainSum", "plainTotal"].map((name) => device.kernel(name, [PLAIN]));
  const operands = op === "dot" ? [x.buffer, y.buffer] : [x.buffer];
  return {
    name: "plain kernel",
    enqueue() {
      device.launch(first, [groups], [GROUP], [BigInt64Array.of(BigInt(x.n)), ...operands, partial.buffer, shared]);
      device.launch(total, [1], [GROUP], [groups, partial.buffer, shared]);
    },
    finish: ours.finish,
    read: () => data.read({ ...partial, n: 1 }),
  };
}

// cuBLAS has no sum; a sum of magnitudes reads the same. Ours return their result to the host, so it is read here too.
function peers({ runtime, blas }, data, op, x, y) {
  if (blas.missing) return [];
  const result = data.room(1);
  const [name, enqueue] =
    op === "dot" ? ["Ddot", () => blas.dot(x.n, x.there, y.there, result.there)] : ["Dasum", () => blas.asum(x.n, x.there, result.there)];
  const read = () => data.readThere(result);
  const withResult = () => {
    enqueue();
    read();
  };
  return [
    { name: `${CUBLAS} ${name}`, enqueue, finish: runtime.finish, read },
    { name: `result read, ${CUBLAS} ${name}`, enqueue: withResult, finish: runtime.finish, read },
  ];
}
