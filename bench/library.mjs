// The library under test, and the engines of it that run here. Node 20 has relaxed SIMD behind a flag, which the
// library sets when this variable says so; later versions have no such flag and need none.
const hidden = Number(process.versions.node.split(".")[0]) < 22;

/** Whether this file, and not the user, asked for relaxed SIMD. */
export const askedHere = hidden && process.env.HALFULP_RELAXED_SIMD === undefined;
if (askedHere) process.env.HALFULP_RELAXED_SIMD = "1";

/** The main module. */
export const main = await import("../dist/index.js");
export const { exdot, exsum, illConditionedDot, illConditionedMatrix, matrix } = main;
export const study = await import("../dist/study.js");

/** Kernels with fused multiply-add, and without. */
export const ENGINES = ["wasm-fma", "wasm-dekker"];

/** Those of them that this machine can run. */
export const engines = ENGINES.map((name) => study.kernels(name)).filter((kernels) => kernels !== undefined);
