// The reference engine: all kernels in plain TypeScript over exact/, as the specification defines them. Slow, and right by inspection. Tests
// compare every engine with it, and users get it where WebAssembly is not allowed (embedded.ts).
import { firstZero } from "../../arrays/triangle.ts";
import type { Format, Real, Reduction } from "../../arrays/types.ts";
import { formatOf } from "../../arrays/vectors.ts";
import { divide, multiply, multiplyAdd } from "../../exact/elementwise.ts";
import { expansionAccumulate } from "../../exact/expansion.ts";
import { filter } from "../../exact/filter.ts";
import { store } from "../../exact/store.ts";
import type { Superaccumulator } from "../../exact/superaccumulator.ts";
import { twoProd } from "../../exact/transforms.ts";
import type { Elementwise, ExactStage, LocalKernels } from "../kernels.ts";
import { ordinaryMemory } from "../ordinaryMemory.ts";
import { approximateReference } from "./approximate.ts";
import { dense, type StridedVector } from "./dense.ts";
import { neighbours, sparse } from "./sparse.ts";

/** One element of map(). */
export function mapOne(op: Elementwise, alpha: number, x: number, y: number, format: Format): number {
  if (op === "scal") return multiply(alpha, x, format);
  return op === "invscal" ? divide(x, alpha, format) : multiplyAdd(alpha, x, y, format);
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
  workers: 0,
  memory: ordinaryMemory,
  firstZero,
  neighbours,
  sptrsv: sparse(addProducts),
  approximate: approximateReference,
};
