// The rivals of a level 1 operation: ours, the plain SIMD loop, OpenBLAS and packages from npm.
import { oursFor, routineOf } from "../harness/ours.mjs";
import { exactSums, stdlibDot } from "../peers/level1.mjs";

export const PLAIN = "plain SIMD loop";

export function isExactPeer({ name }) {
  return exactSums.some((peer) => peer.name === name);
}

/** All rivals for an operation on these vectors, each { name, run }, and how to release their memory. */
export function rivalsFor(op, vectors, { space, plain, blas }) {
  const aligned = space.place(vectors); // for OpenBLAS too: in an ordinary array every second load of 32 bytes can cross a cache line
  const ours = oursFor(op, vectors, (routines, arrays) => ({ run: bind(routines[routineOf(op)], arrays) }));
  const others = { dot: [stdlibDot], sum: exactSums }[op] ?? [];
  const rivals = [
    ...ours.rivals,
    { name: PLAIN, run: bind(plain[op], aligned) },
    ...(blas[op] ?? []).map(({ name, run }) => ({ name, run: bind(run, aligned) })),
    ...others.map(({ name, run }) => ({ name, run: bind(run, vectors) })),
  ];
  return { rivals, free: ours.free };
}

// Without a second vector the argument is omitted: our routines take options in its place.
function bind(routine, { x, y }) {
  return y ? () => routine(x, y) : () => routine(x);
}
