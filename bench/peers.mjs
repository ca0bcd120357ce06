// The rivals from elsewhere. Those that are not installed say so in one line.
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
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

/**
 * OpenBLAS on one thread through koffi, or { missing } with the reason. For each operation a list of rivals: the library
 * as it comes, and where it mistakes the processor, the same with better kernels.
 */
export async function openBlas() {
  try {
    const { default: koffi } = await import("koffi");
    const libraries = [koffi.load("libopenblas.so.0")];
    const core = coreOf(libraries[0]);
    // Version 0.3.21 takes a Zen 4 for a Cooper Lake. Its kernels for that have dasum at 0.38 ns an element in cache and
    // 0.39 at n = 16,000,000, and ddot at 0.58 there; those for Haswell have 0.08, 0.27 and 0.49 on the same machine.
    if (core === "Cooperlake" && cpus()[0]?.model.includes("AMD")) libraries.push(loadWith(koffi, "Haswell"));
    const rivals = libraries.map(routines);
    return {
      config: libraries[0].func("const char *openblas_get_config()")().trim(),
      note: libraries.map((library) => `${coreOf(library)} kernels`).join("; beside it "),
      ...Object.fromEntries(["dot", "sum", "asum", "nrm2"].map((op) => [op, rivals.map((library) => library[op])])),
    };
  } catch (error) {
    return {
      missing: `OpenBLAS is not measured: ${error.message.split("\n")[0]} (npm install koffi; apt-get install libopenblas0-pthread)`,
    };
  }
}

function coreOf(library) {
  return library.func("const char *openblas_get_corename()")();
}

// A second copy of the library that is loaded already: it chooses its kernels once, from the environment.
function loadWith(koffi, core) {
  const [path] = readFileSync("/proc/self/maps", "utf8").match(/\/.*libopenblas.*/);
  const folder = mkdtempSync(join(tmpdir(), "openblas-"));
  const copy = join(folder, `libopenblas-${core}.so`);
  copyFileSync(path, copy);
  process.env.OPENBLAS_CORETYPE = core;
  const library = koffi.load(copy);
  rmSync(folder, { recursive: true }); // it stays mapped
  return library;
}

function routines(library) {
  library.func("void openblas_set_num_threads(int)")(1);
  const ddot = library.func("double cblas_ddot(int n, const double *x, int incx, const double *y, int incy)");
  const dasum = library.func("double cblas_dasum(int n, const double *x, int incx)");
  const dnrm2 = library.func("double cblas_dnrm2(int n, const double *x, int incx)");
  const core = coreOf(library);
  const sum = { name: `OpenBLAS dasum, ${core}`, run: (x) => dasum(x.length, x, 1) };
  return {
    dot: { name: `OpenBLAS ddot, ${core}`, run: (x, y) => ddot(x.length, x, 1, y, 1) },
    sum, // BLAS has no sum of its own: this one does all a sum does, and drops the signs
    asum: sum,
    nrm2: { name: `OpenBLAS dnrm2, ${core}`, run: (x) => dnrm2(x.length, x, 1) },
  };
}
