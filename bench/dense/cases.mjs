// The cases of dense.mjs: sizes and data of every operation, and the work that bounds its time from below.
import { dominant, HARD, hardMatrix, hardProduct, hardTriangle, square, uniform, WELL_CONDITIONED } from "../harness/data.mjs";

export const PLAIN_FORM = "";
export const TRANSPOSED = "transposed";
export const LOWER = "lower";

// Options of extrsv, and the storage order of T.
const FORMS = {
  [LOWER]: {},
  upper: { uplo: "upper" },
  "lower, transposed": { trans: true },
  "lower, column by column": { order: "column" },
};

const SMALL = [4, 16, 64];

/** The orders to which the limits apply. */
export function ordersFor(quick) {
  return quick ? { vector: 1024, gemm: 128, lu: 256 } : { vector: 4096, gemm: 512, lu: 1024 };
}

/**
 * Every case as { op, form, kind, n, count, setUp }: setUp returns { rivals, free, expected }, with the result `expected` where it
 * is known. It generates the data, which are not kept: the largest have 134 MB.
 */
export function casesFor({ quick, rivals }) {
  const { vector, gemm, lu } = ordersFor(quick);
  const counts = quick ? { 8: 1000, 32: 100 } : { 8: 10_000, 32: 1000 };
  return [
    ...[PLAIN_FORM, TRANSPOSED].map((form) => gemvCase(form, vector)),
    { op: "gemv", form: PLAIN_FORM, kind: HARD, n: vector, setUp: hardGemv },
    ...Object.keys(FORMS).map((form) => trsvCase(form, vector)),
    hardTrsv(vector),
    { op: "gemm", form: PLAIN_FORM, kind: WELL_CONDITIONED, n: gemm, setUp: () => rivals.gemm(gemm, square(gemm, 1), square(gemm, 2)) },
    { op: "gemm", form: PLAIN_FORM, kind: HARD, n: gemm, setUp: hardGemm },
    ...["lu", "luSolve", "solve"].map((op) => luCase(op, lu)),
    { op: "lu", form: PLAIN_FORM, kind: HARD, n: lu, setUp: () => rivals.lu(lu, hardMatrix(lu)) },
    ...[8, 32].map((n) => batchCase(n, counts[n])),
    ...SMALL.flatMap((n) => [gemvCase(PLAIN_FORM, n), trsvCase(LOWER, n), luCase("lu", n)]),
  ];

  function gemvCase(form, n) {
    const setUp = () => rivals.gemv(n, square(n, 1), uniform(n, 2), { trans: form === TRANSPOSED });
    return { op: "gemv", form, kind: WELL_CONDITIONED, n, setUp };
  }

  function hardGemv() {
    const data = hardProduct(vector);
    return rivals.gemv(vector, data.rows, data.vector, {});
  }

  function hardGemm() {
    const data = hardProduct(gemm);
    return rivals.gemm(gemm, data.rows, data.columns);
  }

  function trsvCase(form, n) {
    return { op: "trsv", form, kind: WELL_CONDITIONED, n, setUp: () => rivals.trsv(n, dominant(n), uniform(n, 2), FORMS[form]) };
  }

  function hardTrsv(n) {
    const setUp = () => {
      const { T, b, x } = hardTriangle(n);
      return { ...rivals.trsv(n, T, b, FORMS[LOWER]), expected: x };
    };
    return { op: "trsv", form: LOWER, kind: HARD, n, setUp };
  }

  function batchCase(n, count) {
    return {
      op: "luBatch",
      form: PLAIN_FORM,
      kind: WELL_CONDITIONED,
      n,
      count,
      setUp: () => rivals.luBatch(n, square(n, 1, count), count),
    };
  }

  function luCase(op, n) {
    return { op, form: PLAIN_FORM, kind: WELL_CONDITIONED, n, setUp: () => rivals[op](n, square(n, 1), uniform(n, 2)) };
  }
}

/** The bytes of matrices that a case must read, and its additions and multiplications. */
export function work({ op, n, count = 1 }) {
  switch (op) {
    case "gemv":
      return { bytes: 8 * n * n, operations: 2 * n * n };
    case "trsv":
      return { bytes: 4 * n * (n + 1), operations: n * n };
    case "luSolve":
      return { bytes: 8 * n * n, operations: 2 * n * n };
    case "gemm":
      return { bytes: 16 * n * n, operations: 2 * n ** 3 };
    default:
      return { bytes: 8 * count * n * n, operations: (2 / 3) * count * n ** 3 };
  }
}
