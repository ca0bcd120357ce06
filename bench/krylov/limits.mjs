// The limits of sparse products and of conjugate gradients on one thread, from the cases of krylov.mjs measured in the same run.
import { ENGINES } from "../harness/library.mjs";
import { ENGINE_MEMORY } from "../harness/ours.mjs";
import { timeOf } from "../harness/race.mjs";
import { ratio } from "../harness/table.mjs";
import { ourName as cgName } from "./cg.mjs";
import { CXSPARSE, PLAIN, ourName as productName } from "./products.mjs";

const [FMA] = ENGINES;
const PRODUCT = { limit: 1.8, aim: 1.3 };
const ITERATION = { limit: 2, aim: 1.5 };

/** Rows of { row, value, unit, limit, aim }; a value is undefined where it was not measured. All with fused multiply-add. */
export function krylovLimits({ products = [], cg = [] }) {
  return [
    ...products.map(({ title, rivals }) => ({
      row: `exspmv / cs_gaxpy, ${title}`,
      value: exactRatio(rivals, productName(FMA, ENGINE_MEMORY), CXSPARSE),
      unit: "",
      ...PRODUCT,
    })),
    ...cg.map(({ title, preconditioner, rivals }) => ({
      row: `an iteration of cg / the plain loop, ${title}, ${preconditioner}`,
      value: exactRatio(rivals, cgName(FMA), PLAIN),
      unit: "",
      ...ITERATION,
    })),
  ];
}

// Names of ours begin alike: the whole name counts.
function exactRatio(rivals, ours, peer) {
  return ratio(rivals.find(({ name }) => name === ours)?.median, timeOf(rivals, peer));
}
