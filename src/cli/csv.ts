import { newVector } from "../dense/vectors.ts";
import { FormatError } from "../errors.ts";
import { numberOf, quoted } from "../files/lines.ts";
import { matrix } from "../matrix.ts";
import { allocate, free } from "../memory.ts";
import type { Matrix } from "../types.ts";
import { CHUNK } from "./chunks.ts";

// Comma-separated values as in RFC 4180: one column for the reductions, a whole table for systems. As in Python's csv module, a
// quote opens a quoted field only as the first character of the field; anywhere else it is text, such as the inches of 5" pipe.
// Lines without quotes, nearly all lines of a file of numbers, are split by a search for the delimiter.

const LONGEST = 2 ** 20; // characters in a record: a quote that is never closed must not keep the whole file

export interface CsvOptions {
  /** The name of a column, or its place from 1; the first unless said otherwise. */
  readonly column?: string | undefined;
  /** A comma unless said otherwise; in a file whose name ends in .tsv a tab. */
  readonly delimiter?: string | undefined;
  /** Whether the first record is one of names; unless said, what it holds tells. */
  readonly header?: "yes" | "no" | undefined;
}

/** A place of a column, not a name. */
export const PLACE = /^[1-9]\d{0,8}$/;

// What looks like a number that went wrong must not be taken for a name: the record would be left out of the sum without a word.
const NAME = /^[^\p{L}\p{N}.+-]*[\p{L}_]/u;
const MISSING = /^#?(?:na|n\/a|n\.a\.|null|none|nil)$/i;
const isName = (word: string): boolean => NAME.test(word) && !MISSING.test(word) && numberOf(word) === undefined;

/** The numbers of one column. The first record may be one of names. */
export async function* csvChunks(name: string, bytes: AsyncIterable<Uint8Array>, options: CsvOptions): AsyncGenerator<Float64Array> {
  const { delimiter = separatorOf(name), column = "1", header } = options;
  const place = PLACE.test(column) ? Number(column) - 1 : undefined;
  const buffer = allocate(CHUNK);
  const all = new Records(name, delimiter);
  let filled = 0;
  let at = place ?? 0;
  let first = true;
  // Takes a record; true if that makes a chunk full.
  const take = ({ text, line }: Records): boolean => {
    const isFirst = first;
    first = false;
    if (isFirst && (header === "yes" || place === undefined)) {
      at = columnNamed(name, column, place, fields(text, delimiter));
      return false;
    }
    const field = fieldAt(text, delimiter, at);
    if (field === undefined) {
      const all = fields(text, delimiter);
      const hint = isFirst && all.some((each) => each.trim() === column) ? ` (--header yes, if this is a line of names)` : "";
      throw new FormatError(`${name}: line ${line} has ${all.length} columns, expected at least ${at + 1}${hint}`, line);
    }
    const word = field.trim();
    const value = numberOf(word);
    if (value === undefined) {
      if (isFirst && header === undefined && isName(word)) return false;
      const hint = isFirst && header === undefined ? ` (--header yes, if this is a line of names)` : "";
      throw new FormatError(`${name}: line ${line} has ${quoted(word)} in column ${at + 1}, expected a number${hint}`, line);
    }
    buffer[filled++] = value;
    return filled === CHUNK;
  };
  try {
    for await (const piece of bytes)
      for (const record of all.push(piece))
        if (take(record)) {
          yield buffer;
          filled = 0;
        }
    for (const record of all.end()) take(record);
    if (filled > 0) yield buffer.subarray(0, filled);
  } finally {
    free(buffer);
  }
}

