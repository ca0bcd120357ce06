// The dense part of the corpus: products, triangular systems with all their options, and factorizations.
import { matrix, stridedView } from "../arrays/matrix.ts";
import type { Matrix, TriangularOptions } from "../arrays/types.ts";
import type { CorpusRoutines, CorpusRow } from "./corpus.ts";
import type { Digest } from "./digest.ts";
import { type Inputs, KINDS, type Kind } from "./inputs.ts";
import { inBothFormats } from "./level1.ts";

const ORDERS = ["row", "column"] as const;
const BOTH = [false, true] as const;
// Coefficients that are not read, exact, inexact, and of either end of the range.
const COEFFICIENTS = [
  [1, 0],
  [0.3, -1.5],
  [0, 0.7],
  [-1, 1],
  [Number.MIN_VALUE, 2],
  [Number.NaN, 1],
] as const;

/** The entries of a matrix alone, row by row, without what is stored between them. */
export function addMatrix(out: Digest, A: Matrix): void {
  const { data, offset, rows, cols, rowStride, colStride } = stridedView(A);
  const row = data.slice(0, Math.min(cols, data.length));
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < cols; j++) row[j] = data[offset + i * rowStride + j * colStride] as number;
    out.array(row);
  }
}

// ---------------------------------------------------------------- products

async function multiply(
  routines: CorpusRoutines,
  out: Digest,
  inputs: Inputs,
  [m, n]: readonly [number, number],
  kind: Kind,
  order: "row" | "column",
  [alpha, beta]: readonly [number, number],
): Promise<void> {
  const A = inputs.matrix(m, n, kind, order);
  for (const trans of BOTH) {
    const [x, y] = [inputs.vector(trans ? m : n, kind), inputs.vector(trans ? n : m, kind)];
    out.array(await routines.exgemv(alpha, A, x, beta, y, { trans }));
  }
}

const gemv = inBothFormats(11, "exgemv", (begin) => ({
  async short(routines, out) {
    const inputs = begin(0);
    for (const kind of KINDS)
      for (const order of ORDERS)
        for (const shape of [
          [1, 1],
          [3, 7],
          [33, 18],
        ] as const)
          await multiply(routines, out, inputs, shape, kind, order, [0.3, -1.5]);
    for (const coefficients of COEFFICIENTS)
      for (const shape of [
        [0, 3],
        [4, 0],
        [9, 5],
      ] as const)
        await multiply(routines, out, inputs, shape, "special", "row", coefficients);
  },
  async full(routines, out) {
    const inputs = begin(1);
    for (const kind of ["wide", "cancelling", "integers", "zeros"] as const)
      for (const shape of [
        [257, 300],
        [17, 4100],
        [4100, 17],
      ] as const)
        await multiply(routines, out, inputs, shape, kind, shape[0] > 1000 ? "row" : "column", [0.3, -1.5]);
  },
}));

async function product(
  routines: CorpusRoutines,
  out: Digest,
  inputs: Inputs,
  [m, n, k]: readonly [number, number, number],
  kind: Kind,
  [alpha, beta]: readonly [number, number],
): Promise<void> {
  for (const transA of BOTH)
    for (const transB of BOTH) {
      const order = transA === transB ? "row" : "column";
      const A = inputs.matrix(transA ? k : m, transA ? m : k, kind, order);
      const B = inputs.matrix(transB ? n : k, transB ? k : n, kind);
      addMatrix(out, await routines.exgemm(alpha, A, B, beta, inputs.matrix(m, n, kind, order), { transA, transB }));
    }
}

const gemm = inBothFormats(12, "exgemm", (begin) => ({
  async short(routines, out) {
    const inputs = begin(0);
    for (const kind of KINDS) await product(routines, out, inputs, [7, 5, 9], kind, [0.3, -1.5]);
    for (const coefficients of COEFFICIENTS) await product(routines, out, inputs, [3, 4, 2], "special", coefficients);
    await product(routines, out, inputs, [3, 4, 0], "narrow", [1, 0.5]);
    await product(routines, out, inputs, [34, 33, 35], "wide", [1, 0]);
  },
  async full(routines, out) {
    const inputs = begin(1);
    for (const kind of ["narrow", "cancelling"] as const) await product(routines, out, inputs, [130, 67, 150], kind, [1, 1]);
  },
  async large(routines, out) {
    const inputs = begin(2);
    for (const kind of ["narrow", "zeros"] as const) {
      const C = matrix(inputs.zeros(520 * 520), 520, 520);
      addMatrix(out, await routines.exgemm(1, inputs.matrix(520, 560, kind), inputs.matrix(560, 520, kind), 0, C));
    }
  },
}));

// ---------------------------------------------------------------- triangular systems

const ROUNDINGS: readonly TriangularOptions[] = [
  { rounding: "single" },
  { rounding: "paper" },
  { rounding: "corrected" },
  { rounding: "single", refine: 2 },
  { rounding: "paper", refine: 1 },
  { rounding: "corrected", refineBlocks: 1, blockSize: 16 },
];

function* triangularOptions(): Generator<TriangularOptions> {
  for (const how of ROUNDINGS)
    for (const uplo of ["lower", "upper"] as const) for (const trans of BOTH) for (const unit of BOTH) yield { ...how, uplo, trans, unit };
}

// A triangle of a kind would overflow within a few unknowns: its diagonal has been made to outweigh the rest, except for one in four.
function triangle(inputs: Inputs, n: number, kind: Kind, order: "row" | "column"): Matrix {
  if (inputs.random.below(4) > 0) return inputs.dominant(n, order);
  const T = inputs.matrix(n, n, kind, order);
  for (let i = 0; i < n; i++) if (T.data[T.offset + i * (T.ld + 1)] === 0) T.data[T.offset + i * (T.ld + 1)] = 3;
  return T;
}

