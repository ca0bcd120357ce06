// A figure of the page: heading, legend, drawing, caption, and the numbers behind it.
import type { Html } from "./html.ts";
import { escaped, grouped, html, printable, raw } from "./html.ts";
import { axisX, axisY, document, dot, gridX, gridY, line, plot } from "./plotting.ts";

type PlotOptions = NonNullable<Parameters<typeof plot>[0]>;

/** The style of one series. Colours are variables of the style sheet, with values for light and dark mode. */
export interface Series {
  readonly name: string;
  readonly colour: string;
  readonly symbol?: "circle" | "square" | "triangle" | "diamond" | "cross" | "times" | "star" | "wye";
  readonly dash?: string;
  readonly width?: number;
  /** Marks without a line between them. */
  readonly alone?: boolean;
}

export interface Figure {
  readonly title: string;
  /** A description for screen readers. */
  readonly label: string;
  readonly caption: Html;
  readonly series: readonly Series[];
  readonly plot: PlotOptions;
  readonly numbers?: Html;
}

export const WIDTH = 840;

/** The figure as HTML. */
export function drawn({ title, label, caption, series, plot: options, numbers }: Figure): Html {
  return html`<figure>
<h3>${title}</h3>
${series.length > 1 ? html`<p class="keys">${series.map(key)}</p>` : undefined}
${svg({ marginBottom: 42, ...options }, `${title}. ${label}`)}
<figcaption>${caption}</figcaption>
${numbers ? html`<details><summary>The numbers</summary>${numbers}</details>` : undefined}
</figure>`;
}

function key(series: Series): Html {
  const small: PlotOptions = { width: 26, height: 12, margin: 0, axis: null, x: { domain: [0, 1] }, y: { domain: [0, 1] } };
  const ends = series.alone
    ? []
    : [
        { x: 0, y: 0.5 },
        { x: 1, y: 0.5 },
      ];
  const drawing = svg({ ...small, marks: [...curve(ends, [{ x: 0.5, y: 0.5 }], series, {})] });
  return html`<span class="key">${drawing} ${series.name}</span>`;
}

/** A drawing as SVG text; without a label it is decorative. */
export function svg(options: PlotOptions, label?: string): Html {
  const drawing = plot({
    width: WIDTH,
    ...withAxes(options),
    document: document as unknown as Document,
    style: { background: "none", color: "currentColor", fontFamily: "inherit", fontSize: "12px", overflow: "visible" },
  });
  // The document is HTML, which does not close empty elements: this text is valid only as SVG inside HTML.
  const text = printable((drawing as unknown as { toString(): string }).toString());
  if (label === undefined) return raw(text.replace("<svg", '<svg aria-hidden="true"'));
  const name = escaped(label);
  return raw(
    text.replace(/^<svg([^>]*)>/, (_, attributes: string) => `<svg role="img" aria-label="${name}"${attributes}><title>${name}</title>`),
  );
}

// On logarithmic scales the library's own axes omit labels that seem crowded; these axes label every tick.
function withAxes({ x, y, marks = [], ...options }: PlotOptions): PlotOptions {
  const axes: PlotMark[] = [];
  const own = (scale: PlotOptions["x"], axis: typeof axisX): PlotOptions["x"] => {
    if (scale?.type !== "log") return scale;
    const { ticks, tickFormat, label = null, ...rest } = scale;
    axes.push(axis(ticks as number[], { text: tickFormat as (v: number) => string, label, stroke: "none" }));
    return rest;
  };
  return { ...options, x: own(x, axisX) ?? {}, y: own(y, axisY as typeof axisX) ?? {}, marks: [...axes, ...marks] };
}

type Channels = Record<string, unknown>;

