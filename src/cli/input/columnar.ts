// Columns of Parquet files, by the optional package hyparquet, which is loaded if such a file is opened. numbers.ts calls this file. (The
// package apache-arrow could read Arrow files, but damaged ones make it run out of memory.)
import type { FileHandle } from "node:fs/promises";
import * as zlib from "node:zlib";
import { allocate, free } from "../../api/memory.ts";
import { FormatError, HalfulpError } from "../../arrays/errors.ts";
import type { Real } from "../../arrays/types.ts";
import { importByName } from "../../engines/importByName.js";
import { quoted } from "../../files/lines.ts";
import { UsageError } from "../command.ts";
import { CHUNK } from "./chunks.ts";
import { type CsvOptions, POSITION } from "./csv.ts";

/** A column of numbers. */
export interface Column {
  readonly width: 4 | 8;
  readonly count: number;
  chunks(): AsyncGenerator<Real>;
}

/** A column as the package reads it: numbers, integers, booleans and null, in parts of any length. */
interface Source {
  /** 4 if its numbers are binary32. */
  readonly width: 4 | 8;
  readonly count: number;
  parts(): AsyncIterable<ArrayLike<unknown>>;
}

/** Opens a column of a file; `gaps` is filled as csvChunks() does. */
export async function openColumn(
  name: string,
  handle: FileHandle,
  size: number,
  { columns: [column = "1"] = [], missing = "refuse" }: CsvOptions,
  gaps: number[],
): Promise<Column> {
  const source = await inFile(name, () => parquet(name, handle, size, column));
  const { width, count } = source;
  async function* chunks(): AsyncGenerator<Real> {
    const buffer: Real = width === 8 ? allocate(CHUNK) : allocate(CHUNK, "binary32");
    let row = 0;
    let filled = 0;
    gaps.length = 0;
    const parts = source.parts()[Symbol.asyncIterator]();
    try {
      for (;;) {
        const { done, value: part } = await inFile(name, () => parts.next());
        if (done === true) break;
        for (let k = 0; k < part.length; k++) {
          const value = numberOf(part[k]);
          row++;
          if (value !== undefined) buffer[filled] = value;
          else if (missing === "skip" && isNull(part[k])) {
            gaps.push(filled);
            buffer[filled] = -0;
          } else throw refusal(name, row, column, part[k]);
          if (++filled < CHUNK) continue;
          yield buffer;
          filled = 0;
          gaps.length = 0;
        }
      }
      if (filled > 0) yield buffer.subarray(0, filled);
    } finally {
      await parts.return?.();
      free(buffer);
    }
  }
  return { width, count, chunks };
}

const isNull = (value: unknown): boolean => value === null || value === undefined;

// The value of a cell; undefined if it is no number, or an integer that binary64 does not hold.
function numberOf(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  if (typeof value === "boolean") return value ? 1 : 0;
  return typeof value === "bigint" && BigInt(Number(value)) === value ? Number(value) : undefined;
}

function refusal(name: string, row: number, column: string, value: unknown): FormatError {
  const where = `column ${POSITION.test(column) ? column : quoted(column)}`;
  if (isNull(value))
    return new FormatError(`${name}: row ${row} has no value in ${where}, expected a number (--missing skip leaves it out)`);
  const expected = typeof value === "bigint" ? "an integer that binary64 holds exactly" : "a number";
  return new FormatError(`${name}: row ${row} has ${quoted(String(value))} in ${where}, expected ${expected}`);
}

const CODECS = ", expected snappy, gzip, brotli or none (zstd with Node 22.15 or later)";

// The package throws errors of many kinds, without the name of the file.
async function inFile<R>(name: string, read: () => Promise<R>): Promise<R> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof HalfulpError || (error as NodeJS.ErrnoException).path !== undefined) throw error;
    const { message } = error as Error;
    throw new FormatError(`${name} cannot be read: ${message}${/codec/i.test(message) ? CODECS : ""}`);
  }
}

async function hyparquet(file: string): Promise<Hyparquet> {
  try {
    return (await importByName("hyparquet")) as Hyparquet;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new UsageError(`${file} needs the package hyparquet: npm install hyparquet`);
  }
}

