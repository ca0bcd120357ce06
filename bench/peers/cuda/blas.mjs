// cuBLAS. Matrices are stored by columns; alpha is 1 and beta 0; vectors, matrices and results are on the device.
import { bindAll, output } from "./libraries.mjs";

const RESULTS_ON_DEVICE = 1; // CUBLAS_POINTER_MODE_DEVICE: a dot product then returns without waiting
const WORD = "int32";
const P = "void *";

export function cublas(library, runtime) {
  const blas = bindAll(library, {
    cublasCreate_v2: P,
    cublasGetVersion_v2: `${P}, ${P}`,
    cublasSetPointerMode_v2: `${P}, ${WORD}`,
    cublasDdot_v2: `${P}, ${WORD}, ${P}, ${WORD}, ${P}, ${WORD}, ${P}`,
    cublasDasum_v2: `${P}, ${WORD}, ${P}, ${WORD}, ${P}`,
    cublasDgemv_v2: `${P}, ${WORD}, ${WORD}, ${WORD}, ${P}, ${P}, ${WORD}, ${P}, ${WORD}, ${P}, ${P}, ${WORD}`,
    cublasDtrsv_v2: `${P}, ${WORD}, ${WORD}, ${WORD}, ${WORD}, ${P}, ${WORD}, ${P}, ${WORD}`,
    cublasDgemm_v2: `${P}, ${WORD}, ${WORD}, ${WORD}, ${WORD}, ${WORD}, ${P}, ${P}, ${WORD}, ${P}, ${WORD}, ${P}, ${P}, ${WORD}`,
    cublasDgetrfBatched: `${P}, ${WORD}, ${P}, ${WORD}, ${P}, ${P}, ${WORD}`,
  });
  const handle = output((to) => blas.cublasCreate_v2(to));
  blas.cublasSetPointerMode_v2(handle, RESULTS_ON_DEVICE);
  const [one, zero] = [1, 0].map((value) => runtime.upload(Float64Array.of(value)));
  return {
    version: String(output((to) => blas.cublasGetVersion_v2(handle, to), Int32Array)),
    dot: (n, x, y, result) => blas.cublasDdot_v2(handle, n, x, 1, y, 1, result),
    asum: (n, x, result) => blas.cublasDasum_v2(handle, n, x, 1, result),
    gemv: (transposed, rows, cols, A, x, y) => blas.cublasDgemv_v2(handle, Number(transposed), rows, cols, one, A, rows, x, 1, zero, y, 1),
    /** x becomes the solution. */
    trsv: ({ upper, transposed, unit }, n, A, x) =>
      blas.cublasDtrsv_v2(handle, Number(upper), Number(transposed), Number(unit), n, A, n, x, 1),
    gemm: (n, A, B, C) => blas.cublasDgemm_v2(handle, 0, 0, n, n, n, one, A, n, B, n, zero, C, n),
    /** `list` holds the addresses of the matrices of order n. */
    getrfBatched: (n, list, pivots, info, count) => blas.cublasDgetrfBatched(handle, n, list, n, pivots, info, count),
  };
}
