// Our routines as rivals: their names in tables and results, and one rival per engine and kind of memory.
import { engines, study } from "./library.mjs";

export const ENGINE_MEMORY = "engine memory";
export const ORDINARY_ARRAY = "ordinary array";
export const MEMORIES = [ENGINE_MEMORY, ORDINARY_ARRAY];

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

/** The routine of ours for an operation. */
export function routineOf(op) {
  return ROUTINES[op];
}

export function ourName(op, engine, memory) {
  return `${ROUTINES[op]} ${engine}, ${memory}`;
}

export function isOurs(op, { name }) {
  return name.startsWith(`${ROUTINES[op]} wasm-`);
}

/**
 * Our rivals for an operation on these arrays, each { name, run, ... }: on every engine, in its memory and in ordinary
 * arrays. `rival` makes { run, ... } from an engine's routines and the arrays. `free` releases the memory.
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
