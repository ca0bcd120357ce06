// HTML text. All data goes through the tag `html`, which escapes it; the type `Html` marks text that is already escaped.
export interface Html {
  readonly html: string;
}

type Piece = Html | readonly Html[] | string | number | undefined;

export function html(texts: TemplateStringsArray, ...pieces: Piece[]): Html {
  return { html: String.raw({ raw: texts }, ...pieces.map(written)) };
}

/** Trusted text, used without escaping. */
export const raw = (text: string): Html => ({ html: text });

function written(piece: Piece): string {
  if (piece === undefined) return "";
  if (typeof piece === "string" || typeof piece === "number") return escaped(String(piece));
  return "html" in piece ? piece.html : piece.map((one) => one.html).join("\n");
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

// Characters that XML does not allow (most control characters, unpaired surrogates) are removed.
const UNPRINTABLE = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

export const printable = (text: string): string => text.replace(UNPRINTABLE, "");

export function escaped(text: string): string {
  return printable(text).replace(/[&<>"']/g, (c) => ENTITIES[c] as string);
}

/** A table of the numbers behind a figure. Numeric cells are right-aligned. */
export function table(head: readonly string[], rows: readonly (readonly (string | number | Html)[])[]): Html {
  const cell = (one: string | number | Html): Html =>
    typeof one === "number" ? html`<td class="number">${figure(one)}</td>` : html`<td>${one}</td>`;
  return html`<div class="scroll"><table>
<thead><tr>${head.map((one) => html`<th scope="col">${one}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${row.map(cell)}</tr>`)}</tbody>
</table></div>`;
}

/** A number rounded to three or four digits for reading. */
export function figure(value: number): string {
  const size = Math.abs(value);
  if (value === 0) return "0";
  if (Number.isInteger(value) && size < 1e15) return grouped(value);
  if (size >= 1e5 || size < 1e-3) return value.toExponential(1);
  return size >= 1000 ? grouped(Math.round(value)) : String(Number(value.toPrecision(3)));
}

export function grouped(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** Nanoseconds in a suitable unit. */
export function duration(ns: number): string {
  const units = [
    [1e9, "s"],
    [1e6, "ms"],
    [1e3, "µs"],
  ] as const;
  const [unit, name] = units.find(([size]) => ns >= size) ?? [1, "ns"];
  return `${figure(Number((ns / unit).toPrecision(3)))} ${name}`;
}
