// Comma-separated values as in RFC 4180: one column for reductions, a whole table for systems. As in Python's csv module, a quote opens
// a quoted field only as the first character of the field; anywhere else it is text, such as the inches of 5" pipe. Lines without
// quotes, nearly all lines of a file of numbers, are split by searching for the delimiter.
import { allocate, free } from "../../api/memory.ts";
import { FormatError } from "../../arrays/errors.ts";
import { matrix } from "../../arrays/matrix.ts";
import type { Matrix } from "../../arrays/types.ts";
import { newVector } from "../../arrays/vectors.ts";
import { numberOf, quoted } from "../../files/lines.ts";
import { CHUNK } from "./chunks.ts";

const MAX_RECORD = 2 ** 20; // characters: an unclosed quote must not hold the whole file in memory

export interface CsvOptions {
  /** The name of a column, or its number from 1; default: the first. */
  readonly column?: string | undefined;
  /** Default: a comma, or a tab if the file name ends in .tsv. */
  readonly delimiter?: string | undefined;
  /** Whether the first record holds names; default: decided by its content. */
  readonly header?: "yes" | "no" | undefined;
  /** How to treat an empty cell; default: refuse it. */
  readonly missing?: "refuse" | "skip" | undefined;
}

/** A column number, not a name. */
export const COLUMN_NUMBER = /^[1-9]\d{0,8}$/;

// A malformed number must not pass for a name: its record would silently be left out of the sum.
const NAME = /^[^\p{L}\p{N}.+-]*[\p{L}_]/u;
const MISSING = /^#?(?:na|n\/a|n\.a\.|null|none|nil)$/i;
export const isName = (word: string): boolean => NAME.test(word) && !MISSING.test(word) && numberOf(word) === undefined;

/**
 * The numbers of one column. The first record may hold names. A skipped empty cell keeps its row, so that the rows of two files stay
 * aligned: its value is -0, which changes no sum, and `gaps` lists its index in the current chunk.
 */
