// The common part of the commands report and bench: options, measuring with a progress line, exit code.
import { PARTS, type Part, type Scale } from "../../report/parts.ts";
import type { Run } from "../../report/read.ts";
import { type Arguments, type Io, type Options, UsageError } from "../command.ts";
import { Progress } from "../output/progress.ts";
import { checkWritable, writeWhole } from "../output/save.ts";

export const MEASURING_OPTIONS: Options = {
  quick: { type: "boolean", help: "small sizes; takes a minute or two" },
  full: { type: "boolean", help: "the sizes of the papers; takes over an hour and several gigabytes of memory" },
  only: { type: "string", multiple: true, value: "PART", help: `measure this part only; may be repeated: ${PARTS.join(", ")}` },
  save: { type: "string", value: "FILE", help: "also write the numbers as JSON, to be drawn later or elsewhere" },
};

/** Measures what the options ask for, and saves it if they say so. */
export async function measure(args: Arguments, io: Io, defaultScale: Scale): Promise<Run> {
  if (args.flag("quick") && args.flag("full")) throw new UsageError("--quick and --full are both given, expected one of them");
  const scale = args.flag("quick") ? "quick" : args.flag("full") ? "full" : defaultScale;
  const file = args.text("save");
  if (file !== undefined) await checkWritable(file);
  // Loaded late: no other command needs the measurements.
  const { measureAll } = await import("../../report/measure/all.ts");
  const progress = new Progress(io, "measuring");
  try {
    const run = await measureAll(scale, partsOf(args), (done, step) => progress.report(done, 1, "", step));
    if (file !== undefined) await writeWhole(file, [`${JSON.stringify({ ...run.origin, scale, unit: "ns", ...run.parts })}\n`]);
    return run;
  } finally {
    progress.end();
  }
}

function partsOf(args: Arguments): readonly Part[] {
  const chosen = args.list("only").flatMap((one) => one.split(","));
  const unknown = chosen.find((one) => !PARTS.includes(one as Part));
  if (unknown !== undefined) throw new UsageError(`--only is "${unknown}", expected one of ${PARTS.join(", ")}`);
  return chosen.length > 0 ? PARTS.filter((part) => chosen.includes(part)) : PARTS;
}

/** 1 if engines disagree. */
export async function exitCode(runs: readonly Run[]): Promise<0 | 1> {
  const { disagreements } = await import("../../report/measure/bits.ts");
  return runs.some(({ parts }) => parts.bits && disagreements(parts.bits).length > 0) ? 1 : 0;
}
