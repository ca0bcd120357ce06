// exspmv on one thread beside CXSparse's cs_gaxpy and a plain loop in WebAssembly, for krylov.mjs; and on two threads.
import { differentBits, farApart } from "../harness/checks.mjs";
import { uniform } from "../harness/data.mjs";
import { engines, main, study } from "../harness/library.mjs";
import { copyInto, ENGINE_MEMORY, ORDINARY_ARRAY } from "../harness/ours.mjs";
import { absent, raceOrReport, timings } from "../harness/race.mjs";
import { plainMemory, plainSparse } from "../peers/wasm/kernels.mjs";
import { headline, PRODUCTS, productBytes } from "./cases.mjs";
import { printRace } from "./table.mjs";

const THREADS = 2;

export const CXSPARSE = "CXSparse cs_di_gaxpy";
export const PLAIN = "plain loop in WebAssembly";

/** `form`: the memory, and what of the matrix is not usual. */
export function ourName(engine, form) {
  return `exspmv ${engine}, ${form}`;
}

/** Cases of { title, n, entries, bytes, rivals, wrong }. */
export async function* measureProducts(session) {
  for (const one of PRODUCTS) yield await measure(session, one);
}

async function measure({ cx, missingThreads, floor, pace }, { title, symmetric, make }) {
  const A = make();
  const { rows, cols, pointers, indices, values } = A;
  const byColumns = symmetric ? main.csc(rows, cols, pointers, indices, values) : main.toCsc(A);
  const x = uniform(cols, 1);
  const bytes = productBytes(A);
  console.log(`\n${headline(title, A, "a product", bytes)}`);
  const rivals = [...cxSparse(cx, byColumns, x), await plainLoop(A, x), ...engines.flatMap((kernels) => ours(kernels, A, byColumns, x))];
  if (!missingThreads) rivals.push(await onThreads(A, x));
  const outcomes = await raceOrReport(rivals, pace);
  for (const { free } of rivals) await free?.();
  const wrong = differentBits(outcomes.filter(({ name }) => name.startsWith("exspmv"))) ?? farApart(outcomes);
  printRace(outcomes, { bytes, floor, baseline: CXSPARSE, what: "ms/product", wrong });
  return { title, n: rows, entries: values.length, bytes, rivals: timings(outcomes), wrong };
}

// It adds to y: clearing y first is not timed.
function cxSparse(cx, byColumns, x) {
  if (cx.missing) return [];
  const y = new Float64Array(byColumns.rows);
  const A = cx.product(byColumns);
  const read = () => {
    y.fill(0);
    A.add(x, y);
    return y.slice();
  };
  return [{ name: CXSPARSE, run: () => A.add(x, y), read, free: A.free }];
}

async function plainLoop({ rows, pointers, indices, values }, x) {
  const bytes = [values, indices, pointers, x, x].reduce((sum, { byteLength }) => sum + byteLength, 0);
  const space = plainMemory(bytes);
  const { spmv } = await plainSparse(space);
  const own = space.place({ values, indices, pointers, x, y: new Float64Array(rows) });
  return { name: PLAIN, run: () => spmv(own, own.x, own.y), read: (y) => y.slice() };
}

// The matrix by rows in engine memory; with the engine that users get also in ordinary arrays, by columns, and the transposes.
function ours(kernels, A, byColumns, x) {
  const { exspmv } = study.routinesOn(kernels);
  if (!exspmv) return [absent(ourName(kernels.name, ENGINE_MEMORY))];
  const { rows, cols } = A;
  const stored = (make, { values, indices, pointers }) => {
    const { arrays, free } = copyInto(kernels, { values, indices, pointers });
    return { matrix: make(rows, cols, arrays.pointers, arrays.indices, arrays.values), free };
  };
  // The values first: memory is reserved in multiples of the first array, and everything should be in one piece.
  const lines = stored(main.csr, A);
  const vectors = copyInto(kernels, { x, y: new Float64Array(rows) });
  const free = () => {
    lines.free();
    vectors.free();
  };
  // The result of a transpose is not that of the others unless the matrix is symmetric: it is not compared.
  const rival = (form, matrix, from, to, options, free) => ({
    name: ourName(kernels.name, form),
    run: () => exspmv(1, matrix, from, 0, to, options),
    read: (result) => (options?.trans ? undefined : result.slice()),
    free,
  });
  const inMemory = (form, matrix, options, free) =>
    rival(`${ENGINE_MEMORY}${form}`, matrix, vectors.arrays.x, vectors.arrays.y, options, free);
  if (kernels !== engines[0]) return [inMemory("", lines.matrix, undefined, free)];
  const columns = stored(main.csc, byColumns);
  return [
    inMemory("", lines.matrix, undefined, free),
    rival(ORDINARY_ARRAY, A, x, new Float64Array(rows)),
    inMemory(", by columns", columns.matrix, undefined, columns.free),
    inMemory(", transposed", lines.matrix, { trans: true }),
    inMemory(", by columns, transposed", columns.matrix, { trans: true }),
  ];
}

async function onThreads(A, x) {
  const pool = await main.open("threads", { threads: THREADS });
  const name = `exspmv ${THREADS} threads, resident`;
  if (!pool.exspmv) {
    await pool.close();
    return absent(name);
  }
  const [matrix, from, to] = await Promise.all([A, x, new Float64Array(A.rows)].map((value) => pool.upload(value)));
  const run = () => pool.exspmv(1, matrix, from, 0, to);
  return { name, run, read: () => to.read(), free: () => pool.close() };
}
