// Who meets whom in a sparse solve. A rival is { name, solve, free }, with solve(b, out), where one that has arrays of its own
// kind makes b of ours by `take` and our result of its own by `read`. All others write one output.
import { race, timings } from "./harness.mjs";
import { engines, study } from "./library.mjs";
import { sameBits } from "./rivals.mjs";

export const MODES = { plain: { exact: false }, exact: { exact: true } };
export const CXSPARSE = "CXSparse cs_di_lsolve";

/** The same names in tables, limits and results. */
export function serialName(mode, engine) {
  return `${mode} serial, ${engine}`;
}

/** The engine that users get: the fastest that runs here. */
export const [best] = engines;

/** A plan of the synchronous routine. */
export function serialRival(L, mode, kernels = best) {
  return rivalOf(serialName(mode, kernels.name), study.routinesOn(kernels).sptrsv(L, MODES[mode]));
}

/** A plan as a rival. */
export function rivalOf(name, plan) {
  return { name, plan, solve: (b, out) => plan.solve(b, out), free: () => plan.free() };
}

/** Both modes on every build, and CXSparse where it is. */
export function serialRivals({ byRows, byColumns }, cx) {
  const ours = Object.keys(MODES).flatMap((mode) => engines.map((kernels) => serialRival(byRows, mode, kernels)));
  return cx.missing ? ours : [{ name: CXSPARSE, ...cx.lower(byColumns) }, ...ours];
}

/**
 * Race these rivals, free them, and return their timings. All must solve the system of integers to the bit; on the other one
 * those that `isDefined` says have one right answer in bits must agree on it.
 */
export async function raceSolves({ b, whole }, rivals, isDefined, pace, what) {
  const out = new Float64Array(b.length);
  const calls = (right) =>
    rivals.map(({ name, solve, take = (v) => v, read = (x) => x.slice() }) => {
      const own = take(right);
      return { name, run: () => solve(own, out), read };
    });
  const solutions = [];
  for (const { name, run, read } of calls(whole.b)) solutions.push({ name, result: read(await run()) });
  sameBits([{ name: "the exact solution", result: whole.solution }, ...solutions], what);
  const outcomes = await race(calls(b), pace);
  for (const mode of Object.keys(MODES)) {
    const defined = outcomes.filter(({ name }) => name.startsWith(mode) && isDefined(name));
    if (defined.length > 0) sameBits(defined, what);
  }
  for (const { free } of rivals) await free();
  return timings(outcomes);
}
