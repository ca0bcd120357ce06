// What npm run fuzz tries: for each routine how a random case is made, how it runs, how it is judged, and how it is made smaller. A case is
// a function of its seed alone.

import { Accumulator } from "../../dist/api/accumulator.js";
import { Moments } from "../../dist/api/moments.js";
import { SingularError, ValueError } from "../../dist/arrays/errors.js";
import { matrix } from "../../dist/arrays/matrix.js";
import { Random } from "../../dist/arrays/random.js";
import { csc, csr } from "../../dist/arrays/sparse.js";
import { arrow, grid, Inputs, KINDS, scattered } from "../../dist/everywhere/inputs.js";

const ROUNDINGS = ["nearest", "up", "down", "zero"];
const SCHEDULES = ["auto", "serial", "levr", "levc", "slfr", "slfc", "gsf"];
const SINGLE_ROUNDINGS = ["single", "paper", "corrected"];
const single = (x) => (x.BYTES_PER_ELEMENT === 4 ? 1 : 0);

/** The inputs of a case, in one of the two formats. */
export const inputsOf = (seed) => new Inputs(seed, seed % 4 === 3 ? "binary32" : "binary64");

const pick = ({ random }, list) => list[random.below(list.length)];
const kindOf = (inputs) => pick(inputs, KINDS);
const maybe = (inputs, one) => inputs.random.below(one) === 0;

// Short mostly, around lanes and blocks often, long now and then.
function length({ random }) {
  const which = random.below(2000);
  if (which < 1100) return random.below(12);
  if (which < 1850) return random.below(90);
  if (which < 1996) return [255, 256, 257, 511, 513, 1023, 1024, 1025][random.below(8)] + random.below(4);
  return [4096, 8191, 8193, 16_385, 65_535, 65_537, 140_000][random.below(7)];
}
const order = (inputs, most = 10) => (maybe(inputs, 60) ? 20 + inputs.random.below(50) : 1 + inputs.random.below(most));
const coefficient = (inputs) => (maybe(inputs, 3) ? pick(inputs, [0, 1, -1, 2, 0.1]) : inputs.vector(1, kindOf(inputs))[0]);
// Of binary32 data coefficients are still binary64.
const scalar = (inputs) =>
  maybe(inputs, 2) ? coefficient(inputs) : new Inputs(inputs.random.word() >>> 0, "binary64").vector(1, "bits")[0];

// At any alignment.
function vector(inputs, n, kind) {
  const shift = inputs.random.below(4);
  return inputs.vector(n + shift, kind).subarray(shift);
}

// ---------------------------------------------------------------- level 1

const without = (x, from, to) => {
  const rest = new x.constructor(x.length - (to - from));
  rest.set(x.subarray(0, from));
  rest.set(x.subarray(to), from);
  return rest;
};

// Halves, quarters, … taken away, then simpler numbers.
function* shorter({ x, y, ...rest }) {
  for (let size = x.length >> 1; size >= 1; size >>= 1)
    for (let from = 0; from < x.length; from += size)
      yield { ...rest, x: without(x, from, Math.min(from + size, x.length)), y: y && without(y, from, Math.min(from + size, x.length)) };
  for (const [i] of x.entries())
    for (const array of y ? [x, y] : [x]) {
      if (array[i] === 1 || array[i] === 0) continue;
      const copy = array.slice();
      copy[i] = 1;
      yield { ...rest, x: array === x ? copy : x, y: array === y ? copy : y };
    }
}

// One vector, or two of the same length.
function dataOf(inputs, two = true) {
  const n = length(inputs);
  const kind = kindOf(inputs);
  const x = vector(inputs, n, kind);
  if (!two) return { x };
  const y = vector(inputs, n, maybe(inputs, 3) ? kindOf(inputs) : kind);
  if (kind === "cancelling") for (let i = n >> 1; i < n; i++) y[i] = y[i - (n >> 1)];
  return { x, y };
}

const judgedNumber = (found, want) => (Object.is(found, want) ? "" : `${found}, expected ${want}`);

