// What `report` and `bench` have in common: how much to measure, and a line of progress meanwhile.
import { PARTS, type Part, type Scale } from "../../report/parts.ts";
import type { Run } from "../../report/read.ts";
import { type Arguments, type Io, type Options, UsageError } from "../command.ts";
import { Progress } from "../output/progress.ts";
import { checkPlace, writeWhole } from "../output/save.ts";

export const MEASURING_OPTIONS: Options = {
  quick: { type: "boolean", help: "small sizes: a minute or two" },
  full: { type: "boolean", help: "the sizes of the papers: an hour and more, and some gigabytes of memory" },
  only: { type: "string", multiple: true, value: "PART", help: `this part alone, more than once for several: ${PARTS.join(", ")}` },
  save: { type: "string", value: "FILE", help: "write the measured numbers as JSON, to be drawn here or elsewhere" },
};

/** Measure what the options ask for, and save it where they say so. */
export async function measured(args: Arguments, io: Io, usual: Scale): Promise<Run> {
  if (args.flag("quick") && args.flag("full")) throw new UsageError("--quick and --full together, expected one of them");
  const scale = args.flag("quick") ? "quick" : args.flag("full") ? "full" : usual;
  const file = args.text("save");
  if (file !== undefined) await checkPlace(file);
  // Loaded only now: no other command needs the measurements.
  const { measureAll } = await import("../../report/measure/all.ts");
  const progress = new Progress(io, "measuring");
  try {
    const run = await measureAll(scale, partsOf(args), (done, what) => progress.report(done, 1, "", what));
    if (file !== undefined) await writeWhole(file, [`${JSON.stringify({ ...run.origin, scale, unit: "ns", ...run.parts })}\n`]);
    return run;
  } finally {
    progress.end();
  }
}

function partsOf(args: Arguments): readonly Part[] {
  const chosen = args.list("only").flatMap((one) => one.split(","));
  const unknown = chosen.find((one) => !PARTS.includes(one as Part));
  if (unknown !== undefined) throw new UsageError(`--only is "${unknown}", expected some of ${PARTS.join(", ")}`);
  return chosen.length > 0 ? PARTS.filter((part) => chosen.includes(part)) : PARTS;
}

/** 1 where engines disagree. */
export async function codeOf(runs: readonly Run[]): Promise<0 | 1> {
  const { disagreements } = await import("../../report/measure/bits.ts");
  return runs.some(({ parts }) => parts.bits && disagreements(parts.bits).length > 0) ? 1 : 0;
}
