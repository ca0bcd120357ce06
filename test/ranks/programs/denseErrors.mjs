// Bad arguments of the dense routines of halfulp/mpi, some on one rank only: every rank must throw the error that is expected here, and no
// rank may wait forever. Rank 0 prints the number of errors. Argument: a folder for files.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { matrix, writeNpy } from "../../../dist/index.js";
import { openJob, outcomeOf, refusals } from "./common.mjs";

const folder = process.argv[2];
const ranks = await openJob();
const last = ranks.rank === ranks.size - 1;
const refused = refusals(ranks);

const A = await ranks.matrix(6, 4, (i, j) => i - j, { blockSize: 2 });
const S = await ranks.matrix(5, 5, (i, j) => (i === 3 && j === 3 ? 0 : 1), { blockSize: 1 });
const [x, y, b] = [new Float64Array(4), new Float64Array(6), new Float64Array(5)];

// The same on every rank.
await refused(() => ranks.matrix(2, 2, () => 0, { grid: [ranks.size, 2] }), "ShapeError", `expected ${ranks.size} (the ranks of this job)`);
await refused(() => ranks.matrix(2, 2, () => 0, { grid: [0, ranks.size] }), "ShapeError", "matrix: grid[0] is 0");
await refused(() => ranks.matrix(2, 2, () => 0, { grid: [ranks.size] }), "ShapeError", "matrix: grid is an array of length 1");
await refused(() => ranks.matrix(2, 2, () => 0, { grid: "1 by 1" }), "ShapeError", "matrix: grid is");
await refused(() => ranks.matrix(2, 2, () => 0, { blockSize: 2 ** 31 }), "ShapeError", "matrix: blockSize is 2147483648");
await refused(() => ranks.matrix(2, 2, () => 0, { blockSize: 1.5 }), "ShapeError", "matrix: blockSize is 1.5");
await refused(() => ranks.matrix(-1, 2, () => 0), "ShapeError", "matrix: rows is -1");
await refused(() => ranks.matrix(2, 2 ** 31, () => 0), "ShapeError", "matrix: cols is 2147483648");
await refused(() => ranks.matrix(2, 2), "ShapeError", "matrix: entry is undefined, expected a function");
await refused(() => ranks.gather(A, -1), "ShapeError", "gather: root is -1");
await refused(() => ranks.gather(A, 0.5), "ShapeError", "gather: root is 0.5");
await refused(() => ranks.readNpy(7), "ShapeError", "readNpy: path is");
await refused(() => ranks.matrix(2, 2, () => 0, { blockSize: 0 }), "ShapeError", "matrix: blockSize is 0");
await refused(() => ranks.matrix(2, 2, () => 0, { block: 3 }), "ShapeError", 'there is no option "block"');
await refused(() => ranks.scatter(undefined, ranks.size), "ShapeError", "scatter: root is");
await refused(() => ranks.exgemv(1, A, b, 0, y), "ShapeError", "exgemv: x has length 5, expected 4 (the columns of A)");
await refused(() => ranks.exgemv(1, A, x, 0, b), "ShapeError", "exgemv: y has length 5, expected 6 (the rows of A)");
await refused(() => ranks.exgemv(1, { ...A }, x, 0, y), "ShapeError", "expected a distributed matrix");
await refused(() => ranks.exgemv(1, S, b, 0, b), "ShapeError", "y shares entries with x");
await refused(() => ranks.exgemm(1, A, A, 0, S), "ShapeError", "exgemm: B has 6 rows, expected 4 (the columns of A)");
await refused(() => ranks.exgemm(1, S, S, 0, S), "ShapeError", "exgemm: C shares entries with A");
await refused(() => ranks.extrsv(A, y), "ShapeError", "extrsv: T is 6 by 4, expected a square matrix");
const singular = await refused(
  () => ranks.extrsv(S, b),
  "SingularError",
  "extrsv: entry (3, 3) of T is 0, expected a diagonal without zeros",
);
if (singular.index !== 3) throw new Error(`index ${singular.index}`);
await ranks.extrsv(S, b, { unit: true });

