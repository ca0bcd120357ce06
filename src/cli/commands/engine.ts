// The options --engine, --threads and --device, and the engine that they choose. Every command that computes uses them.
import type { Engine } from "../../api/engine.ts";
import { open, openOnThisThread } from "../../api/open.ts";
import type { Backend } from "../../engines/backend.ts";
import { ENGINES, engineRow, KINDS, type OpenOptions } from "../../engines/table.ts";
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
  // An option that belongs to one engine selects that engine.
  const owners = ENGINES.filter(({ options: own }) => own.some((name) => options[name] !== undefined));
  const [owner, other] = owners;
  const name = owner?.options[0];
  if (owner && given !== undefined && given !== owner.kind) throw new UsageError(`--${name} is for --engine ${owner.kind}, not ${given}`);
  if (other) throw new UsageError(`--${name} and --${other.options[0]} are for different engines`);
  return { kind: given ?? owner?.kind ?? "auto", ...options };
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
