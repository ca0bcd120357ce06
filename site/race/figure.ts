// The figure of the part "Race": time per unit of work over n, both axes logarithmic. It is drawn anew for every point; the axes are wide
// enough from the first one on, and grow if a point needs it.
import { h } from "../page/dom.ts";
import type { RacePoint, RaceSpec } from "./routines.ts";

const NS = "http://www.w3.org/2000/svg";
const HEIGHT = 400;
const MARGIN = { left: 64, right: 20, top: 34, bottom: 48 };

function svg(name: string, attributes: Record<string, string | number>, ...children: (Node | string)[]): SVGElement {
  const element = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.append(...children);
  return element;
}

export const SERIES = [
  ["exact", "halfulp, exact"],
  ["plain", "ordinary arithmetic"],
] as const;

/** The drawing for these points, this many pixels wide. */
export function drawRace(points: readonly RacePoint[], spec: RaceSpec, width: number): SVGElement {
  const values = points.flatMap(({ n, exact, plain }) => [exact, plain].map((time) => perUnit(time, n, spec)));
  const x = scale(Math.min(4, ...points.map(({ n }) => n)), Math.max(64, ...points.map(({ n }) => n)), MARGIN.left, width - MARGIN.right);
  const y = scale(Math.min(1, ...values), Math.max(100, ...values), HEIGHT - MARGIN.bottom, MARGIN.top);
  const last = points.at(-1);
  const label = last
    ? `Time over n. At n = ${last.n}, exact takes ${perUnit(last.exact, last.n, spec).toPrecision(2)} ns per ${spec.unit}, ordinary arithmetic ${perUnit(last.plain, last.n, spec).toPrecision(2)}.`
    : "Time over n. No point yet.";
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": label, class: "figure" });
  for (const tick of x.ticks)
    drawing.append(
      svg("line", { x1: x.at(tick), x2: x.at(tick), y1: MARGIN.top, y2: HEIGHT - MARGIN.bottom, class: "gridline" }),
      svg("text", { x: x.at(tick), y: HEIGHT - MARGIN.bottom + 18, "text-anchor": "middle" }, power(tick)),
    );
  for (const tick of y.ticks)
    drawing.append(
      svg("line", { x1: MARGIN.left, x2: width - MARGIN.right, y1: y.at(tick), y2: y.at(tick), class: "gridline" }),
      svg("text", { x: MARGIN.left - 8, y: y.at(tick) + 4, "text-anchor": "end" }, power(tick)),
    );
  drawing.append(
    svg("text", { x: width - MARGIN.right, y: HEIGHT - 8, "text-anchor": "end", class: "axis" }, `n: ${spec.size} →`),
    svg("text", { x: 8, y: 18, class: "axis" }, `↑ ns per ${spec.unit}`),
  );
  for (const [key] of SERIES) {
    const at = points.map((point) => [x.at(point.n), y.at(perUnit(point[key], point.n, spec))] as const);
    if (at.length > 1) drawing.append(svg("polyline", { points: at.map((pair) => pair.join(",")).join(" "), class: `curve ${key}` }));
    for (const [cx, cy] of at)
      drawing.append(
        key === "exact"
          ? svg("circle", { cx, cy, r: 4, class: `point ${key}` })
          : svg("rect", { x: cx - 3.5, y: cy - 3.5, width: 7, height: 7, class: `point ${key}` }),
      );
  }
  return drawing;
}

/** Nanoseconds per unit of work. */
export const perUnit = (milliseconds: number, n: number, { work }: RaceSpec): number => (1e6 * milliseconds) / work(n);

function scale(min: number, max: number, from: number, to: number): { at(value: number): number; ticks: number[] } {
  const [low, high] = [Math.log10(min) - 0.05, Math.log10(max) + 0.05];
  const ticks = Array.from({ length: Math.floor(high) - Math.ceil(low) + 1 }, (_, k) => 10 ** (Math.ceil(low) + k));
  return { at: (value) => from + ((Math.log10(value) - low) / (high - low)) * (to - from), ticks };
}

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
function power(value: number): string {
  const exponent = Math.round(Math.log10(value));
  if (exponent >= -2 && exponent <= 3) return String(10 ** exponent);
  return `10${exponent < 0 ? "⁻" : ""}${String(Math.abs(exponent)).replace(/\d/g, (digit) => SUPERSCRIPTS[Number(digit)] as string)}`;
}

/** The legend, with the marks of the figure. */
export function legend(): HTMLElement {
  return h("p", { class: "legend" }, ...SERIES.map(([key, name]) => h("span", { class: `key ${key}` }, name)));
}
