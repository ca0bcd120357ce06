// exlu beside cuSOLVER, and exluBatch beside cuBLAS. They factorize in place: each time a copy that is made on the device, on
// both sides. Ours takes rows for what the others take for columns, which is the same work on the transpose.
import { withData } from "./gpuData.mjs";
import { measureDense, ORDERS, ourRival, peerRivals } from "./gpuDense.mjs";
import { count } from "./table.mjs";

export async function* measureLu(gpu) {
  for (const n of ORDERS.lu) yield await withData(gpu, (data) => measureOne(gpu, data, n));
}

async function measureOne(gpu, data, n) {
  const { solver } = gpu.cuda;
  const [A, factors] = [data.matrix(n, n), data.room(n * n)];
  const factorization = solver.missing ? undefined : solver.getrf(n, factors.there);
  const run = (_, runtime) => {
    runtime.copy(factors.there, A.there, 8 * n * n);
    factorization.run();
  };
  const rivals = [
    ourRival(gpu, data, "exlu", ourFactorization(gpu, gpu.ours.lu, A, factors, n, 1)),
    ...(n === ORDERS.lu[0] ? [unblocked(gpu, A, factors, n)] : []),
    ...peerRivals(gpu, data, "solver", "cuSOLVER Dgetrf", run),
  ];
  const measured = await measureDense(gpu, { op: "lu", form: "", rows: n, cols: n, flops: (2 / 3) * n ** 3 }, rivals);
  factorization?.free();
  return measured;
}

// As in the paper: for the smallest order, where it takes a second.
function unblocked(gpu, A, factors, n) {
  const enqueue = ourFactorization(gpu, gpu.ours.luUnblocked, A, factors, n, 1);
  return { name: "unblocked, left-looking", enqueue, finish: gpu.ours.finish, slow: true };
}

function ourFactorization({ device }, factorize, A, factors, n, many) {
  const [pivots, info] = [new Int32Array(n * many), new Int32Array(many)];
  return () => {
    device.copy(A.buffer, factors.buffer, 8 * n * n * many);
    factorize(factors.here, n, many, pivots, info);
    if (info.some((column) => column !== 0)) throw new Error("exlu: a random matrix is singular, expected one that is not");
  };
}

export async function* measureBatch(gpu) {
  const { n, many } = ORDERS.batch;
  yield await withData(gpu, async (data) => {
    const { runtime, blas } = gpu.cuda;
    const [A, factors] = [data.matrix(n * many, n), data.room(n * n * many)];
    const places = blas.missing ? [] : Array.from({ length: many }, (_, i) => factors.there + BigInt(8 * n * n * i));
    const lists = blas.missing ? [] : [BigUint64Array.from(places), new Int32Array(n * many), new Int32Array(many)].map(runtime.upload);
    const run = () => {
      runtime.copy(factors.there, A.there, 8 * n * n * many);
      blas.getrfBatched(n, ...lists, many);
    };
    const rivals = [
      ourRival(gpu, data, "exluBatch", ourFactorization(gpu, gpu.ours.lu, A, factors, n, many)),
      ...peerRivals(gpu, data, "blas", "cuBLAS DgetrfBatched", run),
    ];
    const one = { op: "luBatch", form: `${count(many)} systems`, rows: n, cols: n, flops: (2 / 3) * n ** 3 * many };
    const measured = await measureDense(gpu, one, rivals);
    if (!blas.missing) runtime.free(...lists);
    return measured;
  });
}
