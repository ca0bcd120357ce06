// The library under test, through its public modules, and the engines of it that run on this machine. Node 20 has relaxed SIMD
// behind a flag, which the library sets when HALFULP_RELAXED_SIMD asks for it; later versions need no flag.
const hidden = Number(process.versions.node.split(".")[0]) < 22;

/** Whether this file, and not the user, asked for relaxed SIMD. */
export const askedHere = hidden && process.env.HALFULP_RELAXED_SIMD === undefined;
if (askedHere) process.env.HALFULP_RELAXED_SIMD = "1";

/** The main module. */
export const main = await import("../../dist/index.js");
export const { matrix } = main;
export const study = await import("../../dist/study.js");
/** The data sets and measurements of the report. */
export const measurements = await study.measurements();

/** Kernels with fused multiply-add, and without. */
export const ENGINES = ["wasm-fma", "wasm-dekker"];

/** Those of them that this machine can run. The first is the one that users get. */
export const engines = ENGINES.map((name) => study.kernels(name)).filter((kernels) => kernels !== undefined);

/** The reason why threads cannot be measured here; undefined where they can. */
export async function missingThreads() {
  const { available, reason } = (await main.engines()).find(({ kind }) => kind === "threads");
  return available ? undefined : `Threads are not measured: ${reason}`;
}
