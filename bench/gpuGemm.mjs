// exgemm beside a plain kernel and cuBLAS.
import { withData } from "./gpuData.mjs";
import { measureDense, ORDERS, ourRival, peerRivals } from "./gpuDense.mjs";
import { entriesOf } from "./gpuOurs.mjs";
import { PLAIN, TILE } from "./gpuPlain.mjs";

const GROUP = 256;

export async function* measureGemm(gpu) {
  const n = ORDERS.gemm;
  yield await withData(gpu, (data) => {
    const [A, B, C] = [data.matrix(n, n, { seed: 1 }), data.matrix(n, n, { seed: 2 }), data.room(n * n)];
    const [left, right, result] = [A, B, C].map((M) => entriesOf(M, n, n));
    const kernel = gpu.device.kernel("plainGemm", [PLAIN]);
    const launch = () => gpu.device.launch(kernel, [n / TILE, n / TILE], [GROUP, 1], [n, A.buffer, B.buffer, C.buffer]);
    const rivals = [
      { name: "plain kernel", enqueue: launch, finish: gpu.ours.finish, read: () => data.read(C) },
      ourRival(gpu, data, "exgemm", () => gpu.ours.gemm(left, right, result), C),
      ...peerRivals(gpu, data, "blas", "cuBLAS Dgemm", (blas) => blas.gemm(n, A.there, B.there, C.there), C),
    ];
    return measureDense(gpu, { op: "gemm", form: "", rows: n, cols: n, flops: 2 * n ** 3 }, rivals);
  });
}
