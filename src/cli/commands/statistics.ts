// halfulp mean, variance and covariance: of the numbers in a file, or of columns of a table, for each group of its rows.
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { Format, Real } from "../../arrays/types.ts";
import { embedded } from "../../engines/embedded.ts";
import { GroupedSums } from "../../exact/groupedSums.ts";
import { roundCovariance, roundMean, roundWeightedMean } from "../../exact/statistics.ts";
import { Superaccumulator } from "../../exact/superaccumulator.ts";
import { type Arguments, type Command, type Io, type Options, type Outcome, UsageError } from "../command.ts";
import type { FileFormat } from "../input/formats.ts";
import { isADirectory } from "../input/load.ts";
import { csvOptions, type Numbers, openNumbers, STREAMED, type StreamedFormat } from "../input/numbers.ts";
import { checkColumns, checkOnce, checkUse, formatsOf, TABLE_OPTIONS, tableOptions } from "../input/reading.ts";
import { RowScanner } from "../input/scan.ts";
import { decimal, formatOf, hex, shortest } from "../output/numerals.ts";
import { Progress } from "../output/progress.ts";
import { alignedTable } from "../output/results.ts";
import { checkCompatible, OPTIONS } from "./reductions.ts";
import { pairs, skipGaps } from "./streamedSum.ts";

// Bytes per read of a table. (With 64 KiB, the default, the asynchronous steps take a sixth of the time.)
const PIECE = 2 ** 20;

const { hex: HEX, to: TO, format: FORMAT, missing: MISSING } = OPTIONS;
const COMMON = {
  by: {
    type: "string",
    multiple: true,
    value: "C",
    help: "CSV: one result for each value of this column; for each combination if given several times",
  },
  ...TABLE_OPTIONS,
  missing: MISSING,
  hex: HEX,
  to: TO,
  format: FORMAT,
} as Options;
const DDOF: Options = {
  ddof: { type: "string", value: "N", help: "divide by the count minus N; default: 1, the sample; 0: the population" },
};
const columnOption = (help: string): Options => ({ column: { type: "string", short: "c", multiple: true, value: "C", help } });
const ONE_COLUMN = columnOption("CSV: column name, or number from 1; default: the first");

const FILES = `
Input is what halfulp sum reads: .npy, raw numbers, a CSV column, or standard input (-). The exact result, rounded once, is printed
with the fewest digits that read back to the same bits.

With --by the rows of a CSV file are grouped by the text of a cell, without quotes and the blanks around it. There is one line per group:
the cells, the number of rows, the result. Groups are in the order of their UTF-8 bytes, as LC_ALL=C sort puts them, column by column.`;

/** The sums that a statistic takes of n numbers, or of n pairs. Those that it does not need are zero. */
interface Sums {
  readonly n: number;
  readonly x: Superaccumulator;
  readonly y: Superaccumulator;
  readonly products: Superaccumulator;
}

/** What a statistic adds up, and what it makes of it. */
interface Statistic {
  /** The sums: of the first number in a row, of the second, of products of one of them with the other. */
  readonly x: boolean;
  readonly y: boolean;
  readonly products: boolean;
  value(sums: Sums, ddof: number, format: Format): number;
}

const MEAN: Statistic = { x: true, y: false, products: false, value: ({ n, x }, _, format) => roundMean(x, n, format) };
const WEIGHTED_MEAN: Statistic = {
  x: false,
  y: true,
  products: true,
  value: ({ y, products }, _, format) => roundWeightedMean(products, y, format),
};
const VARIANCE: Statistic = {
  x: true,
  y: false,
  products: true,
  value: ({ n, x, products }, ddof, format) => roundCovariance(n, x, x, products, ddof, format),
};
const COVARIANCE: Statistic = {
  x: true,
  y: true,
  products: true,
  value: ({ n, x, y, products }, ddof, format) => roundCovariance(n, x, y, products, ddof, format),
};

export const mean: Command = {
  name: "mean",
  summary: "print the mean, exact and rounded once; with --by, of each group",
  operands: "x",
  count: [1, 1],
  options: {
    ...ONE_COLUMN,
    weights: { type: "string", value: "C", help: "CSV: the column of weights w: sum w x / sum w" },
    ...COMMON,
  },
  help: `Prints the mean, exact and rounded once; NaN if there are no numbers, or weights that sum to zero.\n${FILES}`,
  examples: [
    ["halfulp mean x.npy", "the mean of all entries"],
    ["halfulp mean orders.csv -c price --by region", "the mean price of each region"],
    ["halfulp mean orders.csv -c price --weights amount --by region --by year", "weighted, for each region and year"],
  ],
  run: (args, io) => statistics("mean", args.text("weights") === undefined ? MEAN : WEIGHTED_MEAN, args, io),
};

