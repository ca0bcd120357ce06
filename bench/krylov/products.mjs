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

/** The call of the limits, and the same in other memories, formats and engines. */
export function ourName(engine, memory, form = "") {
  return `exspmv ${engine}, ${memory}${form}`;
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

// The matrix by rows in engine memory and in ordinary arrays; in engine memory also by columns, and the transpose of either. The transpose
// of a matrix by rows is the product that CXSparse computes only if the matrix is symmetric: its result is not compared.
function ours(kernels, A, byColumns, x) {
  const { exspmv } = study.routinesOn(kernels);
  if (!exspmv) return [absent(ourName(kernels.name, ENGINE_MEMORY))];
  const { rows, cols, pointers, indices, values } = A;
  // The largest array first: the memory of an engine is reserved in multiples of the first.
  const first = copyInto(kernels, { values, indices, pointers, x, y: new Float64Array(rows) });
  const { x: ownX, y: ownY } = first.arrays;
  const inMemory = main.csr(rows, cols, first.arrays.pointers, first.arrays.indices, first.arrays.values);
  const second = copyInto(kernels, { values: byColumns.values, indices: byColumns.indices, pointers: byColumns.pointers });
  const columns = main.csc(rows, cols, second.arrays.pointers, second.arrays.indices, second.arrays.values);
  const y = new Float64Array(rows);
  const rival = (memory, form, matrix, from, to, options) => ({
    name: ourName(kernels.name, memory, form),
    run: () => exspmv(1, matrix, from, 0, to, options),
    read: (result) => (options?.trans ? undefined : result.slice()),
  });
  return [
    rival(ENGINE_MEMORY, "", inMemory, ownX, ownY),
    rival(ORDINARY_ARRAY, "", A, x, y),
    rival(ENGINE_MEMORY, ", by columns", columns, ownX, ownY),
    rival(ENGINE_MEMORY, ", transposed", inMemory, ownX, ownY, { trans: true }),
    {
      ...rival(ENGINE_MEMORY, ", by columns, transposed", columns, ownX, ownY, { trans: true }),
      free() {
        first.free();
        second.free();
      },
    },
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
