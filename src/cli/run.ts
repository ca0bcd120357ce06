// Parses a command line, runs the command that it names, prints the outcome or the error, and returns the exit code.
import { getSystemErrorMap, parseArgs } from "node:util";
import { HalfulpError, SingularError, ValueError } from "../arrays/errors.ts";
import { launcher } from "../ranks/mpi/library.ts";
import { Arguments, type Command, type Io, JobError, UsageError } from "./command.ts";
import { COMMANDS } from "./commands/index.ts";
import { helpOf, optionsOf, overview } from "./help.ts";
import { nearest } from "./nearest.ts";
import { toJson } from "./output/numerals.ts";
import { version } from "./version.ts";

/** Runs a command line and returns the exit code. */
export async function run(argv: readonly string[], io: Io): Promise<0 | 1 | 2> {
  try {
    return await dispatch(argv, io);
  } catch (error) {
    if (isReportedElsewhere(error)) return 0;
    const { name, message, code } = failureOf(error instanceof JobError ? error.reason : error);
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
    const similar = nearest(name as string, names);
    const hint = similar === undefined ? "" : `; did you mean ${similar}?`;
    throw new UsageError(`unknown command "${name}", expected ${names.join(", ")} (halfulp --help)${hint}`);
  }
  const { operands, values } = parse(command, args);
  if (values.help === true) {
    io.out(helpOf(command));
    return 0;
  }
  checkOperands(command, operands);
  if (JOB.size > 1 && command.underMpirun !== true)
    throw new UsageError(`${command.name} runs on one rank, and mpirun has started ${JOB.size} (${ON_RANKS.join(", ")} run on several)`);
  const { text, json, code = 0 } = await command.run(new Arguments(operands, values), io);
  if (JOB.rank > 0) return 0;
  io.out(`${values.json === true ? toJson(json) : text}\n`);
  return code;
}

// Under mpirun one rank prints and has the exit code of the job; the others exit with 0. If one of them exited with another code before the
// first has printed, mpirun might end that one.
const JOB = launcher(process.env);
// Every rank finds what is wrong with the command line. For later errors see job.ts.
const isReportedElsewhere = (error: unknown): boolean =>
  error instanceof JobError ? error.reason === undefined : JOB.rank > 0 && error instanceof UsageError;
const ON_RANKS = COMMANDS.filter(({ underMpirun }) => underMpirun).map(({ name }) => name);

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
      .replace(/argument is ambiguous$/, "has no value: the next word looks like an option");
    throw new UsageError(`${command.name}: ${message} (halfulp ${command.name} --help)`);
  }
}

function checkOperands({ name, count: [min, max], operands }: Command, given: readonly string[]): void {
  if (given.length >= min && given.length <= max) return;
  const expected = min === max ? String(min) : max === Number.POSITIVE_INFINITY ? `${min} or more` : `${min} to ${max}`;
  throw new UsageError(`${name}: ${given.length} operands, expected ${expected}: halfulp ${name} ${operands} (halfulp ${name} --help)`);
}

const SYSTEM_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: "no such file or directory",
  EACCES: "permission denied",
  EISDIR: "is a directory",
  ENOTDIR: "a component of the path is not a directory",
  ENOSPC: "no space left on the device",
  EFBIG: "file too large",
  EROFS: "read-only file system",
};

/** A system error in words. */
export function reasonOf({ code, errno, message }: NodeJS.ErrnoException): string {
  return SYSTEM_ERRORS[code ?? ""] ?? getSystemErrorMap().get(errno ?? 0)?.[1] ?? message;
}

function failureOf(error: unknown): { name: string; message: string; code: 1 | 2 } {
  if (error instanceof SingularError || error instanceof ValueError) return { name: error.name, message: error.message, code: 1 };
  if (error instanceof HalfulpError) return { name: error.name, message: error.message, code: 2 };
  const { code, path, note, message } = error as NodeJS.ErrnoException & { readonly note?: string }; // output/save.ts adds notes
  if (code !== undefined && path !== undefined) {
    const reason = reasonOf(error as NodeJS.ErrnoException) + (note === undefined ? "" : ` (${note})`);
    return { name: code, message: `${path}: ${reason}`, code: 2 };
  }
  return { name: "InternalError", message: `internal error: ${message ?? String(error)}`, code: 2 };
}
