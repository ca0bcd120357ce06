import { newVector } from "../dense/vectors.ts";
import { FormatError } from "../errors.ts";
import { numberOf, quoted } from "../files/lines.ts";
import { matrix } from "../matrix.ts";
import { allocate, free } from "../memory.ts";
import type { Matrix } from "../types.ts";
import { CHUNK } from "./chunks.ts";

// Comma-separated values as in RFC 4180, one column of them. Lines without quotes, which is nearly all of them where there are
// numbers, are cut by a search for the separator.

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
  const all = new Records(name);
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
  const all = new Records(name);
  const delimiter = separatorOf(name);
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

// Cuts a text in pieces into the records that are not blank. A line end within quotes does not end a record. One object serves for
// all of them.
class Records {
  private readonly decoder = new TextDecoder();
  private rest = "";
  private next = 1; // the line on which the next record begins
  text = "";
  /** The line on which this one begins. */
  line = 0;

  constructor(private readonly name: string) {}

  *push(piece: Uint8Array): Generator<this> {
    const text = this.rest + this.decoder.decode(piece, { stream: true });
    let from = 0;
    let open = false;
    for (let line = 0, to = text.indexOf("\n"); to >= 0; line = to + 1, to = text.indexOf("\n", line)) {
      if (isOpen(text.slice(line, to))) open = !open;
      if (open) continue;
      if (this.take(text.slice(from, to))) yield this;
      from = to + 1;
    }
    this.rest = text.slice(from);
    if (this.rest.length > LONGEST) this.fail(`more than ${LONGEST} characters`, "at most so many");
  }

  *end(): Generator<this> {
    this.rest += this.decoder.decode();
    if (isOpen(this.rest)) this.fail("a quote that is not closed", "another");
    if (this.take(this.rest)) yield this;
  }

  private take(text: string): boolean {
    this.text = text.endsWith("\r") ? text.slice(0, -1) : text;
    this.line = this.next;
    if (this.text.includes("\r")) this.text = this.withoutReturns(this.text);
    this.next += text.split("\n").length;
    return this.text.trim() !== "";
  }

  // Several before a line feed mean no more than one; within quotes they are text.
  private withoutReturns(text: string): string {
    const record = text.replace(/\r+$/, "");
    if (record.replace(/"[^"]*"/g, "").includes("\r"))
      this.fail("a carriage return without a line feed", "lines that end in a line feed, with a carriage return before it or not");
    return record;
  }

  private fail(found: string, expected: string): never {
    throw new FormatError(`${this.name}: line ${this.next} has ${found}, expected ${expected}`, this.next);
  }
}

// Whether a quote is open at the end: those within a field are doubled.
function isOpen(text: string): boolean {
  let open = false;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) open = !open;
  return open;
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
  const parts: string[] = [];
  let begun: string[] = []; // the pieces of a field
  let open = false;
  for (const piece of text.split(delimiter)) {
    begun.push(piece);
    if (isOpen(piece)) open = !open;
    if (open) continue;
    parts.push(unquoted(begun.join(delimiter)));
    begun = [];
  }
  return parts;
}

function unquoted(field: string): string {
  const text = field.trim();
  return text.length > 1 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1).replaceAll('""', '"') : field;
}
