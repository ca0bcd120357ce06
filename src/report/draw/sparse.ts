// The tables of the sparse paper as figures: one row per grid, one mark per schedule.
import { BINARY64, SCHEDULES, type ScheduleRow, type SparseCase, type SparseTables } from "../measure/sparse.ts";
import { curve, drawn, grid as lines, logarithmic, roomFor, type Series, WIDTH } from "./figure.ts";
import { duration, figure, grouped, type Html, html, table } from "./html.ts";
import { ruleX, ruleY } from "./plotting.ts";

const LOOKS: Readonly<Record<string, Series>> = {
  serial: { name: "serial", colour: "var(--grey)", symbol: "times", alone: true },
  levr: { name: "levr", colour: "var(--blue)", symbol: "square", alone: true },
  levc: { name: "levc", colour: "var(--sky)", symbol: "diamond", alone: true },
  slfr: { name: "slfr", colour: "var(--orange)", symbol: "circle", alone: true },
  slfc: { name: "slfc", colour: "var(--purple)", symbol: "triangle", alone: true },
  gsf: { name: "gsf", colour: "var(--green)", symbol: "star", alone: true },
};
const MODES: Readonly<Record<string, string>> = { plain: "plain arithmetic", exact: "correctly rounded" };

interface Point {
  readonly name: string;
  readonly mode: string;
  readonly schedule: string;
  readonly x: number;
}

/** GFLOPS, set-up and break-even counts of each group of matrices. */
export function drawSparse({ groups, engine }: SparseTables, where: string): Html[] {
  return groups.flatMap(({ title, cases }) => {
    const precisions = [...new Set(cases.map(({ precision }) => precision))];
    return precisions.map((precision) =>
      drawGroup(
        precision === BINARY64 ? title : `${title}, ${precision}`,
        cases.filter((one) => one.precision === precision),
        `${engine}, ${where}`,
      ),
    );
  });
}

function drawGroup(title: string, cases: readonly SparseCase[], where: string): Html {
  const measured = cases.filter((one) => one.schedules);
  const missing = cases.flatMap((one) => (one.missing === undefined ? [] : [html`<p>${one.name} was not measured: ${one.missing}</p>`]));
  if (measured.length === 0) return html`<div class="missing">${missing}</div>`;
  const names = measured.map(({ name }) => name);
  const points = (value: (row: ScheduleRow) => number | null | undefined): Point[] =>
    measured.flatMap(({ name, schedules = [] }) =>
      schedules.flatMap((row) => {
        const x = value(row);
        return typeof x === "number" ? [{ name, mode: MODES[row.mode] ?? row.mode, schedule: row.schedule, x }] : [];
      }),
    );
  const gflops = points((row) => row.gflops);
  const setUps = points((row) => row.setUpInSolves);
  const pays = points((row) => row.paysAgainst.serial).map((point) => ({ ...point, x: Math.max(point.x, 1) }));
  const series = SCHEDULES.map((schedule) => LOOKS[schedule] as Series).filter(({ name }) =>
    gflops.some(({ schedule }) => schedule === name),
  );
  const about = { names, where };
  return html`${missing}${[
    panel(`${title}: GFLOPS`, "GFLOPS", gflops, series, {
      ...about,
      scale: { domain: [0, Math.max(...gflops.map(({ x }) => x)) * 1.04] },
      caption: html`Speed of y = (U + D)⁻¹ (L + D)⁻¹ x, two operations per entry, ${where}. Grids range from square to elongated: the longer the grid, the fewer rows can be solved in parallel. Schedules proceed by levels (levr, levc) or without synchronization between levels (slfr, slfc, gsf), over rows or columns.`,
      numbers: gflopsTable(measured),
    }),
    panel(`${title}: set-up`, "set-up time in solves", setUps, series, {
      ...about,
      scale: logarithmic(setUps.map(({ x }) => x)),
      caption: html`Analysis time of both triangles, divided by the time of one solve with the same schedule.`,
      numbers: setUpTable(measured),
    }),
    ...(pays.length === 0
      ? []
      : [
          panel(
            `${title}: solves until it pays off`,
            "solves",
            pays,
            series.filter(({ name }) => name !== "serial"),
            {
              ...about,
              scale: logarithmic([...pays.map(({ x }) => x), 10]),
              caption: html`The number of solves from which a schedule, including set-up, is faster than the serial one; no mark if it never is.`,
              numbers: paysTable(measured),
            },
          ),
        ]),
  ]}`;
}

interface Panel {
  readonly names: readonly string[];
  readonly scale: { readonly domain: [number, number]; readonly ticks?: number[] };
  readonly caption: Html;
  readonly numbers: Html;
}

function panel(
  title: string,
  label: string,
  points: readonly Point[],
  series: readonly Series[],
  { names, scale, caption, numbers }: Panel,
): Html {
  const modes = Object.values(MODES).filter((mode) => points.some((point) => point.mode === mode));
  return drawn({
    title,
    label: `${label} of ${series.map(({ name }) => name).join(", ")} on ${names.join(", ")}`,
    caption,
    series,
    plot: {
      width: WIDTH,
      height: 74 + 26 * names.length,
      marginLeft: roomFor(names),
      marginRight: 24,
      x: { ...scale, label: `${label} →` },
      y: { type: "point", domain: [...names], label: null, padding: 0.5 },
      fx: { domain: modes, label: null },
      marks: [
        ...lines(scale.ticks ?? "auto"),
        ruleY(names, { stroke: "var(--grid)" }),
        ...(scale.domain[0] === 0 ? [ruleX([0], { stroke: "var(--muted)" })] : []),
        ...series.flatMap((look) =>
          curve(
            [],
            points.filter(({ schedule }) => schedule === look.name),
            look,
            { fx: "mode" },
            { x: "x", y: "name" },
          ),
        ),
      ],
    },
    numbers,
  });
}

// One row per matrix and mode, one column per schedule.
function grid(cases: readonly SparseCase[], cell: (row: ScheduleRow) => string | number): Html {
  const rows = cases.flatMap(({ name, n, entries, schedules = [] }) =>
    Object.keys(MODES).map((mode) => [
      name,
      mode,
      grouped(n),
      grouped(entries),
      ...SCHEDULES.map((schedule) => {
        const row = schedules.find((one) => one.mode === mode && one.schedule === schedule);
        return row ? cell(row) : "";
      }),
    ]),
  );
  return table(["", "", "rows", "entries", ...SCHEDULES], rows);
}

const gflopsTable = (cases: readonly SparseCase[]): Html => grid(cases, ({ gflops }) => gflops);

const setUpTable = (cases: readonly SparseCase[]): Html =>
  grid(cases, ({ setUp, setUpInSolves }) => `${duration(setUp)} (${figure(Number(setUpInSolves.toPrecision(3)))} solves)`);

function paysTable(cases: readonly SparseCase[]): Html {
  const words = (solves: number | null | undefined): string => (solves === undefined ? "–" : solves === null ? "never" : grouped(solves));
  return html`<p>Against serial / against gsf.</p>${grid(cases, ({ paysAgainst: { serial, gsf } }) => `${words(serial)} / ${words(gsf)}`)}`;
}