export const variance: Command = {
  name: "variance",
  summary: "print the variance, exact and rounded once; with --by, of each group",
  operands: "x",
  count: [1, 1],
  options: { ...ONE_COLUMN, ...DDOF, ...COMMON },
  help: `Prints the variance, exact and rounded once; NaN unless there are more than N numbers, all finite.\n${FILES}`,
  examples: [
    ["halfulp variance x.npy", "the sample variance"],
    ["halfulp variance orders.csv -c price --ddof 0 --by region", "the population variance of each region"],
  ],
  run: (args, io) => statistics("variance", VARIANCE, args, io),
};

export const covariance: Command = {
  name: "covariance",
  summary: "print the covariance of two columns or files, exact and rounded once",
  operands: "x [y]",
  count: [1, 2],
  options: { ...columnOption("CSV: column name, or number from 1; twice for one file"), ...DDOF, ...COMMON },
  help: `Prints the covariance, exact and rounded once; NaN unless there are more than N pairs, all finite.\n${FILES}`,
  examples: [
    ["halfulp covariance orders.csv -c price -c amount", "of two columns of a file"],
    ["halfulp covariance x.npy y.npy --ddof 0", "of two vectors"],
  ],
  run: (args, io) => statistics("covariance", COVARIANCE, args, io),
};

/** What was found: the groups with their cells, or one without cells. */
interface Found {
  readonly by: readonly string[];
  readonly groups: readonly { readonly cells: readonly string[]; readonly sumsOf: () => Sums }[];
  readonly skipped: number;
  readonly width: 4 | 8;
}

async function statistics(name: string, statistic: Statistic, args: Arguments, io: Io): Promise<Outcome> {
  const to = args.word<Format>("to", ["binary64", "binary32"]);
  const ddof = args.integer("ddof", 0) ?? 1;
  const missing = args.word("missing", ["refuse", "skip"]);
  const progress = new Progress(io, name);
  const start = performance.now();
  try {
    const format = args.word("format", STREAMED);
    const formats = formatsOf(args.operands, format);
    const [first] = formats;
    const { by, groups, skipped, width } =
      args.operands.length === 1 && (first === "csv" || first === "txt")
        ? await ofTable(name, statistic, first, args, io, progress)
        : await ofFiles(name, statistic, formats, format, args, io, progress);
    const precision = to ?? formatOf(width);
    const results = groups.map(({ cells, sumsOf }) => {
      const sums = sumsOf();
      const value = statistic.value(sums, ddof, precision);
      return { cells, count: sums.n, value, json: { count: sums.n, value: shortest(value, precision), hex: hex(value, precision) } };
    });
    const isGrouped = by.length > 0;
    const shown = (value: number): string => (args.flag("hex") ? hex(value, precision) : decimal(value, precision));
    const rows = (): string[][] => results.map(({ cells, count, value }) => [...cells, String(count), shown(value)]);
    const details = {
      precision,
      ddof: statistic === MEAN || statistic === WEIGHTED_MEAN ? undefined : ddof,
      skipped: missing === "skip" ? skipped : undefined,
      seconds: (performance.now() - start) / 1000,
    };
    const [only] = results;
    return isGrouped || only === undefined
      ? {
          text: args.flag("json") ? "" : alignedTable([[...by, "count", name], ...rows()]),
          json: { command: name, by, groups: results.map(({ cells, json }) => ({ key: cells, ...json })), ...details },
        }
      : { text: shown(only.value), json: { command: name, ...only.json, ...details } };
  } finally {
    progress.end();
  }
}

// The columns of a table, read in one pass.
async function ofTable(
  name: string,
  statistic: Statistic,
  format: "csv" | "txt",
  args: Arguments,
  io: Io,
  progress: Progress,
): Promise<Found> {
  const [path = ""] = args.operands;
  const options = csvOptions(format, tableOptions(args));
  const by = args.list("by");
  const weights = args.text("weights");
  const columns = args.list("column");
  const needed = name === "covariance" ? 2 : 1;
  if (columns.length > needed || (needed === 2 && columns.length < 2))
    throw new UsageError(`--column is given ${columns.length} times, expected ${needed === 2 ? "2 (or two files)" : "at most 1"}`);
  const numbers = [...(columns.length > 0 ? columns : ["1"]), ...(weights === undefined ? [] : [weights])];
  for (const [option, given] of Object.entries({ by, column: columns, weights: weights === undefined ? [] : [weights] }))
    checkSingle(option, given, options.header);

  const groups = new Groups(statistic);
  const source = path === "-" ? "standard input" : path;
  const scanner = new RowScanner(source, { by, numbers }, options, (group, row) => groups.add(group, row));
  if (path !== "-" && (await isDirectory(path))) throw isADirectory(path);
  const size = path === "-" ? undefined : (await stat(path)).size;
  let read = 0;
  for await (const piece of path === "-" ? io.stdin : createReadStream(path, { highWaterMark: PIECE })) {
    scanner.push(piece as Uint8Array);
    read += (piece as Uint8Array).length;
    progress.report(read, size, "bytes");
  }
  scanner.end();
  const count = by.length === 0 ? 1 : scanner.keys.groups;
  const found = Array.from({ length: count }, (_, group) => ({
    cells: by.length === 0 ? [] : scanner.keys.textsOf(group),
    sumsOf: () => groups.sumsOf(group),
  }));
  found.sort((a, b) => inOrder(a.cells, b.cells));
  return { by: scanner.names.slice(0, by.length), groups: found, skipped: scanner.skipped, width: 8 };
}