const reduction = (name, op) => ({
  family: "level 1",
  make: (inputs) => ({ ...dataOf(inputs, name === "exdot"), round: pick(inputs, ROUNDINGS) }),
  run: (routines, { x, y, round }) => (name === "exdot" ? routines.exdot(x, y, { round }) : routines[name](x, { round })),
  elements: ({ x }) => x.length,
  judge({ x, y, round }, found, { reduce }) {
    return judgedNumber(found, reduce(op, x.length, x, y ?? x, single(x), ROUNDINGS.indexOf(round)));
  },
  shrink: shorter,
});

const elementwise = (name, op) => ({
  family: "level 1",
  make: (inputs) => ({ ...dataOf(inputs, name === "exaxpy"), alpha: scalar(inputs) }),
  // The inputs are written: a case keeps its own.
  run: (routines, { x, y, alpha }) => (name === "exaxpy" ? routines.exaxpy(alpha, x, y.slice()) : routines[name](alpha, x.slice())),
  elements: ({ x }) => x.length,
  judge({ x, y, alpha }, found, { map }) {
    const at = map(op, x.length, alpha, x, y ?? x, found, single(x));
    return at === 0 ? "" : `element ${at - 1} is ${found[at - 1]}`;
  },
  shrink: shorter,
});

function haveSameBytes(whole, merged) {
  return Buffer.compare(whole.toBytes(), merged.toBytes()) === 0;
}

const accumulate = {
  family: "level 1",
  make(inputs) {
    const dot = maybe(inputs, 2);
    return { ...dataOf(inputs, dot), round: pick(inputs, ROUNDINGS), dot };
  },
  async run(routines, { x, y, dot }) {
    const add = async (a, b) => {
      if (routines.accumulate) return routines.accumulate(a, dot ? b : undefined);
      return dot ? new Accumulator().addProduct(a, b) : new Accumulator().add(a);
    };
    const cut = x.length >> 1;
    const parts = [await add(x.subarray(cut), y?.subarray(cut)), await add(x.subarray(0, cut), y?.subarray(0, cut))];
    return { whole: await add(x, y), merged: Accumulator.fromBytes(parts[0].toBytes()).merge(parts[1]) };
  },
  elements: ({ x }) => x.length,
  judge({ x, y, dot, round }, { whole, merged }, { reduce }) {
    if (!haveSameBytes(whole, merged)) return "parts merge to other bytes than the whole";
    const value = whole.value(round, single(x) ? "binary32" : "binary64");
    const want = dot && x.length === 0 ? -0 : reduce(dot ? 2 : 0, x.length, x, y ?? x, single(x), ROUNDINGS.indexOf(round));
    return judgedNumber(value, want);
  },
  shrink: shorter,
};

// ---------------------------------------------------------------- statistics: synchronous, on the kernels of the calling thread

// Now and then far from zero, next to each other; or a second vector that sums to zero, all but.
function sampleOf(inputs, two) {
  const { x, y } = dataOf(inputs, two);
  if (maybe(inputs, 4)) {
    const base = inputs.vector(1, kindOf(inputs))[0];
    const ulp = 2 ** ((single(x) ? -23 : -52) + inputs.random.below(12));
    for (const array of two ? [x, y] : [x]) for (let i = 0; i < x.length; i++) array[i] = base * (1 + ulp * inputs.random.below(100));
  }
  if (two && maybe(inputs, 6)) {
    for (let i = 0; 2 * i < x.length; i++) y[x.length - 1 - i] = 2 * i + 1 === x.length ? 0 : -y[i];
    if (x.length > 1 && maybe(inputs, 3)) y[0] *= 1 + 2 ** -20;
  }
  return { x, y };
}

