// The dense routines of halfulp/mpi against the synchronous functions, bit for bit: random cases, every grid and block size, and matrices
// with structure. Arguments: the seed, the number of random cases, and optionally the routines. Every rank draws the same numbers. Rank 0
// prints the number of cases and how the factorizations ended.
import { rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exgemm, exgemv, exlu, extrsv, matrix, writeNpy } from "../../../dist/index.js";
import { differenceOf, generator, nearTie, openJob, outcomeOf } from "./common.mjs";

const seed = Number(process.argv[2] ?? 1);
const count = Number(process.argv[3] ?? 10);
const wanted = process.argv[4]?.split(",");
const ranks = await openJob();
const random = generator(seed);
const { integer: below, pick, unit, anyBits, special } = random;
const KINDS = {
  ordinary: unit,
  integers: () => below(7) - 3,
  wide: () => unit() * 2 ** (below(120) - 60),
  huge: () => unit() * 2 ** (900 + below(123)),
  tiny: () => unit() * 2 ** (-500 - below(574)),
  zeros: () => (below(3) === 0 ? unit() : below(2) === 0 ? 0 : -0),
  bits: anyBits,
  specials: special,
};
const SIZES = [0, 1, 2, 3, 5, 8, 13, 20, 33, 64, 65, 90, 130];
const size = () => pick(SIZES);
const vector = (n, kind) => Float64Array.from({ length: n }, KINDS[kind]);
const whole = (rows, cols, kind) => matrix(vector(rows * cols, kind), rows, cols);

const BLOCKS = [1, 7, 32, 64];
/** All of a list in the full suite, else one element. */
const some = (list) => (process.env.HALFULP_TESTS === "full" ? list : [pick(list)]);
const divisors = Array.from({ length: ranks.size }, (_, i) => i + 1).filter((d) => ranks.size % d === 0);
function gridOptions() {
  const rows = pick(divisors);
  const options = below(4) === 0 ? {} : { grid: [rows, ranks.size / rows] };
  return below(6) === 0 ? options : { ...options, blockSize: pick([...BLOCKS, 2 ** 31 - 1]) };
}

// A distributed copy of a matrix, made in one of two ways.
async function spread(A, options = gridOptions()) {
  const at = (i, j) => A.data[A.offset + (A.order === "row" ? i * A.ld + j : j * A.ld + i)];
  if (below(2) === 0) return ranks.matrix(A.rows, A.cols, at, options);
  const root = below(ranks.size);
  return ranks.scatter(ranks.rank === root ? A : undefined, root, options);
}

async function gathered(A) {
  const root = below(ranks.size);
  const found = await ranks.gather(A, root);
  if ((ranks.rank === root) !== (found !== undefined)) throw new Error("gather: a matrix on the wrong rank");
  return found?.data;
}

// The terms of a sum in two blocks, each of which loses more to its two rounded numbers than the sum is above the middle of two numbers.
const TERMS = 3;
function dividedTie(n) {
  const row = new Float64Array(n);
  const [u, v] = [below(n / TERMS), below(n / TERMS - 1)];
  row.set([1, 2 ** -54, 2 ** -108], TERMS * u);
  row.set([2 ** -54, -(2 ** -109)], TERMS * (v < u ? v : v + 1));
  return row;
}

// Blocks of either sign.
function signs(n) {
  const row = new Float64Array(n);
  for (let j = 0; j < n; j += TERMS) row.fill(pick([1, -1]), j, j + TERMS);
  return row;
}

let description = "";
function same(found, expected, what) {
  if (found === undefined) return;
  const difference = differenceOf(found, expected);
  if (difference) throw new Error(`seed ${seed}, ${description}: ${what} on rank ${ranks.rank} is ${difference}`);
}

