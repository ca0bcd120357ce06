// Rows of a table at the level of bytes: some columns of numbers, and the group of each row by other columns. The commands of statistics use
// it: 1 GB of text must not become 1 GB of strings. A record is read in one pass over its bytes if it is ordinary. Any other (names,
// empty cells, NaN, quoted line breaks, control characters, anything wrong) becomes text and is read as csv.ts reads it, with the same result or error.
import { isUtf8 } from "node:buffer";
import { FormatError } from "../../arrays/errors.ts";
import { numberOf } from "../../files/lines.ts";
import { BLANKS, type CsvOptions, isMissing, Table, type TableRecord } from "./csv.ts";
import { decimalAt, decimalEnd } from "./decimals.ts";
import { Keys } from "./keys.ts";
import { controlIn, otherEncoding } from "./records.ts";

const LF = 0x0a;
const CR = 0x0d;
const QUOTE = 0x22;
const SPACE = 0x20;
const MAX_RECORD = 2 ** 20; // bytes: an unclosed quote must not hold the whole file in memory
const ODD = -1;
const HINT = " (--missing skip leaves it out)";
// Bytes that a number consists of: as a delimiter they would be read as part of it.
const NUMERIC = /^[-+.eE0-9]$/;

/** Receives a row: its group, and the numbers in the order of their columns; the array is valid during the call. */
export type TakeRow = (group: number, numbers: Float64Array) => void;

/** The columns to read, each by name or by its position from 1. */
export interface Columns {
  readonly by: readonly string[];
  readonly numbers: readonly string[];
}

/** Reads a table from pieces of bytes. */
export class RowScanner {
  private buffer = new Uint8Array(2 ** 21);
  private filled = 0;
  private line = 1; // of the next record
  private blanks = 0; // blank lines since the last record
  private records = 0; // so far; the first may hold names
  private readonly decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  private readonly table: Table;
  private readonly delimiterBytes: Uint8Array;
  private readonly delimiter: number; // -1 if records cannot be read as bytes
  // The columns to visit, ascending, and for each the index of its number, or ~index of its key.
  private columns = new Int32Array(0);
  private roles = new Int32Array(0);
  private readonly numbers: Float64Array;
  private readonly from: Int32Array; // the bytes of the keys of a row, and their hashes
  private readonly to: Int32Array;
  private readonly hashes: Int32Array;
  /** The groups. */
  readonly keys: Keys;
  /** Rows left out because a value is missing. */
  skipped = 0;

  constructor(
    private readonly name: string,
    private readonly wanted: Columns,
    options: Omit<CsvOptions, "columns">,
    private readonly take: TakeRow,
  ) {
    this.table = new Table(name, { ...options, columns: [...wanted.by, ...wanted.numbers] }, wanted.by.length);
    const { delimiter } = this.table;
    this.delimiterBytes = new TextEncoder().encode(delimiter === BLANKS ? "" : delimiter);
    this.delimiter = this.delimiterBytes.length === 1 && !NUMERIC.test(delimiter) ? (this.delimiterBytes[0] as number) : -1;
    this.numbers = new Float64Array(wanted.numbers.length);
    const [from, to, hashes] = [0, 1, 2].map(() => new Int32Array(wanted.by.length));
    this.from = from as Int32Array;
    this.to = to as Int32Array;
    this.hashes = hashes as Int32Array;
    // A cell that is not UTF-8 has no text, so that its record is read as text and refused: as U+FFFD, several cells would look the same.
    const textOf = (cell: Uint8Array): string => this.table.dialect.fields(this.decoder.decode(cell))[0]?.trim() ?? "";
    this.keys = new Keys(wanted.by.length, (cell) => (isUtf8(cell) ? textOf(cell) : ""));
  }

  /** The names of the columns of --by, then of the numbers, as line 1 has them; positions if it has none. */
  get names(): readonly string[] {
    return this.table.names;
  }

  /** Reads the records that end in this piece. */
  push(piece: Uint8Array): void {
    const needed = this.filled + piece.length + 1;
    if (needed > this.buffer.length) {
      const larger = new Uint8Array(2 * needed);
      larger.set(this.buffer.subarray(0, this.filled));
      this.buffer = larger;
    }
    this.buffer.set(piece, this.filled);
    this.filled += piece.length;
    this.run(false);
  }

  /** Reads the last record, which may have no line end. */
  end(): void {
    if (this.filled > 0 && this.buffer[this.filled - 1] !== LF) this.push(Uint8Array.of(LF));
    this.run(true);
    this.table.end(this.records === 1);
  }

