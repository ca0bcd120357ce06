// The part "Same bits": the corpus of `halfulp doctor` on every engine of this browser, its hashes beside the published ones, and a line to
// copy for others.
import type { CorpusSize } from "../../src/everywhere/corpus.ts";
import type { View } from "../main.ts";
import { Client, Stopped } from "../page/client.ts";
import { copy, duration, fill, h } from "../page/dom.ts";
import { type EngineInfo, enginesHere, nameOf } from "../page/engines.ts";
import type { Table } from "../worker/sameBits.ts";

const SIZES: readonly (readonly [CorpusSize, string])[] = [
  ["short", "short, as halfulp doctor"],
  ["full", "full, with larger matrices"],
  ["large", "large, takes minutes"],
];

const SHOWN = 16; // hexadecimal digits: as doctor

interface Run {
  readonly kind: string;
  readonly cell: HTMLElement;
  readonly column: HTMLElement[];
  result?: { table: Table; device: string; milliseconds: number };
  failure?: string;
}

export function view(): View {
  const client = new Client();
  let corpus: CorpusSize = "short";
  let running = false;

  const start = h("button", { type: "button", class: "primary" }, "Run the self-test");
  const size = h("select", {}, ...SIZES.map(([value, title]) => h("option", { value }, title)));
  const status = h("p", { class: "status", aria: { role: "status" } });
  const results = h("div");
  const element = h(
    "div",
    { class: "bits-view" },
    h("h1", {}, "The same bits"),
    h(
      "p",
      { class: "lead" },
      "Fixed inputs go through every routine, on every engine of this browser. Every result is hashed. If a single bit of a single number differed from what other machines return, so would the hash.",
    ),
    h("div", { class: "options" }, h("label", { class: "field" }, h("span", {}, "Inputs"), size), start),
    status,
    results,
    h(
      "p",
      { class: "hint" },
      "The published hashes travel with the page. ",
      h("code", {}, "npx halfulp doctor"),
      " computes the same ones in Node, on a GPU, or under MPI.",
    ),
  );

  start.addEventListener("click", () => {
    if (running) {
      client.stop();
      return;
    }
    corpus = size.value as CorpusSize;
    void test();
  });

  async function test(): Promise<void> {
    running = true;
    fill(start, "Stop");
    size.disabled = true;
    try {
      const [engines, published] = [await enginesHere(client), await client.call("publishedHashes", corpus)];
      const runs = draw(engines, published.names, published.table);
      for (const run of runs) await testOne(run, published.names, published.table);
      finish(runs, published.table);
    } catch (error) {
      fill(status, error instanceof Stopped ? "Stopped." : `The self-test could not run: ${(error as Error).message}.`);
    } finally {
      running = false;
      fill(start, "Run the self-test again");
      size.disabled = false;
    }
  }

  async function testOne(run: Run, names: readonly string[], published: Table): Promise<void> {
    fill(run.cell, "…");
    try {
      const result = await client.call("corpusOn", { engine: run.kind, corpus }, ({ name, done, of }) =>
        fill(status, `${nameOf(run.kind)}: ${name} (${done + 1} of ${of})`),
      );
      run.result = result;
      for (const [k, name] of names.entries()) mark(run.column[k] as HTMLElement, result.table.routines[name] === published.routines[name]);
      mark(run.cell, result.table.all === published.all, result.table.all.slice(0, SHOWN));
    } catch (error) {
      if (error instanceof Stopped) throw error;
      run.failure = (error as Error).message;
      fill(run.cell, h("span", { class: "bad" }, "failed"));
    }
  }

  function mark(cell: HTMLElement, right: boolean, text = ""): void {
    cell.className = right ? "good" : "bad";
    const word = right ? "the published hash" : "another hash";
    fill(
      cell,
      h("span", { aria: { hidden: "true" } }, `${right ? "✓" : "✗"} ${text}`.trim()),
      h("span", { class: "away" }, `${text} ${word}`),
    );
  }

  function draw(engines: readonly EngineInfo[], names: readonly string[], published: Table): Run[] {
    const here = engines.filter(({ available }) => available);
    const cell = (): HTMLElement => h("td", {}, "");
    const runs = here.map(({ kind }): Run => ({ kind, cell: cell(), column: names.map(cell) }));
    const head = h("tr", {}, h("th", {}, "routine"), h("th", {}, "published"), ...here.map(({ kind }) => h("th", {}, nameOf(kind))));
    const all = h(
      "tr",
      { class: "all" },
      h("th", {}, "all"),
      h("td", {}, h("code", {}, published.all.slice(0, SHOWN))),
      ...runs.map((run) => run.cell),
    );
    const rows = names.map((name, k) =>
      h(
        "tr",
        {},
        h("th", {}, name),
        h("td", {}, h("code", {}, published.routines[name]?.slice(0, SHOWN) ?? "")),
        ...runs.map(({ column }) => column[k] as HTMLElement),
      ),
    );
    const missing = engines.filter(({ available }) => !available);
    fill(
      results,
      h(
        "div",
        { class: "scroll", tabIndex: 0, aria: { role: "region", label: "Hashes" } },
        h("table", { class: "hashes" }, h("thead", {}, head), h("tbody", {}, all, ...rows)),
      ),
      ...missing.map(({ kind, reason = "" }) => h("p", { class: "hint" }, `${nameOf(kind)} is not here: ${reason}.`)),
    );
    return runs;
  }

  function finish(runs: readonly Run[], published: Table): void {
    const right = runs.filter(({ result }) => result?.table.all === published.all);
    const failures = runs.filter(({ failure }) => failure !== undefined).map(({ kind, failure }) => `${nameOf(kind)}: ${failure}.`);
    const equal = right.length === runs.length;
    const verdict = equal
      ? "All engines return the published bits."
      : `${runs.length - right.length} of ${runs.length} engines do not return the published bits. ${failures.join(" ")}`;
    const each = runs.map(
      ({ kind, result }) => `${kind} ${result ? `${result.table.all.slice(0, SHOWN)} (${duration(result.milliseconds)})` : "failed"}`,
    );
    const line = `halfulp ${__VERSION__}, ${corpus} corpus, ${browserName()}: ${each.join(", ")}; ${equal ? "as published" : `published ${published.all.slice(0, SHOWN)}`}`;
    const shown = h("code", { class: "line" }, line);
    const button = h("button", { type: "button" }, "Copy the line");
    button.addEventListener("click", () => copy(button, line, shown));
    fill(status, h("span", { class: equal ? "good" : "bad" }, verdict));
    results.prepend(h("div", { class: "share" }, shown, button));
  }

  return { title: "Same bits", element, show() {} };
}

/** The browser and its system, as its user agent tells them. */
function browserName(): string {
  const agent = navigator.userAgent;
  const found = /(Firefox|Edg|OPR|Chrome)\/([\d.]+)/.exec(agent) ?? /(Version)\/([\d.]+).*Safari/.exec(agent);
  const name =
    found?.[1] === "Version" ? "Safari" : found?.[1] === "Edg" ? "Edge" : found?.[1] === "OPR" ? "Opera" : (found?.[1] ?? "a browser");
  const system = /Android|iPhone|iPad|Windows|Mac OS X|Linux/.exec(agent)?.[0] ?? "";
  return `${name} ${found?.[2]?.split(".")[0] ?? ""}${system === "" ? "" : ` on ${system}`}`;
}
