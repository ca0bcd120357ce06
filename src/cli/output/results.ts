// Prints and writes the results of the commands that solve, factor or multiply.
import type { Matrix, Real } from "../../arrays/types.ts";
import type { Arguments, Options, Outcome } from "../command.ts";
import { isVector } from "../input/load.ts";
import { hashOf, rowsOf } from "./hashing.ts";
import { decimal, formatOf } from "./numerals.ts";
import { save } from "./save.ts";

/** The option for the file of the result. */
export const OUTPUT_OPTIONS: Options = {
  output: {
    type: "string",
    short: "o",
    value: "FILE",
    help: "write the result to a .npy, .mtx, .csv or .tsv file; a short vector is also printed",
  },
};

const SHORT = 12;

/** Writes a result to the file that the options name, and returns it with the details, in their order; `name` is that of the result. */
export async function present(
  command: string,
  x: Real | Matrix,
  details: Readonly<Record<string, unknown>>,
  args: Arguments,
  name = "x",
): Promise<Outcome> {
  const output = args.text("output");
  if (output !== undefined) await save(output, x);
  const all = { ...details, sha256: hashOf(x) };
  const short = isVector(x) && x.length <= SHORT;
  const shown = isVector(x) ? preview(x) : `${x.rows} by ${x.cols} (use -o FILE to write it)`;
  const printed = output === undefined ? { [name]: shown } : short ? { [name]: shown, output } : { output };
  const returned = output !== undefined ? { output } : { [name]: isVector(x) ? x : Array.from(rowsOf(x), (row) => row.slice()) };
  return { text: alignedLines({ ...all, ...printed }), json: { command, ...all, ...returned } };
}

/** One line per detail: the name in a column, then the value. */
export function alignedLines(details: Readonly<Record<string, unknown>>): string {
  const known = Object.entries(details).filter(([, value]) => value !== undefined);
  const width = Math.max(...known.map(([name]) => name.length));
  return known.map(([name, value]) => `${name.padEnd(width)}  ${typeof value === "number" ? decimal(value) : value}`).join("\n");
}

/** Rows of cells in aligned columns; the first row is the heading. */
export function alignedTable(rows: readonly (readonly string[])[]): string {
  const shown = rows.map((row) => row.map(oneLine));
  const widths = (shown[0] ?? []).map((_, k) => shown.reduce((width, row) => Math.max(width, (row[k] as string).length), 0));
  return shown
    .map((row) =>
      row
        .map((cell, k) => cell.padEnd(widths[k] as number))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: a line break in a cell must not break the line
const oneLine = (cell: string): string => (/[\x00-\x1f]/.test(cell) ? JSON.stringify(cell) : cell);

function preview(x: Real): string {
  const shown = Array.from(x.subarray(0, SHORT), (value) => decimal(value, formatOf(x.BYTES_PER_ELEMENT))).join(" ");
  return x.length <= SHORT ? shown : `${shown} ... (${x.length} in all; use -o FILE to write them)`;
}

/** Milliseconds as seconds, to three digits. */
export function seconds(ms: number): number {
  return Number((ms / 1000).toPrecision(3));
}