/** The whole table as a matrix; the first record may be one of names, and of nothing else. */
export async function csvMatrix(name: string, bytes: AsyncIterable<Uint8Array>): Promise<Matrix> {
  const delimiter = separatorOf(name);
  const all = new Records(name, delimiter);
  const rows: Float64Array[] = [];
  let first = true;
  const take = ({ text, line }: Records): void => {
    const words = fields(text, delimiter).map((field) => field.trim());
    const values = words.map((word) => numberOf(word));
    const wrong = values.indexOf(undefined);
    const isFirst = first;
    first = false;
    if (isFirst && words.every(isName)) return;
    if (wrong >= 0)
      throw new FormatError(`${name}: line ${line} has ${quoted(words[wrong] as string)} in column ${wrong + 1}, expected a number`, line);
    const expected = rows[0]?.length ?? values.length;
    if (values.length !== expected)
      throw new FormatError(`${name}: line ${line} has ${values.length} columns, expected ${expected} (as the lines before)`, line);
    rows.push(Float64Array.from(values as number[]));
  };
  for await (const piece of bytes) for (const record of all.push(piece)) take(record);
  for (const record of all.end()) take(record);
  const cols = rows[0]?.length ?? 0;
  const data = newVector(name, new Float64Array(0), rows.length * cols);
  for (const [i, row] of rows.entries()) data.set(row, i * cols);
  return matrix(data, rows.length, cols);
}

const separatorOf = (name: string): string => (/\.tsv$/i.test(name) ? "\t" : ",");

// A name that is a number comes before the place of that number.
function columnNamed(name: string, column: string, place: number | undefined, names: readonly string[]): number {
  const found = names.map((each) => each.trim()).indexOf(column);
  if (found >= 0) return found;
  if (place !== undefined) return place;
  const known = names.slice(0, 20).map((each) => quoted(each.trim()));
  throw new FormatError(`${name}: no column is named ${quoted(column)}, expected one of ${known.join(", ")}`, 1);
}

// Splits a text that comes in pieces into records, and skips blank lines. A line end within a quoted field does not end a record.
// The same object is yielded for every record, so that a record costs no object.
class Records {
  private readonly decoder = new TextDecoder();
  private rest = "";
  private next = 1; // the line on which the next record begins
  text = "";
  /** The line on which this one begins. */
  line = 0;

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
    if (this.rest.length > LONGEST) this.fail(`more than ${LONGEST} characters`, "a shorter record");
  }

  *end(): Generator<this> {
    this.rest += this.decoder.decode();
    // Every line end in the rest is within quotes, or it would have ended a record.
    if (endsOpen(this.rest, this.delimiter, false)) this.fail("a quote that is not closed", "a closing quote");
    if (this.take(this.rest)) yield this;
  }

  private take(text: string): boolean {
    this.text = text.endsWith("\r") ? text.slice(0, -1) : text;
    this.line = this.next;
    if (this.text.includes("\r")) this.text = this.withoutReturns(this.text);
    this.next += text.split("\n").length;
    return this.text.trim() !== "";
  }

  // Several before a line feed mean no more than one; within a quoted field they are text.
  private withoutReturns(text: string): string {
    const record = text.replace(/\r+$/, "");
    const raw = rawFields(record, this.delimiter) as string[];
    if (raw.some((field) => field.slice(quotedLength(field)).includes("\r")))
      this.fail("a carriage return without a line feed", "lines that end in a line feed, with a carriage return before it or not");
    return record;
  }

  private fail(found: string, expected: string): never {
    throw new FormatError(`${this.name}: line ${this.next} has ${found}, expected ${expected}`, this.next);
  }
}

// Whether a quoted field is open at the end of a line; `open` says whether one is at its beginning. Such a line is split as if the
// opening quote stood before it.
function endsOpen(line: string, delimiter: string, open: boolean): boolean {
  return (open || line.includes('"')) && rawFields(open ? `"${line}` : line, delimiter) === undefined;
}

function fieldAt(text: string, delimiter: string, place: number): string | undefined {
  if (text.includes('"')) return fields(text, delimiter)[place];
  let from = 0;
  for (let k = 0; k < place; k++) {
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

// The fields as they are written, quotes included; undefined if the last one is quoted and not closed.
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

// The place after the quote that closes a field, searched from `from` on; -1 if there is none. A doubled quote is text.
function afterQuoted(text: string, from: number): number {
  let at = text.indexOf('"', from);
  while (at >= 0 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at < 0 ? -1 : at + 1;
}

const quotedLength = (field: string): number => (field.startsWith('"') ? afterQuoted(field, 1) : 0);

// Text after the closing quote makes the field invalid as a number: "1"2 must not be read as 12. It is left as it is, for the message.
function unquoted(field: string): string {
  const length = quotedLength(field);
  return length === 0 || field.slice(length).trim() !== "" ? field : field.slice(1, length - 1).replaceAll('""', '"');
}
