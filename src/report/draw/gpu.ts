// The figures of a GPU benchmark: our routines compared with the vendor's libraries.
import type { StageRace } from "../measure/stages.ts";
import type { Gpu, Race } from "../read.ts";
import { curve, drawn, grid as lines, logarithmic, roomFor, type Series, WIDTH } from "./figure.ts";
import { duration, figure, grouped, type Html, html, table } from "./html.ts";
import { routineOf } from "./names.ts";
import { barX, ruleX, ruleY, text } from "./plotting.ts";
import { drawStages } from "./stages.ts";

const VENDOR = /^cu(BLAS|SOLVER)\b/;
const OURS = /^(ours|certified)\b/;

interface Bar {
  readonly label: string;
  readonly library: string;
  readonly ours: number;
  readonly theirs: number;
  /** Our speed relative to theirs. */
  readonly ratio: number;
}

export function drawGpu(gpu: Gpu): Html[] {
  const { reductions = [], gemv = [], trsv = [], lu = [], luBatch = [], gemm = [], solve = [] } = gpu;
  const bars = [...reductions, ...gemv, ...trsv, ...lu, ...luBatch, ...gemm, ...solve].flatMap(barOf);
  return [
    ...(bars.length > 0 ? [drawBars(bars, gpu.device.name)] : []),
    ...((gpu.sparse ?? []).length > 0 ? [drawSolves(gpu)] : []),
    ...drawStages(
      reductions.map((race) => stagesOf(race, gpu.device.name)),
      `on ${gpu.device.name}`,
      "a kernel in ordinary arithmetic",
    ),
  ];
}

function barOf(race: Race): Bar[] {
  const ours = race.rivals.find(({ name }) => OURS.test(name));
  const [theirs] = race.rivals.filter(({ name }) => VENDOR.test(name)).sort((a, b) => a.median - b.median);
  if (!ours || !theirs) return [];
  return [{ label: labelOf(race), library: theirs.name, ours: ours.median, theirs: theirs.median, ratio: theirs.median / ours.median }];
}

/** The subject of a race, in words. */
function labelOf(race: Race): string {
  return `${routineOf(race.op)}, ${sizeOf(race)}`;
}

/** The same without the routine. */
export function sizeOf({ kind, form, n, rows, cols }: Race): string {
  const size =
    rows === undefined ? `n = ${grouped(n ?? 0)}` : rows === cols ? `n = ${grouped(rows)}` : `${grouped(rows)} x ${grouped(cols ?? 0)}`;
  return [size, form === "as it is" ? "" : form, kind].filter((word) => word).join(", ");
}

function drawBars(bars: readonly Bar[], device: string): Html {
  const max = Math.max(1, ...bars.map(({ ratio }) => ratio));
  return drawn({
    title: `${device}: speed compared with cuBLAS and cuSOLVER`,
    label: `Our speed divided by that of the vendor's library, for ${bars.length} cases`,
    caption: html`Our speed divided by that of the vendor's library (its fastest routine), which rounds at every step and guarantees no bits: 1 means equally fast, less means slower. Medians; data resident on the device.`,
    series: [],
    plot: {
      width: WIDTH,
      height: 60 + 21 * bars.length,
      marginLeft: roomFor(bars.map(({ label }) => label)),
      marginRight: 44,
      x: { domain: [0, max * 1.05], label: "speed relative to the vendor's →", ticks: 6 },
      y: { domain: bars.map(({ label }) => label), label: null },
      marks: [
        ...lines("auto"),
        barX(bars, { x: "ratio", y: "label", fill: "var(--blue)", insetTop: 2, insetBottom: 2 }),
        ruleX([1], { stroke: "currentColor", strokeDasharray: "4 3" }),
        ruleX([0], { stroke: "currentColor" }),
        text(bars, {
          x: "ratio",
          y: "label",
          text: (bar: Bar) => figure(bar.ratio),
          dx: 5,
          textAnchor: "start",
          fill: "currentColor",
          stroke: "var(--paper)",
          strokeWidth: 4,
        }),
      ],
    },
    numbers: table(
      ["", "ours", "theirs", "", "relative speed"],
      bars.map(({ label, library, ours, theirs, ratio }) => [label, duration(ours), duration(theirs), library, ratio]),
    ),
  });
}

const MODES: readonly Series[] = [
  { name: "plain", colour: "var(--grey)", symbol: "square", alone: true },
  { name: "exact", colour: "var(--blue)", symbol: "circle", alone: true },
  { name: "cuSPARSE SpSV", colour: "var(--orange)", symbol: "diamond", alone: true },
];

// One panel per grid; one row per schedule, and one for the library.
function drawSolves({ device, sparse = [] }: Gpu): Html {
  const points = sparse.flatMap(({ grid, solves }) =>
    solves.flatMap(({ name, median }) => {
      const [mode, schedule] = name.split(" ") as [string, string];
      const title = `${grid.sizes.map(grouped).join(" x ")}, ${grid.points} points`;
      if (name === "cuSPARSE SpSV") return [{ title, series: name, row: "SpSV", x: median / 1e6 }];
      return mode === "plain" || mode === "exact" ? [{ title, series: mode, row: schedule, x: median / 1e6 }] : [];
    }),
  );
  const x = logarithmic(points.map((point) => point.x));
  const titles = [...new Set(points.map(({ title }) => title))];
  const rows = [...new Set(points.map(({ row }) => row))];
  return drawn({
    title: `${device.name}: sparse triangular solves`,
    label: `Milliseconds per solve for every schedule, and for cuSPARSE, on ${titles.join("; ")}`,
    caption: html`Time of one lower triangular solve with every schedule, in plain arithmetic and correctly rounded, compared with cuSPARSE.`,
    series: MODES,
    plot: {
      width: WIDTH,
      height: 60 + titles.length * (22 + 17 * rows.length),
      marginLeft: 60,
      marginRight: roomFor(titles),
      x: { ...x, label: "ms per solve →" },
      y: { type: "point", domain: rows, label: null, padding: 0.6 },
      fy: { domain: titles, label: null },
      marks: [
        ...lines(x.ticks),
        ruleY(rows, { stroke: "var(--grid)" }),
        ...MODES.flatMap((look) =>
          curve(
            [],
            points.filter(({ series }) => series === look.name),
            look,
            { fy: "title" },
            { x: "x", y: "row" },
          ),
        ),
      ],
    },
    numbers: table(
      ["grid", "", "solve", "analysis"],
      sparse.flatMap(({ grid, solves, analyses }) =>
        solves.map(({ name, median }) => [
          `${grid.sizes.map(grouped).join(" x ")}, ${grid.points} points`,
          name,
          duration(median),
          duration(analyses.find((one) => one.name === name)?.median ?? 0),
        ]),
      ),
    ),
  });
}

// A benchmark of a GPU times reductions stage by stage.
function stagesOf({ op, kind = "", n = 0, rivals }: Race, engine: string): StageRace {
  const stages = rivals.flatMap(({ name, median, min }) =>
    name === "plain kernel"
      ? [{ name: "plain", median, min }]
      : /^(superaccumulator|certified|fpe\d(ee)?)$/.test(name)
        ? [{ name, median, min }]
        : [],
  );
  return { op, kind, n, engine, stages };
}
