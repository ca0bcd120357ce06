// The part "Race": exact beside ordinary arithmetic on this machine, as a figure that grows while it runs.
import type { View } from "../main.ts";
import { Client, Stopped } from "../page/client.ts";
import { duration, fill, grouped, h } from "../page/dom.ts";
import { engineField } from "../page/engines.ts";
import { replaceRoute } from "../page/route.ts";
import { drawRace, legend, perUnit } from "./figure.ts";
import { isRaceRoutine, RACES, type RacePoint, type RaceRoutine } from "./routines.ts";

export function view(): View {
  const client = new Client();
  let points: RacePoint[] = [];
  let running = false;

  const routine = h("select", {}, ...Object.entries(RACES).map(([value, { title }]) => h("option", { value }, title)));
  const engine = engineField(client, () => clear());
  const start = h("button", { type: "button", class: "primary" }, "Start");
  const status = h("p", { class: "status", aria: { role: "status" } });
  const figure = h("div");
  const numbers = h("tbody");
  const details = h(
    "details",
    {},
    h("summary", {}, "The numbers"),
    h(
      "div",
      { class: "scroll", tabIndex: 0, aria: { role: "region", label: "Times" } },
      h(
        "table",
        {},
        h("thead", {}, h("tr", {}, ...["n", "exact", "ordinary", "exact / ordinary"].map((name) => h("th", {}, name)))),
        numbers,
      ),
    ),
  );
  const element = h(
    "div",
    { class: "race" },
    h("h1", {}, "What exactness costs"),
    h(
      "p",
      { class: "lead" },
      "The exact routine against the ordinary loop in JavaScript, on this machine, in this browser. The data are in the engine's memory; every point is the best of a few rounds.",
    ),
    h(
      "div",
      { class: "options" },
      h("label", { class: "field" }, h("span", {}, "Routine"), routine),
      engine.field,
      h("div", { class: "buttons" }, start),
    ),
    engine.missing,
    status,
    h("figure", {}, legend(), figure),
    details,
    h(
      "p",
      { class: "hint" },
      "Other work on this machine, and the coarse clocks of browsers, blur the times. Compare them within a figure.",
    ),
  );

  const chosen = (): RaceRoutine => routine.value as RaceRoutine;

  function draw(): void {
    fill(figure, drawRace(points, RACES[chosen()], Math.max(300, figure.clientWidth)));
    fill(
      numbers,
      ...points.map(({ n, exact, plain }) =>
        h(
          "tr",
          {},
          ...[grouped(n), duration(exact), duration(plain), (exact / plain).toPrecision(2)].map((text) =>
            h("td", { class: "number" }, text),
          ),
        ),
      ),
    );
  }

  function clear(): void {
    if (running) client.stop();
    points = [];
    fill(status, "Press Start: it takes about half a minute, and can be stopped at any time.");
    draw();
  }

  new ResizeObserver(() => draw()).observe(figure);
  routine.addEventListener("change", () => {
    replaceRoute("race", new URLSearchParams({ routine: routine.value }));
    clear();
  });
  start.addEventListener("click", () => {
    if (running) client.stop();
    else void run();
  });

  async function run(): Promise<void> {
    clear();
    running = true;
    fill(start, "Stop");
    fill(status, "Running…");
    const spec = RACES[chosen()];
    let end = "Done";
    try {
      await client.call("race", { routine: chosen(), engine: engine.value }, (point) => {
        points.push(point);
        draw();
        fill(
          status,
          `n = ${grouped(point.n)}: exact ${perUnit(point.exact, point.n, spec).toPrecision(2)} ns per ${spec.unit}, ordinary ${perUnit(point.plain, point.n, spec).toPrecision(2)} ns.`,
        );
      });
    } catch (error) {
      end = error instanceof Stopped ? "Stopped" : `It could not run: ${(error as Error).message}`;
    }
    running = false;
    fill(start, "Start");
    const last = points.at(-1);
    fill(
      status,
      last
        ? `${end}. At n = ${grouped(last.n)} exact takes ${(last.exact / last.plain).toPrecision(2)} times as long as ordinary arithmetic.`
        : `${end}.`,
    );
  }

  return {
    title: "Race",
    element,
    show({ parameters }) {
      const wanted = parameters.get("routine") ?? "";
      if (isRaceRoutine(wanted) && wanted !== routine.value && !running) routine.value = wanted;
      if (!running && points.length === 0) clear();
    },
  };
}
