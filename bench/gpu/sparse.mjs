// Sparse triangular solves, lower and then upper, for gpu.mjs: every schedule in both modes beside cuSPARSE's SpSV, with the analysis.
import { differentBits, farApart } from "../harness/checks.mjs";
import { main, study } from "../harness/library.mjs";
import { quick } from "../harness/options.mjs";
import { timeOf, timings } from "../harness/race.mjs";
import { count, figure, ratio } from "../harness/table.mjs";
import { laplacianOf, systemOf, titleOf, traffic } from "../sparse/cases.mjs";
import { raceOnDevice } from "./clock.mjs";
import { withData } from "./data.mjs";
import { bandwidth, milliseconds, printOutcomes } from "./table.mjs";

const GRIDS = quick
  ? [
      { sizes: [24, 24], points: 5 },
      { sizes: [8, 8, 8], points: 27 },
    ]
  : [
      { sizes: [1024, 1024], points: 5 },
      { sizes: [128, 128, 128], points: 7 },
      { sizes: [128, 128, 128], points: 27 },
      { sizes: [32, 32, 2048], points: 27 },
    ];
const SCHEDULES = ["levr", "levc", "slfr", "slfc", "gsf"];

const HOST = "levels alone, on the host";

export const MODES = { plain: false, exact: true };
export const PEER = "cuSPARSE SpSV";

/** Cases of { grid, n, entries, solves, analyses }. */
export async function* measureSparse(gpu) {
  for (const grid of GRIDS) yield await withData(gpu, (data) => measure(gpu, data, grid));
}

async function measure(gpu, data, grid) {
  const { byRows: lower, byColumns, b: right } = systemOf(grid);
  // The matrix is symmetric: columns of the lower triangle are rows of the upper one.
  const upper = main.csr(lower.rows, lower.cols, byColumns.pointers, byColumns.indices, byColumns.values);
  const n = lower.rows;
  const b = data.repeat(right, n);
  const [y, x] = [data.allocate(n), data.allocate(n)]; // L y = b, U x = y
  const rivals = [...ours(gpu, data, [lower, upper], b, y, x), ...spsv(gpu.cuda, data, grid, [lower, upper], b, y, x)];
  const analyses = await raceOnDevice([
    ...rivals.map(({ name, analyse, finish }) => ({ name, enqueue: analyse, finish })),
    { name: HOST, enqueue: () => levelsOnHost(lower, upper), finish() {} },
  ]);
  const analysed = rivals.filter(({ name }) => analyses.some((one) => one.name === name && !one.failed));
  const solves = await raceOnDevice(analysed.map(({ name, solve, finish, read }) => ({ name, enqueue: solve, finish, read })));
  for (const { free } of rivals) free();
  // Rounded solutions of such systems differ by far less than this check allows.
  const wrong = differentBits(solves.filter(({ name }) => name.startsWith("exact"))) ?? farApart(solves);
  print(gpu, grid, lower, solves, analyses, wrong);
  return { grid, n, entries: lower.values.length, solves: timings(solves), analyses: timings(analyses), wrong };
}

// The sparse paper's other set-up phase: a loop over rows on the CPU, whose result would still have to be copied to the device.
function levelsOnHost(lower, upper) {
  study.levels(lower, "lower", "rows");
  study.levels(upper, "upper", "rows");
}

// Every schedule in both modes: { name, analyse, solve, finish, read, free }; `analyse` makes new plans.
function ours({ device }, data, triangles, b, y, x) {
  const uploaded = triangles.map((A) => {
    const [pointers, indices, values] = [A.pointers, A.indices, A.values].map((array) => data.upload(array));
    return { ...A, pointers, indices, values };
  });
  return Object.entries(MODES).flatMap(([mode, exact]) =>
    SCHEDULES.map((schedule) => {
      let plans = [];
      const free = () => {
        for (const one of plans.splice(0)) one.free();
      };
      return {
        name: `${mode} ${schedule}`,
        analyse() {
          free();
          plans = uploaded.map((A, k) => device.plan(A, { upper: k === 1, exact, schedule }));
        },
        solve() {
          plans[0].solve(b.array, y.array);
          plans[1].solve(y.array, x.array);
        },
        finish: () => device.finish(),
        read: () => data.read(x),
        free,
      };
    }),
  );
}

// With the triangles, and with the whole matrix, of which it reads one triangle and skips the other.
function spsv({ runtime, sparse }, data, grid, triangles, b, y, x) {
  if (sparse.missing) return [];
  const whole = laplacianOf(grid);
  const rival = (name, matrices) => {
    const [lower, upper] = matrices.map((A) => sparse.upload(A));
    const solvers = [sparse.triangle(lower, { upper: false }, b.cuda, y.cuda), sparse.triangle(upper, { upper: true }, y.cuda, x.cuda)];
    const all = (method) => () => {
      for (const solver of solvers) solver[method]();
    };
    const free = () => {
      for (const one of [...solvers, lower, upper]) one.free();
    };
    return { name, analyse: all("analyse"), solve: all("solve"), finish: runtime.finish, read: () => data.readCuda(x), free };
  };
  return [rival(PEER, triangles), rival(`whole matrix, ${PEER}`, [whole, whole])];
}

function print({ floor }, grid, A, solves, analyses, wrong) {
  const title = `${titleOf(grid)}: ${count(A.rows)} rows, ${count(A.values.length)} entries in a triangle; lower and upper`;
  const analysisOf = (name) => timeOf(analyses, name);
  const columns = {
    ...milliseconds,
    ...bandwidth(2 * traffic(A), floor),
    "speed / SpSV": ({ median }) => figure(ratio(timeOf(solves, PEER), median)),
    "ms of analysis": ({ name }) => figure(analysisOf(name) / 1e6),
    "time / SpSV's": ({ name }) => figure(ratio(analysisOf(name), analysisOf(PEER))),
  };
  printOutcomes(title, [...solves, ...analyses.filter(({ failed }) => failed)], columns, wrong);
  console.log(`  ${HOST}: ${figure(analysisOf(HOST) / 1e6)} ms`);
}