// On one rank only.
const other = ranks.size > 1 && !last;
const refusal = `rank ${ranks.size - 1} refused its arguments`;
await refused(
  () =>
    ranks.matrix(
      8,
      8 * ranks.size,
      (i, j) => {
        if (last && i === 7) throw new RangeError("no entry");
        return i + j;
      },
      { blockSize: 1, grid: [1, ranks.size] },
    ),
  other ? "ShapeError" : "RangeError",
  other ? refusal : "no entry",
);
// Whatever is thrown, even nothing.
for (const value of [undefined, null, "a text"]) {
  const entry = (_, j) => {
    if (j === 8 * ranks.size - 1) throw value;
    return j;
  };
  const error = await outcomeOf(() => ranks.matrix(1, 8 * ranks.size, entry, { blockSize: 1, grid: [1, ranks.size] }));
  if (other ? !error.message.includes(`${refusal}: ${value}`) : error !== value) throw new Error(`${error} for ${value}`);
}
await refused(() => ranks.exgemv(1, A, last ? b : x, 0, y), "ShapeError", other ? refusal : "x has length 5");
await refused(() => ranks.exgemm(1, A, last ? S : A, 0, S, { transB: true }), "ShapeError", other ? "exgemm: " : "exgemm: B has 5");
const flat = Float32Array.of(1);
await refused(
  () => ranks.scatter(last ? matrix(flat, 1, 1) : undefined, ranks.size - 1),
  "ShapeError",
  other ? refusal : "scatter: A is binary32, expected binary64",
);
await refused(() => ranks.scatter(undefined, 0), "ShapeError", ranks.rank === 0 ? "expected a matrix" : "rank 0 refused its arguments");
if (ranks.size > 1) {
  await refused(() => ranks.exlu(last ? A : S), "ShapeError", `exlu: rank ${ranks.size - 1} called exlu(A 6 by 4`);
  await refused(() => (last ? ranks.exlu(S) : ranks.gather(S)), "ShapeError", `rank ${ranks.size - 1} called exlu(`);
  await refused(() => ranks.gather(S, last ? 1 : 0), "ShapeError", `rank ${ranks.size - 1} called gather(root 1`);
  await refused(
    () => ranks.scatter(undefined, 0, { blockSize: last ? 3 : 4 }),
    "ShapeError",
    ranks.rank === 0 ? "A is undefined" : "rank 0 refused",
  );
  await refused(() => ranks.matrix(3, 3, () => 0, { blockSize: last ? 3 : 4 }), "ShapeError", "blocks of 3");
  await refused(() => ranks.matrix(3, 3, () => 0, { grid: last ? [1, ranks.size] : [ranks.size, 1] }), "ShapeError", "called matrix(");
  const C = await ranks.matrix(5, 5, () => 0);
  await refused(() => ranks.exgemm(1, S, S, last ? 1 : 0, C), "ShapeError", "called exgemm(");
  await refused(() => ranks.exgemm(1, S, S, 0, C, { transB: last }), "ShapeError", "transB true");
  await refused(() => ranks.exgemv(1, S, b, 1, last ? b.map(() => 1) : b.slice()), "ShapeError", "y with hash");
  await refused(() => ranks.extrsv(S, last ? b.map(() => -0) : b, { unit: true }), "ShapeError", "b with hash");
  // Descriptions that begin alike and are too long to be sent as a whole.
  const long = `/${"long/".repeat(200)}`;
  await refused(() => ranks.readNpy(`${long}${last ? 1 : 2}`), "ShapeError", `readNpy: rank ${ranks.size - 1} called readNpy(path /long`);
  await refused(() => ranks.exgemv(1, A, last ? x.map(() => 1) : x, 0, y), "ShapeError", "called exgemv(");
  await refused(() => ranks.exgemv(last ? 2 : 1, A, x, 0, y), "ShapeError", "called exgemv(alpha");
  await refused(() => ranks.extrsv(S, b, { unit: true, trans: last }), "ShapeError", "called extrsv(");
  await refused(() => ranks.gather(last ? A : S), "ShapeError", "called gather(");
  await refused(() => ranks.matrix(3, last ? 3 : 4, () => 0), "ShapeError", "called matrix(");
}

// An output that is detached during the call.
const gone = new Float64Array(6);
const detached = ranks.exgemv(1, A, x, 0, gone);
structuredClone(gone.buffer, { transfer: [gone.buffer] });
await refused(() => detached, "ShapeError", "its buffer was detached or resized meanwhile");

// Factors.
const dependent = await refused(() => ranks.exlu(S), "SingularError", "exlu: the pivot of column 1 is 0");
if (dependent.index !== 1) throw new Error(`index ${dependent.index}`);
const infinite = await ranks.matrix(9, 12, (i, j) => (i === 7 && j === 10 ? -Infinity : i === 8 && j === 1 ? Number.NaN : i * j + 1));
const special = await refused(() => ranks.exlu(infinite), "ValueError", "exlu: entry (7, 10) of A is -Infinity, expected a finite number");
if (special.row !== 7 || special.column !== 10) throw new Error(`entry (${special.row}, ${special.column})`);
const wide = await ranks.exlu(await ranks.matrix(2, 3, (i, j) => i + j * j + 1));
await refused(() => wide.solve(x), "ShapeError", "LU.solve: the matrix is 2 by 3, expected a square one");
const F = await ranks.exlu(await ranks.matrix(5, 5, (i, j) => (i === j ? 4 : 1)));
await refused(() => F.solve(x), "ShapeError", "LU.solve: b has length 4, expected 5 (the order of A)");
await refused(() => F.solve(b, { refine: -1 }), "ShapeError", "LU.solve: refine is -1");
if (ranks.size > 1) await refused(() => F.solve(last ? b.map(() => 1) : b), "ShapeError", "called LU.solve(");
F.lu.free();
await refused(() => F.solve(b), "EngineError", "LU.solve: lu was freed");

