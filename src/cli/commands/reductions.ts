// halfulp sum, asum, dot and nrm2: one number from one or two files. streamedSum.ts computes it.
import { ROUNDINGS } from "../../arrays/checks.ts";
import { ShapeError } from "../../arrays/errors.ts";
import type { Format, Reduction } from "../../arrays/types.ts";
import { type Arguments, type Command, type Io, type Options, type Outcome, UsageError } from "../command.ts";
import type { FileFormat } from "../input/formats.ts";
import { type Numbers, openNumbers, STREAMED, type StreamedFormat } from "../input/numbers.ts";
import { checkColumns, checkOnce, checkUse, formatsOf, TABLE_OPTIONS, tableOptions } from "../input/reading.ts";
import { decimal, formatOf, hex, shortest } from "../output/numerals.ts";
import { Progress } from "../output/progress.ts";
import { ENGINE_OPTIONS, openBackend } from "./engine.ts";
import { combineIn, inJob, type Job } from "./job.ts";
import { reduceFiles } from "./streamedSum.ts";

/** The options of reductions; those about files serve the statistics too. */
export const OPTIONS = {
  hex: { type: "boolean", help: "print the bits as 16 hexadecimal digits, 8 for binary32" },
  round: { type: "string", value: "MODE", help: "nearest (default), up, down or zero" },
  to: { type: "string", value: "FORMAT", help: "round to binary64 or binary32; default: the format of the numbers" },
  format: {
    type: "string",
    value: "F",
    help: "npy, npz, raw (little-endian binary64), raw32, csv, txt or parquet; default: by the file name",
  },
  column: { type: "string", short: "c", multiple: true, value: "C", help: "tables: column name, or number from 1; once per file" },
  ...TABLE_OPTIONS,
  missing: {
    type: "string",
    value: "M",
    help: "tables: refuse (default) or skip missing values; dot skips a row if either value is missing",
  },
  ...ENGINE_OPTIONS,
} satisfies Options;

const FILES = `
Input is .npy (floating point, integers or booleans of at most 64 bits, in any number of dimensions), a member of an .npz file
(x.npz:NAME, or its only one), raw little-endian numbers (.f64, .bin, .raw; .f32 for binary32), a column of a table (.csv, .tsv, and
.txt with white space between columns; .parquet with the package hyparquet), or standard input (-).
Files are streamed and may be larger than memory. The exact result, rounded once, is printed with the fewest digits that read back
to the same bits.

In CSV, a cell of line 1 is a name if the first of its letters, digits, _ . + and - is a letter or _, and if it is neither a number
(nan, inf) nor a word for a missing value (NA, N/A, n.a., null, none, nil). A cell that is neither a name nor a number is refused.
In .txt files, columns are separated by white space, and # begins a comment, as numpy.savetxt writes.`;

function reduction(
  name: string,
  op: Reduction,
  root: boolean,
  operands: "x" | "x y",
  result: string,
  notes: string,
  examples: Command["examples"],
): Command {
  const count = operands.split(" ").length;
  return {
    name,
    summary: `print ${result}`,
    operands,
    count: [count, count],
    options: OPTIONS,
    help: `Prints ${result}. ${notes}\n${FILES}`,
    examples: [
      ...examples,
      [
        `mpirun -n 4 halfulp ${name} ${operands.replaceAll(/\w/g, "$&.npy")}`,
        "the same on four ranks of MPI, each with a part of the file",
      ],
    ],
    underMpirun: true,
    run: (args, io) => inJob((job) => reduceCommand(job, name, op, root, args, io)),
  };
}

export const sum = reduction(
  "sum",
  "sum",
  false,
  "x",
  "the sum of the numbers, exact and rounded once",
  "The order of the numbers does not affect\nthe bits. The sum of no numbers is -0, the neutral element of addition; the sum of 0 and -0 is 0.",
  [
    ["halfulp sum x.npy", "sum all entries"],
    ["halfulp sum prices.csv --column amount", "sum one column"],
    ["halfulp sum model.npz:weights", "sum one array of an .npz file"],
    ["zcat x.f64.gz | halfulp sum - --format raw --hex", "sum a stream, and print the bits"],
  ],
);
export const asum = reduction("asum", "asum", false, "x", "the sum of the magnitudes, exact and rounded once", "", [
  ["halfulp asum x.npy --round up", "print a rigorous upper bound"],
]);
export const dot = reduction(
  "dot",
  "dot",
  false,
  "x y",
  "the dot product of two files, exact and rounded once",
  "Intermediate products neither overflow nor underflow.",
  [
    ["halfulp dot x.npy y.npy", "multiply two vectors"],
    ["halfulp dot data.csv data.csv -c price -c amount", "multiply two columns of one file"],
  ],
);
export const nrm2 = reduction(
  "nrm2",
  "dot",
  true,
  "x",
  "the Euclidean norm: the square root of the exact sum of squares, rounded once",
  "",
  [["halfulp nrm2 x.npy --json", "print the norm with count, bits and time as JSON"]],
);

