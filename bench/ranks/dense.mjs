// Under mpirun: a routine on distributed matrices. The median time, and the memory of the rank that used most, above that of an idle one.
//   mpirun -n 2 node bench/ranks/dense.mjs exgemv|exgemm|extrsv|exlu|solve|gather|enclosures [ORDER] [ROUNDS]
// "gather" copies a matrix to rank 0. "enclosures" is an exgemv whose rows have one entry on each rank: nearly all of its time is spent on
// the sums over ranks.
import { finish, largest, memory, ranks, timed } from "./job.mjs";

const [routine, ...numbers] = process.argv.slice(2);
const [n = 1024, rounds = 3] = numbers.map(Number);

const ROUTINES = {
  exgemv: { run: ({ A, b, x }) => ranks.exgemv(1, A, b, 0, x) },
  exgemm: { run: ({ A, B, C }) => ranks.exgemm(1, A, B, 0, C), matrices: ["A", "B", "C"] },
  extrsv: { run: ({ A, b }) => ranks.extrsv(A, b) },
  exlu: { run: ({ A }) => ranks.exlu(A), after: ({ lu }) => lu.free() },
  solve: { run: ({ A, b }) => ranks.solve(A, b) },
  gather: { run: ({ A }) => ranks.gather(A) },
  enclosures: { run: ({ A, b, x }) => ranks.exgemv(1, A, b, 0, x), cols: ranks.size, options: { blockSize: 1, grid: [1, ranks.size] } },
};
const { run, after, matrices = ["A"], cols, options } = ROUTINES[routine];

// A warm-up of the compiled code and of the MPI library, so that an idle rank has both.
await after?.(await run(await operandsOf(64)));
const idle = memory("VmRSS");
const operands = await operandsOf(n);
const ms = await timed(rounds, () => run(operands), after);
const peakMB = idle === undefined ? undefined : await largest(memory("VmHWM") - idle);
await finish({ routine, n, ms, peakMB });

async function operandsOf(order) {
  const width = cols ?? order;
  const made = {};
  // The diagonal is large enough for extrsv not to overflow.
  for (const [k, name] of matrices.entries())
    made[name] = await ranks.matrix(
      order,
      width,
      (i, j) => mixed((k * order + i) * width + j) / 2 ** 31 + (i === j ? Math.sqrt(order) : 0),
      options,
    );
  return { ...made, b: Float64Array.from({ length: width }, (_, i) => mixed(i) / 2 ** 31), x: new Float64Array(order) };
}

// A random-looking 32-bit integer.
function mixed(k) {
  let h = Math.imul(k + 1, 0x9e3779b1);
  h = Math.imul(h ^ (h >>> 15), 0x85ebca6b);
  return h ^ (h >>> 13);
}
