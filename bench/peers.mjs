// The rivals from elsewhere. Those that are not installed say so in one line.
import { cpus } from "node:os";
import ddot from "@stdlib/blas-base-ddot";
import { fsum } from "d3-array";
import sumPrecise from "math.sumprecise/implementation";

export const PACKAGES = ["@stdlib/blas-base-ddot", "d3-array", "math.sumprecise", "koffi", "assemblyscript"];

/** A dot product in plain JavaScript. */
export const stdlibDot = { name: "@stdlib/blas-base-ddot", run: (x, y) => ddot(x.length, x, 1, y, 1) };

/** Exact sums in JavaScript. The slowest last: it leaves garbage for the collector. */
export const exactSums = [
  ...(Math.sumPrecise ? [{ name: "Math.sumPrecise", run: (x) => Math.sumPrecise(x) }] : []),
  { name: "d3-array fsum", run: (x) => fsum(x) },
  { name: "math.sumprecise", run: (x) => sumPrecise(x) },
];

/** OpenBLAS on one thread through koffi, or { missing } with the reason. */
export async function openBlas() {
  try {
    const { default: koffi } = await import("koffi");
    const { library, note } = atItsBest(() => koffi.load("libopenblas.so.0"));
    library.func("void openblas_set_num_threads(int)")(1);
    const ddot = library.func("double cblas_ddot(int n, const double *x, int incx, const double *y, int incy)");
    const dasum = library.func("double cblas_dasum(int n, const double *x, int incx)");
    const dnrm2 = library.func("double cblas_dnrm2(int n, const double *x, int incx)");
    const plainSum = { name: "OpenBLAS dasum", run: (x) => dasum(x.length, x, 1) };
    return {
      config: library.func("const char *openblas_get_config()")().trim(),
      note,
      dot: { name: "OpenBLAS ddot", run: (x, y) => ddot(x.length, x, 1, y, 1) },
      sum: plainSum, // BLAS has no sum of its own: this one does all a sum does, and drops the signs
      asum: plainSum,
      nrm2: { name: "OpenBLAS dnrm2", run: (x) => dnrm2(x.length, x, 1) },
    };
  } catch (error) {
    return {
      missing: `OpenBLAS is not measured: ${error.message.split("\n")[0]} (npm install koffi; apt-get install libopenblas0-pthread)`,
    };
  }
}

// Version 0.3.21 takes a Zen 4 for a Cooper Lake. Its kernels for that have dasum at 0.38 ns an element in cache and
// 0.39 at n = 16,000,000, and ddot at 0.58 there; those for Haswell have 0.08, 0.27 and 0.49 on the same machine.
// A rival is measured at its best, unless the user names the kernels.
function atItsBest(load) {
  const library = load();
  const core = library.func("const char *openblas_get_corename()")();
  const mistaken = core === "Cooperlake" && cpus()[0]?.model.includes("AMD");
  if (!mistaken || process.env.OPENBLAS_CORETYPE) return { library, note: `${core} kernels` };
  process.env.OPENBLAS_CORETYPE = "Haswell"; // read when the library is loaded
  library.unload();
  return { library: load(), note: `Haswell kernels, faster here than ${core}, its own choice` };
}
