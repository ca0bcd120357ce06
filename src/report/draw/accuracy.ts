// The figures of forward error against condition number.
import { type Accuracy, type AccuracyCurve, methodsOf, worst } from "../measure/accuracy.ts";
import { curve, drawn, grid, logarithmic, powerOfTen, type Series, WIDTH } from "./figure.ts";
import { figure, type Html, html, table } from "./html.ts";
import { dot, ruleY, text } from "./plotting.ts";

const LOOKS: Readonly<Record<string, Series>> = {
  plain: { name: "plain", colour: "var(--grey)", symbol: "times", dash: "5 3" },
  doubleDouble: { name: "double-double", colour: "var(--orange)", symbol: "square" },
  exact: { name: "exact", colour: "var(--blue)" },
  single: { name: "extrsv", colour: "var(--blue)" },
  refine1: { name: "refine: 1", colour: "var(--green)", symbol: "triangle" },
  refine2: { name: "refine: 2", colour: "var(--purple)", symbol: "diamond" },
  correct: { name: "solve", colour: "var(--red)", symbol: "star" },
};

const FIGURES: readonly {
  readonly which: keyof Accuracy;
  readonly title: string;
  readonly methods: readonly string[];
  readonly exact: string;
  readonly caption: string;
}[] = [
  {
    which: "gemv",
    title: "Matrix times vector",
    methods: ["plain", "exact"],
    exact: "exgemv",
    caption: "exgemv rounds each element once, whatever the condition. Plain arithmetic has no correct digit from about 10¹⁶ on.",
  },
  {
    which: "trsv",
    title: "Triangular systems",
    methods: ["plain", "single", "doubleDouble", "refine1", "refine2"],
    exact: "extrsv",
    caption:
      "extrsv rounds each element once, and the condition magnifies these roundings like any other error. Residuals are exact, so one refinement step comes close to double-double arithmetic and a second one matches it.",
  },
  {
    which: "trsvRepresentable",
    title: "Triangular systems with a representable solution",
    methods: ["plain", "single", "doubleDouble"],
    exact: "extrsv",
    caption:
      "If the solution consists of binary64 numbers, there is nothing to round and nothing to magnify: extrsv returns it to the last bit.",
  },
  {
    which: "lu",
    title: "LU factorization and solve",
    methods: ["plain", "exact", "refine1", "refine2", "correct"],
    exact: "exlu and LU.solve",
    caption:
      "Exact inner products make the factors more accurate, but do not change the condition of the problem: beyond 10¹⁶, refinement with binary64 factors does not converge. solve returns the exact solution, rounded once, whatever the condition.",
  },
];

// An error of 1 or more means that no digit is right; zero errors are drawn at the bottom.
const ZERO = 1e-18;
const ERRORS = [1e-16, 1e-12, 1e-8, 1e-4, 1];
const shown = (error: number | null | undefined): number => Math.min(error === 0 ? ZERO : Math.max(error ?? 1, 1e-17), 1);

export function drawAccuracy(accuracy: Accuracy): Html[] {
  return FIGURES.map(({ which, ...about }) => drawCurve(accuracy[which], about));
}

function drawCurve(measured: AccuracyCurve, { title, methods, exact, caption }: Omit<(typeof FIGURES)[number], "which">): Html {
  const { n, condition, points } = measured;
  const present = methods.filter((method) => points.some((point) => method in point));
  const asked = [...new Set(points.map((point) => point.asked))].sort((a, b) => a - b);
  const series = present.map((method) => {
    const look = LOOKS[method] as Series;
    return method === "exact" ? { ...look, name: exact } : look;
  });
  const seeds = new Set(points.map(({ seed }) => seed)).size;
  const zeros = points.some((point) => present.some((method) => point[method] === 0));
  const rows = asked.map((one) => [one.toExponential(0), ...methodsOf(measured).map((method) => worst(measured, one, method))]);
  const x = logarithmic(points.map((point) => point.condition));
  return drawn({
    title,
    label: `Relative forward error against the condition number from ${figure(asked[0] ?? 1)} to ${figure(asked.at(-1) ?? 1)}, for ${series.map(({ name }) => name).join(", ")}`,
    caption: html`Relative forward error (max norm) against the condition number ${condition}, n = ${n}. Small marks: ${seeds} ${seeds === 1 ? "seed" : "seeds"} per condition; lines: the largest error. ${caption}`,
    series,
    plot: {
      height: 300,
      marginLeft: 56,
      marginRight: 20,
      x: { ...x, label: "condition number →" },
      y: {
        type: "log",
        domain: [zeros ? ZERO : 1e-17, 1],
        ticks: [...(zeros ? [ZERO] : []), ...ERRORS],
        tickFormat: (v: number) => (v === ZERO ? "0" : powerOfTen(Math.round(Math.log10(v)))),
        label: "↑ relative error",
      },
      marks: [
        ...grid(x.ticks, ERRORS),
        ruleY([2 ** -53], { stroke: "var(--muted)", strokeDasharray: "2 3" }),
        text([{ x: x.domain[1], y: 2 ** -53 }], {
          x: "x",
          y: "y",
          text: () => "2⁻⁵³",
          dy: -7,
          dx: 2,
          textAnchor: "end",
          fill: "var(--muted)",
        }),
        ...present.flatMap((method, k) => {
          const look = series[k] as Series;
          const each = points.map((point) => ({ x: point.condition, y: shown(point[method]) }));
          const max = asked.map((one) => ({ x: one, y: shown(worst(measured, one, method)) }));
          return [dot(each, { x: "x", y: "y", r: 1.6, fill: look.colour, fillOpacity: 0.45 }), ...curve(max, max, look, {})];
        }),
      ],
      width: WIDTH,
    },
    numbers: table(["condition", ...methodsOf(measured).map((method) => LOOKS[method]?.name ?? method)], rows),
  });
}
