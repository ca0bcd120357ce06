// Loads OpenBLAS through koffi, on one thread. The routines are bound in level1.mjs, dense.mjs and solve.mjs of this folder.
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";

/**
 * A list of rivals for each operation that `routines` binds: the library as installed and, where it misidentifies the
 * processor, the same with better kernels; or { missing } with the reason.
 */
export async function openBlas(routines) {
  try {
    const { default: koffi } = await import("koffi");
    const libraries = [koffi.load("libopenblas.so.0")];
    const core = coreOf(libraries[0]);
    // Version 0.3.21 takes a Zen 4 for a Cooper Lake. With those kernels dasum takes 0.38 ns per element in cache and 0.39 at
    // n = 16,000,000, where ddot takes 0.58; with the Haswell kernels they take 0.08, 0.27 and 0.49 on the same machine.
    if (core === "Cooperlake" && cpus()[0]?.model.includes("AMD")) libraries.push(loadWith(koffi, "Haswell"));
    const rivals = libraries.map((library) => {
      library.func("void openblas_set_num_threads(int)")(1);
      return routines(library, coreOf(library));
    });
    return {
      config: libraries[0].func("const char *openblas_get_config()")().trim(),
      note: libraries.map((library) => `${coreOf(library)} kernels`).join("; beside it "),
      ...Object.fromEntries(Object.keys(rivals[0]).map((op) => [op, rivals.map((library) => library[op])])),
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

// A second copy of the loaded library: a library chooses its kernels once, from the environment.
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