// Files.
const path = join(folder, "short.npy");
if (ranks.rank === 0) writeFileSync(path, writeNpy(matrix(new Float64Array(12), 3, 4)).subarray(0, 200));
await ranks.exsum(x);
await refused(() => ranks.readNpy(path), "FormatError", "72 bytes of numbers, expected 96");
await refused(() => ranks.readNpy(folder), "FormatError", "cannot be read");
await refused(() => ranks.readNpy(join(folder, "none.npy")), "FormatError", "cannot be opened");
if (ranks.rank === 0) writeFileSync(path, writeNpy(new Float64Array(3)));
await ranks.exsum(x);
await refused(() => ranks.readNpy(path), "FormatError", "expected two dimensions");
await ranks.exsum(x);
if (ranks.rank === 0) rmSync(path);
// A path that means another file on every rank: of another shape on the last one, then missing there, then cut off there.
process.chdir(mkdtempSync(join(folder, "rank-")));
const numbers = writeNpy(matrix(new Float64Array(12), 3, last ? 4 : 2));
writeFileSync("own.npy", numbers);
if (ranks.size > 1) await refused(() => ranks.readNpy("own.npy"), "FormatError", `shape (3, 4) on rank ${ranks.size - 1}, expected (3, 2)`);
if (last) rmSync("own.npy");
const failure = `readNpy: rank ${ranks.size - 1} failed`;
const [kind, text] = other ? ["HalfulpError", failure] : ["FormatError", "own.npy cannot be opened"];
await refused(() => ranks.readNpy("own.npy"), kind, text);
if (last) writeFileSync("own.npy", numbers.subarray(0, 130));
await refused(() => ranks.readNpy("own.npy"), kind, other ? failure : "2 bytes of numbers, expected 96");

// Freed matrices. Calls that are under way keep theirs.
const gathered = ranks.gather(A);
A.free();
A.free();
const whole = await gathered;
if (ranks.rank === 0 && whole.data[23] !== 2) throw new Error(`gather of a matrix that was freed meanwhile: ${whole.data}`);
await refused(() => ranks.gather(A), "EngineError", "gather: A was freed");
await refused(() => ranks.exgemv(1, A, x, 0, y), "EngineError", "exgemv: A was freed");
await refused(async () => A.local, "EngineError", "the matrix was freed");
const making = () => ranks.matrix(5, 5, (i, j) => (i === j ? 2 : 0), { blockSize: 2 });
const [T, P, Q] = [await making(), await making(), await making()];
const factors = await ranks.exlu(await making());
const two = new Float64Array(5).fill(2);
const calls = [
  ranks.exgemv(1, T, two, 0, new Float64Array(5)),
  ranks.exgemm(0.25, T, P, 0, Q),
  ranks.extrsv(T, two),
  ranks.exlu(T),
  factors.solve(two, { refine: 1 }),
];
for (const each of [T, P, factors.lu]) each.free();
const [product, , solution, again, refined] = await Promise.all(calls);
if (![...product, ...solution, ...refined].every((v, k) => v === (k < 5 ? 4 : 1)))
  throw new Error(`freed: ${product} ${solution} ${refined}`);
if ((await again.solve(two))[0] !== 1) throw new Error("the factors of a matrix that was freed");
if (Q.local.data.some((v) => v !== 0 && v !== 1)) throw new Error(`the product of matrices that were freed: ${Q.local.data}`);

// The ranks still work.
const sum = await ranks.exsum(Float64Array.of(1));
if (sum !== ranks.size) throw new Error(`a sum of ${sum}`);
if (ranks.rank === 0) console.log(`errors ${refused.count}`);
await ranks.close();
await refused(() => ranks.exlu(S), "EngineError", "exlu: the ranks were closed");
await refused(() => again.solve(two), "EngineError", "LU.solve: the ranks were closed");
await refused(() => ranks.matrix(1, 1, () => 1), "EngineError", "matrix: the ranks were closed");
