// The header line and the size line of a Matrix Market file. Called by matrixMarket.ts. Boisvert, Pozo, Remington: The Matrix Market
// Exchange Formats: Initial Design, NISTIR 5935 (1996).
import { checkOptions, checkWord } from "../arrays/checks.ts";
import { MAX } from "../arrays/sparse.ts";
import { type Line, quoted } from "./lines.ts";

/** What else readMatrixMarket takes for a file. */
export interface MatrixMarketOptions {
  /** Entries with the same row and column: "add" adds them exactly and rounds the sum once. Default: "refuse". */
  duplicates?: "refuse" | "add" | undefined;
  /** A third number on the lines of a pattern: "ignore" reads it as a pattern. Default: "refuse". */
  patternValues?: "refuse" | "ignore" | undefined;
  /** Where the entries of a symmetric or skew-symmetric file are: each may be on "either" side of the diagonal. Default: "lower". */
  symmetric?: "lower" | "either" | undefined;
  /**
   * A coordinate file without the header line, row, column and value on each line, or row and column. It begins with a line of "sizes"
   * (rows, columns, number of entries) or has "entries" only: the largest indices are then the sizes. Default: the header is required.
   */
  headerless?: "sizes" | "entries" | undefined;
}

const CHOICES = {
  duplicates: ["refuse", "add"],
  patternValues: ["refuse", "ignore"],
  symmetric: ["lower", "either"],
  headerless: ["sizes", "entries"],
} as const satisfies Record<keyof MatrixMarketOptions, readonly string[]>;

/** Throws unless these are options of readMatrixMarket. */
export function checkMatrixMarketOptions(routine: string, options: MatrixMarketOptions): void {
  checkOptions(routine, options, Object.keys(CHOICES));
  for (const [name, value] of Object.entries(options))
    if (value !== undefined) checkWord(routine, name, value, CHOICES[name as keyof MatrixMarketOptions] as readonly string[]);
}

const FORMATS = ["coordinate", "array"] as const;
const FIELDS = ["real", "double", "integer", "pattern"] as const;
const SYMMETRIES = ["general", "symmetric", "skew-symmetric"] as const;

export interface Header {
  readonly format: (typeof FORMATS)[number];
  readonly field: (typeof FIELDS)[number];
  readonly symmetry: (typeof SYMMETRIES)[number];
  /** What comes first in a file without this line. Its field is known from the first entry. */
  readonly headerless?: MatrixMarketOptions["headerless"];
}

// A size line alone must not make us allocate more than 64 MiB; beyond that, memory is proportional to the entries of the file.
const FREE_ROWS = 2 ** 24;
const ROWS_PER_ENTRY = 64;

/** How many rows a file with this number of entries may have. */
export const maxRows = (entries: number): number => Math.max(FREE_ROWS, ROWS_PER_ENTRY * entries);

/** Rows, columns, and the number of entries that follow. */
export interface Size {
  readonly rows: number;
  readonly cols: number;
  readonly entries: number;
}

/** The factor from an entry below the diagonal to its mirror image; 0 if the file holds both. */
export const MIRROR = { general: 0, symmetric: 1, "skew-symmetric": -1 } as const;

export const FIRST_LINE = `"%%MatrixMarket matrix", a format, a field and a symmetry`;

const isBanner = (word: string): boolean => word.toLowerCase() === "%%matrixmarket";

/** Whether a file begins with a header line, given its first line. */
export const hasHeader = (line: Line): boolean => isBanner(line.peek());

/** Reads the header line. */
export function readHeader(line: Line): Header {
  const banner = line.word();
  if (!isBanner(banner)) line.fail(banner === "" ? "nothing" : quoted(banner), FIRST_LINE);
  line.checkFields(["object", "format", "field", "symmetry"]);
  choice(line, "object", ["matrix"]);
  const format = choice(line, "format", FORMATS);
  const field = choice(line, "field", FIELDS);
  const symmetry = choice(line, "symmetry", SYMMETRIES);
  if (field === "pattern" && format === "array") line.fail("a pattern in array format", "coordinate (an array has values)");
  if (field === "pattern" && symmetry === "skew-symmetric")
    line.fail("a skew-symmetric pattern", "general or symmetric (a pattern has no signs)");
  return { format, field, symmetry };
}

function choice<W extends string>(line: Line, field: string, words: readonly W[]): W {
  const word = line.word();
  const lower = word.toLowerCase() === "unsigned-integer" ? "integer" : word.toLowerCase(); // SciPy writes it
  const found = words.find((known) => known === lower);
  if (found !== undefined) return found;
  const why = /^(complex|hermitian)$/i.test(word) ? " (complex matrices are not supported)" : "";
  return line.fail(`${field} ${quoted(word)}`, `${words.join(", ").replace(/, ([^,]*)$/, " or $1")}${why}`);
}

/** Reads and checks the size line. */
export function readSize(line: Line, { format, symmetry }: Header, { duplicates }: MatrixMarketOptions): Size {
  line.checkFields(format === "array" ? ["rows", "columns"] : ["rows", "columns", "entries"]);
  const rows = line.integer("rows", 0, MAX);
  const cols = line.integer("columns", 0, MAX);
  if (symmetry !== "general" && rows !== cols) line.fail(`${rows} rows and ${cols} columns`, `a square matrix (it is ${symmetry})`);
  const places = symmetry === "general" ? rows * cols : (rows * (rows + MIRROR[symmetry])) / 2;
  if (format === "coordinate") {
    const where = symmetry === "general" ? "" : symmetry === "symmetric" ? " on and below the diagonal" : " below the diagonal";
    const max = duplicates === "add" && places > 0 ? MAX : Math.min(places, MAX);
    const why = max < MAX ? ` (a ${rows} by ${cols} matrix has no more${where})` : "";
    const entries = line.integer("entries", 0, max, why);
    if (rows > maxRows(entries))
      line.fail(`${rows} rows for ${entries} entries`, `at most ${maxRows(entries)} (each row takes memory, empty or not)`);
    return { rows, cols, entries };
  }
  if (rows * cols > MAX) line.fail(`${rows} times ${cols} entries`, `at most ${MAX}`);
  return { rows, cols, entries: places };
}
