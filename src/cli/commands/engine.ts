// The options --engine, --threads and --device, and the engine that they choose. Every command that computes uses them.
import type { Engine } from "../../api/engine.ts";
import { open, openOnThisThread } from "../../api/open.ts";
import type { Backend } from "../../engines/backend.ts";
import { ENGINES, type EngineRow, engineRow, KINDS, type OpenOptions } from "../../engines/table.ts";
import { type Arguments, type Options, UsageError } from "../command.ts";

const CHOICES = ["auto", ...KINDS] as const;

/** The options that choose an engine; `bits` is the note in the help on whether the bits differ between engines. */
export const engineOptions = (bits: string): Options => ({
  engine: { type: "string", value: "E", help: `${CHOICES.join(", ")}; ${bits}` },
  threads: { type: "string", value: "N", help: "number of workers of the engine threads; default: one per core" },
  device: {
    type: "string",
    value: "D",
    help: "device of the engine opencl: its index, gpu, cpu or a part of its name (halfulp doctor lists them)",
  },
});

/** For commands whose result has the same bits on every engine. */
export const ENGINE_OPTIONS = engineOptions("the bits are the same");

interface Choice extends OpenOptions {
  readonly kind: (typeof CHOICES)[number];
}

function choiceOf(args: Arguments): Choice {
  const given = args.word("engine", CHOICES);
  const device = args.text("device");
  const options: Required<OpenOptions> = {
    threads: args.integer("threads", 1),
    device: device !== undefined && /^\d+$/.test(device) ? Number(device) : device,
  };
  const names = (Object.keys(options) as (keyof OpenOptions)[]).filter((name) => options[name] !== undefined);
  if (names.length === 0) return { kind: given ?? "auto", ...options };
  const owners = (name: keyof OpenOptions) => ENGINES.filter((row: EngineRow) => row.options.includes(name)).map(({ kind }) => kind);
  if (given !== undefined) {
    const wrong = names.find((name) => !(owners(name) as string[]).includes(given));
    if (wrong) throw new UsageError(`--${wrong} is for --engine ${owners(wrong).join(" or ")}, not ${given}`);
    return { kind: given, ...options };
  }
  // Without --engine, the first engine that has all of these options.
  const kind = KINDS.find((candidate) => names.every((name) => (owners(name) as string[]).includes(candidate)));
  if (kind === undefined) throw new UsageError(`${names.map((name) => `--${name}`).join(" and ")} are for different engines`);
  return { kind, ...options };
}

// For up to this many operations, this thread finishes before workers would have started.
const SMALL = 2 ** 22;

/** The engine that the options choose; without such options, one that suits the number of operations. */
export async function openEngine(args: Arguments, operations: number): Promise<Engine> {
  const { kind, ...options } = choiceOf(args);
  return kind === "auto" && operations <= SMALL ? openOnThisThread() : open(kind, options);
}

/** Its backend, which can accumulate the terms of any reduction; undefined if the options choose none. */
export async function openBackend(args: Arguments): Promise<Backend | undefined> {
  const { kind, ...options } = choiceOf(args);
  return kind === "auto" ? undefined : engineRow(kind).open(options);
}
