// halfulp bench: the measurements of halfulp report as text.
import type { Command } from "../command.ts";
import { exitCode, MEASURING_OPTIONS, measure } from "./measuring.ts";

export const bench: Command = {
  name: "bench",
  summary: "measure for a minute and print tables",
  operands: "",
  count: [0, 0],
  options: MEASURING_OPTIONS,
  help: `Prints the measurements of halfulp report: whether all engines return the same bits, forward errors, times of the stages
at the largest size, sparse schedules, iterations and solves. Default scale: --quick.`,
  examples: [
    ["halfulp bench", "all parts, at small sizes"],
    ["halfulp bench --only bits", "compare the bits of all engines, in a few seconds"],
  ],
  async run(args, io) {
    const run = await measure(args, io, "quick");
    const { textOf } = await import("../../report/text.ts");
    return { text: textOf(run), json: { command: "bench", ...run.origin, ...run.parts }, code: await exitCode([run]) };
  },
};