async function reduceCommand(job: Job, name: string, op: Reduction, root: boolean, args: Arguments, io: Io): Promise<Outcome> {
  const mode = args.word("round", ROUNDINGS) ?? "nearest";
  const to = args.word<Format>("to", ["binary64", "binary32"]);
  const format = args.word("format", STREAMED);
  const columns = args.list("column");
  const table = tableOptions(args);
  if (columns.length > args.operands.length)
    throw new UsageError(`--column is given ${columns.length} times, expected at most once per file`);
  const range = columns.find((column) => /^\d+\.\.\d+$/.test(column));
  if (range !== undefined) throw new UsageError(`--column is "${range}", expected one column`);
  checkColumns("column", columns, table.header);
  checkOnce(name, args.operands);
  const formats = formatsOf(args.operands, format);
  const unread = args.operands.find((_, k) => formats[k] === "mtx");
  if (unread !== undefined)
    throw new UsageError(`${name} does not read Matrix Market files (${unread}), expected .npy, .npz, raw numbers, a table or Parquet`);
  checkUse(args, formats);
  const { context, ranks, each } = job;
  const how = { ...table, part: context?.comm };
  const columnsFor = (k: number): string[] | undefined => (columns[0] === undefined ? undefined : [columns[k] ?? columns[0]]);
  const streamed = (known: FileFormat | undefined): StreamedFormat | undefined => (known === format ? format : undefined);
  const engine = await each(() => openBackend(args));
  const files: Numbers[] = [];
  const progress = new Progress(io, name);
  try {
    await each(async () => {
      for (const [k, path] of args.operands.entries())
        files.push(await openNumbers(path, { ...how, format: streamed(formats[k]), columns: columnsFor(k) }, io));
      if (files[1] !== undefined) checkCompatible(name, files[0] as Numbers, files[1]);
    });
    const [x, y] = files as [Numbers, Numbers?];
    const precision = to ?? formatOf(x.width);
    const start = performance.now();
    const onProgress = (done: number): void => progress.report(done, x.count);
    const { value, count, skipped, passes } = await reduceFiles(
      op,
      x,
      y,
      root,
      mode,
      precision,
      engine,
      onProgress,
      context && combineIn(job, context),
    );
    const seconds = (performance.now() - start) / 1000;
    return {
      text: args.flag("hex") ? hex(value, precision) : decimal(value, precision),
      json: {
        command: name,
        value: shortest(value, precision),
        hex: hex(value, precision),
        precision,
        round: mode,
        count,
        skipped: table.missing === "skip" ? skipped : undefined,
        passes,
        ranks,
        seconds,
      },
    };
  } finally {
    progress.end();
    await Promise.all(files.map((file) => file.close()));
    await engine?.close();
  }
}

/** Files are multiplied element by element: precision, shape and storage order must agree. */
export function checkCompatible(name: string, x: Numbers, y: Numbers): void {
  if (x.width !== y.width)
    throw new ShapeError(`${name}: ${y.name} has ${8 * y.width}-bit numbers, expected ${8 * x.width} bits (as in ${x.name})`);
  const isMatrix = ({ shape = [] }: Numbers): boolean => shape.filter((n) => n !== 1).length >= 2;
  const [left, right] = [x, y].map((file) => `(${file.shape?.join(", ")})${isMatrix(file) && file.fortranOrder ? " by columns" : ""}`);
  if ((isMatrix(x) || isMatrix(y)) && x.shape !== undefined && y.shape !== undefined && left !== right)
    throw new ShapeError(`${name}: ${y.name} has shape ${right}, expected ${left} (as in ${x.name})`);
  if (x.count !== undefined && y.count !== undefined && x.count !== y.count)
    throw new ShapeError(`${name}: ${y.name} has ${y.count} numbers, expected ${x.count} (as in ${x.name})`);
}
