// The options that say how to read the operands of a command, and what they say for each of them.

import type { MatrixMarketOptions } from "../../files/header.ts";
import { launcher } from "../../ranks/mpi/library.ts";
import { type Arguments, type Options, UsageError } from "../command.ts";
import { BLANKS, type CsvOptions, isPosition } from "./csv.ts";
import { delimited } from "./dialects.ts";
import { type FileFormat, knownFormat } from "./formats.ts";

/** How to read a file. */
export interface Reading {
  readonly format?: Exclude<FileFormat, "parquet"> | undefined;
  readonly csv?: CsvOptions;
  readonly mtx?: MatrixMarketOptions;
}

/** The formats of files that hold matrices. */
export const MATRIX_FORMATS = ["npy", "npz", "mtx", "csv", "txt"] as const;

/** The options for tables as text. */
export const TABLE_OPTIONS: Options = {
  delimiter: {
    type: "string",
    value: "D",
    help: `CSV: one character, or \\t for a tab, or ${BLANKS}; default: comma, tab in .tsv files`,
  },
  header: {
    type: "string",
    value: "H",
    help: "CSV: yes or no, whether line 1 holds names; default: yes if it has the names that are given, or only names",
  },
};

/** The options for a matrix, and for vectors beside it. */
export const MATRIX_OPTIONS: Options = {
  format: {
    type: "string",
    value: "F",
    help: "npy, npz, mtx, csv or txt, for standard input and files without a known extension",
  },
  columns: {
    type: "string",
    value: "LIST",
    help: "CSV: columns of the matrix: names, numbers from 1 or ranges (2..5), with commas; default: all",
  },
  ...TABLE_OPTIONS,
  duplicates: { type: "string", value: "D", help: "Matrix Market: refuse (default) or add entries at the same place" },
  "pattern-values": { type: "string", value: "P", help: "Matrix Market: refuse (default) or ignore the values in a pattern" },
  symmetric: { type: "string", value: "S", help: "Matrix Market: symmetric files have lower (default) or either triangle" },
  headerless: { type: "string", value: "H", help: "Matrix Market: no header line, but first the sizes, or only entries" },
};

/** The option for vectors. */
export const COLUMN_OPTION: Options = {
  column: { type: "string", short: "c", multiple: true, value: "C", help: "CSV: the column of the vector: a name, or a number from 1" },
};

/** The option for missing values in systems. */
export const MISSING_OPTION: Options = {
  missing: { type: "string", value: "M", help: "CSV: refuse (default) missing values, or skip the rows of the system that have them" },
};

/** What the help says of these files. */
export const MATRIX_FILES = `
Matrices and vectors are .npy, Matrix Market or CSV files, members of .npz files (x.npz:NAME), .txt files with white space between
columns, or standard input (-), once. Of a table, --columns and --column choose columns, by the names in line 1 or by numbers.
--symmetric is lower or either, --headerless is sizes or entries.`;

/** An operand of a command. An equation is a row of the matrix, or its right-hand side; the options for columns are for these. */
export interface Operand {
  readonly path: string;
  readonly kind: "matrix" | "vector";
  readonly holdsEquations?: boolean;
}

/** How to read each operand, in one of these formats. Throws if the options contradict each other or the operands. */
export function readingsOf(
  name: string,
  args: Arguments,
  operands: readonly Operand[],
  among: readonly NonNullable<Reading["format"]>[] = MATRIX_FORMATS,
): Reading[] {
  checkOnce(
    name,
    operands.map(({ path }) => path),
  );
  const format = args.word("format", among);
  const formats = formatsOf(
    operands.map(({ path }) => path),
    format,
  );
  const { delimiter, header, missing } = tableOptions(args);
  const columns = { matrix: listOf(args.text("columns")), vector: args.list("column") };
  for (const kind of ["matrix", "vector"] as const) checkColumns(kind === "matrix" ? "columns" : "column", columns[kind] ?? [], header);
  const mtx: MatrixMarketOptions = {
    duplicates: args.word("duplicates", ["refuse", "add"]),
    patternValues: args.word("pattern-values", ["refuse", "ignore"]),
    symmetric: args.word("symmetric", ["lower", "either"]),
    headerless: args.word("headerless", ["sizes", "entries"]),
  };
  checkUse(args, formats);
  if (missing === "skip" && launcher(process.env).size > 1)
    throw new UsageError(`${name}: --missing skip is for one rank, expected refuse under mpirun`);
  return operands.map(({ kind, holdsEquations = true }, k) => ({
    format: among.find((each) => each === formats[k]),
    csv: {
      delimiter,
      header,
      missing: holdsEquations ? missing : "refuse",
      columns: columns[kind]?.length === 0 || !holdsEquations ? undefined : columns[kind],
    },
    mtx,
  }));
}

