// Peers of level 1: packages from npm and OpenBLAS.
import ddot from "@stdlib/blas-base-ddot";
import { fsum } from "d3-array";
import sumPrecise from "math.sumprecise/implementation";

export const PACKAGES = ["@stdlib/blas-base-ddot", "d3-array", "math.sumprecise", "koffi", "assemblyscript"];

/** A dot product in plain JavaScript. */
export const stdlibDot = { name: "@stdlib/blas-base-ddot", run: (x, y) => ddot(x.length, x, 1, y, 1) };

/** Exact sums in JavaScript. The slowest is last: it leaves garbage to collect. */
export const exactSums = [
  ...(Math.sumPrecise ? [{ name: "Math.sumPrecise", run: (x) => Math.sumPrecise(x) }] : []),
  { name: "d3-array fsum", run: (x) => fsum(x) },
  { name: "math.sumprecise", run: (x) => sumPrecise(x) },
];

/** The reductions of a loaded OpenBLAS. */
export function blasLevel1(library, core) {
  const ddot = library.func("double cblas_ddot(int n, const double *x, int incx, const double *y, int incy)");
  const dasum = library.func("double cblas_dasum(int n, const double *x, int incx)");
  const dnrm2 = library.func("double cblas_dnrm2(int n, const double *x, int incx)");
  const sum = { name: `OpenBLAS dasum, ${core}`, run: (x) => dasum(x.length, x, 1) };
  return {
    dot: { name: `OpenBLAS ddot, ${core}`, run: (x, y) => ddot(x.length, x, 1, y, 1) },
    sum, // BLAS has no sum: this one does the same work and drops the signs
    asum: sum,
    nrm2: { name: `OpenBLAS dnrm2, ${core}`, run: (x) => dnrm2(x.length, x, 1) },
  };
}
