// Reads whole matrices and vectors from files, for the commands that solve, factor or hash.
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { FormatError, ShapeError } from "../../arrays/errors.ts";
import { matrix, stridedView } from "../../arrays/matrix.ts";
import type { Matrix, Real, Sparse } from "../../arrays/types.ts";
import { newVector } from "../../arrays/vectors.ts";
import type { RowRange } from "../../files/coordinates.ts";
import type { MatrixMarketOptions } from "../../files/header.ts";
import { readMatrixMarket, readMatrixMarketRows, type SparseRows } from "../../files/matrixMarket.ts";
import { shaped } from "../../files/npy.ts";
import { checkDimensions, MAGIC } from "../../files/npyHeader.ts";
import { type Io, UsageError } from "../command.ts";
import { ByteStream } from "./byteStream.ts";
import { csvMatrix } from "./csv.ts";
import { formatByName, splitPath } from "./formats.ts";
import { csvOptions, type Numbers, notStreamed, npyStream, openNumbers } from "./numbers.ts";
import { MATRIX_FORMATS, type Reading } from "./reading.ts";

/** The contents of a file. */
export type Loaded = Real | Matrix<Float64Array> | Matrix<Float32Array> | Sparse;

export const isSparse = (value: Loaded): value is Sparse => "format" in value;
export const isVector = (value: Loaded): value is Real => ArrayBuffer.isView(value);

/** Reads a whole file, or standard input ("-"). `gaps` gets the rows of a table that have missing values. */
export async function load(path: string, io: Io, reading: Reading, gaps: number[] = []): Promise<Loaded> {
  if (path === "-") return fromStream("standard input", io.stdin, reading, gaps);
  const { file } = splitPath(path);
  const kind = await stat(file);
  if (kind.isDirectory()) throw isADirectory(file);
  if (!kind.isFile()) return fromStream(path, createReadStream(path), reading, gaps);
  const format = MATRIX_FORMATS.find((each) => each === reading.format) ?? formatByName(path, MATRIX_FORMATS);
  if (format === "mtx") return matrixMarket(path, createReadStream(path, { encoding: "utf8" }), reading.mtx);
  if (format === "csv" || format === "txt") return csvMatrix(path, createReadStream(path), csvOptions(format, reading.csv ?? {}), gaps);
  return collect(await openNumbers(path, { format }, io));
}

// A stream: the first byte tells .npy from Matrix Market.
async function fromStream(name: string, stream: AsyncIterable<Uint8Array>, reading: Reading, gaps: number[]): Promise<Loaded> {
  const bytes = new ByteStream(stream);
  const { format } = reading;
  try {
    if (format === "npz") throw notStreamed(name, format);
    if (format === "csv" || format === "txt") return await csvMatrix(name, bytes.rest(), csvOptions(format, reading.csv ?? {}), gaps);
    if (format === "npy" || (format === undefined && (await bytes.peek()) === MAGIC.charCodeAt(0)))
      return await collect(await npyStream(name, bytes));
    return await matrixMarket(name, decoded(bytes.rest()), reading.mtx, format === undefined ? " (or --format csv)" : "");
  } finally {
    await bytes.close();
  }
}

/** Reads a matrix and the right-hand sides of its rows. Rows with a missing value in either are left out of both, if that is asked for. */
export async function loadEquations(
  [left, right]: readonly [string, string],
  [leftReading, rightReading]: readonly Reading[],
  io: Io,
): Promise<{ readonly A: Loaded; readonly b: Loaded; readonly skipped: number | undefined }> {
  const gaps: number[] = [];
  const A = await load(left, io, leftReading as Reading, gaps);
  const b = await load(right, io, rightReading as Reading, gaps);
  if (leftReading?.csv?.missing !== "skip") return { A, b, skipped: undefined };
  const skipped = new Set(gaps);
  if (skipped.size === 0) return { A, b, skipped: 0 };
  const [rowsA, rowsB] = [A, b].map((value) => (isVector(value) ? value.length : value.rows)) as [number, number];
  if (rowsA !== rowsB)
    throw new ShapeError(`${right} has ${rowsB} rows, expected ${rowsA} as in ${left} (--missing skip leaves out rows of both)`);
  return { A: withoutRows(left, A, skipped), b: withoutRows(right, b, skipped), skipped: skipped.size };
}

