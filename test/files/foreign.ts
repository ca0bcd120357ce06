// What is in the files that other programs wrote (foreign/generate.py), by Python's fractions.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** What sum, asum and nrm2 print of some numbers, as bits. */
export interface Sums {
  readonly count: number;
  readonly sum: string;
  readonly asum: string;
  readonly nrm2: string;
}
/** An array, row by row, as bits. */
interface Described extends Sums {
  readonly values: readonly string[];
  readonly shape: readonly number[];
}
/** A matrix, row by row, as bits. */
export interface Described2 {
  readonly rows: number;
  readonly cols: number;
  readonly entries: number;
  readonly dense: readonly string[];
}
interface Table {
  readonly flags: readonly string[];
  readonly price: Sums;
  readonly amount: Sums;
  readonly dot: string;
}
interface Text {
  readonly flags: readonly string[];
  readonly columns: readonly string[] | null;
  readonly rows: readonly (readonly string[])[];
  readonly sums?: readonly Sums[];
}

/** The path of a file. */
export const foreign = (name: string): string => fileURLToPath(new URL(`foreign/${name}`, import.meta.url));

export const EXPECTED: {
  readonly npy: Readonly<Record<string, Described & { readonly file: string; readonly order: "C" | "F" }>>;
  readonly halves: { readonly file: string; readonly values: readonly string[] };
  readonly refused: Readonly<Record<string, readonly [file: string, message: string]>>;
  readonly npz: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly text: Readonly<Record<string, Text>>;
  readonly tables: Readonly<Record<string, Table>>;
  readonly pandas: { readonly u: Sums; readonly v: Sums; readonly n: Sums; readonly dot: string };
  readonly market: Readonly<Record<string, Described2>>;
  readonly unusual: Readonly<Record<string, Described2 & { readonly options: Readonly<Record<string, string>> }>>;
} = JSON.parse(readFileSync(foreign("expected.json"), "utf8"));

/** The bytes of a file in the JSON. */
export const decoded = (file: string): Uint8Array => Uint8Array.from(Buffer.from(file, "base64"));
