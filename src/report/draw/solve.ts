// The figures of solve: speed, refinement steps, and ill-conditioned systems.
import type { IllPoint, SolveEngines, SolveRow, SolveTables } from "../measure/solve.ts";
import { curve, drawn, grid, logarithmic, type Series, sizesScale, WIDTH } from "./figure.ts";
import { duration, figure, grouped, type Html, html, table } from "./html.ts";

export function drawSolve({ cpu, gpu, ill }: SolveTables, where: string): Html[] {
  return [
    ...(cpu?.rows ? drawEngines(cpu, `Without a GPU, ${where}`) : []),
    ...(gpu?.rows ? drawEngines(gpu, `CPU and GPU, ${gpu.device ?? where}`) : []),
    ...(gpu?.missing ? [html`<p class="missing">No GPU was measured: ${gpu.missing}</p>`] : []),
    ...(ill ? drawIll(ill.n, ill.points) : []),
  ];
}

type Measured = SolveRow & Required<Pick<SolveRow, "time" | "gflops" | "iterations">>;
const isMeasured = (row: SolveRow): row is Measured => row.time !== undefined && row.gflops !== undefined && row.iterations !== undefined;

const COLOURS = ["var(--blue)", "var(--orange)", "var(--green)", "var(--purple)", "var(--grey)", "var(--sky)"];
const SYMBOLS = ["circle", "square", "triangle", "diamond", "times", "star"] as const;
// Lines are solid for "mixed" and dashed for the other methods.
const DASHES: Readonly<Record<string, string>> = { double: "6 3", exact: "2 3" };

// If CPU and GPU share the work, there is one panel per look-ahead, and rows without sharing appear in all panels.
function drawEngines({ rows = [] }: SolveEngines, title: string): Html[] {
  const measured = rows.filter(isMeasured);
  if (measured.length === 0) return [];
  const ahead = [...new Set(measured.flatMap(({ sharing }) => sharing?.lookAhead ?? []))];
  const panels = ahead.length > 0 ? ahead.map((levels) => `look-ahead ${levels}`) : [""];
  const nameOf = ({ engine, sharing, method }: Measured): string =>
    sharing?.lookAhead === undefined ? `${engine}, ${method}` : `forward ${sharing.forward}, backward ${sharing.backward}`;
  const points = measured.flatMap((row) =>
    (row.sharing?.lookAhead === undefined ? panels : [`look-ahead ${row.sharing.lookAhead}`]).map((panel) => ({
      row,
      panel,
      name: nameOf(row),
      x: row.n,
    })),
  );
  const engines = [...new Set(points.map(({ name }) => name.replace(/, (mixed|double|exact)$/, "")))];
  const series = [...new Set(points.map(({ name }) => name))].map((name): Series => {
    const k = engines.indexOf(name.replace(/, (mixed|double|exact)$/, ""));
    const dash = DASHES[name.split(", ").at(-1) ?? ""];
    return {
      name,
      colour: COLOURS[k % COLOURS.length] as string,
      symbol: SYMBOLS[k % SYMBOLS.length] ?? "circle",
      ...(dash ? { dash } : {}),
    };
  });
  const x = sizesScale(points.map((point) => point.x));
  const draw = (
    what: string,
    label: string,
    caption: Html,
    chosen: readonly Series[],
    value: (row: Measured) => number,
    whole: boolean,
  ): Html => {
    const own = points.filter(({ name }) => chosen.some((one) => one.name === name)).map((point) => ({ ...point, y: value(point.row) }));
    const top = Math.max(...own.map(({ y }) => y));
    const ticks = whole ? { ticks: Array.from({ length: Math.min(top, 30) + 1 }, (_, k) => k), tickFormat: String } : {};
    return drawn({
      title: `${title}: ${what}`,
      label: `${label} against n, for ${chosen.map(({ name }) => name).join("; ")}`,
      caption,
      series: chosen,
      plot: {
        width: WIDTH,
        height: whole ? 230 : 320,
        marginLeft: 56,
        marginRight: 20,
        x: { ...x, label: "n →" },
        y: { domain: [0, top * 1.06 || 1], label: `↑ ${label}`, ...ticks },
        fx: { domain: panels, label: null, ...(panels.length === 1 ? { axis: null } : {}) },
        marks: [
          ...grid(x.ticks, whole ? ticks.ticks : "auto"),
          ...chosen.flatMap((look) => {
            const line = own.filter(({ name }) => name === look.name);
            return curve(line, line, look, { fx: "panel" }, { x: "x", y: "y", z: "panel" });
          }),
        ],
      },
      numbers: numbersOf(rows),
    });
  };
  const refined = series.filter(({ name }) => !name.endsWith(", exact"));
  return [
    draw(
      "Gflop/s",
      "Gflop/s",
      html`Effective speed of solve(): 2/3 n³ + 2 n² operations divided by the total time, including refinement. <em>mixed</em> factors in binary32 and refines with exact residuals, <em>double</em> factors in binary64.`,
      series,
      ({ gflops }) => gflops,
      false,
    ),
    draw(
      "refinement steps",
      "steps",
      html`Corrections until the scaled residual is at most 1.`,
      refined,
      ({ iterations }) => iterations,
      true,
    ),
  ];
}