/** Reads a matrix without the rows that have a missing value, if that is asked for. */
export async function loadRows(
  path: string,
  reading: Reading,
  io: Io,
): Promise<{ readonly A: Loaded; readonly skipped: number | undefined }> {
  const gaps: number[] = [];
  const A = await load(path, io, reading, gaps);
  return reading.csv?.missing === "skip" ? { A: withoutRows(path, A, new Set(gaps)), skipped: gaps.length } : { A, skipped: undefined };
}

// A copy without these rows.
function withoutRows(name: string, value: Loaded, rows: ReadonlySet<number>): Loaded {
  if (rows.size === 0) return value;
  if (isVector(value)) return value.filter((_, i) => !rows.has(i)) as Real;
  if (isSparse(value)) throw new ShapeError(`${name} is sparse, expected a dense matrix if rows with missing values are skipped`);
  const { data, offset, rowStride, colStride } = stridedView(value);
  const { cols } = value;
  const kept = Array.from({ length: value.rows }, (_, i) => i).filter((i) => !rows.has(i));
  const copy = newVector(name, data, kept.length * cols);
  for (const [k, i] of kept.entries())
    for (let j = 0; j < cols; j++) copy[k * cols + j] = data[offset + i * rowStride + j * colStride] as number;
  return matrix(copy as Float64Array, kept.length, cols);
}

async function* decoded(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const piece of pieces) yield decoder.decode(piece, { stream: true });
  yield decoder.decode();
}

/** A vector or a matrix from a .npy file. */
export async function collect(numbers: Numbers): Promise<Real | Matrix<Float64Array> | Matrix<Float32Array>> {
  const [shape, fortranOrder] = [numbers.shape as readonly number[], numbers.fortranOrder];
  try {
    checkDimensions(numbers.name, shape);
  } catch (error) {
    await numbers.close();
    throw error;
  }
  return shaped({ shape, fortranOrder }, await allOf(numbers));
}

/** All numbers of a .npy file. Memory for a stream is allocated as numbers arrive: its header may announce more than ever come. */
export async function allOf(numbers: Numbers): Promise<Real> {
  const { name, width, repeatable } = numbers;
  const [count, shape] = [numbers.count as number, numbers.shape as number[]];
  if (!repeatable && count > MAX) {
    await numbers.close();
    throw new ShapeError(`${name} has ${count} numbers (shape (${shape.join(", ")})), expected at most ${MAX} from a stream`);
  }
  const none: Real = width === 8 ? new Float64Array(0) : new Float32Array(0);
  const chunks: Real[] = [];
  let at = 0;
  try {
    const all = repeatable ? newVector(name, none, count) : undefined;
    for await (const chunk of numbers.chunks()) {
      if (all === undefined) chunks.push(chunk.slice());
      else all.set(chunk, at);
      at += chunk.length;
    }
    return all ?? joined(newVector(name, none, count), chunks);
  } finally {
    await numbers.close();
  }
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

const matrixMarket = (name: string, text: AsyncIterable<string>, options: MatrixMarketOptions = {}, hint = ""): Promise<Matrix | Sparse> =>
  inFile(name, readMatrixMarket(text, options), hint);

/** Some rows of a sparse Matrix Market file. */
export function rowsOfMatrixMarket(
  name: string,
  text: AsyncIterable<string>,
  range: RowRange,
  { duplicates, headerless, ...options }: MatrixMarketOptions = {},
): Promise<SparseRows> {
  if (duplicates === "add" || headerless !== undefined)
    throw new UsageError(`${name}: --duplicates add and --headerless are for one rank, expected a complete file under mpirun`);
  return inFile(name, readMatrixMarketRows(text, range, options));
}

// Names the file instead of the routine: the user knows the file. A hint is for a file that is no such file from the start.
async function inFile<R>(name: string, read: Promise<R>, hint = ""): Promise<R> {
  try {
    return await read;
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    throw new FormatError(error.message.replace(/^\w+/, () => name) + (error.line === 1 ? hint : ""), error.line);
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
