// The time a solve spends in each kernel, for solve.mjs and gpu.mjs: kernels with a clock around them. If a kernel returns a
// promise, its time runs until the promise resolves, so that waiting for a device counts as its work.
import { figure } from "../harness/table.mjs";

const APPROXIMATE = {
  keep: "keep",
  magnitudes: "magnitudes",
  factorize: "factorize",
  substitute: "substitute",
  refine: "substitute and residual",
  residual: "ordinary residual",
  invert: "inverses of the factors",
  weigh: "certificate",
};
const EXACT = { gemv: "exact residual", gemm: "exact residual", lu: "exact factorization", trsv: "exact substitution" };

/** These kernels with clocks, and `phases`, a map from phase to { calls, time } since it was last cleared, in nanoseconds. */
export function withClock(kernels) {
  const phases = new Map();
  const clocked = (phase, call) => {
    const start = performance.now();
    const record = (result) => {
      const { calls, time } = phases.get(phase) ?? { calls: 0, time: 0 };
      phases.set(phase, { calls: calls + 1, time: time + (performance.now() - start) * 1e6 });
      return result;
    };
    const result = call();
    return typeof result?.then === "function" ? result.then(record) : record(result);
  };
  const wrap = (target, phaseOf, others = {}) =>
    new Proxy(target, {
      get(_, key) {
        if (key in others) return others[key];
        const value = Reflect.get(target, key);
        if (typeof value !== "function") return value;
        const phase = phaseOf(key);
        return phase === undefined ? value.bind(target) : (...args) => clocked(phase, () => value.apply(target, args));
      },
    });
  const approximate = wrap(kernels.approximate, (key) => APPROXIMATE[key]);
  return { kernels: wrap(kernels, (key) => EXACT[key], { approximate }), phases };
}

// Rows of { phase, calls, time }, and the remaining time.
function phaseRows(phases, total) {
  const rows = [...phases].map(([phase, { calls, time }]) => ({ phase, calls, time }));
  const rest = total - rows.reduce((sum, { time }) => sum + time, 0);
  return [...rows, { phase: "the rest", calls: 1, time: rest }];
}

/** Of three calls, the fastest: { total, rows }, with what `extra` returns after each. */
export async function fastestPhases(phases, call, extra = () => undefined) {
  let best;
  for (let k = 0; k < 3; k++) {
    phases.clear();
    const start = performance.now();
    await call();
    const total = (performance.now() - start) * 1e6;
    const more = extra();
    if (best === undefined || total < best.total) best = { total, rows: phaseRows(phases, total), ...more };
  }
  return best;
}

/** The phases of a call in words. */
export function phaseWords(name, { total, rows }) {
  const words = rows.map(({ phase, calls, time }) => `${phase}${calls > 1 ? ` (${calls} calls)` : ""} ${figure(time / 1e6)}`);
  return `  ${name}, a call of ${figure(total / 1e6)} ms: ${words.join(", ")}.`;
}
