import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { FormatError, ShapeError } from "../../arrays/errors.ts";
import { matrix } from "../../arrays/matrix.ts";
import type { Matrix, Real, Sparse } from "../../arrays/types.ts";
import { newVector } from "../../arrays/vectors.ts";
import { readMatrixMarket } from "../../files/matrixMarket.ts";
import { shaped } from "../../files/npy.ts";
import { MAGIC } from "../../files/npyHeader.ts";
import { type Io, UsageError } from "../command.ts";
import { ByteStream } from "./byteStream.ts";
import { csvMatrix } from "./csv.ts";
import { formatByName } from "./formats.ts";
import { type Numbers, npyStream, openNumbers } from "./numbers.ts";

/** What a file may hold. */
export type Loaded = Real | Matrix<Float64Array> | Matrix<Float32Array> | Sparse;

export const isSparse = (value: Loaded): value is Sparse => "format" in value;
export const isVector = (value: Loaded): value is Real => ArrayBuffer.isView(value);

/** The whole of a .npy, Matrix Market or CSV file; of standard input, under the name "-", one of the first two. */
export async function load(path: string, io: Io): Promise<Loaded> {
  if (path === "-") return fromStream("standard input", io.stdin);
  const kind = await stat(path);
  if (kind.isDirectory()) throw new UsageError(`${path}: this is a folder, expected a file`);
  if (!kind.isFile()) return fromStream(path, createReadStream(path));
  const format = formatByName(path, ["npy", "mtx", "csv"]);
  if (format === "mtx") return matrixMarket(path, createReadStream(path, { encoding: "utf8" }));
  if (format === "csv") return csvMatrix(path, createReadStream(path));
  return collect(await openNumbers(path, { format: "npy" }, io));
}

// What comes only once: its first byte tells which of the two it is.
async function fromStream(name: string, stream: AsyncIterable<Uint8Array>): Promise<Loaded> {
  const bytes = new ByteStream(stream);
  try {
    if ((await bytes.first()) === MAGIC.charCodeAt(0)) return await collect(await npyStream(name, bytes));
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

/** All numbers of a .npy file. Memory is asked for when they are known to be there: a stream may announce what never comes. */
export async function collect(numbers: Numbers): Promise<Loaded> {
  const { name, width, repeatable } = numbers;
  const [count, shape, fortranOrder] = [numbers.count as number, numbers.shape as number[], numbers.fortranOrder];
  if (!repeatable && count > MAX) {
    await numbers.close();
    throw new ShapeError(`${name} has ${count} numbers (shape (${shape.join(", ")})), expected at most ${MAX} from a stream`);
  }
  const none: Real = width === 8 ? new Float64Array(0) : new Float32Array(0);
  const kept: Real[] = [];
  const all = repeatable ? newVector(name, none, count) : undefined;
  let at = 0;
  try {
    for await (const chunk of numbers.chunks()) {
      if (all === undefined) kept.push(chunk.slice());
      else all.set(chunk, at);
      at += chunk.length;
    }
  } finally {
    await numbers.close();
  }
  return shaped({ shape, fortranOrder }, all ?? joined(newVector(name, none, count), kept));
}

function joined(all: Real, parts: readonly Real[]): Real {
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

async function matrixMarket(name: string, text: AsyncIterable<string>): Promise<Matrix | Sparse> {
  try {
    return await readMatrixMarket(text);
  } catch (error) {
    throw inFile(name, error);
  }
}

// The file in the place of the routine: that is what a reader of the message knows.
function inFile(name: string, error: unknown): unknown {
  return error instanceof FormatError
    ? new FormatError(
        error.message.replace(/^\w+/, () => name),
        error.line,
      )
    : error;
}

/** A vector, or a matrix that has but one row or column. */
export function asVector(name: string, value: Loaded): Real {
  if (isVector(value)) return value;
  if (value.rows !== 1 && value.cols !== 1)
    throw new ShapeError(`${name} is a matrix, ${value.rows} by ${value.cols}, expected a vector: one row or one column`);
  return asMatrix(name, value).data; // a file has no gaps
}

/** A matrix in binary64: numbers of binary32 are numbers of binary64 too. */
export function widened(A: Matrix<Float64Array> | Matrix<Float32Array>): Matrix {
  return { ...A, data: inBinary64(A.data) };
}

export function inBinary64(x: Real): Float64Array {
  return x.BYTES_PER_ELEMENT === 8 ? (x as Float64Array) : Float64Array.from(x);
}

// What an engine's memory holds.
const MAX = 2 ** 29;
// A line of sizes must not cost more memory than the file that it announces could fill, but for 1 GiB.
const ZEROS = 2 ** 27;
const ZEROS_PER_ENTRY = 64;

/** A dense matrix; a sparse one is filled with zeros. */
export function asMatrix(name: string, value: Loaded): Matrix<Float64Array> | Matrix<Float32Array> {
  if (isVector(value)) throw new ShapeError(`${name} is a vector of ${value.length} numbers, expected a matrix`);
  if (!isSparse(value)) return value;
  const { rows, cols } = value;
  const most = Math.min(MAX, Math.max(ZEROS, ZEROS_PER_ENTRY * value.values.length));
  if (rows * cols > most)
    throw new ShapeError(
      `${name} is a sparse matrix, ${rows} by ${cols}, expected at most ${most} entries with the zeros (sptrsv needs none)`,
    );
  const data = newVector(name, value.values, rows * cols);
  for (let i = 0; i < rows; i++)
    for (let p = value.pointers[i] as number; p < (value.pointers[i + 1] as number); p++)
      data[i * cols + (value.indices[p] as number)] = value.values[p] as number;
  return matrix(data, rows, cols);
}