/** The marks of one series: a line through some points, and symbols at others. */
export function curve(
  ends: readonly object[],
  points: readonly object[],
  { colour, symbol = "circle", dash, width = 2 }: Series,
  facets: Channels,
  channels: Channels = { x: "x", y: "y" },
): PlotMark[] {
  const style = { stroke: colour, strokeWidth: width, ...(dash ? { strokeDasharray: dash } : {}) };
  const hollow = symbol === "cross" || symbol === "times" || symbol === "star" || symbol === "wye";
  return [
    ...(ends.length > 1 ? [line(ends, { ...channels, ...facets, ...style })] : []),
    dot(points, { ...channels, ...facets, symbol, r: 3.2, ...(hollow ? { stroke: colour, strokeWidth: 1.6 } : { fill: colour }) }),
  ] as PlotMark[];
}
export type PlotMark = NonNullable<PlotOptions["marks"]>[number];

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** 10 to this power, with superscripts. */
export function powerOfTen(exponent: number): string {
  return exponent === 0 ? "1" : exponent === 1 ? "10" : powerOf(10, exponent);
}

function powerOf(base: number, exponent: number): string {
  return `${base}${exponent < 0 ? "⁻" : ""}${String(Math.abs(exponent)).replace(/\d/g, (d) => SUPERSCRIPTS[Number(d)] as string)}`;
}

interface LogScale {
  readonly type: "log";
  readonly domain: [number, number];
  readonly ticks: number[];
  readonly tickFormat: (value: number) => string;
}

// Margin at both ends, so that no mark touches the frame.
const ROOM = 1.2;

/** A logarithmic scale for these values, with at most about `maxTicks` powers of ten. */
export function logarithmic(values: readonly number[], maxTicks = 8): LogScale {
  const domain: [number, number] = [Math.min(...values) / ROOM, Math.max(...values) * ROOM];
  const [first, last] = [Math.ceil(Math.log10(domain[0])), Math.floor(Math.log10(domain[1]))];
  const inside = (v: number): boolean => v >= domain[0] && v <= domain[1];
  const few = last - first < 2;
  const step = few ? 1 : Math.max(1, Math.ceil((last - first) / maxTicks));
  const powers = Array.from({ length: last - first + 3 }, (_, k) => first - 1 + k).filter((e) => e % step === 0);
  const ticks = powers.flatMap((e) => (few ? [1, 2, 5] : [1]).map((m) => Number(`${m}e${e}`))).filter(inside);
  const plain = ticks.every((v) => v >= 1e-3 && v <= 1e4);
  return { type: "log", domain, ticks, tickFormat: (v) => (plain ? String(v) : powerOfTen(Math.round(Math.log10(v)))) };
}

/** A logarithmic scale with ticks at the measured sizes. */
export function sizesScale(values: readonly number[]): LogScale {
  const sizes = [...new Set(values)].sort((a, b) => a - b);
  const every = Math.ceil(sizes.length / 7);
  return {
    ...logarithmic(sizes),
    ticks: sizes.filter((_, k) => (sizes.length - 1 - k) % every === 0),
    tickFormat: sizeText,
  };
}

// Powers of ten and large powers of two are written as powers.
function sizeText(n: number): string {
  const [ten, two] = [Math.round(Math.log10(n)), Math.round(Math.log2(n))];
  if (ten >= 3 && 10 ** ten === n) return powerOf(10, ten);
  return two >= 14 && 2 ** two === n ? powerOf(2, two) : grouped(n);
}

/** The margin for these labels: 12-pixel letters are 6 to 7 pixels wide, and labels take at most half the width. */
export function roomFor(labels: readonly string[]): number {
  return Math.min(WIDTH / 2, 18 + 6.7 * Math.max(...labels.map(({ length }) => length)));
}

/** Grid lines at the given ticks; for "auto" the library chooses them. */
export function grid(x?: readonly number[] | "auto", y?: readonly number[] | "auto"): PlotMark[] {
  const at = (ticks: readonly number[] | "auto") => ({
    stroke: "var(--grid)",
    strokeOpacity: 1,
    ...(ticks === "auto" ? {} : { ticks: [...ticks] }),
  });
  return [...(x ? [gridX(at(x))] : []), ...(y ? [gridY(at(y))] : [])];
}
