// The figures of the stages: times against n if there are several sizes, side by side if there is one.
import { OPERATIONS, PLAIN, type StagedOperation, type StageRace } from "../measure/stages.ts";
import { curve, drawn, grid, logarithmic, type PlotMark, roomFor, type Series, sizesScale, WIDTH } from "./figure.ts";
import { duration, grouped, type Html, html, table } from "./html.ts";
import { routineOf } from "./names.ts";
import { ruleY } from "./plotting.ts";

const SIZES = [2, 3, 4, 5, 6, 7, 8];
const WITHOUT = "without early exit";
const WITH = "with early exit";

const ALWAYS: readonly Series[] = [
  { name: PLAIN, colour: "var(--grey)", symbol: "times", dash: "5 3" },
  { name: "superaccumulator", colour: "var(--orange)", symbol: "square" },
  { name: "certified", colour: "var(--green)", symbol: "triangle", width: 3 },
];
const expansion = (size: number): Series => ({ name: `fpe${size}`, colour: `var(--ramp${size})`, width: 1.6 });
const SERIES: readonly Series[] = [...ALWAYS, ...SIZES.map(expansion)];

const termsOf = (op: string, n: number): number => (Object.hasOwn(OPERATIONS, op) ? OPERATIONS[op as StagedOperation].terms(n) : n);

/** One figure per operation. `where` names the machine, `plain` describes the plain times. */
export function drawStages(races: readonly StageRace[], where: string, plain = "an ordinary loop in JavaScript"): Html[] {
  const operations = [...new Set(races.map(({ op }) => op))];
  return operations.map((op) => {
    const own = races.filter((race) => race.op === op);
    return new Set(own.map(({ n }) => n)).size > 1 ? againstSize(op, own, where, plain) : sideBySide(op, own, where);
  });
}

// Panels: kinds of data from left to right; without and with early exit from top to bottom.
function againstSize(op: string, races: readonly StageRace[], where: string, plain: string): Html {
  const points = races.flatMap(({ kind, n, stages }) =>
    stages.flatMap(({ name, min }) =>
      panelsOf(name).map((panel) => ({ x: n, y: min / termsOf(op, n), kind, panel, series: name.replace(/ee$/, "") })),
    ),
  );
  const series = SERIES.filter(({ name }) => points.some((point) => point.series === name));
  const kinds = [...new Set(points.map(({ kind }) => kind))];
  const panels = [WITHOUT, WITH].filter((panel) => points.some((point) => point.panel === panel));
  const facets = { fx: "kind", fy: "panel" };
  const x = sizesScale(points.map((point) => point.x));
  const y = logarithmic(points.map((point) => point.y));
  const marks = series.flatMap((look): PlotMark[] => {
    const own = points.filter((point) => point.series === look.name && panels.includes(point.panel));
    return curve(own, own, look, facets, { x: "x", y: "y", z: (d: { kind: string; panel: string }) => `${d.kind} ${d.panel}` });
  });
  return drawn({
    title: `Stages of ${routineOf(op)} ${where}`,
    label: `Nanoseconds per term against n, for ${series.map(({ name }) => name).join(", ")}`,
    caption: html`Time per ${op === "sum" ? "term" : "product"} against n; <em>plain</em> is ${plain}.`,
    series,
    plot: {
      width: WIDTH,
      height: 90 + 190 * panels.length,
      marginLeft: 52,
      marginRight: panels.length > 1 ? 112 : 20,
      x: { ...x, label: "n →" },
      y: { ...y, label: `↑ ns per ${op === "sum" ? "term" : "product"}` },
      fx: { domain: kinds, label: null },
      fy: { domain: panels, label: null },
      marks: [...grid(x.ticks, y.ticks), ...marks],
    },
    numbers: numbersOf(op, races),
  });
}

const panelsOf = (stage: string): string[] => (stage.endsWith("ee") ? [WITH] : stage.startsWith("fpe") ? [WITHOUT] : [WITHOUT, WITH]);

const KINDS: readonly Series[] = [
  { name: "", colour: "var(--blue)", alone: true },
  { name: "", colour: "var(--orange)", symbol: "square", alone: true },
  { name: "", colour: "var(--green)", symbol: "triangle", alone: true },
  { name: "", colour: "var(--purple)", symbol: "diamond", alone: true },
];

function sideBySide(op: string, races: readonly StageRace[], where: string): Html {
  const n = races[0]?.n ?? 0;
  const names = races[0]?.stages.map(({ name }) => name) ?? [];
  const kinds = [...new Set(races.map(({ kind }) => kind))];
  const engines = [...new Set(races.map(({ engine }) => engine))];
  const points = races.flatMap(({ kind, engine, stages }) =>
    stages.map(({ name, min }) => ({ stage: name, kind, engine, x: min / termsOf(op, n) })),
  );
  const x = logarithmic(points.map((point) => point.x));
  const series = kinds.map((kind, k) => ({ ...(KINDS[k % KINDS.length] as Series), name: kind }));
  return drawn({
    title: `Stages of ${routineOf(op)}, n = ${grouped(n)}, ${where}`,
    label: `Nanoseconds per term for every stage, for ${kinds.join(", ")}`,
    caption: html`Time per ${op === "sum" ? "term" : "product"}.`,
    series,
    plot: {
      width: WIDTH,
      height: 80 + 17 * names.length,
      marginLeft: roomFor(names),
      marginRight: 20,
      x: { ...x, label: `ns per ${op === "sum" ? "term" : "product"} →` },
      y: { domain: names, label: null },
      fx: { domain: engines, label: null },
      marks: [
        ...grid(x.ticks),
        ruleY(names, { stroke: "var(--grid)" }),
        ...series.flatMap((look) =>
          curve(
            [],
            points.filter(({ kind }) => kind === look.name),
            look,
            { fx: "engine" },
            { x: "x", y: "stage" },
          ),
        ),
      ],
    },
    numbers: numbersOf(op, races),
  });
}

function numbersOf(op: string, races: readonly StageRace[]): Html {
  const names = [...new Set(races.flatMap(({ stages }) => stages.map(({ name }) => name)))];
  const rows = names.map((name) => [
    name,
    ...races.map(({ stages }) => {
      const found = stages.find((stage) => stage.name === name);
      return found ? duration(found.min) : "";
    }),
  ]);
  return table([`${routineOf(op)}: fastest call`, ...races.map(({ kind, n, engine }) => `${kind}, n = ${grouped(n)}, ${engine}`)], rows);
}
