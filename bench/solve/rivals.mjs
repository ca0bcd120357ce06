// The rivals of solve.mjs: ours by every method, on one thread and on two, OpenBLAS and npm packages.
import { ENGINES, engines, main, matrix, missingThreads, study } from "../harness/library.mjs";
import { copyInto, ENGINE_MEMORY } from "../harness/ours.mjs";

export const METHODS = ["mixed", "double", "exact"];
const THREADS = 2;

/** Names in tables, limits and results. */
export function ourName(method, engine = ENGINES[0], memory) {
  return [`${method} ${engine}`, memory].filter(Boolean).join(", ");
}

export function threadName(method) {
  return `${method}, ${THREADS} threads`;
}

const read = ({ x, iterations, method, converged }) => ({ x, iterations, method, converged });

/**
 * All rivals on a system { n, A, b }, as { rivals, slow, free }. `exact`: include our exact method; mixed and double always run.
 * `pool`: the engine with two threads, undefined where there is none.
 */
export function solveRivals(system, { exact, pool, blas, packages }) {
  const { n, A, b } = system;
  const M = matrix(A, n, n);
  const [best] = engines;
  const copies = copyInto(best, { A, b });
  const on = (kernels, data, right, method) => {
    const { solve } = study.routinesOn(kernels);
    const options = { rounding: "backward", method, fallback: false };
    return { run: () => solve(data, right, options), read };
  };
  const methods = METHODS.filter((method) => method !== "exact" || exact);
  const inMemory = matrix(copies.arrays.A, n, n);
  const ours = [
    ...engines.flatMap((kernels) => methods.map((method) => ({ name: ourName(method, kernels.name), ...on(kernels, M, b, method) }))),
    { name: ourName("mixed", best.name, ENGINE_MEMORY), ...on(best, inMemory, copies.arrays.b, "mixed") },
  ];
  const onThreads = pool
    ? methods.map((method) => ({
        name: threadName(method),
        run: () => pool.solve(M, b, { rounding: "backward", method, fallback: false }),
        read,
      }))
    : [];
  const others = [...(blas.missing ? [] : [...blas.double, ...blas.mixed]), ...packages].map(
    ({ name, once, system: convert, run, read }) => {
      const own = convert(system);
      return { name, once, run: () => run(own), read };
    },
  );
  const isSlow = ({ name }) => name.startsWith("exact") || packages.some((one) => one.name === name);
  const rivals = [...ours, ...onThreads, ...others];
  return { rivals: rivals.filter((one) => !isSlow(one)), slow: rivals.filter(isSlow), free: copies.free };
}

/** { pool }, the engine with two threads, or { missing } with the reason. */
export async function openPool() {
  const missing = await missingThreads();
  return missing ? { missing } : { pool: await main.open("threads", { threads: THREADS }) };
}
