// Splits text that arrives in pieces into the records of a table. csv.ts reads them.
import { FormatError } from "../../arrays/errors.ts";
import type { Dialect } from "./dialects.ts";

const MAX_RECORD = 2 ** 20; // characters: an unclosed quote must not hold the whole file in memory

/**
 * The records of a table. A line break inside a quoted field does not end a record. Blank lines are ignored, except that in a file with one
 * column, a blank line before a record is a row with an empty cell. (Blank lines after the last record count as the end of the file; no row
 * moves if they were meant as rows.) Every record is yielded as this same object, so that a record costs no allocation.
 */
export class Records {
  private readonly decoder = new TextDecoder();
  private rest = "";
  private next = 1; // the line where the next record begins
  private blanks = 0; // blank lines since the last record
  private columns = 0; // fields of the first record
  text = "";
  /** The line where this record begins. */
  line = 0;
  isFirst = false;
  isSecond = false;
  /** How many of the lines just before this record are rows with an empty cell. */
  emptyRows = 0;

  /** `names` says whether the first record is known to hold names. */
  constructor(
    private readonly name: string,
    private readonly dialect: Dialect,
    private readonly names: boolean,
  ) {}

  *push(piece: Uint8Array): Generator<this> {
    const text = this.rest + this.decoder.decode(piece, { stream: true });
    let from = 0;
    let open = false;
    for (let line = 0, to = text.indexOf("\n"); to >= 0; line = to + 1, to = text.indexOf("\n", line)) {
      open = this.dialect.endsOpen(text.slice(line, to), open);
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
    if (this.dialect.endsOpen(this.rest, false)) this.fail("an unclosed quote", "a closing quote");
    if (this.take(this.rest)) yield this;
  }

  private take(text: string): boolean {
    this.text = text.endsWith("\r") ? text.slice(0, -1) : text;
    this.line = this.next;
    if (this.text.includes("\r")) this.text = this.withoutReturns(this.text);
    this.next += text.includes("\n") ? text.split("\n").length : 1; // splitting every line took a third of the time
    if (this.columns === 0 && this.names) this.text = this.dialect.nameLine(this.text);
    if (this.dialect.isBlank(this.text)) {
      this.blanks++;
      return false;
    }
    this.isSecond = this.isFirst;
    this.isFirst = this.columns === 0;
    if (this.isFirst) this.columns = this.dialect.fields(this.text).length;
    this.emptyRows = this.columns === 1 && this.dialect.hasEmptyCells ? this.blanks : 0;
    this.blanks = 0;
    return true;
  }

  // Several carriage returns before a line feed count as one; inside a quoted field they are text.
  private withoutReturns(text: string): string {
    const record = text.replace(/\r+$/, "");
    if (this.dialect.hasReturn(record)) this.fail("a carriage return without a line feed", "lines that end in LF or CR LF");
    return record;
  }

  private fail(found: string, expected: string): never {
    throw new FormatError(`${this.name}: line ${this.next} has ${found}, expected ${expected}`, this.next);
  }
}
