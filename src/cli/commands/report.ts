// halfulp report: measures this machine, or reads earlier measurements, and draws them as one HTML page.
import { createReadStream } from "node:fs";
import { type Run, readRun } from "../../report/read.ts";
import { type Command, UsageError } from "../command.ts";
import { checkWritable, writeWhole } from "../output/save.ts";
import { version } from "../version.ts";
import { exitCode, MEASURING_OPTIONS, measure } from "./measuring.ts";

const OUTPUT = "report.html";

export const report: Command = {
  name: "report",
  summary: "measure this machine and draw the figures of the papers, as one HTML file",
  operands: "[FILE.json ...]",
  count: [0, Number.POSITIVE_INFINITY],
  options: {
    output: { type: "string", short: "o", value: "FILE", help: `the page to write; default: ${OUTPUT}` },
    from: {
      type: "string",
      multiple: true,
      value: "FILE",
      help: "draw this file of an earlier run, and any that follow, instead of measuring",
    },
    ...MEASURING_OPTIONS,
  },
  help: `Runs the measurements of the papers and writes a self-contained HTML page: hashes of the results of every engine, number
of threads and schedule; forward errors against condition numbers; times of plain loops, superaccumulator, expansions
and certified routines against n; the sparse schedules over grids; the convergence of the iterative solvers; the
mixed-precision solver. It takes about ten minutes on two cores, one or two with --quick, and over an hour with --full.

Given JSON files of earlier runs (from --save or from the project's benchmarks), it draws those and measures nothing.
That shows the results of one machine on another.`,
  examples: [
    ["halfulp report --quick -o report.html", "get a first look at this machine"],
    ["halfulp report --only bits,sparse --save data.json", "measure two parts, and keep the numbers"],
    ["halfulp report --from here.json gpu.json -o both.html", "draw runs of two machines on one page"],
  ],
  async run(args, io) {
    const output = args.text("output") ?? OUTPUT;
    await checkWritable(output);
    const files = [...args.list("from"), ...args.operands];
    const measuring = Object.keys(MEASURING_OPTIONS).find((name) => args.flag(name) || args.text(name) !== undefined);
    if (files.length > 0 && measuring !== undefined)
      throw new UsageError(`--${measuring} is for measuring, not for drawing earlier runs (${files[0]})`);
    const runs: Run[] = [];
    for (const file of files) runs.push(await readRun(file, createReadStream(file)));
    if (runs.length === 0) runs.push(await measure(args, io, "medium"));
    // Loaded late: no other command needs the plotting library.
    const { drawPage } = await import("../../report/draw/page.ts");
    const page = drawPage(runs, version());
    await writeWhole(output, [page]);
    const code = await exitCode(runs);
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
