// Products, quotients and fused multiply-adds, each rounded once: IEEE 754's operations on binary64 operands, with a result of either
// format. If an operand is zero or not finite, ordinary arithmetic is exact and has the right sign of zero. The reference engine uses
// them, and the WebAssembly kernels leave the elements to them that assembly/level1/elementwise.ts cannot prove.
import type { Format } from "../arrays/types.ts";
import { Superaccumulator } from "./superaccumulator.ts";

const scratch = new Superaccumulator();

const isFiniteNonzero = (x: number): boolean => x - x === 0 && x !== 0;

/** RN(a x). */
export function multiply(a: number, x: number, format: Format): number {
  if (format === "binary64" || !isFiniteNonzero(a) || !isFiniteNonzero(x)) return a * x;
  return scratch.clear().addProduct(a, x).round("nearest", format);
}

/** RN(x / a). */
export function divide(x: number, a: number, format: Format): number {
  if (format === "binary64" || !isFiniteNonzero(a) || !isFiniteNonzero(x)) return x / a;
  return scratch.clear().add(x).quotient(a, "nearest", format);
}

/** RN(a x + y). */
export function multiplyAdd(a: number, x: number, y: number, format: Format): number {
  if (y - y !== 0 && a - a === 0 && x - x === 0) return y;
  if (!isFiniteNonzero(a) || !isFiniteNonzero(x)) return a * x + y; // one rounding: the product is exact
  return scratch.clear().addProduct(a, x).add(y).round("nearest", format);
}
