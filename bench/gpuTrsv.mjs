// extrsv beside cuBLAS, with a lower triangle as it is and transposed.
import { withData } from "./gpuData.mjs";
import { measureDense, ORDERS, ourRival, peerRivals, stageRivals } from "./gpuDense.mjs";
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
    const how = { upper: trans, unit: false };
    const rivals = [
      ourRival(gpu, data, "extrsv", () => gpu.ours.trsv(T, b.here, x.here, how), x),
      ...(trans && n === ORDERS.trsv[0] ? stageRivals(gpu, data, (stage) => gpu.ours.trsvBy(stage, T, b.here, x.here, how), x) : []),
      ...peerRivals(gpu, data, "blas", "cuBLAS Dtrsv", inPlace, x),
    ];
    const form = trans ? "lower, transposed" : "lower";
    cases.push(await measureDense(gpu, { op: "trsv", form, rows: n, cols: n, bytes: 4 * n * n }, rivals));
  }
  return cases;
}