// The place of a column, by its name or else by its position from 1.
function placeOf(file: string, names: readonly string[], column: string): number {
  const found = names.flatMap((name, at) => (name === column ? [at] : []));
  if (found.length > 1)
    throw new FormatError(`${file}: ${found.length} columns are named ${quoted(column)}, expected one (or use its position)`);
  if (found[0] !== undefined) return found[0];
  if (!POSITION.test(column))
    throw new FormatError(`${file}: no column is named ${quoted(column)}, expected one of ${names.slice(0, 20).map(quoted).join(", ")}`);
  if (Number(column) > names.length) throw new FormatError(`${file} has ${names.length} columns, expected at least ${column}`);
  return Number(column) - 1;
}

const notNumbers = (file: string, column: string, type: string): FormatError =>
  new FormatError(`${file}: column ${quoted(column)} has the type ${type}, expected integers, floating point or booleans`);

/** What is used of hyparquet. */
interface Hyparquet {
  parquetMetadataAsync(file: AsyncBuffer): Promise<Metadata>;
  parquetSchema(metadata: Metadata): { readonly children: readonly { readonly element: Element; readonly children: readonly unknown[] }[] };
  parquetRead(options: {
    readonly file: AsyncBuffer;
    readonly metadata: Metadata;
    readonly columns: readonly string[];
    readonly rowStart: number;
    readonly rowEnd: number;
    readonly compressors: Readonly<Record<string, ((input: Uint8Array, size: number) => Uint8Array) | undefined>>;
    readonly onChunk: (chunk: { readonly columnData: ArrayLike<unknown>; readonly rowStart: number }) => void;
  }): Promise<void>;
}
interface AsyncBuffer {
  readonly byteLength: number;
  slice(start: number, end?: number): Promise<ArrayBuffer>;
}
interface Metadata {
  readonly num_rows: bigint;
  readonly row_groups: readonly { readonly num_rows: bigint }[];
}
interface Element {
  readonly name: string;
  readonly type?: string;
  readonly repetition_type?: string;
  readonly converted_type?: string;
  readonly logical_type?: { readonly type: string };
}

const { zstdDecompressSync } = zlib as { zstdDecompressSync?: (input: Uint8Array) => Uint8Array }; // since Node 22.15
const COMPRESSORS = {
  GZIP: (input: Uint8Array, size: number) => zlib.gunzipSync(input, { maxOutputLength: Math.max(size, 1) }),
  BROTLI: (input: Uint8Array, size: number) => zlib.brotliDecompressSync(input, { maxOutputLength: Math.max(size, 1) }),
  ...(zstdDecompressSync === undefined ? {} : { ZSTD: zstdDecompressSync }),
};

async function parquet(name: string, handle: FileHandle, size: number, column: string): Promise<Source> {
  const { parquetMetadataAsync, parquetSchema, parquetRead } = await hyparquet(name);
  const file: AsyncBuffer = {
    byteLength: size,
    async slice(start, end = size) {
      if (!(start >= 0 && start <= end && end <= size)) throw new Error(`bytes ${start} to ${end} of ${size}`);
      const bytes = new Uint8Array(end - start);
      await handle.read(bytes, 0, bytes.length, start);
      return bytes.buffer;
    },
  };
  const metadata = await parquetMetadataAsync(file);
  const { children } = parquetSchema(metadata);
  const names = children.map(({ element }) => element.name);
  const { element, children: parts } = children[placeOf(name, names, column)] as (typeof children)[number];
  const { type = "GROUP", repetition_type, converted_type, logical_type } = element;
  const annotation = converted_type ?? logical_type?.type;
  const isNumber =
    annotation === undefined ? /^(DOUBLE|FLOAT|INT32|INT64|BOOLEAN)$/.test(type) : /^(U?INT_|INTEGER|FLOAT16)/.test(annotation);
  if (!isNumber || parts.length > 0 || repetition_type === "REPEATED") throw notNumbers(name, element.name, annotation ?? type);
  return {
    width: type === "FLOAT" ? 4 : 8,
    count: Number(metadata.num_rows),
    async *parts() {
      let rowStart = 0;
      for (const group of metadata.row_groups) {
        const rowEnd = rowStart + Number(group.num_rows);
        const chunks: { readonly columnData: ArrayLike<unknown>; readonly rowStart: number }[] = [];
        const onChunk = (chunk: (typeof chunks)[number]): void => void chunks.push(chunk);
        await parquetRead({ file, metadata, columns: [element.name], rowStart, rowEnd, compressors: COMPRESSORS, onChunk });
        for (const { columnData } of chunks.sort((a, b) => a.rowStart - b.rowStart)) yield columnData;
        rowStart = rowEnd;
      }
    },
  };
}