const trsv = inBothFormats(13, "extrsv", (begin) => ({
  async short(routines, out) {
    const inputs = begin(0);
    for (const n of [0, 1, 2, 9, 40])
      for (const options of triangularOptions()) {
        const kind = KINDS[inputs.random.below(KINDS.length)] as Kind;
        const T = triangle(inputs, n, kind, ORDERS[inputs.random.below(2)] as "row" | "column");
        const b = inputs.vector(n, kind);
        await out.outcome(async () => out.array(await routines.extrsv(T, b, options)));
      }
    const T = inputs.dominant(5);
    T.data[12] = 0;
    await out.outcome(async () => out.array(await routines.extrsv(T, inputs.vector(5, "narrow"))));
  },
  async full(routines, out) {
    const inputs = begin(1);
    for (const order of ORDERS)
      for (const uplo of ["lower", "upper"] as const)
        for (const trans of BOTH)
          out.array(await routines.extrsv(inputs.dominant(400, order), inputs.vector(400, "cancelling"), { uplo, trans, refine: 1 }));
  },
  async large(routines, out) {
    const inputs = begin(2);
    for (const trans of BOTH) out.array(await routines.extrsv(inputs.dominant(2000), inputs.vector(2000, "narrow"), { trans }));
  },
}));

const trsm = inBothFormats(14, "extrsm", (begin) => ({
  async short(routines, out) {
    const inputs = begin(0);
    for (const options of triangularOptions()) {
      const n = 1 + inputs.random.below(24);
      const order = ORDERS[inputs.random.below(2)] as "row" | "column";
      addMatrix(out, await routines.extrsm(inputs.dominant(n, order), inputs.matrix(n, 3, "wide", order), options));
    }
  },
  async full(routines, out) {
    const inputs = begin(1);
    for (const order of ORDERS)
      for (const uplo of ["lower", "upper"] as const)
        addMatrix(out, await routines.extrsm(inputs.dominant(150, order), inputs.matrix(150, 40, "narrow", order), { uplo }));
  },
}));

// ---------------------------------------------------------------- factorizations

async function factorize(routines: CorpusRoutines, out: Digest, A: Matrix, b?: Float64Array, B?: Matrix): Promise<void> {
  await out.outcome(async () => {
    const factors = await routines.exlu(A);
    addMatrix(out, factors.lu);
    out.array(factors.pivots);
    if (b) for (const refine of [0, 2]) out.array(await factors.solve(b, { refine }));
    if (B) addMatrix(out, await factors.solve(B));
  });
}

const lu = inBothFormats(15, "exlu", (begin) => ({
  async short(routines, out) {
    const inputs = begin(0);
    for (const kind of KINDS)
      for (const [m, n] of [
        [1, 1],
        [6, 6],
        [13, 7],
        [7, 13],
      ] as const)
        await factorize(routines, out, inputs.matrix(m, n, kind, m === n ? "row" : "column"));
    for (const order of ORDERS) {
      await factorize(routines, out, inputs.dominant(36, order), inputs.vector(36, "wide"), inputs.matrix(36, 3, "narrow", order));
      await factorize(routines, out, inputs.matrix(37, 37, "narrow", order), inputs.vector(37, "narrow"));
      await factorize(routines, out, inputs.matrix(20, 20, "integers", order), inputs.vector(20, "integers"));
    }
    const singular = inputs.matrix(12, 12, "integers");
    for (let i = 0; i < 12; i++)
      singular.data[singular.offset + i * singular.ld + 7] = singular.data[singular.offset + i * singular.ld + 2] as number;
    await factorize(routines, out, singular);
  },
  async full(routines, out) {
    const inputs = begin(1);
    await factorize(routines, out, inputs.matrix(230, 230, "narrow"), inputs.vector(230, "narrow"), inputs.matrix(230, 5, "narrow"));
    await factorize(routines, out, inputs.matrix(150, 150, "zeros", "column"));
    await factorize(routines, out, inputs.matrix(200, 90, "cancelling"));
    await factorize(routines, out, inputs.matrix(90, 200, "wide", "column"));
  },
  async large(routines, out) {
    const inputs = begin(2);
    await factorize(routines, out, inputs.matrix(1050, 1050, "narrow"), inputs.vector(1050, "narrow"));
  },
}));

async function factorizeBatch(routines: CorpusRoutines, out: Digest, data: Float64Array, n: number, count: number): Promise<void> {
  await out.outcome(async () => {
    const batch = await routines.exluBatch(data, n, count);
    for (const part of [batch.lu, batch.pivots, batch.info]) out.array(part);
  });
}

const luBatch = inBothFormats(16, "exluBatch", (begin) => ({
  async short(routines, out) {
    const inputs = begin(0);
    for (const n of [1, 2, 3, 5, 8, 13])
      for (const kind of ["narrow", "integers", "zeros", "ties", "cancelling"] as const)
        await factorizeBatch(routines, out, inputs.vector(8 * n * n, kind), n, 8);
    await factorizeBatch(routines, out, inputs.vector(0, "narrow"), 3, 0);
    await factorizeBatch(routines, out, inputs.vector(200, "large"), 10, 2);
  },
  async full(routines, out) {
    const inputs = begin(1);
    await factorizeBatch(routines, out, inputs.vector(300 * 64, "narrow"), 8, 300);
    await factorizeBatch(routines, out, inputs.vector(20 * 1600, "wide"), 40, 20);
  },
}));

export const dense: Readonly<Record<string, CorpusRow>> = { ...gemv, ...gemm, ...trsv, ...trsm, ...lu, ...luBatch };