/** The options of tables that every command has. */
export function tableOptions(args: Arguments): Pick<CsvOptions, "delimiter" | "header" | "missing"> {
  return {
    delimiter: delimiterOf(args),
    header: args.word("header", ["yes", "no"]),
    missing: args.word("missing", ["refuse", "skip"]),
  };
}

/** Standard input can be read once. */
export function checkOnce(name: string, paths: readonly string[]): void {
  if (paths.filter((path) => path === "-").length > 1)
    throw new UsageError(`${name}: standard input is given twice, expected at most once`);
}

/** Columns have names only if there is a header. */
export function checkColumns(option: string, columns: readonly string[], header: CsvOptions["header"]): void {
  const named = columns.find((column) => !isPosition(column));
  if (header === "no" && named !== undefined) throw new UsageError(`--${option} is "${named}", expected a column number with --header no`);
  for (const column of columns) {
    const [from, to = from] = column.split("..").map(Number);
    if (isPosition(column) && (from as number) > (to as number))
      throw new UsageError(`--${option} is "${column}", expected a range that ascends`);
  }
}

/** What --format says: of every operand, but if one is standard input, of it and of those whose name does not tell. */
export function formatsOf<F extends FileFormat>(paths: readonly string[], format: F | undefined): (FileFormat | undefined)[] {
  const isForAll = !paths.includes("-");
  return paths.map((path) => {
    const known = path === "-" ? undefined : knownFormat(path);
    return format !== undefined && (isForAll || known === undefined) ? format : known;
  });
}

const FOR_TABLES = ["columns", "column", "delimiter", "header", "missing"];
const FOR_MATRIX_MARKET = ["duplicates", "pattern-values", "symmetric", "headerless"];
const TEXT: readonly FileFormat[] = ["csv", "txt"];

/** Throws if an option is for a format that no operand can have. */
export function checkUse(args: Arguments, formats: readonly (FileFormat | undefined)[]): void {
  const refuse = (names: readonly string[], use: string, among: readonly FileFormat[]): void => {
    if (formats.some((format) => format === undefined || among.includes(format))) return;
    const given = names.find((name) => args.has(name));
    if (given !== undefined) throw new UsageError(`--${given} is for ${use}, and no operand is one`);
  };
  refuse(FOR_TABLES, "CSV files", [...TEXT, "parquet"]);
  refuse(["delimiter", "header"], "CSV files", TEXT);
  refuse(FOR_MATRIX_MARKET, "Matrix Market files", ["mtx"]);
}

// A list of columns is a record of CSV: a name with a comma is quoted.
function listOf(list: string | undefined): readonly string[] | undefined {
  if (list === undefined) return undefined;
  const comma = delimited(",");
  const columns = comma.endsOpen(list, false) ? [""] : comma.fields(list).map((column) => column.trim());
  if (columns.includes(""))
    throw new UsageError(`--columns is ${JSON.stringify(list)}, expected names or numbers with commas between them`);
  return columns;
}

function delimiterOf(args: Arguments): string | undefined {
  const given = args.text("delimiter");
  if (given === undefined || given === BLANKS) return given;
  if (given === "\\t") return "\t"; // shells pass it as two characters
  if ([...given].length !== 1 || /["\r\n]/.test(given))
    throw new UsageError(
      `--delimiter is ${JSON.stringify(given)}, expected one character (or \\t for a tab), not a quote or a line break, or ${BLANKS}`,
    );
  return given;
}
