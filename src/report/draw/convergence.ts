// The figures of convergence: the residual against the number of iterations, one figure per grid.
import { type ConvergenceCase, type ConvergenceCurve, METHODS, PRECONDITIONERS } from "../measure/convergence.ts";
import { curve, drawn, grid, logarithmic, type Series, WIDTH } from "./figure.ts";
import { figure, grouped, type Html, html, table } from "./html.ts";

// The colour tells the method, the line tells the preconditioner.
const LOOKS: Readonly<Record<string, Pick<Series, "colour" | "symbol">>> = {
  cg: { colour: "var(--blue)", symbol: "circle" },
  bicgstab: { colour: "var(--orange)", symbol: "square" },
  gmres: { colour: "var(--green)", symbol: "triangle" },
};
const DASHES: Readonly<Record<string, string>> = { none: "2 3", jacobi: "7 3" };

/** The symbols on a curve: more would hide it. */
const SYMBOLS = 8;

export function drawConvergence(cases: readonly ConvergenceCase[]): Html[] {
  return cases.flatMap((one) => (one.curves.some(({ history }) => history.length > 1) ? [drawCase(one)] : []));
}

const nameOf = ({ method, preconditioner }: ConvergenceCurve): string =>
  preconditioner === "none" ? method : `${method}, ${preconditioner}`;

function drawCase({ name, n, entries, curves }: ConvergenceCase): Html {
  const known = [...curves].sort((a, b) => rank(a) - rank(b));
  const lines = known.map((one) => ({ one, look: lookOf(one), points: pointsOf(one) }));
  const longest = Math.max(...lines.map(({ points }) => points.at(-1)?.x ?? 0));
  const y = logarithmic(
    lines.flatMap(({ points }) => points.map((point) => point.y)),
    6,
  );
  const series = lines.map(({ look }) => look);
  return drawn({
    title: name,
    label: `Residual against iterations, for ${series.map((look) => look.name).join("; ")}`,
    caption: html`Norms of the residual, relative to that of a random right-hand side; ${grouped(n)} unknowns, ${grouped(entries)} entries. Every iteration rounds each of its sums once, so both the number of iterations and every point of a curve are the same on all engines and for any number of threads.`,
    series,
    plot: {
      width: WIDTH,
      height: 320,
      marginLeft: 56,
      marginRight: 20,
      x: { domain: [0, Math.max(longest, 1)], label: "iterations →" },
      y: { ...y, label: "↑ residual" },
      marks: [...grid("auto", y.ticks), ...lines.flatMap(({ look, points }) => curve(points, marked(points), look, {}))],
    },
    numbers: numbersOf(known, longest),
  });
}

// Methods and preconditioners in the order of their tables; a file may have others.
function rank({ method, preconditioner }: ConvergenceCurve): number {
  const place = (list: readonly string[], name: string): number => (list.indexOf(name) + list.length + 1) % (list.length + 1);
  return 8 * place(Object.keys(METHODS), method) + place(PRECONDITIONERS, preconditioner);
}

function lookOf(one: ConvergenceCurve): Series {
  const { colour, symbol } = (Object.hasOwn(LOOKS, one.method) ? LOOKS[one.method] : undefined) ?? { colour: "var(--purple)" };
  const dash = Object.hasOwn(DASHES, one.preconditioner) ? DASHES[one.preconditioner] : undefined;
  return { name: nameOf(one), colour, width: 1.8, ...(symbol ? { symbol } : {}), ...(dash ? { dash } : {}) };
}

interface Point {
  readonly x: number;
  readonly y: number;
}

// A residual of zero has no logarithm.
const pointsOf = ({ history }: ConvergenceCurve): Point[] => history.flatMap((y, x) => (y > 0 ? [{ x, y }] : []));

function marked(points: readonly Point[]): Point[] {
  const every = Math.max(1, Math.ceil(points.length / SYMBOLS));
  return points.filter((_, k) => (points.length - 1 - k) % every === 0);
}

const COLUMNS = 8;

// One row per curve; residuals after some of the iterations.
function numbersOf(curves: readonly ConvergenceCurve[], longest: number): Html {
  const step = Math.max(1, Math.ceil(longest / COLUMNS));
  const shown = Array.from({ length: Math.floor(longest / step) + 1 }, (_, k) => k * step);
  return table(
    ["method", "preconditioner", "iterations", "ended by", "residual", ...shown.map((k) => `after ${grouped(k)}`)],
    curves.map(({ method, preconditioner, iterations, reason, residual, history }) => [
      method,
      preconditioner,
      iterations,
      reason,
      residual,
      ...shown.map((k) => {
        const norm = history[k];
        return norm === undefined ? "" : figure(norm);
      }),
    ]),
  );
}
