import type { Format } from "../../arrays/types.ts";
import { shortest32 } from "./shortest.ts";

const view = new DataView(new ArrayBuffer(8));

/** The format of numbers of this many bytes. */
export const formatOf = (width: number): Format => (width === 8 ? "binary64" : "binary32");

/** The number whose digits, as String() prints them, are the fewest that read back to the same bits of this format. */
export function shortest(x: number, format: Format): number {
  return format === "binary32" ? shortest32(x) : x;
}

/** A number in the shortest digits that read back to the same bits, in JavaScript, Python and C alike. */
export function decimal(x: number, format: Format = "binary64"): string {
  return Object.is(x, -0) ? "-0" : String(shortest(x, format));
}

/** The bits of a number in hexadecimal, the sign first: 16 digits, 8 in binary32. A NaN is the one that arrays have. */
export function hex(x: number, format: Format = "binary64"): string {
  if (format === "binary32") {
    view.setFloat32(0, x);
    return x === x ? view.getUint32(0).toString(16).padStart(8, "0") : "7fc00000";
  }
  view.setFloat64(0, x);
  return x === x ? view.getBigUint64(0).toString(16).padStart(16, "0") : "7ff8000000000000";
}

/**
 * As JSON.stringify, but -0 keeps its sign, and NaN and infinities are strings. The elements of a Float32Array have the digits of
 * binary32.
 */
export function toJson(value: unknown): string {
  if (value instanceof Float32Array) return toJson(Array.from(value, shortest32));
  if (typeof value === "number") return Number.isFinite(value) ? decimal(value) : JSON.stringify(decimal(value));
  if (Array.isArray(value) || ArrayBuffer.isView(value)) return `[${Array.from(value as ArrayLike<unknown>, toJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${toJson(field)}`).join(",")}}`;
}
