// What the dense routines have in common here: their orders, who meets whom, and the table. Matrices are by columns on both
// sides, as NVIDIA's libraries have them.
import { farApart } from "./gpuChecks.mjs";
import { contest, timeOf, timesOf } from "./gpuClock.mjs";
import { STAGES } from "./gpuOurs.mjs";
import { quick } from "./gpuSession.mjs";
import { bandwidth, milliseconds, printOutcomes } from "./gpuTable.mjs";
import { count, figure, ratio } from "./table.mjs";

export const ORDERS = quick
  ? { gemv: 256, panel: 16, trsv: [64, 128, 256], lu: [32, 64], gemm: 64, batch: { n: 16, many: 16 } }
  : {
      gemv: 16384,
      panel: 256,
      trsv: [4096, 16384, 32768],
      lu: [1024, 4096, 8192, 16384],
      gemm: 4096,
      batch: { n: 32, many: 16384 },
    };
export const OURS = "ours";
export const PEER = "cu"; // cuBLAS, cuSOLVER

/** Ours as a rival; `result`, where it is given, is read and compared. */
export function ourRival({ ours: { finish } }, data, routine, enqueue, result) {
  return { name: `${OURS}, ${routine}`, enqueue, finish, read: () => result && data.read(result) };
}

/** The same by the papers' stages alone: `enqueue` takes one of them. */
export function stageRivals({ ours: { finish } }, data, enqueue, result) {
  return STAGES.map((stage) => ({ name: stage, enqueue: () => enqueue(stage), finish, read: () => data.read(result), slow: true }));
}

/** That of one of NVIDIA's libraries ("blas", "solver"), in a list that is empty where it is not there. */
export function peerRivals({ cuda }, data, library, name, call, result) {
  const { [library]: there, runtime } = cuda;
  if (there.missing) return [];
  return [{ name, enqueue: () => call(there, runtime), finish: runtime.finish, read: () => result && data.readThere(result) }];
}

/** Race the rivals of a case { op, form, rows, cols, bytes or flops }, print it, and return it with its timings. */
export async function measureDense({ floor }, one, rivals) {
  const outcomes = await contest(rivals);
  const wrong = farApart(outcomes);
  const peer = timeOf(outcomes, PEER);
  const { bytes, flops } = one;
  const rate = bytes ? bandwidth(bytes, floor) : { "Gflop/s": ({ median }) => figure(flops / median) };
  const columns = { ...milliseconds, ...rate, "time / NVIDIA": ({ median }) => figure(ratio(median, peer)) };
  printOutcomes(titleOf(one), outcomes, columns, wrong);
  return { ...one, rivals: timesOf(outcomes), wrong };
}

export function titleOf({ op, form, rows, cols }) {
  return [`ex${op}`, rows === cols ? `n = ${count(rows)}` : `${count(rows)} x ${count(cols)}`, form].filter(Boolean).join(", ");
}
