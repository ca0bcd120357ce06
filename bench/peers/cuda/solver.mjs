// cuSOLVER's LU with partial pivoting, and its solvers with refinement. Matrices are stored by columns, on the device.
import { bindAll, output } from "./libraries.mjs";

const P = "void *";
const SYSTEM = `${P}, int32, int32, ${P}, int32, ${P}, ${P}, int32, ${P}, int32`; // handle, n, nrhs, A, lda, pivots, B, ldb, X, ldx
const PLAIN = 0; // CUBLAS_OP_N

/** The solvers with refinement, by the format they factorize in. */
const REFINED = { binary64: "cusolverDnDDgesv", binary32: "cusolverDnDSgesv" };

export function cusolver(library, runtime) {
  const solver = bindAll(library, {
    cusolverDnCreate: P,
    cusolverGetVersion: P,
    cusolverDnDgetrf_bufferSize: `${P}, int32, int32, ${P}, int32, ${P}`,
    cusolverDnDgetrf: `${P}, int32, int32, ${P}, int32, ${P}, ${P}, ${P}`,
    cusolverDnDgetrs: `${P}, int32, int32, int32, ${P}, int32, ${P}, ${P}, int32, ${P}`,
    ...Object.fromEntries(
      Object.values(REFINED).flatMap((name) => [
        [`${name}_bufferSize`, `${SYSTEM}, ${P}, ${P}`],
        [name, `${SYSTEM}, ${P}, size_t, ${P}, ${P}`],
      ]),
    ),
  });
  const handle = output((to) => solver.cusolverDnCreate(to));
  return {
    version: String(output((to) => solver.cusolverGetVersion(to), Int32Array)),
    /** How to factorize in place the matrix of order n stored at A. */
    getrf(n, A) {
      const numbers = output((to) => solver.cusolverDnDgetrf_bufferSize(handle, n, n, A, n, to), Int32Array);
      const [work, pivots, info] = [8 * numbers, 4 * n, 4].map(runtime.allocate);
      return {
        pivots,
        info,
        run: () => solver.cusolverDnDgetrf(handle, n, n, A, n, work, pivots, info),
        /** Solve with these factors, in place. */
        solve: (b) => solver.cusolverDnDgetrs(handle, PLAIN, n, 1, A, n, pivots, b, n, info),
        free: () => runtime.free(work, pivots, info),
      };
    },
    /** How to solve A x = b of order n with factors in this format and refinement, which overwrites A if it fails. */
    gesv(format, n, A, b, x) {
      const solve = solver[REFINED[format]];
      const pivots = runtime.allocate(4 * n);
      const bytes = Number(output((to) => solver[`${REFINED[format]}_bufferSize`](handle, n, 1, A, n, pivots, b, n, x, n, null, to)));
      const [work, info] = [bytes, 4].map(runtime.allocate);
      const iterations = Int32Array.of(0); // on the host: the call returns when everything is done
      return {
        info,
        run: () => solve(handle, n, 1, A, n, pivots, b, n, x, n, work, bytes, iterations, info),
        iterations: () => iterations[0],
        free: () => runtime.free(work, pivots, info),
      };
    },
  };
}
