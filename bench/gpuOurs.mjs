// Our routines on a device, below their public doors: arguments are on the device already, and a call whose result stays
// there does not wait for it.

import { now } from "../dist/engines/device.js";
import { EXACT_STAGES } from "../dist/engines/kernels.js";
import { gemvBy } from "../dist/engines/opencl/dense/gemv.js";
import { lu } from "../dist/engines/opencl/dense/lu.js";
import { luUnblocked } from "../dist/engines/opencl/dense/luUnblocked.js";
import { trsvBy } from "../dist/engines/opencl/dense/trsv.js";
import { inScope } from "../dist/engines/opencl/device/scope.js";
import { kernelsOn } from "../dist/engines/opencl/index.js";
import { reduce } from "../dist/engines/opencl/reductions/reduce.js";
import { runSync } from "../dist/engines/steps.js";
import { Superaccumulator } from "../dist/exact/superaccumulator.js";

const SINGLE = { rounding: "single", refine: 0, refineBlocks: 0, blockSize: 0 };

/** The exact stages of the papers' figures: no expansion, sizes 2 to 8, and size 6 with early exit. */
export const STAGES = EXACT_STAGES.filter((stage) => !stage.endsWith("ee") || stage === "fpe6ee");

/** A matrix with lines of n numbers, which are its columns. */
export function entriesOf({ here }, lines, n) {
  return { data: here, offset: 0, rows: n, cols: lines, rowStep: 1, colStep: n };
}

export function transposed({ rows, cols, rowStep, colStep, ...rest }) {
  return { ...rest, rows: cols, cols: rows, rowStep: colStep, colStep: rowStep };
}

export function oursOn(device) {
  // Calls in a row wait once, behind the last.
  const unhurried = Object.create(device, { finish: { value: () => ({ now() {} }) } });
  const kernels = kernelsOn(unhurried);
  const run = (routine, work) => now(inScope(unhurried, routine, work));
  return {
    finish: () => device.finish().now(),
    /** The library's way: certified, and exactly where that proves nothing. The result is here. */
    reduce: (op, x, y) => run(`ex${op}`, (scope) => reduce(scope, op, x, y, false, "nearest", "binary64")),
    /** By one of the papers' stages. */
    reduceBy(stage, op, x, y) {
      const sum = new Superaccumulator();
      kernels.accumulateBy(stage, op, x, y, sum);
      return sum.round();
    },
    gemv: (A, x, y) => kernels.gemv(1, A, x, 0, y),
    gemvBy: (stage, A, x, y) => run("exgemv", (scope) => gemvBy(scope, stage, 1, A, x, 0, y)),
    gemm: (A, B, C) => kernels.gemm(1, A, B, 0, C),
    trsv: (T, b, x, how) => kernels.trsv(T, b, x, { ...SINGLE, ...how }),
    trsvBy: (stage, T, b, x, how) => run("extrsv", (scope) => trsvBy(scope, stage, T, b, x, { ...SINGLE, ...how })),
    /** The paper's, column by column. */
    luUnblocked: (data, n, count, pivots, info) => run("exlu", (scope) => lu(scope, data, n, n, count, pivots, info, luUnblocked)),
    lu: (data, n, count, pivots, info) => kernels.lu(data, n, n, count, pivots, info),
    /** A plan for a triangle by rows on the device. */
    plan(A, { upper, exact, schedule }) {
      const plan = kernels.plan({ A, n: A.rows, upper, byRows: true, unit: false }, exact, { schedule });
      return { solve: (b, x) => runSync(plan.solve(b, x), () => kernels), free: () => plan.free() };
    },
  };
}
