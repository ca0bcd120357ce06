// The rivals of a sparse solve: { name, solve, free }, with solve(b, out). A peer with array types of its own converts b with `take`
// and its result with `read`. All others write the same output.

import { differentBits, expectSame } from "../harness/checks.mjs";
import { engines, study } from "../harness/library.mjs";
import { race, timings } from "../harness/race.mjs";

export const MODES = { plain: { exact: false }, exact: { exact: true } };
export const CXSPARSE = "CXSparse cs_di_lsolve";

/** The same names in tables, limits and results. */
export function serialName(mode, engine) {
  return `${mode} serial, ${engine}`;
}

/** The engine that users get: the fastest on this machine. */
export const [best] = engines;

/** A plan of the synchronous routine. */
export function serialRival(L, mode, kernels = best) {
  return rivalOf(serialName(mode, kernels.name), study.routinesOn(kernels).sptrsv(L, MODES[mode]));
}

/** A plan as a rival. */
export function rivalOf(name, plan) {
  return { name, plan, solve: (b, out) => plan.solve(b, out), free: () => plan.free() };
}

/** Both modes on every engine, and CXSparse where it is installed. */
export function serialRivals({ byRows, byColumns }, cx) {
  const ours = Object.keys(MODES).flatMap((mode) => engines.map((kernels) => serialRival(byRows, mode, kernels)));
  return cx.missing ? ours : [{ name: CXSPARSE, ...cx.lower(byColumns) }, ...ours];
}

/**
 * Race these rivals, free them, and return their timings. All must solve the integer system exactly; on the other one, those whose
 * names `isDefined` accepts have fixed bits and must agree.
 */
export async function raceSolves({ b, integers }, rivals, isDefined, pace, what) {
  const out = new Float64Array(b.length);
  const calls = (right) =>
    rivals.map(({ name, solve, take = (v) => v, read = (x) => x.slice() }) => {
      const own = take(right);
      return { name, run: () => solve(own, out), read };
    });
  const solutions = [];
  for (const { name, run, read } of calls(integers.b)) solutions.push({ name, result: read(await run()) });
  expectSame(what, differentBits([{ name: "the exact solution", result: integers.solution }, ...solutions]));
  const outcomes = await race(calls(b), pace);
  for (const mode of Object.keys(MODES)) {
    const defined = outcomes.filter(({ name }) => name.startsWith(mode) && isDefined(name));
    expectSame(what, differentBits(defined));
  }
  for (const { free } of rivals) await free();
  return timings(outcomes);
}
