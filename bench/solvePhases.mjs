// How long a solve spends in each of the kernels it calls: its kernels with a clock in front of them. Where a kernel returns a
// promise the time runs until that resolves, so that waiting for a device counts where the work is.

const PLAIN = {
  keep: "keep",
  magnitudes: "magnitudes",
  factorize: "factorize",
  substitute: "substitute",
  refine: "substitute and residual",
  residual: "ordinary residual",
};
const EXACT = { gemv: "exact residual", gemm: "exact residual", lu: "exact factorization", trsv: "exact substitution" };

/** These kernels, and `phases`: { phase: { calls, time } } of all calls since it was last emptied, times in nanoseconds. */
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
  const plain = kernels.plain && { plain: wrap(kernels.plain, (key) => PLAIN[key]) };
  return { kernels: wrap(kernels, (key) => EXACT[key], plain), phases };
}

/** Rows of { phase, calls, time }, and what is left of the whole. */
export function phaseRows(phases, total) {
  const rows = [...phases].map(([phase, { calls, time }]) => ({ phase, calls, time }));
  const rest = total - rows.reduce((sum, { time }) => sum + time, 0);
  return [...rows, { phase: "the rest", calls: 1, time: rest }];
}