const exmean = {
  family: "statistics",
  synchronous: true,
  make(inputs) {
    const weighted = maybe(inputs, 2);
    return { ...sampleOf(inputs, weighted), weighted };
  },
  run: (routines, { x, y, weighted }) => (weighted ? routines.exmean(x, y) : routines.exmean(x)),
  elements: ({ x }) => x.length,
  judge: ({ x, y, weighted }, found, { mean }) => judgedNumber(found, mean(x.length, x, y ?? x, weighted ? 1 : 0, single(x), single(x))),
  shrink: shorter,
};

const covariance = (name) => ({
  family: "statistics",
  synchronous: true,
  make: (inputs) => ({ ...sampleOf(inputs, name === "excovariance"), ddof: pick(inputs, [0, 1, 1, 2, 5]) }),
  run: (routines, { x, y, ddof }) => (name === "exvariance" ? routines.exvariance(x, ddof) : routines.excovariance(x, y, ddof)),
  elements: ({ x }) => x.length,
  judge({ x, y, ddof }, found, oracles) {
    return judgedNumber(found, oracles.covariance(x.length, x, y ?? x, ddof, single(x), single(x)));
  },
  shrink: shorter,
});

// The whole, and parts of it, some of them number by number or by way of bytes, merged in any order.
const moments = {
  family: "statistics",
  withoutEngine: true,
  make: (inputs) => ({ ...sampleOf(inputs, false), ddof: inputs.random.below(3), order: inputs.random.word() >>> 0 }),
  run(_, { x, order }) {
    const random = new Random(order);
    const parts = [new Moments()];
    for (let from = 0, to = 0; from < x.length; from = to) {
      to = Math.min(x.length, from + 1 + random.below(maybe({ random }, 3) ? 4 : x.length));
      const part = new Moments();
      if (to - from < 5 && maybe({ random }, 2)) for (const v of x.subarray(from, to)) part.add(v);
      else part.add(x.subarray(from, to));
      parts.push(maybe({ random }, 3) ? Moments.fromBytes(part.toBytes()) : part);
    }
    while (parts.length > 1) {
      const [taken] = parts.splice(random.below(parts.length), 1);
      parts[random.below(parts.length)].merge(taken);
    }
    return { whole: new Moments().add(x), merged: parts[0] };
  },
  elements: ({ x }) => x.length,
  judge({ x, ddof }, { whole, merged }, oracles) {
    if (!haveSameBytes(whole, merged)) return "parts merge to other bytes than the whole";
    if (merged.count !== x.length) return `the count is ${merged.count}`;
    for (const [to, format] of ["binary64", "binary32"].entries()) {
      const wrong =
        judgedNumber(merged.mean(format), oracles.mean(x.length, x, x, 0, single(x), to)) ||
        judgedNumber(merged.variance(ddof, format), oracles.covariance(x.length, x, x, ddof, single(x), to));
      if (wrong !== "") return `${format}: ${wrong}`;
    }
    return "";
  },
  shrink: shorter,
};

// ---------------------------------------------------------------- matrices

const strides = (A, trans = false) => {
  const [rs, cs] = A.order === "row" ? [A.ld, 1] : [1, A.ld];
  return trans ? [cs, rs] : [rs, cs];
};
const from = (A) => (A.data.length > A.offset ? A.data.subarray(A.offset) : A.data);
const flat = (inputs, rows, cols, kind) => matrix(inputs.vector(rows * cols, kind), rows, cols);
const copyOf = (A) => ({ ...A, data: A.data.slice() });

// Row or column k of both sides away: only for square systems.
const smaller = (A, k) => {
  const keep = Array.from({ length: A.rows }, (_, i) => i).filter((i) => i !== k);
  const [rs, cs] = strides(A);
  const data = new A.data.constructor((A.rows - 1) ** 2);
  for (const [i, r] of keep.entries()) for (const [j, c] of keep.entries()) data[i * keep.length + j] = A.data[A.offset + r * rs + c * cs];
  return matrix(data, A.rows - 1, A.rows - 1);
};
function* smallerSystem({ A, b, ...rest }) {
  if (A.rows !== A.cols) return;
  for (let k = A.rows - 1; k >= 0 && A.rows > 1; k--) yield { ...rest, A: smaller(A, k), b: b && without(b, k, k + 1) };
  for (let at = 0; at < A.data.length; at++) {
    if (A.data[at] === 0 || A.data[at] === 1) continue;
    for (const v of [0, 1]) {
      const data = A.data.slice();
      data[at] = v;
      yield { ...rest, A: { ...A, data }, b };
    }
  }
}

