import type { Matrix, Real } from "../../arrays/types.ts";
import type { Arguments, Options, Outcome } from "../command.ts";
import { isVector } from "../input/load.ts";
import { hashOf, rowsOf } from "./hashing.ts";
import { decimal, formatOf } from "./numerals.ts";
import { save } from "./save.ts";

/** Where a result goes. */
export const OUTPUT_OPTIONS: Options = {
  output: {
    type: "string",
    short: "o",
    value: "FILE",
    help: "write the result there: .npy or .mtx. A short vector is printed, too",
  },
};

const SHORT = 12;

/** A result and what is to be told of it, in this order. Written where the options say. */
export async function present(
  command: string,
  x: Real | Matrix,
  facts: Readonly<Record<string, unknown>>,
  args: Arguments,
): Promise<Outcome> {
  const output = args.text("output");
  if (output !== undefined) await save(output, x);
  const all = { ...facts, sha256: hashOf(x) };
  const short = isVector(x) && x.length <= SHORT;
  const shown = isVector(x) ? preview(x) : `${x.rows} by ${x.cols} (-o FILE writes it)`;
  const told = output === undefined ? { x: shown } : short ? { x: shown, output } : { output };
  const given = output !== undefined ? { output } : { x: isVector(x) ? x : Array.from(rowsOf(x), (row) => row.slice()) };
  return { text: lines({ ...all, ...told }), json: { command, ...all, ...given } };
}

/** A table of facts, the names in one column. */
export function lines(facts: Readonly<Record<string, unknown>>): string {
  const told = Object.entries(facts).filter(([, value]) => value !== undefined);
  const width = Math.max(...told.map(([name]) => name.length));
  return told.map(([name, value]) => `${name.padEnd(width)}  ${typeof value === "number" ? decimal(value) : value}`).join("\n");
}

function preview(x: Real): string {
  const shown = Array.from(x.subarray(0, SHORT), (value) => decimal(value, formatOf(x.BYTES_PER_ELEMENT))).join(" ");
  return x.length <= SHORT ? shown : `${shown} ... (${x.length} in all; -o FILE writes them)`;
}

/** Milliseconds as a person reads them. */
export function seconds(ms: number): number {
  return Number((ms / 1000).toPrecision(3));
}
