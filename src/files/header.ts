// The header line and the size line of a Matrix Market file. Called by matrixMarket.ts. Boisvert, Pozo, Remington: The Matrix Market
// Exchange Formats: Initial Design, NISTIR 5935 (1996).
import { MAX } from "../arrays/sparse.ts";
import { type Line, quoted } from "./lines.ts";

const FORMATS = ["coordinate", "array"] as const;
const FIELDS = ["real", "double", "integer", "pattern"] as const;
const SYMMETRIES = ["general", "symmetric", "skew-symmetric"] as const;

export interface Header {
  readonly format: (typeof FORMATS)[number];
  readonly field: (typeof FIELDS)[number];
  readonly symmetry: (typeof SYMMETRIES)[number];
}

// A size line alone must not make us allocate more than 64 MiB; beyond that, memory is proportional to the entries of the file.
const FREE_ROWS = 2 ** 24;
const ROWS_PER_ENTRY = 64;

/** Rows, columns, and the number of entries that follow. */
export interface Size {
  readonly rows: number;
  readonly cols: number;
  readonly entries: number;
}

/** The factor from an entry below the diagonal to its mirror image; 0 if the file holds both. */
export const MIRROR = { general: 0, symmetric: 1, "skew-symmetric": -1 } as const;

export const FIRST_LINE = `"%%MatrixMarket matrix", a format, a field and a symmetry`;

/** Reads the header line. */
export function readHeader(line: Line): Header {
  const banner = line.word();
  if (banner.toLowerCase() !== "%%matrixmarket") line.fail(banner === "" ? "nothing" : quoted(banner), FIRST_LINE);
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
  const found = words.find((known) => known === word.toLowerCase());
  if (found !== undefined) return found;
  const why = /^(complex|hermitian)$/i.test(word) ? " (complex matrices are not supported)" : "";
  return line.fail(`${field} ${quoted(word)}`, `${words.join(", ").replace(/, ([^,]*)$/, " or $1")}${why}`);
}

/** Reads and checks the size line. */
export function readSize(line: Line, { format, symmetry }: Header): Size {
  line.checkFields(format === "array" ? ["rows", "columns"] : ["rows", "columns", "entries"]);
  const rows = line.integer("rows", 0, MAX);
  const cols = line.integer("columns", 0, MAX);
  if (symmetry !== "general" && rows !== cols) line.fail(`${rows} rows and ${cols} columns`, `a square matrix (it is ${symmetry})`);
  const places = symmetry === "general" ? rows * cols : (rows * (rows + MIRROR[symmetry])) / 2;
  if (format === "coordinate") {
    const where = symmetry === "general" ? "" : symmetry === "symmetric" ? " on and below the diagonal" : " below the diagonal";
    const why = places < MAX ? ` (a ${rows} by ${cols} matrix has no more${where})` : "";
    const entries = line.integer("entries", 0, Math.min(places, MAX), why);
    if (rows > Math.max(FREE_ROWS, ROWS_PER_ENTRY * entries))
      line.fail(
        `${rows} rows for ${entries} entries`,
        `at most ${Math.max(FREE_ROWS, ROWS_PER_ENTRY * entries)} (each row takes memory, empty or not)`,
      );
    return { rows, cols, entries };
  }
  if (rows * cols > MAX) line.fail(`${rows} times ${cols} entries`, `at most ${MAX}`);
  return { rows, cols, entries: places };
}