const exgemv = {
  family: "matrices",
  make(inputs) {
    const [m, n, kind] = [order(inputs), order(inputs), kindOf(inputs)];
    const trans = maybe(inputs, 2);
    const A = inputs.matrix(m, n, kind, pick(inputs, ["row", "column"]));
    const [x, y] = [vector(inputs, trans ? m : n, kind), vector(inputs, trans ? n : m, kind)];
    return { A, x, y, trans, alpha: scalar(inputs), beta: scalar(inputs) };
  },
  run: (routines, { A, x, y, trans, alpha, beta }) => routines.exgemv(alpha, A, x, beta, y.slice(), { trans }),
  elements: ({ A }) => A.rows * A.cols,
  judge({ A, x, y, trans, alpha, beta }, found, { gemm }) {
    const at = gemm(y.length, 1, x.length, alpha, from(A), ...strides(A, trans), x, 1, 1, beta, y, found, single(x));
    return at === 0 ? "" : `entry ${at - 1} is ${found[at - 1]}`;
  },
  *shrink({ A, x, y, ...rest }) {
    if (A.rows === A.cols)
      for (let k = 0; k < A.rows && A.rows > 1; k++) yield { ...rest, A: smaller(A, k), x: without(x, k, k + 1), y: without(y, k, k + 1) };
  },
};

const exgemm = {
  family: "matrices",
  make(inputs) {
    const [m, n, k] = [order(inputs), order(inputs), order(inputs)];
    const kind = kindOf(inputs);
    const [transA, transB] = [maybe(inputs, 2), maybe(inputs, 2)];
    const A = inputs.matrix(...(transA ? [k, m] : [m, k]), kind, pick(inputs, ["row", "column"]));
    const B = inputs.matrix(...(transB ? [n, k] : [k, n]), kind, pick(inputs, ["row", "column"]));
    return { A, B, C: flat(inputs, m, n, kind), k, transA, transB, alpha: scalar(inputs), beta: scalar(inputs) };
  },
  run: async (routines, { A, B, C, transA, transB, alpha, beta }) =>
    (await routines.exgemm(alpha, A, B, beta, copyOf(C), { transA, transB })).data,
  elements: ({ C, k }) => C.rows * C.cols * k,
  judge({ A, B, C, k, transA, transB, alpha, beta }, found, { gemm }) {
    const at = gemm(
      C.rows,
      C.cols,
      k,
      alpha,
      from(A),
      ...strides(A, transA),
      from(B),
      ...strides(B, transB),
      beta,
      C.data,
      found,
      single(found),
    );
    return at === 0 ? "" : `entry ${at - 1} is ${found[at - 1]}`;
  },
  *shrink() {},
};

// A diagonal that keeps the unknowns finite, mostly; never zero.
function triangle(inputs, n, kind) {
  const how = pick(inputs, ["row", "column"]);
  if (!maybe(inputs, 4)) return inputs.dominant(n, how);
  const A = inputs.matrix(n, n, kind, how);
  for (let i = 0; i < n; i++) if (A.data[A.offset + i * (A.ld + 1)] === 0) A.data[A.offset + i * (A.ld + 1)] = 3;
  return A;
}

