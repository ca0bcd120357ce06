// The figures that compare our routines with other libraries: times relative to ours.
import type { Race } from "../read.ts";
import { curve, drawn, grid, logarithmic, roomFor, type Series, WIDTH } from "./figure.ts";
import { sizeOf } from "./gpu.ts";
import { duration, type Html, html, table } from "./html.ts";
import { routineOf } from "./names.ts";
import { ruleX, ruleY } from "./plotting.ts";

const HALFULP = "halfulp";
const FAMILIES: readonly (Series & { readonly is: RegExp })[] = [
  { name: HALFULP, colour: "var(--blue)", symbol: "circle", alone: true, is: /^(ex|LU\.solve|mixed |mixed, )/ },
  { name: "plain arithmetic in WebAssembly", colour: "var(--grey)", symbol: "times", alone: true, is: /^(plain|double |double, )/ },
  { name: "native libraries", colour: "var(--orange)", symbol: "square", alone: true, is: /^(OpenBLAS|CXSparse)/ },
  { name: "JavaScript libraries", colour: "var(--purple)", symbol: "triangle", alone: true, is: /./ },
];
const familyOf = (rival: string): string => (FAMILIES.find(({ is }) => is.test(rival)) as Series).name;

/** One figure per operation. Times are relative to our fastest; each family is represented by its fastest member. */
export function drawRaces(races: readonly Race[], where: string): Html[] {
  const operations = [...new Set(races.map(({ op }) => op))];
  return operations.map((op) =>
    drawOperation(
      op,
      races.filter((race) => race.op === op),
      where,
    ),
  );
}

function drawOperation(op: string, races: readonly Race[], where: string): Html {
  const points = races.flatMap((race) => {
    const fastest = new Map<string, number>();
    for (const { name, median } of race.rivals)
      fastest.set(familyOf(name), Math.min(fastest.get(familyOf(name)) ?? Number.POSITIVE_INFINITY, median));
    const unit = fastest.get(HALFULP);
    return unit === undefined ? [] : [...fastest].map(([family, time]) => ({ row: sizeOf(race), family, x: time / unit }));
  });
  const x = logarithmic([...points.map((point) => point.x), 0.5, 2]);
  const rows = [...new Set(points.map(({ row }) => row))];
  const series = FAMILIES.filter(({ name }) => points.some(({ family }) => family === name));
  return drawn({
    title: `${routineOf(op)} compared with others`,
    label: `Times relative to ours, for ${series.map(({ name }) => name).join(", ")}`,
    caption: html`Time divided by that of the exact routine, ${where}: left of 1 is faster than ours, right of 1 is slower. The fastest member of each family is shown.`,
    series,
    plot: {
      width: WIDTH,
      height: 66 + 20 * rows.length,
      marginLeft: roomFor(rows),
      marginRight: 24,
      x: { ...x, label: "time relative to ours →" },
      y: { type: "point", domain: rows, label: null, padding: 0.6 },
      marks: [
        ...grid(x.ticks),
        ruleY(rows, { stroke: "var(--grid)" }),
        ruleX([1], { stroke: "currentColor", strokeDasharray: "4 3" }),
        ...series.flatMap((look) =>
          curve(
            [],
            points.filter(({ family }) => family === look.name),
            look,
            {},
            { x: "x", y: "row" },
          ),
        ),
      ],
    },
    numbers: table(
      ["", "", "median", "minimum"],
      races.flatMap((race) => race.rivals.map(({ name, median, min }) => [sizeOf(race), name, duration(median), duration(min)])),
    ),
  });
}
