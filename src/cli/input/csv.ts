// Tables of numbers as text: one column for reductions, in chunks, or several columns as a matrix. records.ts and dialects.ts split the text.
import { allocate, free } from "../../api/memory.ts";
import { FormatError } from "../../arrays/errors.ts";
import { matrix } from "../../arrays/matrix.ts";
import type { Matrix } from "../../arrays/types.ts";
import { newVector } from "../../arrays/vectors.ts";
import { Growing } from "../../files/growing.ts";
import { numberOf, quoted } from "../../files/lines.ts";
import { CHUNK } from "./chunks.ts";
import { type Dialect, delimited, WHITESPACE } from "./dialects.ts";
import { Records } from "./records.ts";

/** What --delimiter says for white space. */
export const BLANKS = "whitespace";

export interface CsvOptions {
  /** Names of columns, positions from 1, or ranges of positions such as 2..5. Default: the first column of a vector, all of a matrix. */
  readonly columns?: readonly string[] | undefined;
  /** A character, or BLANKS. Default: a comma, or a tab if the file name ends in .tsv. */
  readonly delimiter?: string | undefined;
  /** Whether the first record holds names; default: decided by its content. */
  readonly header?: "yes" | "no" | undefined;
  /** How to treat an empty cell, or a word for one; default: refuse it. */
  readonly missing?: "refuse" | "skip" | undefined;
}

const POSITIONS = /^([1-9]\d{0,8})(?:\.\.([1-9]\d{0,8}))?$/;
/** A position, not a name. */
export const POSITION = /^[1-9]\d{0,8}$/;

/** Whether a column is given by its position, or several are by a range, and not by name. */
export const isPosition = (column: string): boolean => POSITIONS.test(column);

