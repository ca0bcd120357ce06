// The limits of the dense routines, from the cases of dense.mjs measured in the same run.
import { HARD, WELL_CONDITIONED } from "../harness/data.mjs";
import { ENGINES } from "../harness/library.mjs";
import { MEMORIES, ORDINARY_ARRAY, ourName } from "../harness/ours.mjs";
import { count, ratio } from "../harness/table.mjs";
import { LOWER, ordersFor, PLAIN_FORM, TRANSPOSED } from "./cases.mjs";
import { plainName } from "./rivals.mjs";

const [FMA] = ENGINES;

/**
 * Rows of { row, value, unit, limit, aim }; a value is undefined where it was not measured. All with fused multiply-add, except for short
 * calls, which have both.
 */
export function denseLimits(cases, quick) {
  const { vector, gemm, lu } = ordersFor(quick);
  return [
    toOpenBlas("exgemv / dgemv", "gemv", PLAIN_FORM, vector, [1.6, 2.9], [1.35, 2.2]),
    toOpenBlas("exgemv / dgemv, transposed", "gemv", TRANSPOSED, vector, [2, 3.2]),
    toOpenBlas("extrsv / dtrsv", "trsv", LOWER, vector, [2.2, 3], [1.6]),
    toPlain("exgemm / plain gemm", "gemm", gemm, 8, 5),
    plainToOpenBlas("plain gemm / dgemm", "gemm", gemm, 12),
    toOpenBlas("exlu / dgetrf", "lu", PLAIN_FORM, lu, [20, 20], [12, 12]),
    toPlain("exlu / plain LU", "lu", lu, 6),
    plainToOpenBlas("plain LU / dgetrf", "lu", lu, 9),
    toWellConditioned("exgemv", "gemv", PLAIN_FORM, vector),
    toWellConditioned("extrsv", "trsv", LOWER, vector),
    toWellConditioned("exgemm", "gemm", PLAIN_FORM, gemm),
    toWellConditioned("exlu", "lu", PLAIN_FORM, lu),
    shortCall("gemv", PLAIN_FORM, 4, 1, 0.5),
    shortCall("gemv", PLAIN_FORM, 16, 1.5, 0.5),
    shortCall("trsv", LOWER, 4, 1, 0.5),
    shortCall("trsv", LOWER, 16, 1.5, 0.5),
    shortCall("lu", PLAIN_FORM, 4, 2, 1),
    shortCall("lu", PLAIN_FORM, 16, 6, 3),
  ].flat();

  function rivalsOf(op, form, kind, n) {
    return cases.find((one) => one.op === op && one.form === form && one.kind === kind && one.n === n)?.rivals ?? [];
  }

  function ours(op, form, kind, n, memory) {
    return rivalsOf(op, form, kind, n).find(({ name }) => name === ourName(op, FMA, memory))?.median;
  }

  function openBlas(op, form, n) {
    return rivalsOf(op, form, WELL_CONDITIONED, n).find(({ name }) => name.startsWith("OpenBLAS"))?.median;
  }

  function plain(op, n) {
    return rivalsOf(op, PLAIN_FORM, WELL_CONDITIONED, n).find(({ name }) => name === plainName(op, FMA))?.median;
  }

  // Microseconds per call on ordinary arrays.
  function shortCall(op, form, n, limit, aim) {
    return ENGINES.map((engine) => {
      const name = ourName(op, engine, ORDINARY_ARRAY);
      const nanoseconds = rivalsOf(op, form, WELL_CONDITIONED, n).find((rival) => rival.name === name)?.median;
      return { row: `short call: ${name}, n = ${n}`, value: ratio(nanoseconds, 1000), unit: " µs", limit, aim };
    });
  }

  function toOpenBlas(label, op, form, n, limit, aim = []) {
    return MEMORIES.map((memory, i) => ({
      row: `${label}, ${memory}, n = ${count(n)}`,
      value: ratio(ours(op, form, WELL_CONDITIONED, n, memory), openBlas(op, form, n)),
      unit: "",
      limit: limit[i],
      aim: aim[i],
    }));
  }

  function toPlain(label, op, n, limit, aim) {
    return MEMORIES.map((memory) => ({
      row: `${label}, ${memory}, n = ${count(n)}`,
      value: ratio(ours(op, PLAIN_FORM, WELL_CONDITIONED, n, memory), plain(op, n)),
      unit: "",
      limit,
      aim,
    }));
  }

  function plainToOpenBlas(label, op, n, limit) {
    return { row: `${label}, n = ${count(n)}`, value: ratio(plain(op, n), openBlas(op, PLAIN_FORM, n)), unit: "", limit };
  }

  function toWellConditioned(label, op, form, n) {
    return MEMORIES.map((memory) => ({
      row: `${label}, ${HARD} / ${WELL_CONDITIONED}, ${memory}, n = ${count(n)}`,
      value: ratio(ours(op, form, HARD, n, memory), ours(op, form, WELL_CONDITIONED, n, memory)),
      unit: "",
      limit: 3,
    }));
  }
}
