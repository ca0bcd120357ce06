// extrsv beside cuBLAS, with a lower triangle and its transpose, for gpu.mjs.
import { withData } from "./data.mjs";
import { measureDense, ORDERS, ourRival, peerRivals, stageRivals } from "./dense.mjs";

export async function* measureTrsv(gpu) {
  for (const n of ORDERS.trsv) yield* await withData(gpu, (data) => measure(gpu, data, n));
}

// One matrix for both: copying 8 GB to CUDA takes seconds.
async function measure(gpu, data, n) {
  const A = data.matrix(n, n, { scale: 1 / n, shift: 2 }); // solutions stay as large as b
  const [b, x] = [data.vector(n, 2), data.allocate(n)];
  const cases = [];
  for (const trans of [false, true]) {
    const T = gpu.device.matrix(A.array, n, n, trans ? "row" : "column");
    const inPlace = (blas, runtime) => {
      runtime.copy(x.cuda, b.cuda, 8 * n); // an extra launch, some 3 µs
      blas.trsv({ upper: false, transposed: trans, unit: false }, n, A.cuda, x.cuda);
    };
    const triangle = { upper: trans, unit: false };
    const rivals = [
      ourRival(gpu, data, "extrsv", () => gpu.device.trsv(T, b.array, x.array, triangle), x),
      ...(trans && n === ORDERS.trsv[0]
        ? stageRivals(gpu, data, (stage) => gpu.device.trsvBy(stage, T, b.array, x.array, triangle), x)
        : []),
      ...peerRivals(gpu, data, "blas", "cuBLAS Dtrsv", inPlace, x),
    ];
    const form = trans ? "lower, transposed" : "lower";
    cases.push(await measureDense(gpu, { op: "trsv", form, rows: n, cols: n, bytes: 4 * n * n }, rivals));
  }
  return cases;
}