const CASES = {
  async transfer() {
    const [rows, cols] = below(4) === 0 ? [700, 300] : [size(), size()]; // the large one is gathered in two strips
    const A = whole(rows, cols, pick(Object.keys(KINDS)));
    const D = await spread(A);
    description += ` ${rows} by ${cols} on ${D.grid} blocks ${D.blockSize}`;
    same(await gathered(D), A.data, "gather");
    D.free();
  },
  async npy() {
    const [rows, cols] = [size(), size()];
    const kind = pick(["f8", "f4"]);
    const order = pick(["row", "column"]);
    const data = vector(rows * cols, "ordinary");
    const file =
      kind === "f4" ? writeNpy(matrix(Float32Array.from(data), rows, cols, { order })) : writeNpy(matrix(data, rows, cols, { order }));
    // The file of rank 0 is the one that all read.
    const path = join(tmpdir(), `halfulp-ranks-${seed}-${process.env.HALFULP_TEST_JOB ?? process.ppid}.npy`);
    if (ranks.rank === 0) writeFileSync(path, file);
    await ranks.exsum(new Float64Array(0)); // all wait for it
    const D = await ranks.readNpy(path, gridOptions());
    description += ` ${kind} ${order} ${rows} by ${cols} on ${D.grid} blocks ${D.blockSize}`;
    const values = kind === "f4" ? Float64Array.from(Float32Array.from(data)) : data;
    const expected = Float64Array.from({ length: rows * cols }, (_, k) =>
      order === "row" ? values[k] : values[(k % cols) * rows + Math.floor(k / cols)],
    );
    same(await gathered(D), expected, "readNpy");
    if (ranks.rank === 0) rmSync(path);
    D.free();
  },
  async exgemm() {
    // Large matrices are collected in strips, and very large ones multiplied in strips.
    const large = [
      [1000, 5, 400],
      [1, 2100, 2000],
      [2100, 1, 2000],
    ];
    const [m, n, k] = below(5) === 0 ? pick(large) : [size(), size(), size()];
    const kind = pick(Object.keys(KINDS));
    const [transA, transB] = [below(2) === 0, below(2) === 0];
    const A = transA ? whole(k, m, kind) : whole(m, k, kind);
    const B = transB ? whole(n, k, kind) : whole(k, n, kind);
    const C = whole(m, n, kind);
    const alpha = pick([0, 1, -1, 0.3, 1e300, -1e-300, Infinity, Number.NaN]);
    const beta = pick([0, 1, -1, 0.7, -1e300, Infinity]);
    const [a, b, c] = [await spread(A), await spread(B), await spread(C)];
    description += ` ${m} ${n} ${k} ${kind} ${transA} ${transB} ${alpha} ${beta} on ${a.grid}/${b.grid}/${c.grid} blocks ${a.blockSize}/${b.blockSize}/${c.blockSize}`;
    const result = await ranks.exgemm(alpha, a, b, beta, c, { transA, transB });
    if (result !== c) throw new Error("exgemm: returned another matrix");
    exgemm(alpha, A, B, beta, C, { transA, transB });
    same(await gathered(c), C.data, "exgemm");
    for (const each of [a, b, c]) each.free();
  },
  async exgemv() {
    const [m, n] = [size(), size()];
    const kind = pick(Object.keys(KINDS));
    const trans = below(2) === 0;
    const A = whole(m, n, kind);
    const x = vector(trans ? m : n, kind);
    const y = vector(trans ? n : m, kind);
    const cancels = below(4) === 0 && n > 1 && !trans;
    // The second half of each row cancels the first.
    if (cancels) {
      const half = Math.floor(n / 2);
      for (let i = 0; i < m; i++) for (let j = 0; j < half; j++) A.data[i * n + half + j] = -A.data[i * n + j];
      x.copyWithin(half, 0, half);
    }
    const alpha = pick([0, 1, -1, 0.3, 1e300, -1e-300, 2 ** -1074, Infinity, Number.NaN]);
    const beta = pick([0, 1, -1, 0.7, -1e300, Infinity, Number.NaN]);
    const D = await spread(A);
    description += ` ${m} by ${n} ${kind} ${trans} ${alpha} ${beta} ${cancels ? "cancelling" : ""} on ${D.grid} blocks ${D.blockSize}`;
    const expected = exgemv(alpha, A, x, beta, y.slice(), { trans });
    const found = y.slice();
    const pending = ranks.exgemv(alpha, D, x, beta, found, { trans });
    x.fill(7); // the call has read it
    if ((await pending) !== found) throw new Error("exgemv: returned another vector");
    same(found, expected, "exgemv");
    D.free();
  },
  async extrsv() {
    const n = below(12) === 0 ? 600 : size();
    const kind = n === 600 ? "ordinary" : pick(Object.keys(KINDS));
    const options = {
      uplo: pick(["lower", "upper"]),
      trans: below(2) === 0,
      unit: below(2) === 0,
      rounding: pick(["single", "paper", "corrected"]),
      refine: pick([0, 0, 0, 1, 2]),
      ...pick([{}, {}, {}, { refineBlocks: 1 }, { refineBlocks: 2, blockSize: 13 }, { blockSize: 5 }]),
    };
    const A = whole(n, n, kind);
    for (let i = 0; i < n; i++) if (A.data[i * n + i] === 0) A.data[i * n + i] = below(2) === 0 ? 1 : -2;
    if (kind === "ordinary" || kind === "wide") for (let i = 0; i < n; i++) A.data[i * n + i] *= 16;
    // What is in the other triangle is not read.
    const lower = options.uplo === "lower";
    if (below(2) === 0) for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) if (lower ? j > i : j < i) A.data[i * n + j] = Number.NaN;
    const b = vector(n, kind);
    const D = await spread(A);
    description += ` ${n} ${kind} ${JSON.stringify(options)} on ${D.grid} blocks ${D.blockSize}`;
    const expected = extrsv(A, b, options);
    const pending = ranks.extrsv(D, b, options);
    b.fill(7);
    same(await pending, expected, "extrsv");
    D.free();
  },
  async exlu() {
    const kind = pick(["ordinary", "ordinary", ...Object.keys(KINDS)]);
    const rows = below(10) === 0 ? 300 : size();
    const cols = below(3) === 0 ? size() : rows;
    const A = whole(rows, cols, kind);
    const structure = pick(["full", "full", "band", "low rank", "rows scaled", "columns scaled", "equal rows"]);
    for (let i = 0; i < rows; i++)
      for (let j = 0; j < cols; j++) {
        const at = i * cols + j;
        if (structure === "band" && Math.abs(i - j) > 2) A.data[at] = 0;
        if (structure === "low rank" && i > 1) A.data[at] = A.data[(i % 2) * cols + j] * (1 + (i >> 1)); // ties, tiny remainders, zero pivots
        if (structure === "rows scaled") A.data[at] *= 2 ** ((i * 37) % 200);
        if (structure === "columns scaled") A.data[at] *= 2 ** ((j * 53) % 300);
        if (structure === "equal rows" && i === rows - 1 && i > 0) A.data[at] = A.data[j];
      }
    const D = await spread(A);
    description += ` ${rows} by ${cols} ${kind} ${structure} on ${D.grid} blocks ${D.blockSize}`;
    await factors(A, D, kind);
    D.free();
  },
  // Every grid; in the full suite with every block size.
  async grids() {
    const [m, n] = [below(70), below(70)];
    for (const rows of divisors)
      for (const blockSize of some(BLOCKS)) {
        description = `${rows} by ${ranks.size / rows} ranks, blocks of ${blockSize}, ${m} by ${n}`;
        const [A, T, x, b] = [whole(m, n, "wide"), whole(n, n, "ordinary"), vector(n, "wide"), vector(n, "ordinary")];
        const options = { grid: [rows, ranks.size / rows], blockSize };
        const [D, E] = [await spread(A, options), await spread(T, options)];
        same([...D.grid, D.blockSize], [...options.grid, blockSize], "the layout");
        same(await gathered(D), A.data, "gather");
        same(await ranks.exgemv(1, D, x, 0, new Float64Array(m)), exgemv(1, A, x, 0, new Float64Array(m)), "exgemv");
        const [product, C] = [whole(m, n, "integers"), await ranks.matrix(m, n, () => 5, options)];
        await ranks.exgemm(2, D, E, 0, C);
        exgemm(2, A, T, 0, product);
        same(await gathered(C), product.data, "exgemm");
        same(await ranks.extrsv(E, b, { uplo: "upper" }), extrsv(T, b, { uplo: "upper" }), "extrsv");
        await factors(T, E, "ordinary");
        for (const each of [C, D, E]) each.free();
      }
  },
  // Rows whose sums are close to the middle of two numbers, which no rank knows alone; then factors that are not finite.
  async hardRows() {
    const [m, n] = [40, 12];
    const rows = Array.from({ length: m }, (_, i) => [() => nearTie(n, random), () => dividedTie(n), () => signs(n)][i % 3]());
    const A = matrix(Float64Array.from(rows.flatMap((row) => [...row])), m, n);
    const transposed = matrix(
      Float64Array.from({ length: m * n }, (_, k) => rows[k % m][Math.floor(k / m)]),
      n,
      m,
    );
    const x = new Float64Array(n).fill(1);
    for (const rows of divisors) {
      const options = { grid: [rows, ranks.size / rows], blockSize: TERMS };
      const [D, E] = [await spread(A, options), await spread(transposed, { ...options, grid: [ranks.size / rows, rows] })];
      for (const alpha of [1, -(2 ** -40), Infinity, Number.NaN, -Infinity, 0]) {
        description = `${alpha} times hard rows on ${options.grid}`;
        const y = new Float64Array(m);
        const expected = exgemv(alpha, A, x, 1, y.slice());
        same(await ranks.exgemv(alpha, D, x, 1, y.slice()), expected, "exgemv");
        same(await ranks.exgemv(alpha, E, x, 1, y.slice(), { trans: true }), expected, "exgemv, transposed");
      }
      for (const each of [D, E]) each.free();
    }
  },
  // The eight triangular systems in every rounding.
  async triangles() {
    const n = 41;
    const A = whole(n, n, "ordinary");
    for (let i = 0; i < n; i++) A.data[i * n + i] = 4 + i;
    const D = await spread(A);
    const b = vector(n, "wide");
    for (const uplo of ["lower", "upper"])
      for (const trans of [false, true])
        for (const unit of [false, true])
          for (const rounding of ["single", "paper", "corrected"])
            for (const more of some([{}, { refine: 1 }, { refineBlocks: 1, blockSize: 16 }])) {
              const options = { uplo, trans, unit, rounding, ...more };
              description = `${JSON.stringify(options)} on ${D.grid} blocks ${D.blockSize}`;
              same(await ranks.extrsv(D, b, options), extrsv(A, b, options), "extrsv");
            }
    D.free();
  },
  async structures() {
    for (const [name, [rows, cols, entry]] of Object.entries(STRUCTURES)) {
      const A = matrix(
        Float64Array.from({ length: rows * cols }, (_, k) => entry(Math.floor(k / cols), k % cols)),
        rows,
        cols,
      );
      const D = await spread(A);
      description = `${name} on ${D.grid} blocks ${D.blockSize}`;
      await factors(A, D, "ordinary");
      D.free();
    }
  },
};