function numbersOf(rows: readonly SolveRow[]): Html {
  return table(
    ["engine", "method", "n", "time", "Gflop/s", "steps", "scaled residual", ""],
    rows.map(({ engine, method, n, time, gflops, iterations, converged, residual, missing }) => [
      engine,
      method,
      grouped(n),
      time === undefined ? "" : duration(time),
      gflops ?? "",
      iterations ?? "",
      residual ?? "",
      missing ?? (converged === false ? "not converged" : ""),
    ]),
  );
}

const ANSWERS: readonly Series[] = [
  { name: "mixed", colour: "var(--blue)", symbol: "circle" },
  { name: "double", colour: "var(--orange)", symbol: "square" },
  { name: "exact", colour: "var(--green)", symbol: "triangle" },
];

// Above 2^53 / n, a large enough multiple of the vector that A maps to nearly zero satisfies the criterion for any right-hand side.
function drawIll(n: number, all: readonly IllPoint[]): Html[] {
  const points = all.filter(({ condition }) => condition <= 2 ** 53 / n);
  if (points.length === 0) return [];
  const conditions = [...new Set(points.map(({ condition }) => condition))].sort((a, b) => a - b);
  const at = (condition: number): IllPoint[] => points.filter((point) => point.condition === condition);
  const seeds = Math.max(...conditions.map((condition) => at(condition).length));
  const series = ANSWERS.filter(({ name }) => points.some(({ answer }) => answer.method === name));
  const share = (condition: number, method: string): number =>
    (100 * at(condition).filter(({ answer }) => answer.method === method).length) / at(condition).length;
  const x = logarithmic(conditions);
  const steps = (of: IllPoint[]): string => {
    const taken = of.filter(({ mixed }) => mixed.converged).map(({ mixed }) => mixed.iterations);
    return taken.length === 0 ? "–" : `${figure(Math.min(...taken))} to ${figure(Math.max(...taken))}`;
  };
  return [
    drawn({
      title: "Ill-conditioned systems: which method succeeds",
      label: `Share of systems solved by ${series.map(({ name }) => name).join(", ")} against the condition number`,
      caption: html`Systems of order ${n}, ${seeds} ${seeds === 1 ? "seed" : "seeds"} per condition up to 2⁵³ / n, above which the criterion means nothing. If refinement with binary32 factors does not converge, solve() falls back to binary64 factors, and then to those of exlu.`,
      series,
      plot: {
        width: WIDTH,
        height: 260,
        marginLeft: 56,
        marginRight: 20,
        x: { ...x, label: "condition number →" },
        y: { domain: [0, 100], label: "↑ % of the systems" },
        marks: [
          ...grid(x.ticks, "auto"),
          ...series.flatMap((look) => {
            const line = conditions.map((condition) => ({ x: condition, y: share(condition, look.name) }));
            return curve(line, line, look, {});
          }),
        ],
      },
      numbers: table(
        ["condition", "mixed converges", "in steps", ...series.map(({ name }) => `solved by ${name}`)],
        conditions.map((condition) => {
          const of = at(condition);
          const converged = of.filter(({ mixed }) => mixed.converged).length;
          return [
            condition.toExponential(0),
            `${converged} of ${of.length}`,
            steps(of),
            ...series.map(({ name }) => `${figure(share(condition, name))} %`),
          ];
        }),
      ),
    }),
  ];
}