/** The sums of all groups of a table. */
class Groups {
  private counts = new Float64Array(64);
  private readonly x = new GroupedSums();
  private readonly y = new GroupedSums();
  private readonly products = new GroupedSums();

  constructor(private readonly statistic: Statistic) {}

  /** Adds a row: one number, which is then also the second, or two. */
  add(group: number, numbers: Float64Array): void {
    if (group >= this.counts.length) {
      const counts = new Float64Array(2 * this.counts.length);
      counts.set(this.counts);
      this.counts = counts;
    }
    (this.counts[group] as number)++;
    const { x, y, products } = this.statistic;
    const first = numbers[0] as number;
    const second = numbers.length > 1 ? (numbers[1] as number) : first;
    if (x) this.x.add(group, first);
    if (y) this.y.add(group, second);
    if (products) this.products.addProduct(group, first, second);
  }

  sumsOf(group: number): Sums {
    return {
      n: this.counts[group] as number,
      x: this.x.total(group),
      y: this.y.total(group),
      products: this.products.total(group),
    };
  }
}

// By the bytes of the cells, column by column.
function inOrder(a: readonly string[], b: readonly string[]): number {
  for (const [k, cell] of a.entries()) {
    const order = Buffer.compare(Buffer.from(cell), Buffer.from(b[k] as string));
    if (order !== 0) return order;
  }
  return 0;
}

const isDirectory = async (path: string): Promise<boolean> => (await stat(path).catch(() => undefined))?.isDirectory() === true;

// Every column by itself, not a range.
function checkSingle(option: string, columns: readonly string[], header: "yes" | "no" | undefined): void {
  const range = columns.find((column) => /^\d+\.\.\d+$/.test(column));
  if (range !== undefined) throw new UsageError(`--${option} is "${range}", expected one column`);
  checkColumns(option, columns, header);
}

// All numbers of one file, or of two.
async function ofFiles(
  name: string,
  statistic: Statistic,
  formats: readonly (FileFormat | undefined)[],
  format: StreamedFormat | undefined,
  args: Arguments,
  io: Io,
  progress: Progress,
): Promise<Found> {
  const table = tableOptions(args);
  const columns = args.list("column");
  const only = ["by", "weights"].find((option) => args.has(option));
  if (only !== undefined && (await isDirectory(args.operands[0] as string))) throw isADirectory(args.operands[0] as string);
  if (only !== undefined) throw new UsageError(`--${only} names a column, expected one CSV file (or --format csv)`);
  if (name === "covariance" && args.operands.length < 2)
    throw new UsageError("covariance: 1 file, expected 2, or a CSV file with two columns (--column twice)");
  checkOnce(name, args.operands);
  if (columns.length > args.operands.length)
    throw new UsageError(`--column is given ${columns.length} times, expected at most once per file`);
  checkSingle("column", columns, table.header);
  checkUse(args, formats);
  const files: Numbers[] = [];
  try {
    for (const [k, path] of args.operands.entries()) {
      const column = columns[k] ?? columns[0];
      const how = { ...table, format: formats[k] === format ? format : undefined, columns: column === undefined ? undefined : [column] };
      files.push(await openNumbers(path, how, io));
    }
    const [x, y] = files as [Numbers, Numbers?];
    if (y !== undefined) checkCompatible(name, x, y);
    const sums = { x: new Superaccumulator(), y: new Superaccumulator(), products: new Superaccumulator() };
    let rows = 0;
    let skipped = 0;
    for await (const [left, right] of pairs(x, y)) {
      skipped += skipGaps(x, y, left, right);
      addChunk(statistic, sums, left, right);
      rows += left.length;
      progress.report(rows, x.count);
    }
    return { by: [], groups: [{ cells: [], sumsOf: () => ({ n: rows - skipped, ...sums }) }], skipped, width: x.width };
  } finally {
    await Promise.all(files.map((file) => file.close()));
  }
}

function addChunk(statistic: Statistic, sums: Omit<Sums, "n">, x: Real, y: Real): void {
  const kernels = embedded();
  if (statistic.x) kernels.accumulate("sum", x, x, sums.x, true);
  if (statistic.y) kernels.accumulate("sum", y, y, sums.y, true);
  if (statistic.products) kernels.accumulate("dot", x, y, sums.products, true);
}
