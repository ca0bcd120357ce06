// An iteration of `cg` beside the same loop of cuBLAS and cuSPARSE calls, for gpu.mjs: with Jacobi's preconditioner and with ILU(0).
import { farApart } from "../harness/checks.mjs";
import { uniform } from "../harness/data.mjs";
import { main } from "../harness/library.mjs";
import { absent, quantile } from "../harness/race.mjs";
import { figure, ratio } from "../harness/table.mjs";
import { headline, inverseDiagonal, iterationBytes, SYSTEM } from "../krylov/cases.mjs";
import { COUNTS, exactly, iterationTimings, raceIterations, readSolution } from "../krylov/iterations.mjs";
import { cudaCg } from "../peers/cuda/cg.mjs";
import { raceCalls } from "./clock.mjs";
import { OURS } from "./dense.mjs";
import { fastestOf } from "./products.mjs";
import { bandwidth, milliseconds, printOutcomes } from "./table.mjs";

const PRECONDITIONERS = ["jacobi", "ilu0"];
const ALGORITHM = "default"; // of cuSPARSE's products
const PART = 1e-6; // of the largest entry: rounded recurrences drift apart
const SET_UPS = 3;

/** Cases of { title, preconditioner, n, entries, bytes, rivals, wrong }; times per iteration. */
export async function* measureKrylov(gpu) {
  const engine = await main.open("opencl", { device: gpu.device.name });
  const A = SYSTEM.make();
  const b = uniform(A.rows, 2);
  try {
    for (const preconditioner of PRECONDITIONERS) yield await measure(gpu, engine, A, b, preconditioner);
  } finally {
    await engine.close();
  }
}

async function measure(gpu, engine, A, b, preconditioner) {
  const { title } = SYSTEM;
  const bytes = iterationBytes(A, preconditioner);
  const own = await ours(engine, A, b, preconditioner);
  const peers = loops(gpu.cuda, A, b, preconditioner);
  const outcomes = await raceIterations([own, ...peers.rivals], COUNTS.device, raceCalls);
  for (const outcome of outcomes) outcome.setUp = peers.setUps[outcome.name] ?? outcome.setUp;
  own.free();
  peers.free();
  const wrong = farApart(outcomes, PART);
  const { peer } = fastestOf(outcomes);
  const columns = {
    ...milliseconds,
    ...bandwidth(bytes, gpu.floor),
    "time / NVIDIA": ({ median }) => figure(ratio(median, peer)),
    "ms of the long run": ({ whole }) => figure(whole / 1e6),
    "ms of set-up": ({ setUp }) => figure(setUp / 1e6),
  };
  printOutcomes(headline(`cg, ${title}, ${preconditioner}`, A, "an iteration", bytes), outcomes, columns, wrong);
  return { title, preconditioner, n: A.rows, entries: A.values.length, bytes, rivals: iterationTimings(outcomes), wrong };
}

// Its set-up is what of a call is not iterations: the preconditioner, the first and the last residual, the transfer of x.
async function ours(engine, A, b, preconditioner) {
  const name = `${OURS}, cg`;
  if (!engine.cg) return { ...absent(name), free() {} };
  const residents = await Promise.all([A, b].map((value) => engine.upload(value)));
  const free = () => {
    for (const resident of residents) resident.free();
  };
  return { name, run: (iterations) => engine.cg(...residents, exactly(iterations, preconditioner)), read: readSolution, free };
}

// The set-up of the peer is that of the preconditioner: the factors, and the analyses of the solves.
function loops(cuda, A, b, preconditioner) {
  if (cuda.runtime.missing || cuda.blas.missing || cuda.sparse.missing) return { rivals: [], setUps: {}, free() {} };
  const right = cuda.runtime.upload(b);
  const factors = preconditioner === "ilu0" && !cuda.sparse.ilu0 ? main.ilu0(A).values : undefined;
  const common = { preconditioner, inverse: inverseDiagonal(A), factors, algorithm: ALGORITHM };
  const solvers = ["host", "device"].map((scalars) => ({
    name: `cuBLAS and cuSPARSE, scalars on the ${scalars}`,
    ...cudaCg(cuda, A, right, { ...common, scalars }),
  }));
  return {
    rivals: solvers.map(({ name, run, read }) => ({ name, run, read })),
    setUps: Object.fromEntries(solvers.map(({ name, setUp }) => [name, medianOf(setUp)])),
    free() {
      for (const one of solvers) one.free();
      cuda.runtime.free(right);
    },
  };
}

// Nanoseconds.
function medianOf(call) {
  const times = Array.from({ length: SET_UPS }, () => {
    const start = performance.now();
    call();
    return (performance.now() - start) * 1e6;
  });
  return quantile(times, 0.5);
}