// A malformed number must not pass for a name: its record would silently be left out of the sum.
const NAME = /^[^\p{L}\p{N}.+-]*[\p{L}_]/u;
const MISSING = /^(?:#?(?:na|n\/a|n\.a\.|null|none|nil))?$/i;
const isName = (word: string): boolean => NAME.test(word) && !isMissing(word) && numberOf(word) === undefined;

/** Whether a cell, without blanks around it, is empty or a word for a missing value. */
export const isMissing = (cell: string): boolean => MISSING.test(cell);

/**
 * The numbers of one column. The first record may hold names. A skipped cell keeps its row, so that the rows of two files stay aligned:
 * its value is -0, which changes no sum, and `gaps` lists its index in the current chunk.
 */
export async function* csvChunks(
  name: string,
  bytes: AsyncIterable<Uint8Array>,
  options: CsvOptions,
  gaps: number[] = [],
): AsyncGenerator<Float64Array> {
  const table = new Table(name, { ...options, columns: options.columns ?? ["1"] });
  const { dialect } = table;
  const buffer = allocate(CHUNK);
  let filled = 0;
  let at = 0;
  gaps.length = 0; // an abandoned pass may have left some

  const gap = (line: number, cell: string): number => {
    table.checkMissing(line, at, cell, " (--missing skip leaves it out)");
    gaps.push(filled);
    return -0;
  };
  const numberIn = (record: Records): number => {
    const cell = (dialect.field(record.text, at, table.count) ?? (table.checkedCells(record)[at] as string)).trim();
    return numberOf(cell) ?? (isMissing(cell) ? gap(record.line, cell) : table.refuse(record, at, cell));
  };

  try {
    for await (const batch of table.batches(bytes))
      for (const record of batch) {
        if (record.isFirst) {
          const holdsNames = table.begin(record);
          at = table.places[0] as number;
          if (holdsNames) continue;
        }
        for (let k = record.emptyRows; k >= 0; k--) {
          buffer[filled] = k > 0 ? gap(record.line - k, "") : numberIn(record);
          if (++filled < CHUNK) continue;
          yield buffer;
          filled = 0;
          gaps.length = 0;
        }
      }
    if (filled > 0) yield buffer.subarray(0, filled);
  } finally {
    free(buffer);
  }
}

/**
 * Several columns, or all, as a matrix. The first record is skipped if it holds names: if all its cells in these columns are. A row with a
 * missing value keeps its place, so that the rows of two files stay aligned; `gaps` lists it.
 */
export async function csvMatrix(
  name: string,
  bytes: AsyncIterable<Uint8Array>,
  options: CsvOptions,
  gaps: number[] = [],
): Promise<Matrix<Float64Array>> {
  const table = new Table(name, options);
  const values = new Growing(Number.POSITIVE_INFINITY, (length) => newVector(name, new Float64Array(0), length));
  let rows = 0;
  const gap = (line: number, at: number, cell: string): number => {
    table.checkMissing(line, at, cell);
    if (gaps.at(-1) !== rows) gaps.push(rows);
    return Number.NaN;
  };
  for await (const batch of table.batches(bytes))
    for (const record of batch) {
      if (record.isFirst && table.begin(record)) continue;
      for (let k = record.emptyRows; k > 0; k--, rows++) for (const at of table.places) values.push(gap(record.line - k, at, ""));
      const cells = table.checkedCells(record);
      for (const at of table.places) {
        const cell = cells[at] as string;
        values.push(numberOf(cell) ?? (isMissing(cell) ? gap(record.line, at, cell) : table.refuse(record, at, cell)));
      }
      rows++;
    }
  const cols = rows === 0 ? 0 : table.places.length;
  const data = newVector(name, new Float64Array(0), rows * cols);
  for (let k = 0; k < data.length; k++) data[k] = values.get(k);
  return matrix(data, rows, cols);
}

const HEADER_HINT = " (use --header yes if line 1 holds names)";

/** A record of a table: its text, where it begins, and whether it is the first. */
export type TableRecord = Pick<Records, "text" | "line" | "isFirst">;

/** A table, of which some columns are wanted. */
export class Table {
  readonly dialect: Dialect;
  /** One character, or BLANKS. */
  readonly delimiter: string;
  /** The wanted columns, from 0. */
  places: readonly number[] = [];
  readonly holdsNames: boolean; // as far as the options tell
  /** How many columns the first record has. */
  count = 0;
  /** The names of the wanted columns, or their numbers if there are no names. */
  names: readonly string[] = [];
  private first: TableRecord | undefined; // if it was taken for names by its content

  /** The first `texts` of the wanted columns need not be numbers. */
  constructor(
    private readonly name: string,
    private readonly options: CsvOptions,
    private readonly texts = 0,
  ) {
    const { delimiter = /\.tsv$/i.test(name) ? "\t" : ",", header, columns = [] } = options;
    this.delimiter = delimiter;
    this.dialect = delimiter === BLANKS ? WHITESPACE : delimited(delimiter);
    this.holdsNames = header === "yes" || !columns.every(isPosition);
  }

  /** The records, in batches: an asynchronous step for each record would take longer than reading it. */
  async *batches(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Iterable<Records>> {
    const records = new Records(this.name, this.dialect, this.holdsNames);
    for await (const piece of bytes) yield records.push(piece);
    yield records.end();
    this.end(records.isFirst);
  }

  cells({ text }: TableRecord): string[] {
    return this.dialect.fields(text).map((field) => field.trim());
  }

  /** Finds the wanted columns by the first record. Returns whether it holds names. */
  begin(record: TableRecord): boolean {
    const cells = this.cells(record);
    const [, separator] = /^"?sep=(.)"?$/iu.exec(record.text) ?? [];
    if (separator !== undefined)
      throw this.wrongLine(record, "names or numbers", ` (without this line, use --delimiter ${JSON.stringify(separator)})`);
    this.count = cells.length;
    this.places = this.find(record, cells);
    const isHeader = this.beginsWithNames(record, cells);
    if (isHeader && !this.holdsNames) this.first = { text: record.text, line: record.line, isFirst: true };
    this.names = this.places.map((at) => (isHeader && cells[at]) || String(at + 1));
    return isHeader;
  }

  /** Checks the table as a whole, after its last record; `isOnly` says whether that was the first. */
  end(isOnly: boolean): void {
    const named = this.options.columns?.find((column) => !isPosition(column));
    if (this.count === 0 && named !== undefined)
      throw new FormatError(`${this.name}: no column is named ${quoted(named)}: the file is empty`);
    if (isOnly && this.first !== undefined)
      throw this.wrongLine(this.first, "numbers, or names followed by rows", " (use --header yes for a table without rows)");
  }

  private wrongLine({ text, line }: TableRecord, expected: string, hint: string): FormatError {
    return new FormatError(`${this.name}: line ${line} is ${quoted(text)}, expected ${expected}${hint}`, line);
  }

  private beginsWithNames(record: TableRecord, cells: readonly string[]): boolean {
    if (this.holdsNames) return true;
    if (this.options.header === "no") return false;
    const numbers = this.places.slice(this.texts);
    if (numbers.every((at) => isName(cells[at] as string))) return true;
    const wrong = numbers.find((at) => numberOf(cells[at] as string) === undefined);
    if (wrong === undefined) return false;
    // An empty cell in the first record may be a column without a name or a row without a value.
    if (cells[wrong] === "") throw this.noValue(record.line, wrong, HEADER_HINT);
    const cell = cells[wrong] as string;
    if (this.options.missing === "skip" && isMissing(cell))
      throw this.noNumber(record.line, wrong, cell, " (use --header no if line 1 is a row)");
    return this.refuse(record, wrong, cell);
  }

  private find(record: TableRecord, cells: readonly string[]): number[] {
    const { columns } = this.options;
    if (columns === undefined) return cells.map((_, at) => at);
    return columns.flatMap((column) => {
      const named = this.holdsNames ? this.named(record.line, cells, column) : undefined;
      if (named !== undefined) return [named];
      const [, from, to = from] = POSITIONS.exec(column) ?? [];
      if (from === undefined)
        throw new FormatError(
          `${this.name}: no column is named ${quoted(column)}, expected one of ${cells.slice(0, 20).map(quoted).join(", ")}`,
          record.line,
        );
      if (Number(to) > cells.length) throw this.tooFew(record, cells, Number(to));
      return Array.from({ length: Number(to) - Number(from) + 1 }, (_, k) => Number(from) - 1 + k);
    });
  }

  // The column with this name, if there is one. A column whose name is a number takes precedence over that position. numpy.savetxt writes
  // its header as a comment.
  private named(line: number, cells: readonly string[], column: string): number | undefined {
    const numbers = cells.flatMap((each, at) => (each === column || (at === 0 && each.replace(/^#\s*/, "") === column) ? [at + 1] : []));
    if (numbers.length <= 1) return numbers[0] === undefined ? undefined : numbers[0] - 1;
    const listed = `${numbers.slice(0, -1).join(", ")} and ${numbers.at(-1)}`;
    throw new FormatError(
      `${this.name}: line ${line} has the name ${quoted(column)} in columns ${listed}, expected it once (or use a column number)`,
      line,
    );
  }

  /** The cells of a record. Throws if there are others than in the first: empty ones at the end, unless all columns are wanted. */
  checkedCells(record: TableRecord): string[] {
    const cells = this.cells(record);
    const { length } = cells;
    if (length === this.count) return cells;
    if (length > this.count && this.options.columns !== undefined && cells.slice(this.count).every((cell) => cell === "")) return cells;
    const { line } = record;
    throw new FormatError(`${this.name}: line ${line} has ${length} columns, expected ${this.count} (as in the lines before)`, line);
  }

  /** Throws unless missing values are skipped. */
  checkMissing(line: number, at: number, cell: string, hint = "", expected = "a number"): void {
    if (this.options.missing === "skip") return;
    if (cell === "") throw this.noValue(line, at, hint, expected);
    throw this.noNumber(line, at, cell, hint);
  }

  /** Throws the error for a cell that is no number. */
  refuse({ line, isFirst }: TableRecord, at: number, cell: string): never {
    throw this.noNumber(line, at, cell, isFirst && this.options.header === undefined ? HEADER_HINT : this.hintFor(cell));
  }

  // The error for a first record with too few columns.
  private tooFew({ line }: TableRecord, cells: readonly string[], needed: number): FormatError {
    const isYear = !this.holdsNames && cells.some((cell) => this.options.columns?.includes(cell));
    return new FormatError(
      `${this.name}: line ${line} has ${cells.length} columns, expected at least ${needed}${isYear ? HEADER_HINT : ""}`,
      line,
    );
  }

  // What to do about numbers with another delimiter between them, or with a decimal comma.
  private hintFor(cell: string): string {
    const { delimiter } = this;
    if (/^[+-]?\d+,\d+$/.test(cell) && delimiter !== BLANKS && delimiter !== ",") return " (with a decimal point)";
    const delimiters = [",", ";", "\t", "|"].filter((each) => each !== delimiter && cell.includes(each));
    const [found] = [...delimiters, ...(/\s/.test(cell) ? [BLANKS] : [])].filter((each) =>
      cell.split(each === BLANKS ? /\s+/ : each).every((word) => numberOf(word.trim()) !== undefined),
    );
    return found === undefined ? "" : ` (use --delimiter ${found === BLANKS ? found : JSON.stringify(found)} for several columns)`;
  }

  private noNumber(line: number, at: number, cell: string, hint: string): FormatError {
    return new FormatError(`${this.name}: line ${line} has ${quoted(cell)} in column ${at + 1}, expected a number${hint}`, line);
  }

  private noValue(line: number, at: number, hint: string, expected = "a number"): FormatError {
    return new FormatError(`${this.name}: line ${line} has no value in column ${at + 1}, expected ${expected}${hint}`, line);
  }
}
