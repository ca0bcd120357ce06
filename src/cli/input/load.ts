// Reads whole matrices and vectors from files, for the commands that solve, factor or hash.
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { FormatError, ShapeError } from "../../arrays/errors.ts";
import { matrix } from "../../arrays/matrix.ts";
import type { Matrix, Real, Sparse } from "../../arrays/types.ts";
import { newVector } from "../../arrays/vectors.ts";
import type { RowRange } from "../../files/coordinates.ts";
import { readMatrixMarket, readMatrixMarketRows, type SparseRows } from "../../files/matrixMarket.ts";
import { shaped } from "../../files/npy.ts";
import { MAGIC } from "../../files/npyHeader.ts";
import { type Io, UsageError } from "../command.ts";
import { ByteStream } from "./byteStream.ts";
import { csvMatrix } from "./csv.ts";
import { formatByName } from "./formats.ts";
import { type Numbers, npyStream, openNumbers } from "./numbers.ts";

/** The contents of a file. */
export type Loaded = Real | Matrix<Float64Array> | Matrix<Float32Array> | Sparse;

export const isSparse = (value: Loaded): value is Sparse => "format" in value;
export const isVector = (value: Loaded): value is Real => ArrayBuffer.isView(value);

/** The formats of files that hold matrices. */
export const FORMATS = ["npy", "mtx", "csv"] as const;

/** Reads a whole .npy, Matrix Market or CSV file, or standard input ("-") as one of the first two. */
export async function load(path: string, io: Io): Promise<Loaded> {
  if (path === "-") return fromStream("standard input", io.stdin);
  const kind = await stat(path);
  if (kind.isDirectory()) throw isADirectory(path);
  if (!kind.isFile()) return fromStream(path, createReadStream(path));
  const format = formatByName(path, FORMATS);
  if (format === "mtx") return matrixMarket(path, createReadStream(path, { encoding: "utf8" }));
  if (format === "csv") return csvMatrix(path, createReadStream(path));
  return collect(await openNumbers(path, { format: "npy" }, io));
}

// A stream: the first byte tells .npy from Matrix Market.
async function fromStream(name: string, stream: AsyncIterable<Uint8Array>): Promise<Loaded> {
  const bytes = new ByteStream(stream);
  try {
    if ((await bytes.peek()) === MAGIC.charCodeAt(0)) return await collect(await npyStream(name, bytes));
    return await matrixMarket(name, decoded(bytes.rest()));
  } finally {
    await bytes.close();
  }
}

async function* decoded(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const piece of pieces) yield decoder.decode(piece, { stream: true });
  yield decoder.decode();
}

/** All numbers of a .npy file. Memory for a stream is allocated as numbers arrive: its header may announce more than ever come. */
export async function collect(numbers: Numbers): Promise<Loaded> {
  const { name, width, repeatable } = numbers;
  const [count, shape, fortranOrder] = [numbers.count as number, numbers.shape as number[], numbers.fortranOrder];
  if (!repeatable && count > MAX) {
    await numbers.close();
    throw new ShapeError(`${name} has ${count} numbers (shape (${shape.join(", ")})), expected at most ${MAX} from a stream`);
  }
  const none: Real = width === 8 ? new Float64Array(0) : new Float32Array(0);
  const chunks: Real[] = [];
  const all = repeatable ? newVector(name, none, count) : undefined;
  let at = 0;
  try {
    for await (const chunk of numbers.chunks()) {
      if (all === undefined) chunks.push(chunk.slice());
      else all.set(chunk, at);
      at += chunk.length;
    }
  } finally {
    await numbers.close();
  }
  return shaped({ shape, fortranOrder }, all ?? joined(newVector(name, none, count), chunks));
}

function joined(all: Real, parts: readonly Real[]): Real {
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

export const isADirectory = (path: string): UsageError => new UsageError(`${path} is a directory, expected a file`);

const matrixMarket = (name: string, text: AsyncIterable<string>): Promise<Matrix | Sparse> => inFile(name, readMatrixMarket(text));

/** Some rows of a sparse Matrix Market file. */
export const rowsOfMatrixMarket = (name: string, text: AsyncIterable<string>, range: RowRange): Promise<SparseRows> =>
  inFile(name, readMatrixMarketRows(text, range));

// Names the file instead of the routine: the user knows the file.
async function inFile<R>(name: string, read: Promise<R>): Promise<R> {
  try {
    return await read;
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    throw new FormatError(
      error.message.replace(/^\w+/, () => name),
      error.line,
    );
  }
}

/** A vector, or a matrix with a single row or column. */
export function asVector(name: string, value: Loaded): Real {
  if (isVector(value)) return value;
  if (value.rows !== 1 && value.cols !== 1)
    throw new ShapeError(`${name} is a matrix, ${value.rows} by ${value.cols}, expected a vector: one row or one column`);
  return asMatrix(name, value).data; // the rows of a file are contiguous
}

/** A sparse matrix; `command` is the one for dense matrices, if there is one. */
export function asSparse(name: string, value: Loaded, command?: string): Sparse {
  if (!isVector(value) && isSparse(value)) return value;
  const hint = command === undefined ? "" : `; use ${command} for dense ones`;
  throw new ShapeError(`${name} is dense, expected a sparse matrix (Matrix Market, coordinate)${hint}`);
}

/** A matrix in binary64; binary32 numbers are converted exactly. */
export function widened(A: Matrix<Float64Array> | Matrix<Float32Array>): Matrix {
  return { ...A, data: toBinary64(A.data) };
}

export function toBinary64(x: Real): Float64Array {
  return x.BYTES_PER_ELEMENT === 8 ? (x as Float64Array) : Float64Array.from(x);
}

// The capacity of an engine's memory, in binary64 numbers.
const MAX = 2 ** 29;
// A size line alone must not make us allocate more than 1 GiB; beyond that, memory is proportional to the entries in the file.
const ZEROS = 2 ** 27;
const ZEROS_PER_ENTRY = 64;

/** The error for a vector in place of a matrix. */
export const notAMatrix = (name: string, count: number): ShapeError =>
  new ShapeError(`${name} is a vector of ${count} numbers, expected a matrix`);

/** A dense matrix; a sparse matrix is filled with zeros. */
export function asMatrix(name: string, value: Loaded): Matrix<Float64Array> | Matrix<Float32Array> {
  if (isVector(value)) throw notAMatrix(name, value.length);
  if (!isSparse(value)) return value;
  const { rows, cols } = value;
  const max = Math.min(MAX, Math.max(ZEROS, ZEROS_PER_ENTRY * value.values.length));
  if (rows * cols > max)
    throw new ShapeError(
      `${name} is a sparse matrix, ${rows} by ${cols}, expected at most ${max} entries including zeros (sptrsv stores no zeros)`,
    );
  const data = newVector(name, value.values, rows * cols);
  for (let i = 0; i < rows; i++)
    for (let p = value.pointers[i] as number; p < (value.pointers[i + 1] as number); p++)
      data[i * cols + (value.indices[p] as number)] = value.values[p] as number;
  return matrix(data, rows, cols);
}
