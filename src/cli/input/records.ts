// Splits text that arrives in pieces into the records of a table. csv.ts reads them.
import { FormatError } from "../../arrays/errors.ts";
import type { Dialect } from "./dialects.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for; white space is none of them
const CONTROL = /[\x00-\x08\x0e-\x1f]/;

/** The first control character in a text as U+0000, unless it is the delimiter or white space. A file with others is not a table. */
export function controlIn(text: string, delimiter: string): string | undefined {
  if (!CONTROL.test(text)) return undefined;
  const found = CONTROL.exec(delimiter === "" ? text : text.replaceAll(delimiter, " "))?.[0];
  return found === undefined ? undefined : `U+${found.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
}

/** The error for a file that begins with the byte order mark of UTF-16; undefined for another. */
export function otherEncoding(name: string, start: Uint8Array): FormatError | undefined {
  const mark = 256 * (start[0] as number) + (start[1] as number);
  return mark === 0xfffe || mark === 0xfeff ? new FormatError(`${name} is UTF-16, expected UTF-8`, 1) : undefined;
}

const MAX_RECORD = 2 ** 20; // characters: an unclosed quote must not hold the whole file in memory

/**
 * The records of a table. A line break inside a quoted field does not end a record. Blank lines are ignored, except that in a file with one
 * column, a blank line before a record is a row with an empty cell. (Blank lines after the last record count as the end of the file; no row
 * moves if they were meant as rows.) Every record is yielded as this same object, so that a record costs no allocation.
 */
export class Records {
  private readonly decoder = new TextDecoder();
  private readonly start = new Uint8Array(2); // the first bytes of the file, of which `begun` have come
  private begun = 0;
  private hasControl = false; // whether a piece so far has a control character
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

  /** `names` says whether the first record is known to hold names. */
  constructor(
    private readonly name: string,
    private readonly dialect: Dialect,
    private readonly names: boolean,
  ) {}

  *push(piece: Uint8Array): Generator<this> {
    for (let k = 0; this.begun < 2 && k < piece.length; k++) this.start[this.begun++] = piece[k] as number;
    const error = otherEncoding(this.name, this.start);
    if (error !== undefined) throw error;
    const decoded = this.decoder.decode(piece, { stream: true });
    this.hasControl ||= CONTROL.test(decoded);
    const text = this.rest + decoded;
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
    const control = this.hasControl ? controlIn(text, this.dialect.delimiter) : undefined;
    if (control !== undefined) this.fail(`the control character ${control}`, "text");
    if (this.text.includes("\r")) this.text = this.withoutReturns(this.text);
    this.next += text.includes("\n") ? text.split("\n").length : 1; // splitting every line took a third of the time
    if (this.columns === 0 && this.names) this.text = this.dialect.nameLine(this.text);
    if (this.dialect.isBlank(this.text)) {
      this.blanks++;
      return false;
    }
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
