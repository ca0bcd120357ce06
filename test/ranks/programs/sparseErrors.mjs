// Bad arguments of the sparse routines of halfulp/mpi, some on one rank only, and solvers that are stopped: every rank must throw the error
// that is expected here, and no rank may wait forever. Rank 0 prints the number of errors.
import { csr, laplacian, toCsr } from "../../../dist/index.js";
import { openJob, refusals } from "./common.mjs";

const ranks = await openJob();
const { rank, size } = ranks;
const last = rank === size - 1;
const isOther = size > 1 && !last;
const refused = refusals(ranks);
const refusal = `rank ${size - 1} refused its arguments`;

const n = 12; // every rank of up to twelve has rows
const whole = toCsr(laplacian(4, 3));
const startOf = (r) => Math.floor((r * n) / size);
const [first, end] = [startOf(rank), startOf(rank + 1)];
const rows = end - first;
const partOf = (from, to) => {
  const [begin, stop] = [whole.pointers[from], whole.pointers[to]];
  const pointers = whole.pointers.slice(from, to + 1).map((p) => p - begin);
  return csr(to - from, n, pointers, whole.indices.slice(begin, stop), whole.values.slice(begin, stop));
};
const part = partOf(first, end);
const A = await ranks.sparse(part, first, n);
const [x, y, b] = [new Float64Array(rows), new Float64Array(rows), new Float64Array(rows).fill(1)];

// The same on every rank.
await refused(() => ranks.sparse(part, first, n + 1), "ShapeError", `sparse: part has ${n} columns, expected ${n + 1} (rows)`);
await refused(() => ranks.sparse(part, -1, n), "ShapeError", "sparse: firstRow is -1");
await refused(() => ranks.sparse(null, 0, n), "ShapeError", "sparse: part is null");
await refused(() => ranks.exspmv(1, {}, x, 0, y), "ShapeError", "expected a matrix from sparse()");
await refused(() => ranks.exspmv(1, part, x, 0, y), "ShapeError", "expected a matrix from sparse()");
await refused(() => ranks.exspmv(1, A, new Float64Array(n + 1), 0, y), "ShapeError", `exspmv: x has length ${n + 1}, expected ${rows}`);
await refused(() => ranks.exspmv(1, A, b, 0, b), "ShapeError", "exspmv: y shares entries with x");
await refused(() => ranks.cg(A, new Float64Array(n + 1)), "ShapeError", `cg: b has length ${n + 1}, expected ${rows}`);
await refused(() => ranks.cg(A, b, { preconditioner: "ilu0" }), "ShapeError", 'cg: preconditioner is "ilu0", expected "none" or "jacobi"');
await refused(() => ranks.gmres(A, b, { x0: new Float64Array(n + 1) }), "ShapeError", `gmres: x0 has length ${n + 1}, expected ${rows}`);
await refused(() => ranks.bicgstab(A, b, { restarts: 1 }), "ShapeError", 'there is no option "restarts"');
await refused(() => ranks.cg(A, b, { tolerance: -1 }), "ShapeError", "cg: tolerance is -1");
const dense = await ranks.matrix(2, 2, () => 0);
await refused(() => ranks.cg(dense, b), "ShapeError", "expected a matrix from sparse()");
await refused(() => ranks.gather(A), "ShapeError", "expected a distributed matrix");

// Parts that do not follow each other, or do not reach the end.
const short = end - 1;
await refused(() => ranks.sparse(partOf(first, last ? short : end), first, n), "ShapeError", `the parts end before row ${n - 1}`);
if (size > 1)
  await refused(
    () => ranks.sparse(partOf(first, rank === 0 ? short : end), first, n),
    "ShapeError",
    `sparse: firstRow is ${startOf(1)} on rank 1, expected ${startOf(1) - 1} (where the part of rank 0 ends)`,
  );

