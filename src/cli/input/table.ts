// The columns of a table of text and numbers: where they are, and the errors about its cells. scan.ts reads the records.
import { FormatError } from "../../arrays/errors.ts";
import { numberOf, quoted } from "../../files/lines.ts";
import { COLUMN_NUMBER, type CsvOptions, columnNamed, emptyCell, HEADER_HINT, isName, separatorOf } from "./csv.ts";
import { type Dialect, delimited } from "./dialects.ts";

export type TableOptions = Omit<CsvOptions, "column">;

export class Table {
  readonly dialect: Dialect;
  readonly delimiterBytes: Uint8Array;
  /** The delimiter as a byte, -1 if it is not one. */
  readonly delimiter: number;
  /** The wanted columns, from 0, as soon as the first record is known. */
  places: readonly number[] = [];
  /** Their names. */
  names: readonly string[] = [];
  /** How many columns the first record has. */
  columns = 0;

  constructor(
    private readonly name: string,
    private readonly options: TableOptions,
  ) {
    const { delimiter = separatorOf(name) } = options;
    this.dialect = delimited(delimiter);
    this.delimiterBytes = new TextEncoder().encode(delimiter);
    this.delimiter = this.delimiterBytes.length === 1 ? (this.delimiterBytes[0] as number) : -1;
  }

  get isOpen(): boolean {
    return this.columns > 0;
  }

  /** Finds the wanted columns by the cells of the first record; the first `texts` of them are not numbers. Returns whether it holds names. */
  open(line: number, cells: readonly string[], wanted: readonly string[], texts: number): boolean {
    const { header } = this.options;
    this.columns = cells.length;
    const hasNames = header === "yes" || !wanted.every((column) => COLUMN_NUMBER.test(column));
    this.places = wanted.map((column) => {
      const number = COLUMN_NUMBER.test(column) ? Number(column) - 1 : undefined;
      return hasNames ? columnNamed(this.name, line, column, number, cells) : (number as number);
    });
    for (const at of this.places) if (at >= cells.length) this.tooFew(line, cells, at);
    const numbers = this.places.slice(texts);
    const isHeader = hasNames || (header === undefined && numbers.length > 0 && numbers.every((at) => isName(cells[at] as string)));
    if (!isHeader && header === undefined)
      for (const at of numbers) if (numberOf(cells[at] as string) === undefined) this.refuse(line, at, cells[at] as string, HEADER_HINT);
    this.names = this.places.map((at) => (isHeader && cells[at] !== "" ? (cells[at] as string) : String(at + 1)));
    return isHeader;
  }

  /** Throws unless missing values are skipped. */
  checkMissing(line: number, at: number): void {
    if (this.options.missing !== "skip") throw emptyCell(this.name, line, at, " (--missing skip leaves it out)");
  }

  /** Throws the error for a cell that is no number. */
  refuse(line: number, at: number, cell: string, hint = ""): never {
    if (cell === "") throw emptyCell(this.name, line, at, hint);
    throw new FormatError(`${this.name}: line ${line} has ${quoted(cell)} in column ${at + 1}, expected a number${hint}`, line);
  }

  /** Throws the error for a record without this column. */
  tooFew(line: number, cells: readonly string[], at: number): never {
    throw new FormatError(`${this.name}: line ${line} has ${cells.length} columns, expected at least ${at + 1}`, line);
  }
}
