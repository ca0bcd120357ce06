// exspmv beside cuSPARSE's SpMV, for gpu.mjs: two grids and a power-law matrix, everything on the device.
import { differentBits, farApart } from "../harness/checks.mjs";
import { uniform } from "../harness/data.mjs";
import { main } from "../harness/library.mjs";
import { absent, timings } from "../harness/race.mjs";
import { figure, ratio } from "../harness/table.mjs";
import { headline, PRODUCTS, productBytes } from "../krylov/cases.mjs";
import { ALGORITHMS } from "../peers/cuda/sparse.mjs";
import { raceOnDevice } from "./clock.mjs";
import { withData } from "./data.mjs";
import { OURS } from "./dense.mjs";
import { bandwidth, milliseconds, printOutcomes } from "./table.mjs";

const AT_ONCE = 8;

const PEER = "cuSPARSE SpMV";
const PRODUCT = `${OURS}, exspmv`;

/** Cases of { title, n, entries, bytes, rivals, wrong }. */
export async function* measureProducts(gpu) {
  const engine = await main.open("opencl", { device: gpu.device.name });
  try {
    for (const one of PRODUCTS) yield await withData(gpu, (data) => measure(gpu, data, engine, one));
  } finally {
    await engine.close();
  }
}

/** The fastest of ours and of cuSPARSE's among these rivals; undefined where none was measured. */
export function fastestOf(rivals) {
  const best = (start) => {
    const times = rivals.filter(({ name, failed }) => !failed && name.startsWith(start)).map(({ median }) => median);
    return times.length === 0 ? undefined : Math.min(...times);
  };
  return { ours: best(OURS), peer: best("cu") };
}

async function measure(gpu, data, engine, { title, make }) {
  const A = make();
  const bytes = productBytes(A);
  const x = data.repeat(uniform(A.cols, 1), A.cols);
  const y = data.allocate(A.rows);
  const calls = await wholeCalls(engine, A, data.read(x));
  const peers = spmv(gpu.cuda, data, A, x, y);
  const kernels = ours(gpu, data, A, x, y);
  const outcomes = await raceOnDevice([kernels, ...calls.rivals, ...peers.rivals]);
  kernels.free();
  calls.free();
  peers.free();
  const wrong = differentBits(outcomes.filter(({ name }) => name.startsWith(OURS))) ?? farApart(outcomes);
  const { peer } = fastestOf(outcomes);
  const columns = { ...milliseconds, ...bandwidth(bytes, gpu.floor), "speed / SpMV": ({ median }) => figure(ratio(peer, median)) };
  printOutcomes(headline(title, A, "a product", bytes), outcomes, columns, wrong);
  return { title, n: A.rows, entries: A.values.length, bytes, rivals: timings(outcomes), wrong };
}

// The kernels alone, many products before one wait.
function ours({ device }, data, A, x, y) {
  const [pointers, indices, values] = [A.pointers, A.indices, A.values].map((array) => data.upload(array));
  const uploaded = { ...A, pointers, indices, values };
  const product = device.product(uploaded);
  const enqueue = () => product.launch(x.array, y.array);
  return { name: PRODUCT, enqueue, finish: () => device.finish(), read: () => data.read(y), free: () => product.free() };
}

// Calls of the engine with residents, until the promise resolves: one, and several at once with an output each.
async function wholeCalls(engine, A, x) {
  if (!engine.exspmv) return { rivals: [absent(`${PRODUCT}, a whole call`)], free() {} };
  const outputs = Array.from({ length: AT_ONCE }, () => new Float64Array(A.rows));
  const residents = await Promise.all([A, x, ...outputs].map((value) => engine.upload(value)));
  const [matrix, from, ...to] = residents;
  const call = (y) => engine.exspmv(1, matrix, from, 0, y);
  const read = () => to[0].read();
  return {
    rivals: [
      { name: `${PRODUCT}, a whole call`, run: () => call(to[0]), read },
      { name: `${PRODUCT}, ${AT_ONCE} whole calls at once`, run: () => Promise.all(to.map(call)), calls: AT_ONCE, read },
    ],
    free() {
      for (const resident of residents) resident.free();
    },
  };
}

function spmv({ runtime, sparse }, data, A, x, y) {
  if (sparse.missing) return { rivals: [], free() {} };
  const matrix = sparse.upload(A);
  const products = Object.keys(ALGORITHMS).map((algorithm) => ({ algorithm, ...sparse.product(matrix, algorithm, x.cuda, y.cuda) }));
  return {
    rivals: products.map(({ algorithm, run }) => ({
      name: `${PEER}, ${algorithm}`,
      enqueue: run,
      finish: runtime.finish,
      read: () => data.readCuda(y),
    })),
    free() {
      for (const one of [...products, matrix]) one.free();
    },
  };
}
