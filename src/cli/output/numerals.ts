// Numbers as text: shortest decimal, hexadecimal bits, JSON.
import type { Format } from "../../arrays/types.ts";
import { shortest32 } from "./shortest.ts";

const view = new DataView(new ArrayBuffer(8));

/** The format of numbers with this many bytes. */
export const formatOf = (width: number): Format => (width === 8 ? "binary64" : "binary32");

/** The number that String() prints with the fewest digits that read back to the same bits in this format. */
export function shortest(x: number, format: Format): number {
  return format === "binary32" ? shortest32(x) : x;
}

/** A number with the fewest digits that read back to the same bits in JavaScript, Python and C. */
export function decimal(x: number, format: Format = "binary64"): string {
  return Object.is(x, -0) ? "-0" : String(shortest(x, format));
}

/** The bits of a number in hexadecimal, sign first: 16 digits, or 8 for binary32. Every NaN prints as the canonical one. */
export function hex(x: number, format: Format = "binary64"): string {
  if (format === "binary32") {
    view.setFloat32(0, x);
    return x === x ? view.getUint32(0).toString(16).padStart(8, "0") : "7fc00000";
  }
  view.setFloat64(0, x);
  return x === x ? view.getBigUint64(0).toString(16).padStart(16, "0") : "7ff8000000000000";
}

/**
 * Like JSON.stringify, but -0 keeps its sign, and NaN and infinities become strings. Elements of a Float32Array have their shortest
 * binary32 digits.
 */
export function toJson(value: unknown): string {
  if (value instanceof Float32Array) return toJson(Array.from(value, shortest32));
  if (typeof value === "number") return Number.isFinite(value) ? decimal(value) : JSON.stringify(decimal(value));
  if (Array.isArray(value) || ArrayBuffer.isView(value)) return `[${Array.from(value as ArrayLike<unknown>, toJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${toJson(field)}`).join(",")}}`;
}
