import { HalfulpError } from "../arrays/errors.ts";

// What a subcommand is. A new one is a file with a Command and a line in commands.ts.

/** An option as `--help` explains it, and as node:util's parseArgs takes it. */
export interface Option {
  readonly type: "string" | "boolean";
  readonly short?: string;
  readonly multiple?: boolean;
  /** What stands for its value in the help. */
  readonly value?: string;
  readonly help: string;
}
export type Options = Readonly<Record<string, Option>>;

/** The world outside: what a test puts in its place. */
export interface Io {
  readonly stdin: AsyncIterable<Uint8Array>;
  out(text: string): void;
  err(text: string): void;
  /** Whether a person watches what goes to err. */
  readonly watched: boolean;
}

/** What a subcommand has to say. */
export interface Outcome {
  /** For a person: lines without the last line end. */
  readonly text: string;
  /** The same for a program. */
  readonly json: Readonly<Record<string, unknown>>;
  /** 1 where the mathematics said no; 0 unless said otherwise. */
  readonly code?: 0 | 1;
}

export interface Command {
  readonly name: string;
  /** What it does, in one line. */
  readonly summary: string;
  /** Its operands, as in the line of usage: "x [y]". */
  readonly operands: string;
  /** How many there may be. */
  readonly count: readonly [least: number, most: number];
  readonly options: Options;
  /** What the help says between the line of usage and the options. */
  readonly help: string;
  /** Commands to try, each with what it does. */
  readonly examples: readonly (readonly [command: string, what: string])[];
  run(args: Arguments, io: Io): Promise<Outcome>;
}

/** The command was not used as it is meant: exit code 2. */
export class UsageError extends HalfulpError {
  override readonly name = "UsageError";
}

type Value = string | boolean | readonly (string | boolean)[] | undefined;

/** What was given to a subcommand. */
export class Arguments {
  constructor(
    readonly operands: readonly string[],
    private readonly values: Readonly<Record<string, Value>>,
  ) {}

  flag(name: string): boolean {
    return this.values[name] === true;
  }

  text(name: string): string | undefined {
    return this.values[name] as string | undefined;
  }

  list(name: string): readonly string[] {
    return (this.values[name] as string[] | undefined) ?? [];
  }

  /** One of a few words. */
  word<W extends string>(name: string, words: readonly W[]): W | undefined {
    const given = this.text(name);
    if (given !== undefined && !words.includes(given as W))
      throw new UsageError(`--${name} is "${given}", expected ${words.join(", ").replace(/, ([^,]*)$/, " or $1")}`);
    return given as W | undefined;
  }

  /** A whole number. */
  whole(name: string, least: number): number | undefined {
    const given = this.text(name);
    if (given === undefined) return undefined;
    const n = /^\d{1,15}$/.test(given) ? Number(given) : Number.NaN;
    if (!(n >= least)) throw new UsageError(`--${name} is "${given}", expected a whole number of at least ${least}`);
    return n;
  }
}
