// extrsv beside cuBLAS, with a lower triangle as it is and transposed.
import { withData } from "./gpuData.mjs";
import { measureDense, ORDERS, ourRival, peerRivals } from "./gpuDense.mjs";
import { entriesOf, transposed } from "./gpuOurs.mjs";

export async function* measureTrsv(gpu) {
  for (const n of ORDERS.trsv) yield* await withData(gpu, (data) => measure(gpu, data, n));
}

// One matrix for both: bringing 8 GB to CUDA takes seconds.
async function measure(gpu, data, n) {
  const A = data.matrix(n, n, { scale: 1 / n, shift: 2 }); // solutions stay as large as b
  const [b, x] = [data.vector(n, 2), data.room(n)];
  const cases = [];
  for (const trans of [false, true]) {
    const T = trans ? transposed(entriesOf(A, n, n)) : entriesOf(A, n, n);
    const inPlace = (blas, runtime) => {
      runtime.copy(x.there, b.there, 8 * n); // a launch more, some 3 µs
      blas.trsv({ upper: false, transposed: trans, unit: false }, n, A.there, x.there);
    };
    const rivals = [
      ourRival(gpu, data, "extrsv", () => gpu.ours.trsv(T, b.here, x.here, { upper: trans, unit: false }), x),
      ...peerRivals(gpu, data, "blas", "cuBLAS Dtrsv", inPlace, x),
    ];
    const form = trans ? "lower, transposed" : "lower";
    cases.push(await measureDense(gpu, { op: "trsv", form, rows: n, cols: n, bytes: 4 * n * n }, rivals));
  }
  return cases;
}
