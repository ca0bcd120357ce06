// Who meets whom in one operation on one set of vectors, and how they are told apart afterwards.
import { engines, study } from "./library.mjs";
import { exactSums, stdlibDot } from "./peers.mjs";

export const ENGINE_MEMORY = "engine memory";
export const ORDINARY_ARRAY = "ordinary array";
export const PLAIN = "plain SIMD loop";

const ROUTINES = { dot: "exdot", sum: "exsum", asum: "exasum", nrm2: "exnrm2" };

export function ourName(op, engine, memory) {
  return `${ROUTINES[op]} ${engine}, ${memory}`;
}

export function isOurs(op, { name }) {
  return name.startsWith(`${ROUTINES[op]} `);
}

export function isExactPeer({ name }) {
  return exactSums.some((peer) => peer.name === name);
}

/** All rivals for an operation on these vectors, each as { name, run }, and how to give their memory back. */
export function rivalsFor(op, { x, y }, { plain, blas }) {
  const aligned = plain.place(x, y); // OpenBLAS gets these too: in an ordinary array every second load of 32 bytes can cross a cache line
  const copies = engines.map((kernels) => copyInto(kernels, { x, y }));
  const ours = engines.flatMap((kernels, i) => {
    const routine = study.level1On(kernels)[ROUTINES[op]];
    return [
      { name: ourName(op, kernels.name, ENGINE_MEMORY), run: bind(routine, copies[i]) },
      { name: ourName(op, kernels.name, ORDINARY_ARRAY), run: bind(routine, { x, y }) },
    ];
  });
  const others = { dot: [stdlibDot], sum: exactSums }[op] ?? [];
  const rivals = [
    ...ours,
    { name: PLAIN, run: bind(plain[op], aligned) },
    ...(blas[op] ?? []).map(({ name, run }) => ({ name, run: bind(run, aligned) })),
    ...others.map(({ name, run }) => ({ name, run: bind(run, { x, y }) })),
  ];
  return {
    rivals,
    free() {
      for (const copy of copies) copy.free();
    },
  };
}

/** A copy of x and, where there is one, of y in the memory of these kernels. */
export function copyInto(kernels, vectors) {
  const [x, y] = [vectors.x, vectors.y].map((values) => {
    const copy = values && kernels.allocate(values.length, Float64Array);
    copy?.set(values);
    return copy;
  });
  return {
    x,
    y,
    free() {
      kernels.free(x);
      if (y) kernels.free(y);
    },
  };
}

// Without a second vector the argument is left out: our routines take options there.
function bind(routine, { x, y }) {
  return y ? () => routine(x, y) : () => routine(x);
}

/** Throw unless all these outcomes have the same bits. */
export function sameBits(outcomes, what) {
  const [first] = outcomes;
  for (const { name, result } of outcomes) {
    if (!Object.is(result, first.result)) throw new Error(`${what}: ${first.name} returns ${first.result}, ${name} returns ${result}`);
  }
}
