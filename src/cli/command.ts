// The interface of a subcommand. A new one is a file in commands/ that exports a Command, and a line in commands/index.ts.
import { HalfulpError } from "../arrays/errors.ts";

/** An option, for --help and for parseArgs of node:util. */
export interface Option {
  readonly type: "string" | "boolean";
  readonly short?: string;
  readonly multiple?: boolean;
  /** The placeholder for its value in the help. */
  readonly value?: string;
  readonly help: string;
}
export type Options = Readonly<Record<string, Option>>;

/** The streams of the process; tests supply their own. */
export interface Io {
  readonly stdin: AsyncIterable<Uint8Array>;
  out(text: string): void;
  err(text: string): void;
  /** Whether err is a terminal. */
  readonly isTerminal: boolean;
}

/** The outcome of a subcommand. */
export interface Outcome {
  /** For a person: lines, without the final newline. */
  readonly text: string;
  /** The same for a program. */
  readonly json: Readonly<Record<string, unknown>>;
  /** 1 if the computation has no result, such as a solve that did not converge. Default: 0. */
  readonly code?: 0 | 1;
}

export interface Command {
  readonly name: string;
  /** One line for the overview. */
  readonly summary: string;
  /** The operands in the usage line: "x [y]". */
  readonly operands: string;
  /** How many operands are allowed. */
  readonly count: readonly [min: number, max: number];
  readonly options: Options;
  /** The text between the usage line and the options. */
  readonly help: string;
  /** Commands to try, each with its effect. */
  readonly examples: readonly (readonly [command: string, effect: string])[];
  /** Whether it can run on several ranks of MPI (job.ts). Default: it cannot. */
  readonly underMpirun?: boolean;
  run(args: Arguments, io: Io): Promise<Outcome>;
}

/** Wrong usage of the command: exit code 2. */
export class UsageError extends HalfulpError {
  override readonly name = "UsageError";
}

/** What messages call a file. */
export const called = (path: string): string => (path === "-" ? "standard input" : path);

/** Thrown on every rank if a command fails on one, under mpirun. The rank that reports it has the `reason`. */
export class JobError extends HalfulpError {
  constructor(readonly reason?: unknown) {
    super("the command failed on another rank");
  }
}

type Value = string | boolean | readonly (string | boolean)[] | undefined;

/** The operands and options given to a subcommand. */
export class Arguments {
  constructor(
    readonly operands: readonly string[],
    private readonly values: Readonly<Record<string, Value>>,
  ) {}

  /** Whether an option is given. */
  has(name: string): boolean {
    return this.values[name] !== undefined;
  }

  flag(name: string): boolean {
    return this.values[name] === true;
  }

  text(name: string): string | undefined {
    return this.values[name] as string | undefined;
  }

  list(name: string): readonly string[] {
    return (this.values[name] as string[] | undefined) ?? [];
  }

  /** The value of an option that takes one of these words. */
  word<W extends string>(name: string, words: readonly W[]): W | undefined {
    const given = this.text(name);
    if (given !== undefined && !words.includes(given as W))
      throw new UsageError(`--${name} is "${given}", expected ${words.join(", ").replace(/, ([^,]*)$/, " or $1")}`);
    return given as W | undefined;
  }

  /** The value of an option that takes an integer of at least `min`. */
  integer(name: string, min: number): number | undefined {
    const given = this.text(name);
    if (given === undefined) return undefined;
    const n = /^\d{1,15}$/.test(given) ? Number(given) : Number.NaN;
    if (!(n >= min)) throw new UsageError(`--${name} is "${given}", expected an integer of at least ${min}`);
    return n;
  }
  /** The value of an option that takes a number of at least 0. */
  number(name: string): number | undefined {
    const given = this.text(name);
    if (given === undefined) return undefined;
    const x = /^(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(given) ? Number(given) : Number.NaN;
    if (!Number.isFinite(x)) throw new UsageError(`--${name} is "${given}", expected a finite number of at least 0`);
    return x;
  }
}