const triangular = (inputs) => ({
  uplo: pick(inputs, ["lower", "upper"]),
  trans: maybe(inputs, 2),
  unit: maybe(inputs, 3),
  rounding: pick(inputs, SINGLE_ROUNDINGS),
  refine: maybe(inputs, 3) ? 1 + inputs.random.below(2) : 0,
});
const judgeTriangle = ({ A, options }, b, found, stride, at, { trsv }) => {
  const { uplo, trans, unit, rounding, refine } = options;
  const upper = (uplo === "upper") !== trans;
  const [rs, cs] = strides(A, trans);
  return trsv(
    A.rows,
    from(A),
    rs,
    cs,
    upper ? 1 : 0,
    unit ? 1 : 0,
    SINGLE_ROUNDINGS.indexOf(rounding),
    refine,
    b.subarray(at),
    found.subarray(at),
    stride,
    single(b),
  );
};

const extrsv = {
  family: "matrices",
  make(inputs) {
    const [n, kind] = [order(inputs), kindOf(inputs)];
    return { A: triangle(inputs, n, kind), b: vector(inputs, n, kind), options: triangular(inputs) };
  },
  run: (routines, { A, b, options }) => routines.extrsv(A, b, options),
  elements: ({ A }) => (A.rows * A.rows) / 2,
  judge(input, found, oracles) {
    const at = judgeTriangle(input, input.b, found, 1, 0, oracles);
    return at === 0 ? "" : `unknown ${at - 1} is ${found[at - 1]}`;
  },
  shrink: smallerSystem,
};

const extrsm = {
  family: "matrices",
  make(inputs) {
    const [n, columns, kind] = [order(inputs), 1 + inputs.random.below(5), kindOf(inputs)];
    return { A: triangle(inputs, n, kind), B: flat(inputs, n, columns, kind), options: triangular(inputs) };
  },
  run: async (routines, { A, B, options }) => (await routines.extrsm(A, B, options)).data,
  elements: ({ A, B }) => (A.rows * A.rows * B.cols) / 2,
  judge(input, found, oracles) {
    for (let j = 0; j < input.B.cols; j++) {
      const at = judgeTriangle(input, input.B.data, found, input.B.cols, j, oracles);
      if (at !== 0) return `unknown ${at - 1} of column ${j} is ${found[(at - 1) * input.B.cols + j]}`;
    }
    return "";
  },
  *shrink() {},
};

const FINITE = KINDS.filter((kind) => kind !== "special");

// What the routine said, as the oracle takes it: 0, 1 and a column, 2 and an entry.
async function outcome(call) {
  try {
    return { status: 0, row: 0, column: 0, ...(await call()) };
  } catch (error) {
    if (error instanceof SingularError) return { status: 1, row: 0, column: error.index };
    if (error instanceof ValueError) return { status: 2, row: error.row, column: error.column };
    throw error;
  }
}

const exlu = {
  family: "matrices",
  make(inputs) {
    const [m, n] = maybe(inputs, 2) ? [order(inputs), order(inputs)] : new Array(2).fill(order(inputs));
    const A = flat(inputs, m, n, pick(inputs, FINITE));
    return { A, b: inputs.vector(m, pick(inputs, FINITE)) };
  },
  run: (routines, { A, b }) =>
    outcome(async () => {
      const { lu, pivots, solve } = await routines.exlu(A);
      return { lu: lu.data, pivots, x: A.rows === A.cols ? await solve(b) : undefined };
    }),
  elements: ({ A }) => (A.rows * A.cols * Math.min(A.rows, A.cols)) / 3,
  judge({ A, b }, { status, row, column, lu, pivots, x }, oracles) {
    const none = new Int32Array(1);
    const at = oracles.lu(A.rows, A.cols, A.data, status, row, column, lu ?? A.data, pivots ?? none, single(A.data));
    if (at !== 0) return status === 0 ? `entry ${at - 1} of the factors is ${lu[at - 1]}` : `status ${status} at ${row}, ${column}`;
    if (!x) return "";
    const wrong = oracles.lusolve(A.rows, lu, pivots, b, x, single(b));
    return wrong === 0 ? "" : `unknown ${wrong - 1} is ${x[wrong - 1]}`;
  },
  shrink: smallerSystem,
};

