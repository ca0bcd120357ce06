// Who meets whom in one operation, and how they are told apart afterwards.
import { engines, study } from "./library.mjs";
import { exactSums, stdlibDot } from "./peers.mjs";

export const ENGINE_MEMORY = "engine memory";
export const ORDINARY_ARRAY = "ordinary array";
export const PLAIN = "plain SIMD loop";

const ROUTINES = {
  dot: "exdot",
  sum: "exsum",
  asum: "exasum",
  nrm2: "exnrm2",
  gemv: "exgemv",
  trsv: "extrsv",
  gemm: "exgemm",
  lu: "exlu",
  luSolve: "LU.solve",
  solve: "exlu and solve",
  luBatch: "exluBatch",
};

/** What of ours does an operation. */
export function routineOf(op) {
  return ROUTINES[op];
}

export function ourName(op, engine, memory) {
  return `${ROUTINES[op]} ${engine}, ${memory}`;
}

export function isOurs(op, { name }) {
  return name.startsWith(`${ROUTINES[op]} wasm-`);
}

export function isExactPeer({ name }) {
  return exactSums.some((peer) => peer.name === name);
}

/**
 * Ours for an operation on these arrays, each as { name, run, ... }: on every engine, in its memory and in ordinary
 * arrays. `rival` makes { run, ... } of an engine's routines and the arrays. `free` gives the memory back.
 */
export function oursFor(op, arrays, rival) {
  const copies = engines.map((kernels) => copyInto(kernels, arrays));
  const rivals = engines.flatMap((kernels, i) => {
    const routines = study.routinesOn(kernels);
    return [
      { name: ourName(op, kernels.name, ENGINE_MEMORY), ...rival(routines, copies[i].arrays) },
      { name: ourName(op, kernels.name, ORDINARY_ARRAY), ...rival(routines, arrays) },
    ];
  });
  return {
    rivals,
    free() {
      for (const copy of copies) copy.free();
    },
  };
}

/** Copies of these arrays, under the same names, in the memory of these kernels. */
export function copyInto(kernels, arrays) {
  const copies = Object.entries(arrays).map(([name, values]) => {
    const copy = kernels.allocate(values.length, values.constructor);
    copy.set(values);
    return [name, copy];
  });
  return {
    arrays: Object.fromEntries(copies),
    free() {
      for (const [, copy] of copies) kernels.free(copy);
    },
  };
}

/** All rivals for an operation of level 1 on these vectors, each as { name, run }, and how to give their memory back. */
export function rivalsFor(op, vectors, { space, plain, blas }) {
  const aligned = space.place(vectors); // OpenBLAS gets these too: in an ordinary array every second load of 32 bytes can cross a cache line
  const ours = oursFor(op, vectors, (routines, arrays) => ({ run: bind(routines[ROUTINES[op]], arrays) }));
  const others = { dot: [stdlibDot], sum: exactSums }[op] ?? [];
  const rivals = [
    ...ours.rivals,
    { name: PLAIN, run: bind(plain[op], aligned) },
    ...(blas[op] ?? []).map(({ name, run }) => ({ name, run: bind(run, aligned) })),
    ...others.map(({ name, run }) => ({ name, run: bind(run, vectors) })),
  ];
  return { rivals, free: ours.free };
}

// Without a second vector the argument is left out: our routines take options there.
function bind(routine, { x, y }) {
  return y ? () => routine(x, y) : () => routine(x);
}

/** Throw unless all these outcomes have the same bits. */
export function sameBits(outcomes, what) {
  const [first] = outcomes;
  const expected = numbersOf(first.result);
  for (const { name, result } of outcomes) {
    const index = numbersOf(result).findIndex((value, i) => !Object.is(value, expected[i]));
    if (index >= 0)
      throw new Error(`${what}: ${first.name} returns ${expected[index]}, ${name} returns ${numbersOf(result)[index]} (entry ${index})`);
  }
}

function numbersOf(result) {
  return typeof result === "number" ? [result] : result;
}
