// halfulp hash: the SHA-256 of the numbers in files. output/hashing.ts defines it.
import { createHash } from "node:crypto";
import type { Command, Io } from "../command.ts";
import { UsageError } from "../command.ts";
import { formatByName, knownFormat } from "../input/formats.ts";
import { allOf, asMatrix, isSparse, isVector, type Loaded, load } from "../input/load.ts";
import { openNumbers } from "../input/numbers.ts";
import { MATRIX_OPTIONS, type Reading, readingsOf } from "../input/reading.ts";
import { addTo, hashOf, inRowOrder } from "../output/hashing.ts";
import { formatOf } from "../output/numerals.ts";
import { Progress } from "../output/progress.ts";

const FORMATS = ["npy", "npz", "mtx", "csv", "txt", "raw", "raw32"] as const;

export const hash: Command = {
  name: "hash",
  summary: "print the SHA-256 of the numbers in files, to compare results across machines",
  operands: "file...",
  count: [1, Number.POSITIVE_INFINITY],
  options: {
    ...MATRIX_OPTIONS,
    format: {
      type: "string",
      value: "F",
      help: "npy, npz, mtx, csv, txt, raw (little-endian binary64) or raw32; default: by the file name",
    },
    same: { type: "boolean", help: "exit with code 1 unless all files have the same bits" },
    expect: { type: "string", value: "HASH", help: "exit with code 1 unless the hash starts with these 8 to 64 digits" },
  },
  help: `
Prints the SHA-256 of the numbers in each file, as little-endian bytes, row by row. The file format and the storage order do not
affect the hash. For raw numbers (.f64, .f32) it equals the output of sha256sum. For a sparse matrix it covers the row pointers
and column indices (32 bits each) and the values. Reads .npy, .npz (x.npz:NAME), .mtx, .csv, .tsv, .txt and raw files, and standard
input (-) as .npy, Matrix Market or the given --format. Integers and booleans count as the binary64 numbers with their values,
and so do the numbers in text files.`,
  examples: [
    ["halfulp hash x.npy", "print the hash, to send to a colleague"],
    ["halfulp hash x.npy --expect 9a3f52c1", "check a result against it"],
    ["zcat x.f64.gz | halfulp hash - --format raw", "hash a stream"],
    ["halfulp hash here.npy there.mtx --same", "check whether two files have the same bits"],
  ],
  async run(args, io) {
    const expected = args.text("expect")?.toLowerCase();
    if (expected !== undefined && !/^[0-9a-f]{8,64}$/.test(expected))
      throw new UsageError(`--expect is "${expected}", expected 8 to 64 hexadecimal digits`);
    const readings = readingsOf(
      "hash",
      args,
      args.operands.map((path) => ({ path, kind: "matrix" })),
      FORMATS,
    );
    const files: ({ readonly file: string } & Hashed)[] = [];
    for (const [k, path] of args.operands.entries()) files.push({ file: path, ...(await hashFile(path, readings[k] as Reading, io)) });
    const same = files.every(({ sha256 }) => sha256 === files[0]?.sha256);
    const met = expected === undefined ? undefined : files.every(({ sha256 }) => sha256.startsWith(expected));
    const rows = files.map(({ sha256, shape, precision, file }) => `${sha256}  ${precision} ${shape.join(" by ") || "1"}  ${file}`);
    if (met !== undefined) rows.push(met ? "as expected" : `NOT as expected: ${expected}`);
    if (args.flag("same")) rows.push(same ? "the same bits" : "NOT the same bits");
    return {
      text: rows.join("\n"),
      json: { command: "hash", files, same, expected: met },
      code: met === false || (args.flag("same") && !same) ? 1 : 0,
    };
  },
};

interface Hashed {
  readonly sha256: string;
  readonly precision: "binary64" | "binary32";
  readonly shape: readonly number[];
}

async function hashFile(path: string, reading: Reading, io: Io): Promise<Hashed> {
  const { format } = reading;
  if (format === "mtx" || format === "csv" || format === "txt" || (format === undefined && path === "-"))
    return hashWhole(path, await load(path, io, reading));
  if (format === undefined && knownFormat(path) !== undefined) formatByName(path, FORMATS); // throws
  const numbers = await openNumbers(path, { format }, io);
  const progress = new Progress(io, `hash ${path}`);
  try {
    const { width, shape, count, fortranOrder } = numbers;
    const digest = createHash("sha256");
    let done = 0;
    if (fortranOrder && shape !== undefined && shape.length > 1)
      for (const row of inRowOrder(await allOf(numbers), shape)) addTo(digest, row);
    else
      for await (const chunk of numbers.chunks()) {
        addTo(digest, chunk);
        done += chunk.length;
        progress.report(done, count);
      }
    return { sha256: digest.digest("hex"), precision: formatOf(width), shape: shape ?? [done] };
  } finally {
    progress.end();
    await numbers.close();
  }
}

function hashWhole(path: string, value: Loaded): Hashed {
  if (isVector(value)) return { sha256: hashOf(value), precision: formatOf(value.BYTES_PER_ELEMENT), shape: [value.length] };
  const { BYTES_PER_ELEMENT } = isSparse(value) ? value.values : asMatrix(path, value).data;
  return { sha256: hashOf(value), precision: formatOf(BYTES_PER_ELEMENT), shape: [value.rows, value.cols] };
}
