// Random cases of the dense routines of halfulp/mpi against the synchronous functions, bit for bit. Arguments: the seed, the number of
// cases, and optionally the routines. Every rank draws the same numbers. Rank 0 prints the number of cases.
import { rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exgemm, exgemv, exlu, extrsv, matrix, writeNpy } from "../../../dist/index.js";
import { openRanks } from "../../../dist/mpi.js";

const seed = Number(process.argv[2] ?? 1);
const count = Number(process.argv[3] ?? 10);
const wanted = process.argv[4]?.split(",");
const ranks = await openRanks({
  engine: process.env.HALFULP_TEST_ENGINES?.split(",")[Number(process.env.OMPI_COMM_WORLD_RANK ?? process.env.PMI_RANK ?? 0)],
});

// mulberry32
let state = seed >>> 0;
function word() {
  state = (state + 0x6d2b79f5) >>> 0;
  let t = Math.imul(state ^ (state >>> 15), state | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return (t ^ (t >>> 14)) >>> 0;
}
const below = (n) => word() % n;
const pick = (list) => list[below(list.length)];
const scratch = new DataView(new ArrayBuffer(8));
function bits() {
  scratch.setUint32(0, word());
  scratch.setUint32(4, word());
  return scratch.getFloat64(0);
}
const unit = () => word() / 2 ** 31 - 1 + word() / 2 ** 63;
const KINDS = {
  ordinary: unit,
  integers: () => below(7) - 3,
  wide: () => unit() * 2 ** (below(120) - 60),
  huge: () => unit() * 2 ** (900 + below(123)),
  tiny: () => unit() * 2 ** (-500 - below(574)),
  zeros: () => (below(3) === 0 ? unit() : below(2) === 0 ? 0 : -0),
  bits,
  specials: () => (below(12) === 0 ? pick([Number.NaN, Infinity, -Infinity, 0, -0, 5e-324, Number.MAX_VALUE]) : unit()),
};
const SIZES = [0, 1, 2, 3, 5, 8, 13, 20, 33, 64, 65, 90, 130];
const size = () => pick(SIZES);
const vector = (n, kind) => Float64Array.from({ length: n }, KINDS[kind]);
const whole = (rows, cols, kind) => matrix(vector(rows * cols, kind), rows, cols);

function gridOptions() {
  const divisors = Array.from({ length: ranks.size }, (_, i) => i + 1).filter((d) => ranks.size % d === 0);
  const rows = pick(divisors);
  const options = below(4) === 0 ? {} : { grid: [rows, ranks.size / rows] };
  return below(6) === 0 ? options : { ...options, blockSize: pick([1, 7, 32, 64]) };
}

// A distributed copy of a matrix, made in one of two ways.
async function spread(A) {
  const options = gridOptions();
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

let description = "";
function same(found, expected, what) {
  if (found === undefined) return;
  const [a, b] = [new BigUint64Array(found.slice().buffer), new BigUint64Array(expected.slice().buffer)];
  const at = a.findIndex((v, i) => v !== b[i]);
  if (a.length === b.length && at < 0) return;
  throw new Error(
    `seed ${seed}, ${description}: ${what} on rank ${ranks.rank} has ${found[at]} at ${at}, expected ${expected[at]} (lengths ${a.length}, ${b.length})`,
  );
}

const CASES = {
  async transfer() {
    const [rows, cols] = below(4) === 0 ? [700, 300] : [size(), size()]; // the large one is gathered in two strips
    const A = whole(rows, cols, pick(["ordinary", "wide", "integers"]));
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
    const [expected, found] = [await outcomeOf(() => exlu(A)), await outcomeOf(() => ranks.exlu(D))];
    if (expected instanceof Error) {
      sameError(found, expected, "exlu");
    } else {
      if (found instanceof Error) throw found;
      if (String(found.lu.grid) !== String(D.grid) || found.lu.blockSize !== D.blockSize) throw new Error(`${description}: another layout`);
      same(Float64Array.from(found.pivots), Float64Array.from(expected.pivots), "pivots");
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
    D.free();
  },
};

async function outcomeOf(call) {
  try {
    return await call();
  } catch (error) {
    return error;
  }
}

function sameError(found, expected, what) {
  const text = (error) => `${error.name}: ${error.message} ${error.row} ${error.column} ${error.index}`;
  if (!(found instanceof Error)) throw new Error(`${description}: ${what} has a result, expected ${text(expected)}`);
  if (text(found) !== text(expected))
    throw new Error(`${description}: ${what}: ${text(found)}, expected ${text(expected)}`, { cause: found });
}

let done = 0;
for (let k = 0; k < count; k++)
  for (const name of wanted ?? Object.keys(CASES)) {
    description = `case ${k} ${name}`;
    await CASES[name]();
    done++;
  }
if (ranks.rank === 0) console.log(`cases ${done}`);
await ranks.close();