const exluBatch = {
  family: "matrices",
  make(inputs) {
    const [n, count] = [order(inputs, 8), 1 + inputs.random.below(6)];
    return { n, count, data: inputs.vector(n * n * count, pick(inputs, ["narrow", "integers", "zeros", "ties", "ones"])) };
  },
  run: (routines, { data, n, count }) => routines.exluBatch(data, n, count),
  elements: ({ n, count }) => (n ** 3 * count) / 3,
  judge({ data, n, count }, { lu, pivots, info }, oracles) {
    for (let k = 0; k < count; k++) {
      const at = (x, size) => x.subarray(k * size, (k + 1) * size);
      const [own, found] = [at(data, n * n), at(lu, n * n)];
      const status = info[k] === 0 ? 0 : 1;
      if (oracles.lu(n, n, own, status, 0, info[k] - 1, found, at(pivots, n), single(data)) !== 0) return `matrix ${k}`;
      if (status === 1 && !(found.every((v) => v !== v) && at(pivots, n).every((p) => p === 0))) return `the singular matrix ${k}`;
    }
    return "";
  },
  *shrink({ data, n, count }) {
    for (let k = 0; k < count && count > 1; k++) yield { n, count: count - 1, data: without(data, k * n * n, (k + 1) * n * n) };
  },
};

// ---------------------------------------------------------------- sparse

function pattern(inputs) {
  const which = inputs.random.below(40);
  if (which === 0) return grid(3, 27);
  if (which === 1) return arrow(30 + inputs.random.below(40));
  return scattered(inputs.random, 1 + inputs.random.below(which < 5 ? 120 : 16), inputs.random.below(6));
}

// By rows or by columns, with numbers of a kind now and then.
function sparse(inputs, kind) {
  const A = inputs.sparse(pattern(inputs), 30);
  const values = maybe(inputs, 3) ? inputs.vector(A.values.length, kind) : A.values;
  for (let i = 0; i < A.rows; i++)
    for (let p = A.pointers[i]; p < A.pointers[i + 1]; p++) if (A.indices[p] === i && values[p] === 0) values[p] = 2;
  return (maybe(inputs, 2) ? csr : csc)(A.rows, A.cols, A.pointers, A.indices, values);
}

const byRows = (A, trans) => ((A.format === "csr") !== trans ? 1 : 0);

const sptrsv = {
  family: "sparse plans",
  make(inputs) {
    const kind = kindOf(inputs);
    const A = sparse(inputs, kind);
    const { uplo, trans, unit } = triangular(inputs);
    return { A, b: vector(inputs, A.rows, kind), options: { uplo, trans, unit, schedule: pick(inputs, SCHEDULES) } };
  },
  async run(routines, { A, b, options }) {
    const plan = await routines.sptrsv(A, options);
    const x = await plan.solve(b);
    await plan.free();
    return x;
  },
  elements: ({ A }) => A.values.length / 2,
  judge({ A, b, options: { uplo, trans, unit } }, found, oracles) {
    const upper = (uplo === "upper") !== trans ? 1 : 0;
    const at = oracles.sptrsv(A.rows, A.pointers, A.indices, A.values, byRows(A, trans), upper, unit ? 1 : 0, b, found, single(b));
    return at === 0 ? "" : `unknown ${at - 1} is ${found[at - 1]}`;
  },
  *shrink() {},
};

const exspmv = {
  family: "matrices",
  make(inputs) {
    const kind = kindOf(inputs);
    const A = sparse(inputs, kind);
    const [x, y] = [vector(inputs, A.rows, kind), vector(inputs, A.rows, kind)];
    return { A, x, y, trans: maybe(inputs, 2), alpha: scalar(inputs), beta: scalar(inputs) };
  },
  run: (routines, { A, x, y, trans, alpha, beta }) => routines.exspmv(alpha, A, x, beta, y.slice(), { trans }),
  elements: ({ A }) => A.values.length,
  judge({ A, x, y, trans, alpha, beta }, found, { spmv }) {
    const at = spmv(A.rows, A.cols, A.rows, A.pointers, A.indices, A.values, byRows(A, trans), alpha, x, beta, y, found, single(x));
    return at === 0 ? "" : `entry ${at - 1} is ${found[at - 1]}`;
  },
  *shrink() {},
};

