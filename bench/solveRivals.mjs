// Who meets whom in solve(): ours by every method, on one thread and on two, and the others.
import { ENGINES, engines, main, matrix, study } from "./library.mjs";
import { copyInto, ENGINE_MEMORY } from "./rivals.mjs";

export const METHODS = ["mixed", "double", "exact"];
const THREADS = 2;

/** The same names in tables, limits and results. */
export function ourName(method, engine = ENGINES[0], memory) {
  return [`${method} ${engine}`, memory].filter(Boolean).join(", ");
}

export function threadName(method) {
  return `${method}, ${THREADS} threads`;
}

const read = ({ x, iterations, method, converged }) => ({ x, iterations, method, converged });

/**
 * All of them on a system { n, A, b }, as { rivals, slow, free }; the exact method if `exact`. `pool` is the engine of two threads,
 * undefined where there is none. Ours is mixed and double wherever it runs.
 */
export function solveRivals(system, { exact, pool, blas, packages }) {
  const { n, A, b } = system;
  const M = matrix(A, n, n);
  const [best] = engines;
  const near = copyInto(best, { A, b });
  const on = (kernels, data, right, method) => {
    const { solve } = study.routinesOn(kernels);
    const options = { rounding: "backward", method, fallback: false };
    return { run: () => solve(data, right, options), read };
  };
  const methods = METHODS.filter((method) => method !== "exact" || exact);
  const inMemory = matrix(near.arrays.A, n, n);
  const ours = [
    ...engines.flatMap((kernels) => methods.map((method) => ({ name: ourName(method, kernels.name), ...on(kernels, M, b, method) }))),
    { name: ourName("mixed", best.name, ENGINE_MEMORY), ...on(best, inMemory, near.arrays.b, "mixed") },
  ];
  const openThreads = pool
    ? methods.map((method) => ({
        name: threadName(method),
        run: () => pool.solve(M, b, { rounding: "backward", method, fallback: false }),
        read,
      }))
    : [];
  const others = [...(blas.missing ? [] : [...blas.double, ...blas.mixed]), ...packages].map(({ name, once, system: make, run, read }) => {
    const own = make(system);
    return { name, once, run: () => run(own), read };
  });
  const isSlow = ({ name }) => name.startsWith("exact") || packages.some((one) => one.name === name);
  const rivals = [...ours, ...openThreads, ...others];
  return { rivals: rivals.filter((one) => !isSlow(one)), slow: rivals.filter(isSlow), free: near.free };
}

/** The engine of two threads, or undefined and the reason. */
export async function openPool() {
  const { available, reason } = (await main.engines()).find(({ kind }) => kind === "threads");
  return available ? { pool: await main.open("threads", { threads: THREADS }) } : { missing: `Threads are not measured: ${reason}` };
}
