// exgemm beside a plain kernel and cuBLAS, for gpu.mjs.

import { PLAIN, TILE } from "../peers/opencl/kernels.mjs";
import { withData } from "./data.mjs";
import { measureDense, ORDERS, ourRival, peerRivals } from "./dense.mjs";

const GROUP = 256;

export async function* measureGemm(gpu) {
  for (const n of ORDERS.gemm) yield await withData(gpu, (data) => measureOne(gpu, data, n));
}

function measureOne(gpu, data, n) {
  const [A, B, C] = [data.matrix(n, n, { seed: 1 }), data.matrix(n, n, { seed: 2 }), data.allocate(n * n)];
  const [left, right, result] = [A, B, C].map(({ array }) => gpu.device.matrix(array, n, n, "column"));
  const kernel = gpu.device.kernel("plainGemm", PLAIN);
  const launch = () => gpu.device.launch(kernel, [n / TILE, n / TILE], [GROUP, 1], [n, A.buffer, B.buffer, C.buffer]);
  const rivals = [
    { name: "plain kernel", enqueue: launch, finish: () => gpu.device.finish(), read: () => data.read(C) },
    ourRival(gpu, data, "exgemm", () => gpu.device.gemm(left, right, result), C),
    ...peerRivals(gpu, data, "blas", "cuBLAS Dgemm", (blas) => blas.gemm(n, A.cuda, B.cuda, C.cuda), C),
  ];
  return measureDense(gpu, { op: "gemm", form: "", rows: n, cols: n, flops: 2 * n ** 3 }, rivals);
}
