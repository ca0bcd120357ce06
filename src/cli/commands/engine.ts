// The options --engine, --threads and --device, and the engine that they choose. Every command that computes uses them.
import type { Engine } from "../../api/engine.ts";
import { open, openOnThisThread } from "../../api/open.ts";
import type { Backend } from "../../engines/backend.ts";
import { ENGINES, engineRow, KINDS, type OpenOptions } from "../../engines/table.ts";
import { type Arguments, type Options, UsageError } from "../command.ts";

const CHOICES = ["auto", ...KINDS] as const;

/** The options that choose an engine; `bits` is what the help says of the bits on different engines. */
export const engineOptions = (bits: string): Options => ({
  engine: { type: "string", value: "E", help: `${CHOICES.join(", ")}; ${bits}` },
  threads: { type: "string", value: "N", help: "workers of the engine threads; default: one per core" },
  device: {
    type: "string",
    value: "D",
    help: "device of the engine opencl: its index, gpu, cpu or a part of its name (halfulp doctor lists them)",
  },
});

/** Those of commands whose result has the same bits on every engine. */
export const ENGINE_OPTIONS = engineOptions("the bits are the same");

interface Choice extends OpenOptions {
  readonly kind: (typeof CHOICES)[number];
}

function choiceOf(args: Arguments): Choice {
  const given = args.word("engine", CHOICES);
  const device = args.text("device");
  const options: Required<OpenOptions> = {
    threads: args.whole("threads", 1),
    device: device !== undefined && /^\d+$/.test(device) ? Number(device) : device,
  };
  // An option of one engine chooses it.
  const owners = ENGINES.filter(({ options: own }) => own.some((name) => options[name] !== undefined));
  const [owner, other] = owners;
  const name = owner?.options[0];
  if (owner && given !== undefined && given !== owner.kind) throw new UsageError(`--${name} is for --engine ${owner.kind}, not ${given}`);
  if (other) throw new UsageError(`--${name} and --${other.options[0]} are for different engines`);
  return { kind: given ?? owner?.kind ?? "auto", ...options };
}

// Up to this many operations this thread is done before workers have started.
const SMALL = 2 ** 22;

/** The engine that the options ask for; with none of them, one for the given number of operations. */
export async function openEngine(args: Arguments, operations: number): Promise<Engine> {
  const { kind, ...options } = choiceOf(args);
  return kind === "auto" && operations <= SMALL ? openOnThisThread() : open(kind, options);
}

/** The same below its routines, where terms of any kind can be accumulated; undefined where the options do not choose one. */
export async function openBackend(args: Arguments): Promise<Backend | undefined> {
  const { kind, ...options } = choiceOf(args);
  return kind === "auto" ? undefined : engineRow(kind).open(options);
}
