// An iteration of `cg` on one thread beside the same loop of plain products and dots in WebAssembly, for krylov.mjs; and on two threads.
import { differentBits, farApart } from "../harness/checks.mjs";
import { uniform } from "../harness/data.mjs";
import { engines, main, study } from "../harness/library.mjs";
import { copyInto, ENGINE_MEMORY } from "../harness/ours.mjs";
import { absent, raceOrReport } from "../harness/race.mjs";
import { figure } from "../harness/table.mjs";
import { conjugateGradients } from "../peers/cg.mjs";
import { plainLoops, plainMemory, plainSparse } from "../peers/wasm/kernels.mjs";
import { headline, inverseDiagonal, iterationBytes, SYSTEM } from "./cases.mjs";
import { COUNTS, exactly, iterationTimings, raceIterations, readSolution } from "./iterations.mjs";
import { PLAIN } from "./products.mjs";
import { printRace } from "./table.mjs";

const THREADS = 2;
const PRECONDITIONERS = ["none", "jacobi"];
const PART = 1e-6; // of the largest entry: rounded recurrences drift apart

export function ourName(engine) {
  return `cg ${engine}, ${ENGINE_MEMORY}`;
}

/** Cases of { title, preconditioner, n, entries, bytes, rivals, wrong }. */
export async function* measureCg(session) {
  const A = SYSTEM.make();
  const b = uniform(A.rows, 2);
  for (const preconditioner of PRECONDITIONERS) yield await measure(session, A, b, preconditioner);
}

async function measure({ missingThreads, floor, pace }, A, b, preconditioner) {
  const { title } = SYSTEM;
  const bytes = iterationBytes(A, preconditioner);
  console.log(`\n${headline(`cg, ${title}, preconditioner "${preconditioner}"`, A, "an iteration", bytes)}`);
  const rivals = [await plainLoop(A, b, preconditioner), ...engines.map((kernels) => ours(kernels, A, b, preconditioner))];
  if (!missingThreads) rivals.push(await onThreads(A, b, preconditioner));
  const outcomes = await raceIterations(rivals, COUNTS.host, (runs) => raceOrReport(runs, { ...pace, rounds: Math.min(9, pace.rounds) }));
  for (const { free } of rivals) await free?.();
  const wrong = differentBits(outcomes.filter(({ name }) => name.startsWith("cg"))) ?? farApart(outcomes, PART);
  const more = { "ms of the rest": ({ setUp }) => figure(setUp / 1e6) };
  printRace(outcomes, { bytes, floor, baseline: PLAIN, what: "ms/iteration", wrong, more });
  return { title, preconditioner, n: A.rows, entries: A.values.length, bytes, rivals: iterationTimings(outcomes), wrong };
}

async function plainLoop({ rows, pointers, indices, values }, b, preconditioner) {
  const space = plainMemory(values.byteLength + indices.byteLength + pointers.byteLength + 7 * b.byteLength + 1024);
  const [{ dot, nrm2 }, { spmv, axpy, xpay, multiply }] = [await plainLoops(space), await plainSparse(space)];
  const zeros = new Float64Array(rows);
  const inverse = preconditioner === "jacobi" ? inverseDiagonal({ rows, pointers, indices, values }) : new Float64Array(0);
  const own = space.place({ values, indices, pointers, b, inverse, x: zeros, r: zeros, z: zeros, p: zeros, q: zeros });
  const vectors = preconditioner === "none" ? { ...own, z: own.r } : own;
  const operations = {
    start() {
      own.x.fill(0);
      own.r.set(own.b);
    },
    product: (p, q) => spmv(own, p, q),
    precondition: preconditioner === "none" ? () => {} : (r, z) => multiply(own.inverse, r, z),
    dot,
    norm: nrm2,
    copy: (from, to) => to.set(from),
    axpy,
    xpay,
  };
  return { name: PLAIN, run: (iterations) => conjugateGradients(operations, vectors, iterations), read: () => own.x.slice() };
}

function ours(kernels, A, b, preconditioner) {
  const { cg } = study.routinesOn(kernels);
  if (!cg) return absent(ourName(kernels.name));
  const { rows, cols, pointers, indices, values } = A;
  const { arrays, free } = copyInto(kernels, { values, indices, pointers, b });
  const matrix = main.csr(rows, cols, arrays.pointers, arrays.indices, arrays.values);
  const run = (iterations) => cg(matrix, arrays.b, exactly(iterations, preconditioner));
  return { name: ourName(kernels.name), run, read: readSolution, free };
}

async function onThreads(A, b, preconditioner) {
  const pool = await main.open("threads", { threads: THREADS });
  const name = `cg ${THREADS} threads, resident`;
  if (!pool.cg) {
    await pool.close();
    return absent(name);
  }
  const [matrix, right] = await Promise.all([A, b].map((value) => pool.upload(value)));
  const run = (iterations) => pool.cg(matrix, right, exactly(iterations, preconditioner));
  return { name, run, read: readSolution, free: () => pool.close() };
}
