// cuSOLVER's LU with partial pivoting.
import { bindAll, made } from "./cudaLibraries.mjs";

const P = "void *";

export function cusolver(library, runtime) {
  const solver = bindAll(library, {
    cusolverDnCreate: P,
    cusolverGetVersion: P,
    cusolverDnDgetrf_bufferSize: `${P}, int32, int32, ${P}, int32, ${P}`,
    cusolverDnDgetrf: `${P}, int32, int32, ${P}, int32, ${P}, ${P}, ${P}`,
  });
  const handle = made((to) => solver.cusolverDnCreate(to));
  return {
    version: String(made((to) => solver.cusolverGetVersion(to), Int32Array)),
    /** How to factorize the matrix of order n that is at A then, in place. */
    getrf(n, A) {
      const numbers = made((to) => solver.cusolverDnDgetrf_bufferSize(handle, n, n, A, n, to), Int32Array);
      const [work, pivots, info] = [8 * numbers, 4 * n, 4].map(runtime.allocate);
      return {
        pivots,
        info,
        run: () => solver.cusolverDnDgetrf(handle, n, n, A, n, work, pivots, info),
        free: () => runtime.free(work, pivots, info),
      };
    },
  };
}
