import { parseArgs } from "node:util";
import { HalfulpError, SingularError, ValueError } from "../arrays/errors.ts";
import { Arguments, type Command, type Io, UsageError } from "./command.ts";
import { COMMANDS } from "./commands/index.ts";
import { helpOf, optionsOf, overview } from "./help.ts";
import { nearest } from "./nearest.ts";
import { toJson } from "./output/numerals.ts";
import { version } from "./version.ts";

/** Do what a command line says; what it returns is the exit code. */
export async function run(argv: readonly string[], io: Io): Promise<0 | 1 | 2> {
  try {
    return await dispatch(argv, io);
  } catch (error) {
    const { name, message, code } = failureOf(error);
    io.err(`halfulp: ${message.replace(/\s*\n\s*/g, " ")}\n`);
    if (argv.includes("--json")) io.out(`${toJson({ error: { name, message } })}\n`);
    return code;
  }
}

async function dispatch([first, ...rest]: readonly string[], io: Io): Promise<0 | 1 | 2> {
  if (first === undefined || first === "--help" || first === "-h" || (first === "help" && rest[0] === undefined)) {
    io.out(overview(COMMANDS));
    return first === undefined ? 2 : 0;
  }
  if (first === "--version" || first === "-v") {
    io.out(`${version()}\n`);
    return 0;
  }
  const [name, args] = first === "help" ? [rest[0], ["--help"]] : [first, rest];
  const command = COMMANDS.find((each) => each.name === name);
  if (command === undefined) {
    const names = COMMANDS.map((each) => each.name);
    const meant = nearest(name as string, names);
    const hint = meant === undefined ? "" : `; did you mean ${meant}?`;
    throw new UsageError(`there is no command "${name}", expected ${names.join(", ")} (halfulp --help)${hint}`);
  }
  const { operands, values } = parse(command, args);
  if (values.help === true) {
    io.out(helpOf(command));
    return 0;
  }
  checkOperands(command, operands);
  const { text, json, code = 0 } = await command.run(new Arguments(operands, values), io);
  io.out(`${values.json === true ? toJson(json) : text}\n`);
  return code;
}

function parse(command: Command, args: readonly string[]) {
  try {
    const options = Object.fromEntries(
      Object.entries(optionsOf(command)).map(([name, { type, short, multiple = false }]) => [
        name,
        short === undefined ? { type, multiple } : { type, multiple, short },
      ]),
    );
    const { positionals, values } = parseArgs({ args: [...args], options, allowPositionals: true });
    return { operands: positionals, values };
  } catch (error) {
    const message = (error as Error).message
      .replace(/(?:\. To specify |\.?\n).*/s, "")
      .replace(/argument is ambiguous$/, "has no value, but what looks like another option");
    throw new UsageError(`${command.name}: ${message} (halfulp ${command.name} --help)`);
  }
}

function checkOperands({ name, count: [least, most], operands }: Command, given: readonly string[]): void {
  if (given.length >= least && given.length <= most) return;
  const expected = least === most ? String(least) : most === Number.POSITIVE_INFINITY ? `${least} or more` : `${least} to ${most}`;
  throw new UsageError(`${name}: ${given.length} operands, expected ${expected}: halfulp ${name} ${operands} (halfulp ${name} --help)`);
}

const SYSTEM: Readonly<Record<string, string>> = {
  ENOENT: "no such file or folder",
  EACCES: "no permission",
  EISDIR: "this is a folder",
  ENOTDIR: "a part of the path is no folder",
  ENOSPC: "no space left on the device",
  EFBIG: "the file would be too large",
  EROFS: "what is there cannot be written",
};

/** What the system has against it, in words. */
export function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  return SYSTEM[code ?? ""] ?? message;
}

function failureOf(error: unknown): { name: string; message: string; code: 1 | 2 } {
  if (error instanceof SingularError || error instanceof ValueError) return { name: error.name, message: error.message, code: 1 };
  if (error instanceof HalfulpError) return { name: error.name, message: error.message, code: 2 };
  const { code, path, message } = error as NodeJS.ErrnoException;
  if (code !== undefined && path !== undefined)
    return { name: code, message: `${path}: ${reasonOf(error as NodeJS.ErrnoException)}`, code: 2 };
  return { name: "InternalError", message: `unexpected: ${message ?? String(error)}`, code: 2 };
}