  private run(isLast: boolean): void {
    const { buffer } = this;
    const end = buffer.subarray(0, this.filled).lastIndexOf(LF) + 1;
    const error = this.line === 1 && this.filled > 1 ? otherEncoding(this.name, buffer) : undefined;
    if (error !== undefined) throw error;
    let at = this.line === 1 && this.filled > 2 && startsWithMark(buffer) ? 3 : 0;
    while (at < end) {
      let next = this.records > 1 && this.delimiter >= 0 ? this.ordinaryRecord(at) : ODD;
      if (next === ODD) {
        next = this.endOf(at, end);
        if (next < 0) {
          if (isLast) this.fail("an unclosed quote", "a closing quote");
          break;
        }
        this.oddRecord(buffer.subarray(at, next));
        next++;
      } else this.line++;
      at = next;
    }
    buffer.copyWithin(0, at, this.filled);
    this.filled -= at;
    if (this.filled > MAX_RECORD) this.fail(`more than ${MAX_RECORD} bytes`, "a shorter record");
  }

  /**
   * The record at this position, which ends before the next line feed: the position after it, or ODD, and then nothing has been done. Bytes
   * above `top` cannot end a field: that spares most of them two comparisons. A control character ends it as if it were a line end.
   */
  private ordinaryRecord(start: number): number {
    const { buffer: bytes, columns, roles, numbers } = this;
    const { delimiter } = this;
    const blank = delimiter === SPACE ? ODD : SPACE;
    const top = Math.max(delimiter, SPACE - 1);
    let at = start;
    let byte = bytes[at] as number;
    if (byte === LF) {
      this.blanks++;
      return at + 1;
    }
    let column = 0;
    let field = at; // where this column begins
    for (let k = 0; k < columns.length; k++) {
      while (column < (columns[k] as number)) {
        byte = bytes[at] as number;
        if (byte === QUOTE) {
          at = afterQuoted(bytes, at);
          if (at < 0) return ODD;
          byte = bytes[at] as number;
        }
        while (byte > top || (byte !== delimiter && byte >= SPACE)) byte = bytes[++at] as number;
        if (byte !== delimiter) return ODD; // too few columns
        field = ++at;
        column++;
      }
      at = field;
      const role = roles[k] as number;
      byte = bytes[at] as number;
      if (role >= 0) {
        const isQuoted = byte === QUOTE;
        if (isQuoted) at++;
        while (bytes[at] === blank) at++;
        numbers[role] = decimalAt(bytes, at);
        at = decimalEnd;
        if (at < 0) return ODD;
        while (bytes[at] === blank) at++;
        if (isQuoted && bytes[at++] !== QUOTE) return ODD;
        byte = bytes[at] as number;
        if (byte !== delimiter && byte !== LF && byte !== CR) return ODD;
      } else {
        let hash = 0x811c9dc5 | 0;
        if (byte === QUOTE) {
          const end = afterQuoted(bytes, at);
          if (end < 0) return ODD;
          for (; at < end; at++) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
          byte = bytes[at] as number;
        }
        while (byte > top || (byte !== delimiter && byte >= SPACE)) {
          hash = Math.imul(hash ^ byte, 0x01000193);
          byte = bytes[++at] as number;
        }
        this.from[~role] = field;
        this.to[~role] = at;
        this.hashes[~role] = hash;
      }
    }
    for (; ; column++) {
      while (byte > top || (byte !== delimiter && byte >= SPACE)) byte = bytes[++at] as number;
      if (byte !== delimiter) break;
      byte = bytes[++at] as number;
      if (byte !== QUOTE) continue;
      at = afterQuoted(bytes, at);
      if (at < 0) return ODD;
      byte = bytes[at] as number;
    }
    while (byte === CR) byte = bytes[++at] as number;
    if (byte !== LF || column + 1 !== this.table.count) return ODD;
    if (this.blanks > 0) this.emptyRows();
    let group = this.from.length === 0 ? 0 : -1;
    for (let k = 0; k < this.from.length; k++) {
      group = this.keys.find(group, k, bytes, this.from[k] as number, this.to[k] as number, this.hashes[k] as number);
      if (group < 0) return ODD;
    }
    this.take(group, numbers);
    return at + 1;
  }

