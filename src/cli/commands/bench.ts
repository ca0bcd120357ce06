import type { Command } from "../command.ts";
import { codeOf, MEASURING_OPTIONS, measured } from "./measuring.ts";

export const bench: Command = {
  name: "bench",
  summary: "a minute of measurements, as tables on the terminal",
  operands: "",
  count: [0, 0],
  options: MEASURING_OPTIONS,
  help: `The measurements of halfulp report, printed: whether all engines return the same bits, forward errors, times of the
stages at the largest size, and the sparse schedules. --quick is the scale unless you ask for --full.`,
  examples: [
    ["halfulp bench", "everything at small sizes"],
    ["halfulp bench --only bits", "the bits of all engines in a few seconds"],
  ],
  async run(args, io) {
    const run = await measured(args, io, "quick");
    const { textOf } = await import("../../report/text.ts");
    return { text: textOf(run), json: { command: "bench", ...run.origin, ...run.parts }, code: await codeOf([run]) };
  },
};
