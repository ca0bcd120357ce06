import { createReadStream } from "node:fs";
import { type Run, readRun } from "../../report/read.ts";
import { type Command, UsageError } from "../command.ts";
import { checkPlace, writeWhole } from "../output/save.ts";
import { version } from "../version.ts";
import { codeOf, MEASURING_OPTIONS, measured } from "./measuring.ts";

const OUTPUT = "report.html";

export const report: Command = {
  name: "report",
  summary: "measure this machine and draw the papers' figures as one HTML file",
  operands: "[FILE.json ...]",
  count: [0, Number.POSITIVE_INFINITY],
  options: {
    output: { type: "string", short: "o", value: "FILE", help: `the page; ${OUTPUT} unless said otherwise` },
    from: {
      type: "string",
      multiple: true,
      value: "FILE",
      help: "draw this file of an earlier run, and those that follow; measure nothing",
    },
    ...MEASURING_OPTIONS,
  },
  help: `Runs the measurements of the papers and writes one page that needs nothing from outside: hashes of the results of
every engine, number of threads and schedule; forward errors against condition numbers; times of plain loops,
superaccumulator, expansions and certified routines against n; the sparse schedules over grids; the mixed-precision
solver. Ten minutes or so on two cores; --quick takes one or two, --full an hour and more.

Given JSON files of earlier runs (--save, or the project's benchmarks), it draws these instead, so that results of a
machine without a network can be looked at elsewhere.`,
  examples: [
    ["halfulp report --quick -o report.html", "a first look at this machine"],
    ["halfulp report --only bits,sparse --save data.json", "two parts of it, and the numbers for later"],
    ["halfulp report --from here.json gpu.json -o both.html", "runs of two machines on one page"],
  ],
  async run(args, io) {
    const output = args.text("output") ?? OUTPUT;
    await checkPlace(output);
    const files = [...args.list("from"), ...args.operands];
    const measuring = Object.keys(MEASURING_OPTIONS).find((name) => args.flag(name) || args.text(name) !== undefined);
    if (files.length > 0 && measuring !== undefined)
      throw new UsageError(`--${measuring} with ${files[0]}: files of earlier runs are drawn, nothing is measured`);
    const runs: Run[] = [];
    for (const file of files) runs.push(await readRun(file, createReadStream(file)));
    if (runs.length === 0) runs.push(await measured(args, io, "medium"));
    // Loaded only now: no other command needs the plotting library.
    const { drawPage } = await import("../../report/draw/page.ts");
    const page = drawPage(runs, version());
    await writeWhole(output, [page]);
    const code = await codeOf(runs);
    const hashed = runs.some(({ parts }) => parts.bits);
    const verdict = !hashed ? "" : code === 0 ? "; all bits agree" : "; ENGINES DISAGREE, see the table of bits";
    const figures = page.split("<figure>").length - 1;
    return {
      text: `${output}: ${figures} figures${verdict}`,
      json: { command: "report", output, figures, ...(hashed ? { bitsAgree: code === 0 } : {}) },
      code,
    };
  },
};