  // The line feed that ends the record at this position, -1 if it is not there yet.
  private endOf(start: number, end: number): number {
    const { buffer: bytes } = this;
    const { delimiterBytes: delimiter } = this;
    const [first] = delimiter;
    for (let at = start; ; at += delimiter.length) {
      if (bytes[at] === QUOTE && first !== undefined) {
        do at = bytes.indexOf(QUOTE, at + 1) + 1;
        while (at > 0 && at < end && bytes[at] === QUOTE);
        if (at === 0 || at >= end) return -1;
      }
      while (bytes[at] !== LF && !(bytes[at] === first && delimiter.every((byte, i) => bytes[at + i] === byte))) at++;
      if (bytes[at] === LF) return at;
    }
  }

  // A record as text, without its line feed.
  private oddRecord(bytes: Uint8Array): void {
    const { table } = this;
    const whole = this.decoder.decode(bytes);
    const control = controlIn(whole, table.dialect.delimiter);
    if (control !== undefined) this.fail(`the control character ${control}`, "text");
    let text = whole.endsWith("\r") ? whole.slice(0, -1) : whole;
    if (text.includes("\r")) {
      text = text.replace(/\r+$/, ""); // several carriage returns count as one
      if (table.dialect.hasReturn(text)) this.fail("a carriage return without a line feed", "lines that end in LF or CR LF");
    }
    const next = this.line + whole.split("\n").length;
    if (this.records === 0 && table.holdsNames) text = table.dialect.nameLine(text);
    if (table.dialect.isBlank(text)) {
      this.blanks++;
    } else {
      const record = { text, line: this.line, isFirst: this.records === 0 };
      this.records++;
      if (!(record.isFirst && this.begin(record))) {
        if (this.blanks > 0) this.emptyRows();
        this.row(record, bytes);
      }
      this.blanks = 0;
    }
    this.line = next;
  }

  // The first record: what columns there are. Returns whether it holds names.
  private begin(record: TableRecord): boolean {
    const isHeader = this.table.begin(record);
    const texts = this.wanted.by.length;
    const order = this.table.places.map((column, i) => ({ column, role: i < texts ? ~i : i - texts }));
    order.sort((a, b) => a.column - b.column);
    this.columns = Int32Array.from(order, ({ column }) => column);
    this.roles = Int32Array.from(order, ({ role }) => role);
    return isHeader;
  }

  private row(record: TableRecord, bytes: Uint8Array): void {
    const { table } = this;
    const { by } = this.wanted;
    const fields = table.checkedCells(record);
    const cells = table.places.map((at) => fields[at] as string);
    let leavesOut = false;
    for (const [i, cell] of cells.entries()) {
      const column = table.places[i] as number;
      const isText = i < by.length;
      if (isText && cell.includes("\ufffd") && !isUtf8(bytes)) this.fail(`bytes that are not UTF-8 in column ${column + 1}`, "UTF-8 text");
      const number = isText ? undefined : numberOf(cell);
      if (number !== undefined) this.numbers[i - by.length] = number;
      else if (isText ? cell === "" : isMissing(cell)) {
        table.checkMissing(record.line, column, cell, HINT, isText ? "text" : undefined);
        leavesOut = true;
      } else if (!isText) table.refuse(record, column, cell);
    }
    if (leavesOut) {
      this.skipped++;
      return;
    }
    let group = by.length === 0 ? 0 : -1;
    for (let k = 0; k < by.length; k++) group = this.keys.findText(group, k, cells[k] as string);
    this.take(group, this.numbers);
  }

  // In a file with one column, blank lines before a record are rows with an empty cell.
  private emptyRows(): void {
    if (this.table.count === 1 && this.table.dialect.hasEmptyCells)
      for (let k = this.blanks; k > 0; k--) {
        this.table.checkMissing(this.line - k, 0, "", HINT);
        this.skipped++;
      }
    this.blanks = 0;
  }

  private fail(found: string, expected: string): never {
    throw new FormatError(`${this.name}: line ${this.line} has ${found}, expected ${expected}`, this.line);
  }
}

// The position after the quoted text that begins here, ODD if it does not end on this line or has a control character.
function afterQuoted(bytes: Uint8Array, quote: number): number {
  for (let at = quote + 1; ; at++) {
    const byte = bytes[at] as number;
    if (byte < SPACE) return ODD;
    if (byte !== QUOTE) continue;
    if (bytes[at + 1] !== QUOTE) return at + 1;
    at++;
  }
}

// A byte order mark.
const startsWithMark = (bytes: Uint8Array): boolean => bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
