// The bits of a binary64 number: as text, and drawn with those that differ from another number marked.
import { h } from "../page/dom.ts";

const view = new DataView(new ArrayBuffer(8));

function pattern(x: number): bigint {
  view.setFloat64(0, x);
  return x === x ? view.getBigUint64(0) : 0x7ff8000000000000n; // every NaN is the same
}

/** 64 digits, the sign first. */
export const bitsOf = (x: number): string => pattern(x).toString(2).padStart(64, "0");

/** How many bits of two numbers differ. */
export function wrongBits(x: number, right: number): number {
  return [...(pattern(x) ^ pattern(right)).toString(2)].filter((bit) => bit === "1").length;
}

/** How many binary64 numbers lie from one to the other, or undefined if one is not finite. */
export function ulpsBetween(x: number, y: number): bigint | undefined {
  if (!Number.isFinite(x) || !Number.isFinite(y)) return undefined;
  const distance = ordered(x) - ordered(y);
  return distance < 0n ? -distance : distance;
}

const SIGN = 1n << 63n;
const ordered = (x: number): bigint => (pattern(x) >= SIGN ? SIGN - pattern(x) : pattern(x));

/** The bits in their three fields. With `right`, those that differ from it are marked, by more than a colour. */
export function drawBits(x: number, label: string, right?: number): HTMLElement {
  const bits = bitsOf(x);
  const other = right === undefined ? bits : bitsOf(right);
  const field = (name: string, from: number, to: number): HTMLElement => {
    const parts = [...bits.slice(from, to)].map((bit, k) =>
      bit === other[from + k] ? document.createTextNode(bit) : h("b", { class: "wrong" }, bit),
    );
    return h("span", { class: `bits-${name}` }, ...parts);
  };
  const wrong = right === undefined ? 0 : wrongBits(x, right);
  const spoken = `${label}: hexadecimal ${pattern(x).toString(16).padStart(16, "0")}${wrong > 0 ? `, ${wrong} of 64 bits are wrong` : ""}`;
  const drawing = h("div", { class: "bits", aria: { role: "img", label: spoken } });
  drawing.append(field("sign", 0, 1), field("exponent", 1, 12), field("fraction", 12, 64));
  return drawing;
}

/** A number with the fewest digits that read back to the same bits. */
export function decimal(x: number): string {
  const text = Object.is(x, -0) ? "-0" : Math.abs(x) >= 1e16 && Number.isFinite(x) ? x.toExponential() : String(x);
  return text.replaceAll("-", "−").replace("e+", "e");
}
