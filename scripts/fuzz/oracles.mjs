// The oracles of the fuzzer: oracle.cpp, compiled with g++ once and called through koffi, and those of test/oracles for whole systems.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const BUILT = here("built"); // npm run carry puts the compiled oracles there, for a machine without a compiler

// A folder for each text of the oracles: other clones on this machine may have another one.
function ownFolder() {
  const text = createHash("sha256")
    .update(readFileSync(here("oracle.cpp")))
    .digest("hex")
    .slice(0, 12);
  return join(tmpdir(), `halfulp-oracles-${process.getuid?.() ?? 0}-${text}`);
}

/** Compiles what is missing or older than its source, and returns the paths. Call it once, before workers start. */
export async function buildOracles(folder = ownFolder()) {
  if (existsSync(join(BUILT, "oracle.so"))) return { library: join(BUILT, "oracle.so"), systems: join(BUILT, "systems.mjs") };
  mkdirSync(folder, { recursive: true });
  const library = join(folder, "oracle.so");
  const source = here("oracle.cpp");
  const isNewer = (file, than) => existsSync(file) && statSync(file).mtimeMs > statSync(than).mtimeMs;
  if (!isNewer(library, source)) {
    // No contraction: a product and a sum are two operations here.
    const flags = ["-O2", "-std=c++17", "-ffp-contract=off", "-Wall", "-shared", "-fPIC", "-static-libstdc++", "-static-libgcc"];
    try {
      execFileSync("g++", [...flags, "-o", library, source], { stdio: "inherit" });
    } catch (error) {
      throw new Error(`the oracles need g++ (apt-get install g++): ${error.message}`);
    }
  }
  const systems = join(folder, "systems.mjs");
  const { build } = await import("esbuild");
  const contents = 'export { solution } from "./system.ts"; export { iterate } from "./krylov.ts";';
  const resolveDir = here("../../test/oracles");
  await build({ stdin: { contents, resolveDir, loader: "ts" }, bundle: true, format: "esm", outfile: systems, logLevel: "error" });
  return { library, systems };
}

/** The functions of the compiled oracles. They return 0 if a result is right; a reduction returns what it is. */
export async function loadOracles({ library, systems }) {
  const { default: koffi } = await import("koffi");
  const lib = koffi.load(library);
  const p = "const void *";
  const declare = (name, ...types) => lib.func(`oracle_${name}`, "int", types);
  return {
    disagreements: declare("disagreements"),
    reduce: lib.func("oracle_reduce", "double", ["int", "int", p, p, "int", "int"]),
    mean: lib.func("oracle_mean", "double", ["int", p, p, "int", "int", "int"]),
    covariance: lib.func("oracle_covariance", "double", ["int", p, p, "int", "int", "int"]),
    map: declare("map", "int", "int", "double", p, p, p, "int"),
    gemm: declare("gemm", "int", "int", "int", "double", p, "int", "int", p, "int", "int", "double", p, p, "int"),
    spmv: declare("spmv", "int", "int", "int", p, p, p, "int", "double", p, "double", p, p, "int"),
    sptrsv: declare("sptrsv", "int", p, p, p, "int", "int", "int", p, p, "int"),
    ilu0: declare("ilu0", "int", p, p, p, p, "int"),
    trsv: declare("trsv", "int", p, "int", "int", "int", "int", "int", "int", p, p, "int", "int"),
    lu: declare("lu", "int", "int", p, "int", "int", "int", p, p, "int"),
    lusolve: declare("lusolve", "int", p, p, p, p, "int"),
    ...(await import(systems)),
  };
}
