// What the dense routines of gpu.mjs share: orders, rivals and the table. Matrices are stored by columns, as NVIDIA's libraries expect.
import { farApart } from "../harness/checks.mjs";
import { study } from "../harness/library.mjs";
import { quick } from "../harness/options.mjs";
import { timeOf, timings } from "../harness/race.mjs";
import { count, figure, ratio } from "../harness/table.mjs";
import { raceOnDevice } from "./clock.mjs";
import { bandwidth, milliseconds, printOutcomes } from "./table.mjs";

export const ORDERS = quick
  ? { gemv: 256, panel: 16, trsv: [64, 128, 256], lu: [32, 64], gemm: [64], batch: { n: 16, many: 16 } }
  : {
      gemv: 16384,
      panel: 256,
      trsv: [4096, 16384, 32768],
      lu: [1024, 4096, 8192, 16384],
      gemm: [4096, 8192],
      batch: { n: 32, many: 16384 },
    };
export const OURS = "ours";
export const PEER = "cu"; // cuBLAS, cuSOLVER

/** The stages of the papers' figures: no expansion, sizes 2 to 8, and size 6 with early exit. */
export const STAGES = study.STAGES.filter((stage) => /^(superaccumulator|fpe\d|fpe6ee)$/.test(stage));

/** Ours as a rival; `result`, if given, is read and compared. */
export function ourRival({ device }, data, routine, enqueue, result) {
  return { name: `${OURS}, ${routine}`, enqueue, finish: () => device.finish(), read: () => result && data.read(result) };
}

/** The same by each of the papers' stages, if they are wanted: `enqueue` takes a stage. */
export function stageRivals({ device, stages }, data, enqueue, result) {
  if (!stages) return [];
  const finish = () => device.finish();
  return STAGES.map((stage) => ({ name: stage, enqueue: () => enqueue(stage), finish, read: () => data.read(result), slow: true }));
}

/** The rival from one of NVIDIA's libraries ("blas", "solver"), in a list that is empty where it is not available. */
export function peerRivals({ cuda }, data, library, name, call, result) {
  const { [library]: peer, runtime } = cuda;
  if (peer.missing) return [];
  return [{ name, enqueue: () => call(peer, runtime), finish: runtime.finish, read: () => result && data.readCuda(result) }];
}

/** Race the rivals of a case { op, form, rows, cols, bytes or flops }, print it, and return it with its timings. */
export async function measureDense({ floor }, one, rivals) {
  const outcomes = await raceOnDevice(rivals);
  const wrong = farApart(outcomes);
  const peer = timeOf(outcomes, PEER);
  const { bytes, flops } = one;
  const rate = bytes ? bandwidth(bytes, floor) : { "Gflop/s": ({ median }) => figure(flops / median) };
  const columns = { ...milliseconds, ...rate, "time / NVIDIA": ({ median }) => figure(ratio(median, peer)) };
  printOutcomes(titleOf(one), outcomes, columns, wrong);
  return { ...one, rivals: timings(outcomes), wrong };
}

export function titleOf({ op, form, rows, cols }) {
  return [`ex${op}`, rows === cols ? `n = ${count(rows)}` : `${count(rows)} x ${count(cols)}`, form].filter(Boolean).join(", ");
}
