// exlu beside cuSOLVER, and exluBatch beside cuBLAS, for gpu.mjs. All factorize in place, each time a copy made on the device. Ours
// reads as rows what the others read as columns, which is the same work on the transpose.

import { count } from "../harness/table.mjs";
import { withData } from "./data.mjs";
import { measureDense, ORDERS, ourRival, peerRivals } from "./dense.mjs";

export async function* measureLu(gpu) {
  for (const n of ORDERS.lu) yield await withData(gpu, (data) => measureOne(gpu, data, n));
}

async function measureOne(gpu, data, n) {
  const { solver } = gpu.cuda;
  const [A, factors] = [data.matrix(n, n), data.allocate(n * n)];
  const factorization = solver.missing ? undefined : solver.getrf(n, factors.cuda);
  const run = (_, runtime) => {
    runtime.copy(factors.cuda, A.cuda, 8 * n * n);
    factorization.run();
  };
  const rivals = [
    ourRival(gpu, data, "exlu", ourFactorization(gpu, "lu", A, factors, n, 1)),
    ...(gpu.stages && n === ORDERS.lu[0] ? [unblocked(gpu, A, factors, n)] : []),
    ...peerRivals(gpu, data, "solver", "cuSOLVER Dgetrf", run),
  ];
  const measured = await measureDense(gpu, { op: "lu", form: "", rows: n, cols: n, flops: (2 / 3) * n ** 3 }, rivals);
  factorization?.free();
  return measured;
}

// The algorithm of the LU paper, for the smallest order, where it takes a second.
function unblocked(gpu, A, factors, n) {
  const enqueue = ourFactorization(gpu, "luUnblocked", A, factors, n, 1);
  return { name: "unblocked, left-looking", enqueue, finish: () => gpu.device.finish(), slow: true };
}

function ourFactorization({ device }, routine, A, factors, n, many) {
  const [pivots, info] = [new Int32Array(n * many), new Int32Array(many)];
  return () => {
    device.copy(A.buffer, factors.buffer, 8 * n * n * many);
    device[routine](factors.array, n, many, pivots, info);
    if (info.some((column) => column !== 0)) throw new Error("exlu: a random matrix is singular, expected one that is not");
  };
}

export async function* measureBatch(gpu) {
  const { n, many } = ORDERS.batch;
  yield await withData(gpu, async (data) => {
    const { runtime, blas } = gpu.cuda;
    const [A, factors] = [data.matrix(n * many, n), data.allocate(n * n * many)];
    const addresses = blas.missing ? [] : Array.from({ length: many }, (_, i) => factors.cuda + BigInt(8 * n * n * i));
    const lists = blas.missing ? [] : [BigUint64Array.from(addresses), new Int32Array(n * many), new Int32Array(many)].map(runtime.upload);
    const run = () => {
      runtime.copy(factors.cuda, A.cuda, 8 * n * n * many);
      blas.getrfBatched(n, ...lists, many);
    };
    const rivals = [
      ourRival(gpu, data, "exluBatch", ourFactorization(gpu, "lu", A, factors, n, many)),
      ...peerRivals(gpu, data, "blas", "cuBLAS DgetrfBatched", run),
    ];
    const one = { op: "luBatch", form: `${count(many)} systems`, rows: n, cols: n, flops: (2 / 3) * n ** 3 * many };
    const measured = await measureDense(gpu, one, rivals);
    if (!blas.missing) runtime.free(...lists);
    return measured;
  });
}
