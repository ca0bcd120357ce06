// Files and streams of numbers, opened for reading in chunks. The reductions and hash use them.
import { createReadStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { FormatError } from "../../arrays/errors.ts";
import type { Real } from "../../arrays/types.ts";
import { checkNpySize } from "../../files/npy.ts";
import { MAGIC, type NpyHeader, npyHeaderLength, PREFIX, readNpyHeader } from "../../files/npyHeader.ts";
import { type NpyLayout, RAW } from "../../files/npyTypes.ts";
import { type Io, UsageError } from "../command.ts";
import { ByteStream } from "./byteStream.ts";
import { fileChunks, streamChunks } from "./chunks.ts";
import { openColumn } from "./columnar.ts";
import { BLANKS, type CsvOptions, csvChunks } from "./csv.ts";
import { type FileFormat, formatByName, splitPath } from "./formats.ts";
import { npzMember } from "./npz.ts";

/** A file of numbers, read in chunks: it may be larger than memory. */
export interface Numbers {
  readonly name: string;
  /** Bytes per number. */
  readonly width: 4 | 8;
  /** The shape in the file's header, if it has one. */
  readonly shape: readonly number[] | undefined;
  readonly fortranOrder: boolean;
  readonly count: number | undefined;
  /** Whether it can be read more than once. */
  readonly repeatable: boolean;
  /** All numbers, in chunks of length CHUNK except the last. A chunk is valid until the next one is requested. */
  chunks(): AsyncGenerator<Real>;
  /** Indices in the current chunk of missing values, ascending. The chunk has -0 there. */
  readonly gaps: readonly number[];
  close(): Promise<void>;
}

export type StreamedFormat = Exclude<FileFormat, "mtx">;
export const STREAMED: readonly StreamedFormat[] = ["npy", "npz", "raw", "raw32", "csv", "txt", "parquet"];

/** How to read a file. Of a table, the first of the columns is read. */
export interface ReadOptions extends CsvOptions {
  readonly format: StreamedFormat | undefined;
  /** Under mpirun, the part of the file that this rank reads. `count` is still that of the whole file. */
  readonly part?: { readonly rank: number; readonly size: number } | undefined;
}

/** Opens a file, a member of an .npz file (FILE.npz:NAME), or standard input ("-"). */
export async function openNumbers(path: string, options: ReadOptions, io: Io): Promise<Numbers> {
  if (path === "-") return ofStream("standard input", io.stdin, options);
  const { file } = splitPath(path);
  const handle = await open(file);
  try {
    const stat = await handle.stat();
    if (stat.isDirectory()) throw new UsageError(`${file} is a directory, expected a file`);
    if (stat.isFile()) return await ofFile(path, handle, stat.size, options);
  } catch (error) {
    await handle.close();
    throw error;
  }
  // A pipe, a terminal or a device.
  return ofStream(path, handle.createReadStream({ highWaterMark: 2 ** 20 }), options);
}

const DEFAULTS = { shape: undefined, fortranOrder: false, count: undefined, gaps: [], close: async () => {} };

// A regular file, which allows random access.
async function ofFile(name: string, handle: FileHandle, size: number, options: ReadOptions): Promise<Numbers> {
  const format = options.format ?? ((await isNpy(handle)) ? "npy" : formatByName(name, STREAMED));
  const close = () => handle.close();
  if (options.part && format !== "npy" && format !== "raw" && format !== "raw32") throw notDivisible(name);
  if (format === "csv" || format === "txt") {
    await close();
    const gaps: number[] = [];
    const chunks = () => csvChunks(name, createReadStream(name), csvOptions(format, options), gaps);
    return { ...DEFAULTS, name, width: 8, repeatable: true, chunks, gaps };
  }
  if (format === "parquet") {
    const gaps: number[] = [];
    const column = await openColumn(name, handle, size, options, gaps);
    return { ...DEFAULTS, ...column, name, repeatable: true, gaps, close };
  }
  if (format === "npz") return { ...(await ofMember(name, handle, size)), close };
  const layout = format === "npy" ? await headerOf(name, handle, size) : rawHeader(name, format, size);
  const { start, count, shape, fortranOrder } = layout;
  const [first, end] = partOf(count, options.part ?? { rank: 0, size: 1 });
  const chunks = () => fileChunks(name, handle, layout, start, first, end);
  const known = format === "npy" ? { shape, fortranOrder } : {};
  return { ...DEFAULTS, ...known, name, width: layout.type.precision, count, repeatable: true, chunks, close };
}

/** How to read a table in this format. */
export function csvOptions(format: "csv" | "txt", options: CsvOptions): CsvOptions {
  return { ...options, delimiter: options.delimiter ?? (format === "txt" ? BLANKS : undefined) };
}

/** The part of `count` elements, or rows, that belongs to a rank: from `first` to `end` - 1. */
export function partOf(count: number, { rank, size }: NonNullable<ReadOptions["part"]>): [first: number, end: number] {
  return [Math.floor((count * rank) / size), Math.floor((count * (rank + 1)) / size)];
}

const notDivisible = (name: string): UsageError =>
  new UsageError(`${name} cannot be divided among ranks, expected a .npy file or one of raw numbers`);

async function isNpy(handle: FileHandle): Promise<boolean> {
  const { buffer } = await handle.read(new Uint8Array(MAGIC.length), 0, MAGIC.length, 0);
  return String.fromCharCode(...buffer) === MAGIC;
}

async function headerOf(name: string, handle: FileHandle, size: number): Promise<NpyHeader> {
  const prefix = new Uint8Array(PREFIX);
  const { bytesRead } = await handle.read(prefix, 0, PREFIX, 0);
  const bytes = new Uint8Array(npyHeaderLength(name, prefix.subarray(0, bytesRead)));
  const read = await handle.read(bytes, 0, bytes.length, 0);
  const header = readNpyHeader(name, bytes.subarray(0, read.bytesRead));
  checkNpySize(name, header, size);
  return header;
}

const rawLayout = (format: "raw" | "raw32"): NpyLayout => ({ type: RAW[format === "raw" ? 8 : 4], shape: [], fortranOrder: false });

function rawHeader(name: string, format: "raw" | "raw32", size: number): NpyHeader {
  const layout = rawLayout(format);
  const { width } = layout.type;
  if (size % width !== 0) throw new FormatError(`${name}: ${size} bytes, expected a multiple of ${width} (little-endian numbers only)`);
  return { ...layout, start: 0, count: size / width };
}

// A member of an .npz file, decompressed whenever it is read.
async function ofMember(name: string, handle: FileHandle, fileSize: number): Promise<Numbers> {
  const { file, member } = splitPath(name);
  const { size, bytes } = await npzMember(file, handle, fileSize, member);
  const opened = async () => {
    const stream = new ByteStream(bytes());
    try {
      return { stream, header: await npyHeader(name, stream) };
    } catch (error) {
      await stream.close();
      throw error;
    }
  };
  const { stream, header } = await opened();
  await stream.close();
  checkNpySize(name, header, size);
  const { type, shape, fortranOrder, count } = header;
  async function* chunks(): AsyncGenerator<Real> {
    const { stream } = await opened();
    try {
      yield* streamChunks(name, stream, header, count);
    } finally {
      await stream.close();
    }
  }
  return { ...DEFAULTS, name, width: type.precision, shape, fortranOrder, count, repeatable: true, chunks };
}

// A stream, which can be read only once.
async function ofStream(name: string, source: AsyncIterable<Uint8Array>, options: ReadOptions): Promise<Numbers> {
  if (options.part) throw notDivisible(name);
  const bytes = new ByteStream(source);
  const { format } = options;
  const once = { ...DEFAULTS, name, repeatable: false, close: () => bytes.close() };
  if (format === "csv" || format === "txt") {
    const gaps: number[] = [];
    return { ...once, width: 8, chunks: () => csvChunks(name, bytes.rest(), csvOptions(format, options), gaps), gaps };
  }
  if (format === "raw" || format === "raw32") {
    const layout = rawLayout(format);
    return { ...once, width: layout.type.precision, chunks: () => streamChunks(name, bytes, layout, undefined) };
  }
  try {
    if (format !== undefined && format !== "npy") throw notStreamed(name, format);
    if (format === undefined && (await bytes.peek()) !== MAGIC.charCodeAt(0))
      throw new UsageError(`${name} has an unknown format, expected .npy data, or --format raw, raw32 or csv (or txt)`);
    return await npyStream(name, bytes);
  } catch (error) {
    await bytes.close();
    throw error;
  }
}

/** The error for a format whose directory is at the end of the file. */
export const notStreamed = (name: string, format: FileFormat): UsageError =>
  new UsageError(`${name} cannot be read as ${format}, which is not read from its beginning; expected a file`);

/** A .npy file from a stream. */
export async function npyStream(name: string, bytes: ByteStream): Promise<Numbers> {
  const header = await npyHeader(name, bytes);
  const { type, shape, fortranOrder, count } = header;
  const chunks = () => streamChunks(name, bytes, header, count);
  return { ...DEFAULTS, name, width: type.precision, shape, fortranOrder, count, repeatable: false, chunks, close: () => bytes.close() };
}

async function npyHeader(name: string, bytes: ByteStream): Promise<NpyHeader> {
  const prefix = new Uint8Array(PREFIX);
  const begun = prefix.subarray(0, await bytes.fill(prefix));
  const whole = new Uint8Array(Math.max(npyHeaderLength(name, begun), PREFIX));
  whole.set(begun);
  const length = begun.length + (await bytes.fill(whole.subarray(begun.length)));
  return readNpyHeader(name, whole.subarray(0, length));
}
