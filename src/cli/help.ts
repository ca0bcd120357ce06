// The texts of --help: the overview, and one page per command. Called by run.ts.
import type { Command, Option, Options } from "./command.ts";

const COMMON: Options = {
  json: { type: "boolean", help: "print one JSON object instead of text" },
  help: { type: "boolean", short: "h", help: "print this help" },
};

/** All options of a command. */
export function optionsOf(command: Command): Options {
  return { ...command.options, ...COMMON };
}

/** What `halfulp COMMAND --help` prints. */
export function helpOf(command: Command): string {
  const options = Object.entries(optionsOf(command)).map(([name, option]) => [flagOf(name, option), option.help] as const);
  const examples = command.examples.flatMap(([line, effect]) => [`  ${line}`, `      ${effect}`]);
  return [
    `Usage: halfulp ${command.name} ${command.operands} [options]`.replace(/ +/g, " "),
    "",
    command.help.trim(),
    "",
    "Options:",
    ...table(options),
    ...(examples.length > 0 ? ["", "Examples:", ...examples] : []),
    "",
  ].join("\n");
}

/** What `halfulp --help` prints. */
export function overview(commands: readonly Command[]): string {
  return [
    "Usage: halfulp COMMAND [operands] [options]",
    "",
    "Linear algebra that returns the same bits everywhere, and the right ones.",
    "",
    "Commands:",
    ...table(commands.map(({ name, operands, summary }) => [`${name} ${operands}`, summary] as const)),
    "",
    "halfulp COMMAND --help explains a command and gives examples.",
    "Every command accepts --json. halfulp --version prints the version.",
    "",
    "Try:",
    "  printf '1e16\\n0.1\\n-1e16\\n' | halfulp sum - --format csv",
    "      prints 0.1, the exact sum rounded once; ordinary arithmetic gives 0",
    "  halfulp doctor",
    "      lists the engines of this machine and checks their results",
    "",
    "Exit codes: 0 success; 1 no result (singular, not converged, hashes differ); 2 bad usage or input.",
    "",
  ].join("\n");
}

function flagOf(name: string, { short, value }: Option): string {
  return `${short === undefined ? "" : `-${short}, `}--${name}${value === undefined ? "" : ` ${value}`}`;
}

function table(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}
