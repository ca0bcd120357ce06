// The HTML page of a report: one file, no scripts, no external resources. Called by halfulp report.
import { disagreements } from "../measure/bits.ts";
import type { Origin } from "../origin.ts";
import type { Parts, Run } from "../read.ts";
import { drawAccuracy } from "./accuracy.ts";
import { drawBits } from "./bits.ts";
import { drawConvergence } from "./convergence.ts";
import { drawGpu } from "./gpu.ts";
import { type Html, html, raw } from "./html.ts";
import { drawRaces } from "./races.ts";
import { drawSolve } from "./solve.ts";
import { drawSparse } from "./sparse.ts";
import { drawStages } from "./stages.ts";
import { STYLE } from "./style.ts";

interface Section {
  readonly id: string;
  readonly title: string;
  readonly intro: string;
  draw(parts: Parts, origin: Origin): Html[];
}

const on = ({ machine }: Origin): string => `on ${machine.processor}`;

const SECTIONS: readonly Section[] = [
  {
    id: "bits",
    title: "The same bits everywhere",
    intro:
      "Fixed inputs, computed with every engine, number of threads and schedule. Results that agree to the last bit have the same hash.",
    draw: ({ bits }) => (bits ? [drawBits(bits)] : []),
  },
  {
    id: "accuracy",
    title: "Forward error against condition number",
    intro:
      "The error of a result depends on the condition of the problem. Exact solutions and errors are computed with integers, so the figures are the same on every machine.",
    draw: ({ accuracy }) => (accuracy ? drawAccuracy(accuracy) : []),
  },
  {
    id: "stages",
    title: "What exactness costs",
    intro:
      "Every stage, doing all the work alone, returns the same bits: the superaccumulator adds every term; expansions (fpe2 … fpe8) hold 2 to 8 components, with or without early exit, and spill into it. The routines themselves are labelled certified: they enclose the result with fast arithmetic, and continue only if the enclosure does not determine it.",
    draw: ({ stages }, origin) => (stages ? drawStages(stages, on(origin)) : []),
  },
  {
    id: "sparse",
    title: "Sparse triangular solves",
    intro:
      "The schedules of the sparse paper over grids and aspect ratios: speed, set-up time, and the number of solves after which a schedule pays off.",
    draw: ({ sparse }, origin) => (sparse ? drawSparse(sparse, on(origin)) : []),
  },
  {
    id: "convergence",
    title: "Iterative solvers",
    intro:
      "How cg, bicgstab and gmres converge on small grids, with and without a preconditioner. gmres keeps 30 vectors; a curve ends after 500 iterations at the latest. The curves are the same on every machine.",
    draw: ({ convergence }) => (convergence ? drawConvergence(convergence) : []),
  },
  {
    id: "solve",
    title: "Systems of equations",
    intro: "solve() factors in binary32 and refines with exact residuals until the solution has binary64 quality.",
    draw: ({ solve }, origin) => (solve ? drawSolve(solve, on(origin)) : []),
  },
  {
    id: "gpu",
    title: "On a GPU",
    intro: "The OpenCL engine compared with the vendor's libraries.",
    draw: ({ gpu }) => (gpu ? drawGpu(gpu) : []),
  },
  {
    id: "others",
    title: "Compared with other libraries",
    intro:
      "Our routines compared with native libraries (OpenBLAS, CXSparse), plain arithmetic and JavaScript libraries, which round at every step.",
    draw: ({ races }, origin) => (races ? drawRaces(races, on(origin)) : []),
  },
];

/** The page for these runs. */
export function drawPage(runs: readonly Run[], version: string): string {
  const sections = SECTIONS.flatMap(({ id, title, intro, draw }) => {
    const parts = runs.flatMap(({ origin, parts: own }) => {
      const figures = draw(own, origin);
      return figures.length > 0 ? [html`<p class="source">${sourceOf(origin)}</p>${figures}`] : [];
    });
    return parts.length > 0 ? [{ id, title, body: html`<section id="${id}"><h2>${title}</h2><p>${intro}</p>${parts}</section>` }] : [];
  });
  const missing = runs.flatMap(({ parts }) => parts.missing ?? []);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>halfulp: report</title>
<link rel="icon" href="data:,">
<style>${raw(STYLE)}</style>
</head>
<body>
<header>
<h1>halfulp: report</h1>
<p class="lead">Linear algebra that returns the same bits everywhere, measured.</p>
${provenance(runs)}
${verdict(runs)}
<nav aria-label="Sections"><ul>${sections.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}</ul></nav>
</header>
<main>
${sections.map(({ body }) => body)}
${missing.length > 0 ? html`<section id="missing"><h2>Not measured</h2><ul>${missing.map((one) => html`<li>${one}</li>`)}</ul></section>` : undefined}
</main>
<footer>Written by halfulp ${version}. Times are minima or medians of a few rounds on a machine that may be busy: compare them within a figure.</footer>
</body>
</html>
`.html;
}

function verdict(runs: readonly Run[]): Html | undefined {
  const different = runs.flatMap(({ parts }) => (parts.bits ? disagreements(parts.bits) : []));
  return different.length === 0 ? undefined : html`<p class="verdict bad">✗ Not all engines agree on ${different.join(", ")}.</p>`;
}

const day = (date: string): string => date.slice(0, 16).replace("T", " ");

function sourceOf({ benchmark, machine, date }: Origin): Html {
  return html`Source: ${benchmark === "report" ? "" : `${benchmark}, `}${machine.processor}, ${day(date)}`;
}

// The origin of a single run in full; of several runs one expandable line each.
function provenance(runs: readonly Run[]): Html {
  const lists = runs.map(({ origin }) => known(origin));
  if (lists.length === 1) return lists[0] as Html;
  return html`<div class="runs">${runs.map(({ origin }, k) => html`<details><summary>${sourceOf(origin)}</summary>${lists[k]}</details>`)}</div>`;
}

function known({ benchmark, date, commit, machine, versions, engine }: Origin): Html {
  const { processor, processors, memoryGiB, kernel, architecture } = machine;
  const rows = [
    ["run", `${benchmark}, ${day(date)} UTC`],
    ["machine", `${processor}, ${processors} processors, ${memoryGiB} GiB, ${kernel}, ${architecture}`],
    [
      "versions",
      Object.entries(versions)
        .map(([name, version]) => `${name} ${version}`)
        .join(", "),
    ],
    ["commit", commit],
    ["engine", engine],
  ].filter((row): row is [string, string] => row[1] !== undefined);
  return html`<dl>${rows.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}