const grid5 = (i, j) => (i === j ? 4 : Math.abs(i - j) === 8 || (Math.abs(i - j) === 1 && (i + j) % 16 !== 15) ? -1 : 0);
/** Matrices for exlu: rows, columns and entries. */
const STRUCTURES = {
  laplacian: [64, 64, grid5],
  hilbert: [40, 40, (i, j) => 1 / (i + j + 1)],
  tridiagonal: [70, 70, (i, j) => (i === j ? 2 : Math.abs(i - j) === 1 ? -1 : 0)],
  integers: [45, 45, (i, j) => ((i * 31 + j * j * 17) % 23) - 11],
  "ties of either sign": [50, 50, (i, j) => (((i * j + i) >> 1) % 2 === 0 ? 1 : -1) * (i === j ? 1 : (i * j) % 3 === 0 ? 0 : 1)],
  "signs of Hadamard": [64, 64, (i, j) => ((i & j).toString(2).replaceAll("0", "").length % 2 === 0 ? 1 : -1)],
  permutation: [33, 33, (i, j) => (j === (7 * i + 5) % 33 ? (i % 2 === 0 ? 1 : -1) : 0)],
  "negative zeros": [20, 20, (i, j) => (i === j ? -1 : -0)],
  tall: [150, 9, (i, j) => Math.sin(i * 9 + j)],
  wide: [9, 150, (i, j) => Math.sin(i * 150 + j)],
  "one row": [1, 70, (_, j) => j - 3],
  "one column": [70, 1, (i) => 3 - i],
  "zero column": [40, 40, (i, j) => (j === 37 ? 0 : Math.cos(i * 40 + j))],
  "rank one": [12, 12, (i, j) => (i + 1) * (j + 1)],
  zero: [10, 12, () => 0],
  "overflow in U": [36, 36, (i, j) => (i === j ? 1 : j === 35 ? 1.7e308 : j < i ? -1 : 0)],
  "overflow right of a wide panel": [3, 40, (i, j) => (i === j ? 1 : j === 39 ? 1.7e308 : j < i ? -1 : 0)],
  "overflow in rows of one rank": [
    36,
    36,
    (i, j) => (i === j ? 1 : j > 1 || (i !== 0 && i !== 13 && i !== 20) ? 0 : j === 0 ? -1 : 1.7e308),
  ],
  infinite: [34, 34, (i, j) => (i === 20 && j === 33 ? Infinity : i === 33 && j === 0 ? Number.NaN : i - j)],
};