// On one rank only.
await refused(() => ranks.cg(A, last ? new Float64Array(n + 1) : b), "ShapeError", isOther ? refusal : `b has length ${n + 1}`);
const infinite = b.slice().fill(Infinity, 0, 1);
await refused(
  () => ranks.cg(A, last ? infinite : b),
  isOther ? "ShapeError" : "ValueError",
  isOther ? refusal : `entry ${first} of b is Infinity`,
);
if (size > 1) {
  const B = await ranks.sparse(part, first, n);
  await refused(() => ranks.exspmv(1, last ? A : B, x, 0, y), "ShapeError", `exspmv: rank ${size - 1} called exspmv(A matrix`);
  await refused(() => ranks.exspmv(last ? 2 : 1, A, x, 0, y), "ShapeError", "alpha 2");
  await refused(() => ranks.exspmv(1, A, x, 0, y, { trans: last }), "ShapeError", "trans true");
  await refused(() => ranks.cg(A, b, { tolerance: last ? 1e-3 : 1e-4 }), "ShapeError", "tolerance 0.001");
  await refused(() => ranks.cg(A, b, { maxIterations: last ? 3 : 4 }), "ShapeError", "maxIterations 3");
  await refused(() => ranks.cg(A, b, last ? { x0: x } : {}), "ShapeError", "x0 given");
  await refused(() => ranks.gmres(A, b, { restart: last ? 3 : 4 }), "ShapeError", "restart 3");
  await refused(() => (last ? ranks.cg(A, b) : ranks.gmres(A, b)), "ShapeError", `rank ${size - 1} called cg(`);
  await refused(() => ranks.cg(A, b, { preconditioner: last ? "jacobi" : "none" }), "ShapeError", "preconditioner jacobi");
  await refused(() => ranks.sparse(part, first, last ? n + 1 : n), "ShapeError", isOther ? refusal : "expected 13 (rows)");
  B.free();
}

// Solvers that are stopped: by the signal of rank 0, in the first or in the last iteration, by an onIteration, before they begin.
for (const method of ["cg", "bicgstab", "gmres"]) {
  for (const at of [1, 3]) {
    const controller = new AbortController();
    const onIteration = (k) => {
      if (k === at && rank === 0) controller.abort(new RangeError("enough"));
    };
    await refused(
      () => ranks[method](A, b, { maxIterations: 3, tolerance: 0, onIteration, signal: controller.signal }),
      rank === 0 ? "RangeError" : "HalfulpError",
      rank === 0 ? "enough" : `${method}: rank 0 ended it`,
    );
    await refused(
      () =>
        ranks[method](A, b, {
          maxIterations: 3,
          tolerance: 0,
          onIteration(k) {
            if (k === at && last) throw new RangeError("no more");
          },
        }),
      isOther ? "HalfulpError" : "RangeError",
      isOther ? `${method}: rank ${size - 1} ended it` : "no more",
    );
  }
  const aborted = AbortSignal.abort(new RangeError("never"));
  await refused(
    () => ranks[method](A, b, { signal: aborted }),
    rank === 0 ? "RangeError" : "HalfulpError",
    rank === 0 ? "never" : "rank 0 ended it",
  );
  // The signals of other ranks do not count.
  if (rank === 0) await ranks[method](A, b);
  else await ranks[method](A, b, { signal: aborted });
}
if (size > 2) {
  const onIteration = () => {
    if (rank > 0) throw new RangeError("all of us");
  };
  await refused(
    () => ranks.cg(A, b, { onIteration }),
    rank === 0 ? "HalfulpError" : "RangeError",
    rank === 0 ? `${size - 1} ranks ended it` : "all of us",
  );
}

// An output that is detached during the call. Calls afterwards work.
const gone = new Float64Array(rows);
const pending = ranks.exspmv(1, A, b, 0, gone);
structuredClone(gone.buffer, { transfer: [gone.buffer] });
await refused(() => pending, "ShapeError", "its buffer was detached or resized meanwhile");
await ranks.exspmv(1, A, b, 0, y, { trans: true });

// Freed matrices.
A.free();
A.free();
await refused(() => ranks.exspmv(1, A, x, 0, y), "EngineError", "exspmv: A was freed");
await refused(() => ranks.cg(A, b), "EngineError", "cg: A was freed");
await refused(async () => A.local, "EngineError", "local: the matrix was freed");

const sum = await ranks.exsum(Float64Array.of(1));
if (sum !== size) throw new Error(`a sum of ${sum}`);
if (rank === 0) console.log(`errors ${refused.count}`);
await ranks.close();
await refused(() => ranks.exspmv(1, A, x, 0, y), "EngineError", "exspmv: the ranks were closed");
await refused(() => ranks.sparse(part, first, n), "EngineError", "sparse: the ranks were closed");
