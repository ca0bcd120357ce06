import type { Format } from "../arrays/types.ts";
import { Superaccumulator } from "./superaccumulator.ts";

// One product, one quotient, one fused multiply-add, each rounded once: IEEE 754's operations on binary64
// operands, with a result of either format. Where an operand is zero or not finite, ordinary arithmetic is
// exact and knows the sign of every zero.
const scratch = new Superaccumulator();

const ordinary = (x: number): boolean => x - x === 0 && x !== 0;

/** RN(a x). */
export function multiply(a: number, x: number, format: Format): number {
  if (format === "binary64" || !ordinary(a) || !ordinary(x)) return a * x;
  return scratch.clear().addProduct(a, x).round("nearest", format);
}

/** RN(x / a). */
export function divide(x: number, a: number, format: Format): number {
  if (format === "binary64" || !ordinary(a) || !ordinary(x)) return x / a;
  return scratch.clear().add(x).quotient(a, "nearest", format);
}

/** RN(a x + y). */
export function multiplyAdd(a: number, x: number, y: number, format: Format): number {
  if (y - y !== 0 && a - a === 0 && x - x === 0) return y;
  if (!ordinary(a) || !ordinary(x)) return a * x + y; // one rounding: the product is exact
  return scratch.clear().addProduct(a, x).add(y).round("nearest", format);
}
