// The body of a Matrix Market file in coordinate format. Called by matrixMarket.ts.
import { FormatError } from "../arrays/errors.ts";
import { ascending, MAX, prefixSums } from "../arrays/sparse.ts";
import type { Sparse } from "../arrays/types.ts";
import { newIntegers, newVector } from "../arrays/vectors.ts";
import { store } from "../exact/store.ts";
import { addDuplicates } from "./duplicates.ts";
import { Growing } from "./growing.ts";
import { type Header, type MatrixMarketOptions, MIRROR, maxRows, type Size } from "./header.ts";
import type { Line } from "./lines.ts";

const PLACE = ["row", "column"];
const VALUED = [...PLACE, "value"];

/** The rows from `first` to `end` - 1 of a matrix with this many rows. */
export type RowRange = (rows: number) => readonly [first: number, end: number];

/** Collects the entries of a file in coordinate format, in any order, and builds the matrix by rows, or some rows of it. */
export class Coordinates {
  readonly entries: number;
  /** Entries read so far. */
  read = 0;
  /** Entries of the full matrix read so far, with mirror images. */
  full = 0;
  /** The rows to keep. */
  readonly first: number;
  private readonly fileEndsAnywhere: boolean; // the number of entries is not known before
  private end: number;
  private isPattern: boolean;
  private readonly rows: Growing<Int32Array>;
  private readonly cols: Growing<Int32Array>;
  private readonly values: Growing<Float64Array>; // empty for a pattern
  private kept = 0; // entries of the full matrix in the rows to keep
  private row = 0; // of the last entry
  private col = 0;
  private byRow = true; // whether all entries so far ascend row by row
  private byCol = true; // or column by column
  // Entries are on consecutive lines except around comments, blank lines and other rows. Only the breaks are recorded.
  private readonly breaks: { readonly entries: number[]; readonly lines: number[] } = { entries: [], lines: [] };
  private lastLine = -1; // the first entry is a break

  constructor(
    private readonly routine: string,
    private readonly header: Header,
    public size: Size,
    private readonly options: MatrixMarketOptions,
    range: RowRange = (rows) => [0, rows],
  ) {
    this.entries = size.entries;
    this.fileEndsAnywhere = header.headerless === "entries";
    this.isPattern = header.field === "pattern";
    [this.first, this.end] = range(size.rows);
    this.rows = new Growing(size.entries, (length) => newIntegers(routine, length));
    this.cols = new Growing(size.entries, (length) => newIntegers(routine, length));
    this.values = new Growing(size.entries, (length) => newVector(routine, new Float64Array(0), length));
  }

  take(line: Line): void {
    const { field, symmetry, headerless } = this.header;
    if (headerless !== undefined && this.read === 0) this.isPattern = line.countFields() === 2;
    const hasValue = !this.isPattern || (this.options.patternValues === "ignore" && line.countFields() === 3);
    line.checkFields(hasValue ? VALUED : PLACE);
    let i = line.integer("row", 1, this.size.rows);
    let j = line.integer("column", 1, this.size.cols);
    const isAbove = symmetry !== "general" && i < j && this.options.symmetric === "either";
    if (symmetry !== "general" && ((i < j && !isAbove) || (i === j && symmetry !== "symmetric")))
      line.fail(`entry (${i}, ${j})`, `one ${symmetry === "symmetric" ? "on or " : ""}below the diagonal (the matrix is ${symmetry})`);
    if (isAbove) [i, j] = [j, i];
    this.full += symmetry === "general" || i === j ? 1 : 2;
    if (this.full > MAX) line.fail(`entry ${this.full} of the full matrix`, `at most ${MAX} entries`);
    let value = this.isPattern ? 1 : line.value(field === "integer");
    if (isAbove) value *= MIRROR[symmetry];
    this.read++;
    const kept = (this.keeps(i - 1) ? 1 : 0) + (symmetry !== "general" && i !== j && this.keeps(j - 1) ? 1 : 0);
    if (kept === 0) return;
    this.kept += kept;
    if (!this.isPattern) this.values.push(value);
    if (line.number !== this.lastLine + 1) {
      this.breaks.entries.push(this.rows.length);
      this.breaks.lines.push(line.number);
    }
    this.lastLine = line.number;
    this.byRow &&= i > this.row || (i === this.row && j > this.col);
    this.byCol &&= j > this.col || (j === this.col && i > this.row);
    this.row = i;
    this.col = j;
    this.rows.push(i - 1);
    this.cols.push(j - 1);
  }

  /** The end of the file, which sets what its header would have said. */
  finish(): void {
    if (!this.fileEndsAnywhere) return;
    const { length } = this.rows;
    let [last, cols] = [0, 0]; // the entry with the largest row, and the largest column
    for (let k = 0; k < length; k++) {
      if (this.rows.get(k) > this.rows.get(last)) last = k;
      cols = Math.max(cols, this.cols.get(k) + 1);
    }
    const rows = this.rows.get(last) + 1;
    if (rows > maxRows(length)) {
      const line = this.lineOf(last);
      const most = `at most ${maxRows(length)} for ${length} entries (each row takes memory, empty or not)`;
      throw new FormatError(`${this.routine}: line ${line} has row "${rows}", expected ${most}`, line);
    }
    this.size = { rows, cols, entries: length };
    this.end = rows;
  }