const ilu0 = {
  family: "matrices",
  make: (inputs) => ({ A: inputs.sparse(scattered(inputs.random, 1 + inputs.random.below(20), 1 + inputs.random.below(5)), 30) }),
  async run(routines, { A }) {
    return (await routines.ilu0(A)).values;
  },
  elements: ({ A }) => A.values.length,
  judge({ A }, found, oracles) {
    const at = oracles.ilu0(A.rows, A.pointers, A.indices, A.values, found, single(found));
    return at === 0 ? "" : `entry ${at - 1} is ${found[at - 1]}`;
  },
  *shrink() {},
};

// ---------------------------------------------------------------- solvers, in binary64

const binary64 = (inputs) => new Inputs(inputs.random.word() >>> 0, "binary64");

// The second oracle of solve(): Cramer's rule, by expansion along the first row. Entries are integers times a common power of two.
function determinant(rows) {
  if (rows.length === 0) return 1n;
  let sum = 0n;
  for (const [j, v] of rows[0].entries()) {
    if (v === 0n) continue;
    const minor = determinant(rows.slice(1).map((row) => row.filter((_, c) => c !== j)));
    sum += j % 2 === 0 ? v * minor : -v * minor;
  }
  return sum;
}

const view = new DataView(new ArrayBuffer(8));
function integer(x) {
  view.setFloat64(0, x);
  const bits = view.getBigUint64(0);
  const field = (bits >> 52n) & 0x7ffn;
  const fraction = bits & 0xfffffffffffffn;
  const v = field === 0n ? fraction : (fraction | (1n << 52n)) << (field - 1n);
  return bits >> 63n ? -v : v;
}

// Whether v is p / q, rounded: between the midpoints to its neighbours, which are half units of 2^-1074 each.
function isNearest(v, p, q) {
  if (p === 0n) return Object.is(v, 0);
  if (q < 0n) [p, q] = [-p, -q];
  const negative = p < 0n;
  if (negative) p = -p;
  if (v === 0) return Object.is(v, 0) && p << 1075n <= q; // what rounds to zero is +0
  if (v < 0 !== negative) return false;
  const size = Math.abs(v);
  view.setFloat64(0, size);
  const bits = view.getBigUint64(0);
  const neighbour = (b) => {
    view.setBigUint64(0, b);
    return integer(view.getFloat64(0));
  };
  const overflow = 1n << (1024n + 1074n);
  const own = size === Infinity ? overflow : integer(size);
  const above = size === Infinity ? undefined : bits === 0x7fefffffffffffffn ? overflow : neighbour(bits + 1n);
  const below = size === Infinity ? neighbour(0x7fefffffffffffffn) : neighbour(bits - 1n);
  const even = bits % 2n === 0n;
  const twice = p << 1075n; // 2 p / q in units of 2^-1074
  const compare = (halves) => twice - halves * q;
  const low = compare(own + below);
  if (!(low > 0n || (low === 0n && even))) return false;
  if (above === undefined) return true;
  const high = compare(own + above);
  return high < 0n || (high === 0n && even);
}