export async function* csvChunks(
  name: string,
  bytes: AsyncIterable<Uint8Array>,
  options: CsvOptions,
  gaps: number[] = [],
): AsyncGenerator<Float64Array> {
  const { delimiter = separatorOf(name), column = "1", header, missing = "refuse" } = options;
  const number = COLUMN_NUMBER.test(column) ? Number(column) - 1 : undefined;
  const buffer = allocate(CHUNK);
  const records = new Records(name, delimiter);
  let filled = 0;
  let at = number ?? 0;
  gaps.length = 0; // an abandoned pass may have left some

  const gap = (line: number): number => {
    if (missing === "refuse") throw emptyCell(name, line, at, " (--missing skip leaves it out)");
    gaps.push(filled);
    return -0;
  };
  const cellOf = ({ text, line, isFirst }: Records): string => {
    const field = fieldAt(text, delimiter, at);
    if (field !== undefined) return field.trim();
    const all = fields(text, delimiter);
    const hint = isFirst && all.some((each) => each.trim() === column) ? HEADER_HINT : "";
    throw new FormatError(`${name}: line ${line} has ${all.length} columns, expected at least ${at + 1}${hint}`, line);
  };
  const isHeader = (record: Records): boolean => {
    if (header === "yes" || number === undefined) {
      at = columnNamed(name, record.line, column, number, fields(record.text, delimiter));
      return true;
    }
    if (header === "no") return false;
    const cell = cellOf(record);
    // An empty cell in the first record may be a column without a name or a row without a value.
    if (cell === "") throw emptyCell(name, record.line, at, HEADER_HINT);
    return isName(cell);
  };
  const numberIn = (record: Records): number => {
    const cell = cellOf(record);
    if (cell === "") return gap(record.line);
    const value = numberOf(cell);
    if (value !== undefined) return value;
    const hint = record.isFirst && header === undefined ? HEADER_HINT : "";
    throw new FormatError(`${name}: line ${record.line} has ${quoted(cell)} in column ${at + 1}, expected a number${hint}`, record.line);
  };

  try {
    for await (const piece of withEnd(bytes))
      for (const record of piece === undefined ? records.end() : records.push(piece)) {
        if (record.isFirst && isHeader(record)) continue;
        for (let k = record.emptyRows; k >= 0; k--) {
          buffer[filled] = k > 0 ? gap(record.line - k) : numberIn(record);
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

export const HEADER_HINT = " (use --header yes if line 1 holds names)";

export function emptyCell(name: string, line: number, at: number, hint = ""): FormatError {
  return new FormatError(`${name}: line ${line} has no value in column ${at + 1}, expected a number${hint}`, line);
}

// The pieces, then undefined.
async function* withEnd(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array | undefined> {
  yield* pieces;
  yield undefined;
}

/** The whole table as a matrix. The first record is skipped if all its cells are names. */
export async function csvMatrix(name: string, bytes: AsyncIterable<Uint8Array>): Promise<Matrix> {
  const delimiter = separatorOf(name);
  const records = new Records(name, delimiter);
  const rows: Float64Array[] = [];
  const take = ({ text, line, isFirst, emptyRows }: Records): void => {
    const words = fields(text, delimiter).map((field) => field.trim());
    if (isFirst && words.every(isName)) return;
    if (emptyRows > 0) throw emptyCell(name, line - emptyRows, 0);
    const values = words.map((word) => numberOf(word));
    const wrong = values.indexOf(undefined);
    if (words[wrong] === "") throw emptyCell(name, line, wrong);
    if (wrong >= 0)
      throw new FormatError(`${name}: line ${line} has ${quoted(words[wrong] as string)} in column ${wrong + 1}, expected a number`, line);
    const expected = rows[0]?.length ?? values.length;
    if (values.length !== expected)
      throw new FormatError(`${name}: line ${line} has ${values.length} columns, expected ${expected} (as in the lines before)`, line);
    rows.push(Float64Array.from(values as number[]));
  };
  for await (const piece of withEnd(bytes)) for (const record of piece === undefined ? records.end() : records.push(piece)) take(record);
  const cols = rows[0]?.length ?? 0;
  const data = newVector(name, new Float64Array(0), rows.length * cols);
  for (const [i, row] of rows.entries()) data.set(row, i * cols);
  return matrix(data, rows.length, cols);
}

export const separatorOf = (name: string): string => (/\.tsv$/i.test(name) ? "\t" : ",");

// The index of a column. A column whose name is that number takes precedence over the column number.
export function columnNamed(name: string, line: number, column: string, number: number | undefined, cells: readonly string[]): number {
  const names = cells.map((cell) => cell.trim());
  const numbers = names.flatMap((each, at) => (each === column ? [at + 1] : []));
  if (numbers.length > 1) {
    const listed = `${numbers.slice(0, -1).join(", ")} and ${numbers.at(-1)}`;
    throw new FormatError(
      `${name}: line ${line} has the name ${quoted(column)} in columns ${listed}, expected it once (or use a column number)`,
      line,
    );
  }
  if (numbers[0] !== undefined) return numbers[0] - 1;
  if (number !== undefined) return number;
  const known = names.slice(0, 20).map(quoted);
  throw new FormatError(`${name}: no column is named ${quoted(column)}, expected one of ${known.join(", ")}`, line);
}

// Splits text that arrives in pieces into records. A line break inside a quoted field does not end a record. Blank lines are ignored,
// except that in a file with one column, a blank line before a record is a row with an empty cell. (Blank lines after the last record
// count as the end of the file; no row moves if they were meant as rows.) Every record is yielded as this same object, so that a record
// costs no allocation.
class Records {
  private readonly decoder = new TextDecoder();
  private rest = "";
  private next = 1; // the line where the next record begins
  private blanks = 0; // blank lines since the last record
  private columns = 0; // fields of the first record
  text = "";
  /** The line where this record begins. */
  line = 0;
  isFirst = false;
  /** How many of the lines just before this record are rows with an empty cell. */
  emptyRows = 0;

  constructor(
    private readonly name: string,
    private readonly delimiter: string,
  ) {}

  *push(piece: Uint8Array): Generator<this> {
    const text = this.rest + this.decoder.decode(piece, { stream: true });
    let from = 0;
    let open = false;
    for (let line = 0, to = text.indexOf("\n"); to >= 0; line = to + 1, to = text.indexOf("\n", line)) {
      open = endsOpen(text.slice(line, to), this.delimiter, open);
      if (open) continue;
      if (this.take(text.slice(from, to))) yield this;
      from = to + 1;
    }
    this.rest = text.slice(from);
    if (this.rest.length > MAX_RECORD) this.fail(`more than ${MAX_RECORD} characters`, "a shorter record");
  }

  *end(): Generator<this> {
    this.rest += this.decoder.decode();
    // Any line break in the rest is inside quotes; otherwise it would have ended a record.
    if (endsOpen(this.rest, this.delimiter, false)) this.fail("an unclosed quote", "a closing quote");
    if (this.take(this.rest)) yield this;
  }

  private take(text: string): boolean {
    this.text = text.endsWith("\r") ? text.slice(0, -1) : text;
    this.line = this.next;
    if (this.text.includes("\r")) this.text = this.withoutReturns(this.text);
    this.next += text.includes("\n") ? text.split("\n").length : 1; // splitting every line took a third of the time
    // A tab is white space, but may be the delimiter.
    if (this.text.trim() === "" && !this.text.includes(this.delimiter)) {
      this.blanks++;
      return false;
    }
    this.isFirst = this.columns === 0;
    if (this.isFirst) this.columns = fields(this.text, this.delimiter).length;
    this.emptyRows = this.columns === 1 ? this.blanks : 0;
    this.blanks = 0;
    return true;
  }

  // Several carriage returns before a line feed count as one; inside a quoted field they are text.
  private withoutReturns(text: string): string {
    const record = text.replace(/\r+$/, "");
    const raw = rawFields(record, this.delimiter) as string[];
    if (raw.some((field) => field.slice(quotedLength(field)).includes("\r")))
      this.fail("a carriage return without a line feed", "lines that end in LF or CR LF");
    return record;
  }

  private fail(found: string, expected: string): never {
    throw new FormatError(`${this.name}: line ${this.next} has ${found}, expected ${expected}`, this.next);
  }
}

// Whether a quoted field is open at the end of a line; `open` says whether one is open at its start. Such a line is split as if it
// began with the opening quote.
function endsOpen(line: string, delimiter: string, open: boolean): boolean {
  return (open || line.includes('"')) && rawFields(open ? `"${line}` : line, delimiter) === undefined;
}

function fieldAt(text: string, delimiter: string, column: number): string | undefined {
  if (text.includes('"')) return fields(text, delimiter)[column];
  let from = 0;
  for (let k = 0; k < column; k++) {
    const to = text.indexOf(delimiter, from);
    if (to < 0) return undefined;
    from = to + delimiter.length;
  }
  const to = text.indexOf(delimiter, from);
  return to < 0 ? text.slice(from) : text.slice(from, to);
}

function fields(text: string, delimiter: string): string[] {
  return (rawFields(text, delimiter) as string[]).map(unquoted);
}

// The raw fields, quotes included; undefined if the last field is quoted and not closed.
function rawFields(text: string, delimiter: string): string[] | undefined {
  const parts: string[] = [];
  for (let from = 0; ; ) {
    const quotes = text[from] === '"' ? afterQuoted(text, from + 1) : from;
    if (quotes < 0) return undefined;
    const to = text.indexOf(delimiter, quotes);
    parts.push(to < 0 ? text.slice(from) : text.slice(from, to));
    if (to < 0) return parts;
    from = to + delimiter.length;
  }
}

// The index after the quote that closes a field, searched from `from` on; -1 if there is none. A doubled quote is text.
function afterQuoted(text: string, from: number): number {
  let at = text.indexOf('"', from);
  while (at >= 0 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at < 0 ? -1 : at + 1;
}

const quotedLength = (field: string): number => (field.startsWith('"') ? afterQuoted(field, 1) : 0);

// Text after the closing quote makes the field invalid as a number: "1"2 must not be read as 12. The message shows it unchanged.
function unquoted(field: string): string {
  const length = quotedLength(field);
  return length === 0 || field.slice(length).trim() !== "" ? field : field.slice(1, length - 1).replaceAll('""', '"');
}
