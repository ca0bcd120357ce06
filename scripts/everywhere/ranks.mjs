// Runs the corpus over the ranks of an MPI job: every rank makes the inputs, keeps its own parts, and rank 0 prints the hashes as a line of
// JSON. Routines that ranks do not have are left out.
//   mpirun -n 3 node scripts/everywhere/ranks.mjs '{ "corpus": "short" }'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hashes, routineNames } from "../../dist/everywhere/corpus.js";
import { csr, matrix, toCsr } from "../../dist/index.js";
import { openRanks } from "../../dist/mpi.js";

const { corpus = "short", only } = JSON.parse(process.argv[2]);
const ABSENT =
  /binary32$|^exaxpy|^exscal|^exinvscal|^exmean|^exvariance|^excovariance|^Moments|^extrsm|^exluBatch|^sptrsv|^ilu0|not square|ilu0, plans|^files|^test problems/;
const REDUCTIONS = /^(exsum|exasum|exdot|exnrm2|accumulate)/; // in both precisions
const names = (only ?? routineNames).filter((name) => REDUCTIONS.test(name) || !ABSENT.test(name));

const ranks = await openRanks();
const { rank, size } = ranks;

// Uneven parts, some of them empty.
const cut = (n, r) => (r === 0 ? 0 : r === size ? n : Math.floor((n * r * r) / (size * size)));
const part = (x) => x.subarray(cut(x.length, rank), cut(x.length, rank + 1));

// Vectors are put together through files: ranks have no routine for it, and here all see the same ones.
const shared = join(tmpdir(), `halfulp-ranks-${process.ppid}-`);
const folder = mkdtempSync(shared);
const everyFolder = await exchangeNames();
let exchanges = 0;
async function whole(x, n) {
  const name = `x${exchanges++}`;
  writeFileSync(join(folder, name), new Uint8Array(x.buffer, x.byteOffset, x.byteLength));
  await ranks.exsum(new Float64Array(0)); // all have written
  const out = new Float64Array(n);
  const bytes = new Uint8Array(out.buffer);
  for (let r = 0, at = 0; r < size; r++) {
    const piece = readFileSync(join(everyFolder[r], name));
    bytes.set(piece, at);
    at += piece.length;
  }
  await ranks.exsum(new Float64Array(0)); // all have read
  return out;
}

// The six random letters of every rank's folder, as digits of sums.
async function exchangeNames() {
  const letters = folder.slice(-6);
  const all = [];
  for (let r = 0; r < size; r++) {
    let name = "";
    for (let i = 0; i < 6; i++) name += String.fromCharCode(await ranks.exsum(Float64Array.of(r === rank ? letters.charCodeAt(i) : 0)));
    all.push(folder.slice(0, -6) + name);
  }
  return all;
}

const entryOf = ({ data, offset, ld, order }) =>
  order === "row" ? (i, j) => data[offset + i * ld + j] : (i, j) => data[offset + j * ld + i];
const spread = (A) => ranks.matrix(A.rows, A.cols, entryOf(A), { blockSize: 8 });
const gathered = async (A, like) => (await ranks.gather(A)) ?? like;

async function on(matrices, call) {
  const parts = [];
  for (const A of matrices) parts.push(await spread(A));
  try {
    return await call(...parts);
  } finally {
    for (const each of parts) each.free();
  }
}

async function withRows(A, call) {
  const { pointers, indices, values, rows } = toCsr(A);
  const [from, to] = [cut(rows, rank), cut(rows, rank + 1)];
  const own = pointers.slice(from, to + 1).map((at) => at - pointers[from]);
  const [first, end] = [pointers[from], pointers[to]];
  const mine = csr(to - from, A.cols, own, indices.slice(first, end), values.slice(first, end));
  const distributed = await ranks.sparse(mine, from, rows);
  try {
    return await call(distributed);
  } finally {
    distributed.free();
  }
}

const iterative = (method) => (A, b, options) =>
  withRows(A, async (distributed) => {
    const own = options?.x0 ? { ...options, x0: part(options.x0) } : options;
    const solution = await ranks[method](distributed, part(b), own);
    return { ...solution, x: await whole(solution.x, b.length) };
  });

const denseOf = (A) => {
  if ("data" in A) return A;
  const { rows, cols, pointers, indices, values } = toCsr(A);
  const data = new Float64Array(rows * cols);
  for (let i = 0; i < rows; i++) for (let p = pointers[i]; p < pointers[i + 1]; p++) data[i * cols + indices[p]] = values[p];
  return matrix(data, rows, cols);
};

const routines = {
  exsum: (x, options) => ranks.exsum(part(x), options),
  exasum: (x, options) => ranks.exasum(part(x), options),
  exdot: (x, y, options) => ranks.exdot(part(x), part(y), options),
  exnrm2: (x, options) => ranks.exnrm2(part(x), options),
  accumulate: (x, y) => ranks.accumulate(part(x), y && part(y)),
  exgemv: (alpha, A, x, beta, y, options) => on([A], (D) => ranks.exgemv(alpha, D, x, beta, y, options)),
  exgemm: (alpha, A, B, beta, C, options) =>
    on([A, B, C], async (a, b, c) => gathered(await ranks.exgemm(alpha, a, b, beta, c, options), C)),
  extrsv: (T, b, options) => on([T], (D) => ranks.extrsv(D, b, options)),
  async exlu(A) {
    const distributed = await spread(A);
    const factors = await ranks.exlu(distributed);
    return {
      lu: await gathered(factors.lu, matrix(new Float64Array(A.rows * A.cols), A.rows, A.cols)),
      pivots: factors.pivots,
      async solve(b, options) {
        if (!("data" in b)) return factors.solve(b, options);
        const X = matrix(new Float64Array(b.rows * b.cols), b.rows, b.cols);
        for (let j = 0; j < b.cols; j++) {
          const column = await factors.solve(
            Float64Array.from({ length: b.rows }, (_, i) => entryOf(b)(i, j)),
            options,
          );
          for (let i = 0; i < b.rows; i++) X.data[i * b.cols + j] = column[i];
        }
        return X;
      },
    };
  },
  exspmv: (alpha, A, x, beta, y, options) =>
    withRows(A, async (distributed) => {
      const own = part(y).slice();
      return whole(await ranks.exspmv(alpha, distributed, part(x), beta, own, options), y.length);
    }),
  solve: (A, b) => on([denseOf(A)], (D) => ranks.solve(D, b)),
  async factor(A) {
    const D = await spread(A);
    return ranks.factor(D);
  },
  cg: iterative("cg"),
  bicgstab: iterative("bicgstab"),
  gmres: iterative("gmres"),
};

const begin = performance.now();
const found = await hashes(routines, { corpus, only: names });
const seconds = (performance.now() - begin) / 1000;
if (rank === 0)
  console.log(
    JSON.stringify({ device: `${ranks.library}, ${size} ranks`, version: `Node ${process.versions.node}`, seconds, hashes: found }),
  );
await ranks.close();
rmSync(folder, { recursive: true });
