// cuBLAS. Matrices are stored by columns; alpha is 1 and beta 0; vectors, matrices and results are on the device.
import { bindAll, output } from "./libraries.mjs";

// Where scalars are. On the host, a dot product returns when it is known; on the device, without waiting.
const POINTER_MODE = { host: 0, device: 1 };
const LEFT = 0; // CUBLAS_SIDE_LEFT
const WORD = "int32";
const P = "void *";

export function cublas(library, runtime) {
  const blas = bindAll(library, {
    cublasCreate_v2: P,
    cublasGetVersion_v2: `${P}, ${P}`,
    cublasSetPointerMode_v2: `${P}, ${WORD}`,
    cublasDdot_v2: `${P}, ${WORD}, ${P}, ${WORD}, ${P}, ${WORD}, ${P}`,
    cublasDnrm2_v2: `${P}, ${WORD}, ${P}, ${WORD}, ${P}`,
    cublasDaxpy_v2: `${P}, ${WORD}, ${P}, ${P}, ${WORD}, ${P}, ${WORD}`,
    cublasDscal_v2: `${P}, ${WORD}, ${P}, ${P}, ${WORD}`,
    cublasDcopy_v2: `${P}, ${WORD}, ${P}, ${WORD}, ${P}, ${WORD}`,
    cublasDdgmm: `${P}, ${WORD}, ${WORD}, ${WORD}, ${P}, ${WORD}, ${P}, ${WORD}, ${P}, ${WORD}`,
    cublasDasum_v2: `${P}, ${WORD}, ${P}, ${WORD}, ${P}`,
    cublasDgemv_v2: `${P}, ${WORD}, ${WORD}, ${WORD}, ${P}, ${P}, ${WORD}, ${P}, ${WORD}, ${P}, ${P}, ${WORD}`,
    cublasDtrsv_v2: `${P}, ${WORD}, ${WORD}, ${WORD}, ${WORD}, ${P}, ${WORD}, ${P}, ${WORD}`,
    cublasDgemm_v2: `${P}, ${WORD}, ${WORD}, ${WORD}, ${WORD}, ${WORD}, ${P}, ${P}, ${WORD}, ${P}, ${WORD}, ${P}, ${P}, ${WORD}`,
    cublasDgetrfBatched: `${P}, ${WORD}, ${P}, ${WORD}, ${P}, ${P}, ${WORD}`,
  });
  const create = (scalars) => {
    const created = output((to) => blas.cublasCreate_v2(to));
    blas.cublasSetPointerMode_v2(created, POINTER_MODE[scalars]);
    return created;
  };
  const handle = create("device");
  const [one, zero] = [1, 0].map((value) => runtime.upload(Float64Array.of(value)));
  // Routines of vectors, with their scalars on the host (arrays of one number) or on the device (addresses).
  const vectorsWith = (own) => ({
    dot: (n, x, y, result) => blas.cublasDdot_v2(own, n, x, 1, y, 1, result),
    nrm2: (n, x, result) => blas.cublasDnrm2_v2(own, n, x, 1, result),
    axpy: (n, alpha, x, y) => blas.cublasDaxpy_v2(own, n, alpha, x, 1, y, 1),
    scal: (n, alpha, x) => blas.cublasDscal_v2(own, n, alpha, x, 1),
    copy: (n, x, y) => blas.cublasDcopy_v2(own, n, x, 1, y, 1),
    /** z := x y, entry by entry */
    multiply: (n, x, y, z) => blas.cublasDdgmm(own, LEFT, n, 1, y, n, x, 1, z, n),
    /** x := x / a, both one number on the device: a triangular system of order 1 */
    divide: (a, x) => blas.cublasDtrsv_v2(own, 0, 0, 0, 1, a, 1, x, 1),
  });
  const vectors = {};
  return {
    version: String(output((to) => blas.cublasGetVersion_v2(handle, to), Int32Array)),
    dot: (n, x, y, result) => blas.cublasDdot_v2(handle, n, x, 1, y, 1, result),
    /** Routines of vectors with their scalars on the "host" or the "device". */
    vectors(scalars) {
      vectors[scalars] ??= vectorsWith(create(scalars));
      return vectors[scalars];
    },
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
