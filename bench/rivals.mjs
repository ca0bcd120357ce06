// Who meets whom in one operation on one set of vectors, and how their figures are told apart afterwards.
import { engines, study } from "./library.mjs";
import { exactSums, stdlibDot } from "./peers.mjs";

export const ENGINE_MEMORY = "engine memory";
export const ORDINARY_ARRAY = "ordinary array";
export const PLAIN = "plain SIMD loop";

const ROUTINES = { dot: "exdot", sum: "exsum", asum: "exasum", nrm2: "exnrm2" };

export function ourName(op, engine, memory) {
  return `${ROUTINES[op]} ${engine}, ${memory}`;
}

/** Run `use` with a copy of the vectors in the memory of these kernels. */
export function inEngineMemory(kernels, { x, y }, use) {
  const copies = [x, y].map((values) => {
    const copy = values && kernels.allocate(values.length, Float64Array);
    copy?.set(values);
    return copy;
  });
  try {
    return use(...copies);
  } finally {
    for (const copy of copies) if (copy) kernels.free(copy);
  }
}

/** Call `use` with all rivals for an operation on these vectors, each as { name, run }. */
export function withRivals(op, vectors, { plain, blas }, use) {
  const { x, y } = vectors;
  const aligned = plain.place(x, y); // OpenBLAS gets these too: with 64-byte loads it gains by the alignment
  const rivals = [{ name: PLAIN, run: bind(plain[op], aligned.x, aligned.y) }];
  if (blas[op]) rivals.push({ name: blas[op].name, run: bind(blas[op].run, aligned.x, aligned.y) });
  if (op === "dot") rivals.push({ name: stdlibDot.name, run: bind(stdlibDot.run, x, y) });
  if (op === "sum") rivals.push(...exactSums.map(({ name, run }) => ({ name, run: bind(run, x) })));
  return addOurs(engines, []);

  function addOurs([kernels, ...others], ours) {
    if (kernels === undefined) return use([...ours, ...rivals]);
    const routine = study.level1On(kernels)[ROUTINES[op]];
    return inEngineMemory(kernels, vectors, (inX, inY) =>
      addOurs(others, [
        ...ours,
        { name: ourName(op, kernels.name, ENGINE_MEMORY), run: bind(routine, inX, inY) },
        { name: ourName(op, kernels.name, ORDINARY_ARRAY), run: bind(routine, x, y) },
      ]),
    );
  }
}

// Without a second vector the argument is left out: routines take an object of options there.
function bind(routine, x, y) {
  return y ? () => routine(x, y) : () => routine(x);
}

/** Throw unless all these outcomes have the same bits. */
export function sameBits(outcomes, what) {
  for (const { name, result } of outcomes) {
    if (!Object.is(result, outcomes[0].result)) {
      throw new Error(`${what}: ${outcomes[0].name} returns ${outcomes[0].result}, ${name} returns ${result}`);
    }
  }
}

export function isOurs(op, { name }) {
  return name.startsWith(`${ROUTINES[op]} `);
}

/** Exact peers promise the same bits as ours; a line for each that breaks the promise. */
export function disagreements(op, outcomes) {
  if (op !== "sum") return [];
  const right = outcomes[0].result;
  const promised = outcomes.filter(({ name }) => exactSums.some((peer) => peer.name === name));
  return promised
    .filter(({ result }) => !Object.is(result, right))
    .map(({ name, result }) => `${name} returns ${result}, exact is ${right}`);
}
