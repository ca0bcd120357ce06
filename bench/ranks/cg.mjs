// Under mpirun: exspmv, cg, bicgstab and gmres on a grid of SIDE^3 nodes, in ms per product and per iteration.
//   mpirun -n 2 node bench/ranks/cg.mjs [SIDE] [ITERATIONS] [METHODS]
// METHODS is a list like exspmv,cg-none,cg-jacobi,bicgstab-none,gmres-none.
import { finish, median, ranks, share, timed } from "./job.mjs";
import { checkRows, laplacianRows } from "./laplacianRows.mjs";

const [side = 96, iterations = 20] = process.argv.slice(2, 4).map(Number);
const methods = (process.argv[4] ?? "cg-none,cg-jacobi").split(",");
checkRows();
const n = side ** 3;
const [first, end] = share(n);
const A = await ranks.sparse(laplacianRows(side, first, end), first, n);
const b = Float64Array.from({ length: end - first }, (_, i) => 1 + ((first + i) % 7));

const msOf = {};
for (const method of methods) msOf[method] = method === "exspmv" ? await product() : await perIteration(...method.split("-"));
await finish({ side, ms: msOf });

function product() {
  const y = new Float64Array(b.length);
  return timed(iterations, () => ranks.exspmv(1, A, b, 0, y));
}

// The median time from one iteration to the next.
async function perIteration(method, preconditioner) {
  const times = [];
  let last = 0;
  const onIteration = () => {
    const now = performance.now();
    if (last > 0) times.push(now - last);
    last = now;
  };
  await ranks[method](A, b, { preconditioner, tolerance: 0, maxIterations: iterations + 1, onIteration });
  return median(times);
}
