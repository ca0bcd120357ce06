// The reference engine: all kernels in plain TypeScript over exact/, as the specification defines them. Slow, and right by inspection. Tests
// compare every engine with it, and users get it where WebAssembly is not allowed (embedded.ts).
import { solveColumns } from "../../arrays/columns.ts";
import { firstZero } from "../../arrays/triangle.ts";
import type { Format, Real, Reduction } from "../../arrays/types.ts";
import { formatOf } from "../../arrays/vectors.ts";
import { divide, multiply, multiplyAdd } from "../../exact/elementwise.ts";
import { expansionAccumulate } from "../../exact/expansion.ts";
import { filter } from "../../exact/filter.ts";
import { store } from "../../exact/store.ts";
import type { Superaccumulator } from "../../exact/superaccumulator.ts";
import { twoProd } from "../../exact/transforms.ts";
import { hostKrylov, type VectorOperations } from "../hostKrylov.ts";
import type { Combination, Elementwise, ExactStage, LocalKernels } from "../kernels.ts";
import { ordinaryMemory } from "../ordinaryMemory.ts";
import { reduce } from "../reduce.ts";
import { approximateReference } from "./approximate.ts";
import { dense, type StridedVector } from "./dense.ts";
import { ilu0 } from "./ilu0.ts";
import { neighbours, sparse, spmv } from "./sparse.ts";

/** One element of map(). */
export function mapOne(op: Elementwise, alpha: number, x: number, y: number, format: Format): number {
  if (op === "scal") return multiply(alpha, x, format);
  return op === "invscal" ? divide(x, alpha, format) : multiplyAdd(alpha, x, y, format);
}

/** One entry of a Combination. Adding 0 to a term makes an exact zero +0. */
export function combineOne(op: Combination, a: number, b: number, x: number, y: number, z: number): number {
  switch (op) {
    case "axpy":
      return a === 0 ? y : multiplyAdd(a, x, y, "binary64");
    case "invscal":
      return y / a;
    case "xpay":
      return multiplyAdd(a, y, x + 0, "binary64");
    case "direction":
      return multiplyAdd(a, multiplyAdd(b, z, y + 0, "binary64"), x + 0, "binary64");
    case "quotient":
      return x === 0 && z === z ? 0 : x / z;
    case "sum":
      return x + 0 + y;
  }
}

/** The vector updates of the iterative solvers, entry by entry. */
export function combine(op: Combination, a: number, b: number, x: Real, y: Real, z: Real): void {
  for (let i = 0; i < y.length; i++) store(y, i, combineOne(op, a, b, x[i] as number, y[i] as number, z[i] as number));
}

// The triangular paper's ExpansionAccumulate in front of the superaccumulator. Terms beyond the range of TwoSum or TwoProd bypass the
// expansion.
function accumulateThrough(expansion: Float64Array, early: boolean, op: Reduction, x: Real, y: Real, into: Superaccumulator): void {
  const tail = expansion.subarray(expansion.length >> 1); // where the error terms of products enter
  for (let i = 0; i < x.length; i++) {
    const v = x[i] as number;
    const w = y[i] as number;
    const term = op === "dot" ? v * w : op === "asum" ? Math.abs(v) : v;
    const size = Math.abs(term);
    if (!(size < 2 ** 960) || (op === "dot" && (size < 2 ** -960 || Math.max(Math.abs(v), Math.abs(w)) > 2 ** 960))) {
      if (op === "dot") into.addProduct(v, w);
      else into.add(term);
      continue;
    }
    into.add(expansionAccumulate(expansion, term, early));
    if (op === "dot") into.add(expansionAccumulate(tail, twoProd(v, w, term), early));
  }
  for (const component of expansion) into.add(component);
}

function addProducts(x: StridedVector, y: StridedVector, into: Superaccumulator): void {
  for (let k = 0; k < x.length; k++) into.addProduct(x.data[x.offset + k * x.step] as number, y.data[y.offset + k * y.step] as number);
}

const vectorOperations = (): VectorOperations => ({
  memory: ordinaryMemory,
  canStay: (_array, later) => !later,
  gemv: (...args) => reference.gemv(...args),
  spmv: (...args) => reference.spmv(...args),
  reduce: (...args) => reduce(reference, ...args),
  combine,
});

/** The reference engine. */
export const reference: LocalKernels = {
  name: "reference",
  enclose: filter,
  accumulate(op: Reduction, x: Real, y: Real, into: Superaccumulator): number {
    for (let i = 0; i < x.length; i++) {
      const v = x[i] as number;
      if (op === "dot") into.addProduct(v, y[i] as number);
      else into.add(op === "asum" ? Math.abs(v) : v);
    }
    return 0;
  },
  accumulateBy(stage: ExactStage, op: Reduction, x: Real, y: Real, into: Superaccumulator): void {
    if (stage === "superaccumulator") this.accumulate(op, x, y, into, true);
    else accumulateThrough(new Float64Array(Number(stage[3])), stage.endsWith("ee"), op, x, y, into);
  },
  map(op: Elementwise, alpha: number, x: Real, y: Real): void {
    const out = op === "axpy" ? y : x;
    for (let i = 0; i < x.length; i++) store(out, i, mapOne(op, alpha, x[i] as number, y[i] as number, formatOf(x)));
  },
  ...dense(addProducts),
  spmv: spmv(addProducts) as LocalKernels["spmv"],
  ilu0: ilu0 as LocalKernels["ilu0"],
  krylov: hostKrylov(vectorOperations),
  workers: 0,
  memory: ordinaryMemory,
  firstZero,
  neighbours,
  sptrsv: sparse(addProducts),
  sptrsm: (system, B, X) => solveColumns(B, X, "TriangularPlan.solve", (b, x) => reference.sptrsv(system, b, x)),
  approximate: approximateReference,
};