const solve = {
  family: "systems",
  make(given) {
    const inputs = binary64(given);
    const n = 1 + inputs.random.below(5);
    const kind = pick(inputs, ["narrow", "integers", "wide", "ties", "zeros", "ones", "cancelling"]);
    const A = inputs.matrix(n, n, kind, pick(inputs, ["row", "column"]));
    if (maybe(inputs, 4) && n > 1) {
      const [rs, cs] = strides(A);
      for (let j = 0; j < n; j++) A.data[A.offset + (n - 1) * rs + j * cs] = A.data[A.offset + j * cs]; // singular, or all but
      if (maybe(inputs, 2)) A.data[A.offset + (n - 1) * (rs + cs)] *= 1 + 2 ** -52;
    }
    return { A, b: inputs.vector(n, kind) };
  },
  run: (routines, { A, b }) => outcome(async () => ({ solution: await routines.solve(A, b) })),
  elements: ({ A }) => A.rows ** 3 / 3,
  judge({ A, b }, { status, column, solution }, oracles) {
    const n = A.rows;
    const [rs, cs] = strides(A);
    const at = (i, j) => A.data[A.offset + i * rs + j * cs];
    const rows = Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => at(i, j)));
    const want = oracles.solution(n, rows.flat(), b);
    if (typeof want === "number")
      return status === 1 && column === want ? "" : `status ${status} at ${column}, expected a singular column ${want}`;
    if (status !== 0) return `status ${status}, expected a solution`;
    if (!solution.certified) return "not certified";
    for (let i = 0; i < n; i++) if (!Object.is(solution.x[i], want[i])) return `x[${i}] is ${solution.x[i]}, expected ${want[i]}`;
    if (n > 4) return ""; // one oracle has to do
    const whole = rows.map((row) => row.map(integer));
    const right = Array.from(b, integer);
    const divisor = determinant(whole);
    for (let j = 0; j < n; j++) {
      const replaced = whole.map((row, i) => row.map((v, c) => (c === j ? right[i] : v)));
      if (!isNearest(solution.x[j], determinant(replaced), divisor))
        return `x[${j}] is ${solution.x[j]}, which Cramer's rule does not give`;
    }
    return "";
  },
  shrink: smallerSystem,
};

const krylov = (method) => ({
  family: "systems",
  make(given) {
    const inputs = binary64(given);
    const n = 1 + inputs.random.below(12);
    const columns = scattered(inputs.random, n, 3);
    const lower = inputs.sparse(columns, 20);
    const values = Float64Array.from(lower.values);
    const dense = new Float64Array(n * n);
    for (let i = 0; i < n; i++) for (let p = lower.pointers[i]; p < lower.pointers[i + 1]; p++) dense[i * n + lower.indices[p]] = values[p];
    if (method === "cg") for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) dense[i * n + j] = dense[j * n + i];
    const preconditioner = pick(inputs, ["none", "jacobi"]);
    return {
      A: matrix(dense, n, n),
      b: inputs.vector(n, pick(inputs, ["narrow", "integers", "ones"])),
      options: { preconditioner, maxIterations: 20 },
    };
  },
  run: (routines, { A, b, options }) => routines[method](A, b, options),
  elements: ({ A }, found) => A.data.length * (found?.iterations ?? 1),
  judge({ A, b, options }, found, { iterate }) {
    const want = iterate(method, A, b, options);
    for (const name of ["reason", "iterations", "converged", "residual"])
      if (!Object.is(found[name], want[name])) return `${name} is ${found[name]}, expected ${want[name]}`;
    for (const name of ["x", "history"])
      if (
        found[name].length !== want[name].length ||
        !want[name].every((v, i) => Object.is(v, found[name][i]) || (v !== v && found[name][i] !== found[name][i]))
      )
        return `${name} is ${Array.from(found[name])}, expected ${want[name]}`;
    return "";
  },
  shrink: smallerSystem,
});

/** By name. The weight is how often a case is tried. */
export const CASES = {
  exsum: reduction("exsum", 0),
  exasum: reduction("exasum", 1),
  exdot: reduction("exdot", 2),
  exnrm2: reduction("exnrm2", 3),
  exaxpy: elementwise("exaxpy", 0),
  exscal: elementwise("exscal", 1),
  exinvscal: elementwise("exinvscal", 2),
  accumulate,
  exmean,
  exvariance: covariance("exvariance"),
  excovariance: covariance("excovariance"),
  Moments: moments,
  exgemv,
  exgemm,
  extrsv,
  extrsm,
  exlu,
  exluBatch,
  sptrsv,
  exspmv,
  ilu0,
  solve,
  cg: krylov("cg"),
  bicgstab: krylov("bicgstab"),
  gmres: krylov("gmres"),
};