const outcomes = {};
/** Whether exlu of D has the factors of A, or fails alike. D has the entries of A, which are replaced. */
async function factors(A, D, kind) {
  const { rows, cols } = A;
  const [expected, found] = [await outcomeOf(() => exlu(A)), await outcomeOf(() => ranks.exlu(D))];
  const outcome = expected instanceof Error ? expected.message.replace(/^.* (is 0|overflows|is \S+), .*$/, "$1") : "factors";
  outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  if (expected instanceof Error) {
    sameError(found, expected, "exlu");
    return;
  }
  if (found instanceof Error) throw new Error(`seed ${seed}, ${description}: exlu failed`, { cause: found });
  same([...found.lu.grid, found.lu.blockSize], [...D.grid, D.blockSize], "the layout of the factors");
  same(found.pivots, expected.pivots, "pivots");
  same(await gathered(found.lu), expected.lu.data, "exlu");
  same(await gathered(D), A.data, "A after exlu");
  if (rows === cols) {
    D.local.data.fill(3); // the factors have a copy
    const b = vector(rows, pick(["ordinary", "wide", kind]));
    const options = pick([{}, { refine: 1 }, { refine: 2 }]);
    const x = expected.solve(b, options);
    const pending = found.solve(b, options);
    b.fill(7);
    same(await pending, x, "LU.solve");
  }
  found.lu.free();
}

function sameError(found, expected, what) {
  const text = (error) => `${error.name}: ${error.message} ${error.row} ${error.column} ${error.index}`;
  if (!(found instanceof Error)) throw new Error(`${description}: ${what} has a result, expected ${text(expected)}`);
  if (text(found) !== text(expected))
    throw new Error(`${description}: ${what}: ${text(found)}, expected ${text(expected)}`, { cause: found });
}

let done = 0;
const run = async (name, k) => {
  description = `case ${k} ${name}`;
  await CASES[name]();
  done++;
};
const ONCE = ["grids", "hardRows", "triangles", "structures"];
for (const name of wanted ?? ONCE) if (ONCE.includes(name)) await run(name, 0);
const routines = (wanted ?? Object.keys(CASES)).filter((name) => !ONCE.includes(name));
for (let k = 0; k < count; k++) for (const name of routines) await run(name, k);
if (ranks.rank === 0) console.log(`cases ${done}; ${JSON.stringify(outcomes)}`);
await ranks.close();