  private keeps(i: number): boolean {
    return i >= this.first && i < this.end;
  }

  /**
   * The rows to keep, columns ascending in each row, by a counting sort on rows, which is stable. It suffices that the entries
   * come column by column or row by row, even when each entry is followed by its mirror image: the images in row i have columns above
   * i, come after the file's own entries of row i, and ascend.
   */
  matrix(): Sparse {
    const { first } = this;
    const rows = this.end - first;
    const { cols } = this.size;
    const order = this.byRow || this.byCol ? undefined : this.byColumns();
    const pointers = newIntegers(this.routine, rows + 1);
    this.each(undefined, (i) => {
      pointers[i - first + 1] = (pointers[i - first + 1] as number) + 1;
    });
    prefixSums(pointers);
    const indices = newIntegers(this.routine, this.kept);
    const values = newVector(this.routine, new Float64Array(0), this.kept);
    this.each(order, (i, j, value) => {
      const at = pointers[i - first] as number;
      pointers[i - first] = at + 1;
      indices[at] = j;
      store(values, at, value);
    });
    pointers.copyWithin(1, 0); // each pointer has moved to the end of its row, where the next row begins
    pointers[0] = 0;
    const added = order !== undefined && this.options.duplicates === "add" ? addDuplicates(pointers, indices, values) : { indices, values };
    return ascending(this.routine, { format: "csr", rows, cols, pointers, ...added });
  }

  // Visits every entry of the rows to keep.
  private each(order: Int32Array | undefined, visit: (i: number, j: number, value: number) => void): void {
    const sign = MIRROR[this.header.symmetry];
    for (let n = 0; n < this.rows.length; n++) {
      const k = order === undefined ? n : (order[n] as number);
      const i = this.rows.get(k);
      const j = this.cols.get(k);
      const value = this.isPattern ? 1 : this.values.get(k);
      if (this.keeps(i)) visit(i, j, value);
      if (sign !== 0 && i !== j && this.keeps(j)) visit(j, i, sign * value);
    }
  }

  // The order of the entries column by column, after a check for duplicates unless they are added: a radix sort, whose memory does not depend on the number
  // of columns.
  private byColumns(): Int32Array {
    let order: Int32Array = newIntegers(this.routine, this.rows.length).map((_, k) => k);
    let sorted: Int32Array = newIntegers(this.routine, this.rows.length);
    for (const [keys, size] of [[this.rows, this.size.rows] as const, [this.cols, this.size.cols] as const])
      for (const shift of [0, 16])
        if (size > 2 ** shift) {
          sortDigit(order, sorted, keys, shift);
          [order, sorted] = [sorted, order];
        }
    if (this.options.duplicates !== "add") this.checkOnce(order);
    return order;
  }

  // Equal positions are adjacent, in the order of the file. The error names the repetition that comes first in the file.
  private checkOnce(order: Int32Array): void {
    let first = 0;
    let second = order.length;
    for (let n = 1; n < order.length; n++) {
      const k = order[n] as number;
      const before = order[n - 1] as number;
      if (k < second && this.rows.get(k) === this.rows.get(before) && this.cols.get(k) === this.cols.get(before)) {
        first = before;
        second = k;
      }
    }
    if (second === order.length) return;
    const line = this.lineOf(second);
    const entry = `entry (${this.rows.get(second) + 1}, ${this.cols.get(second) + 1})`;
    throw new FormatError(`${this.routine}: line ${line} has ${entry} again, expected it once (line ${this.lineOf(first)} has it)`, line);
  }

  private lineOf(k: number): number {
    const { entries, lines } = this.breaks;
    let last = entries.length - 1;
    while ((entries[last] as number) > k) last--;
    return (lines[last] as number) + k - (entries[last] as number);
  }
}

// sorted := order, sorted by 16 bits of the keys, starting at bit `shift`.
function sortDigit(order: Int32Array, sorted: Int32Array, keys: Growing<Int32Array>, shift: number): void {
  const starts = new Int32Array(2 ** 16 + 1);
  for (let k = 0; k < order.length; k++) {
    const next = ((keys.get(k) >>> shift) & 0xffff) + 1;
    starts[next] = (starts[next] as number) + 1;
  }
  for (let digit = 1; digit < starts.length; digit++) starts[digit] = (starts[digit] as number) + (starts[digit - 1] as number);
  for (let n = 0; n < order.length; n++) {
    const k = order[n] as number;
    const digit = (keys.get(k) >>> shift) & 0xffff;
    const at = starts[digit] as number;
    starts[digit] = at + 1;
    sorted[at] = k;
  }
}
