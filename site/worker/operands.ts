// What the user typed, pasted or dropped, as vectors and matrices in binary64. compute.ts calls it. Errors name the operand or the file, the
// place, and what was expected.
import { FormatError, ShapeError } from "../../src/arrays/errors.ts";
import { matrix } from "../../src/arrays/matrix.ts";
import { csr } from "../../src/arrays/sparse.ts";
import type { Matrix, Sparse } from "../../src/arrays/types.ts";
import { csvMatrix } from "../../src/cli/input/csv.ts";
import { numberOf, quoted } from "../../src/files/lines.ts";
import { readMatrixMarket } from "../../src/files/matrixMarket.ts";
import { readNpy, writeNpy } from "../../src/files/npy.ts";
import type { Shape, Source } from "../try/operations.ts";

export type Operand = Float64Array | Matrix | Sparse;

// A dense matrix of this many numbers takes 512 MiB.
const MAX_DENSE = 2 ** 26;

export const isSparse = (value: Operand): value is Sparse => "pointers" in value;

/** Reads an operand as the shape that its operation wants. */
export async function readOperand(name: string, source: Source, shape: Shape): Promise<Operand> {
  if (typeof source === "string") {
    if (source.trim() === "") throw new ShapeError(`${name} is empty, expected ${expected(shape)}`);
    if (/^\s*%%MatrixMarket/i.test(source)) return shaped(name, await inFile(name, readMatrixMarket(source.trimStart())), shape);
    return shaped(name, readText(name, source, shape === "vector"), shape);
  }
  return shaped(source.name, await readFile(source), shape);
}

const expected = (shape: Shape): string => (shape === "vector" ? "numbers" : "rows of numbers");

/** Numbers separated by white space, commas or semicolons. A matrix has a row per line, or per semicolon if there is one line. */
function readText(name: string, text: string, asVector: boolean): Operand {
  const lines = text.split(/\r?\n/);
  const oneLine = lines.filter((line) => line.trim() !== "").length === 1;
  const rows: number[][] = [];
  for (const [i, line] of lines.entries())
    for (const part of oneLine ? line.split(";") : [line]) {
      const words = part.split(/[\s,;]+/).filter((word) => word !== "");
      if (words.length > 0) rows.push(words.map((word) => numberIn(name, word, i + 1)));
    }
  const cols = rows[0]?.length ?? 0;
  if (asVector) return Float64Array.from(rows.flat());
  const short = rows.findIndex((row) => row.length !== cols);
  if (short >= 0)
    throw new ShapeError(`${name}: row ${short + 1} has ${rows[short]?.length} numbers, expected ${cols} (as in the first row)`);
  return matrix(Float64Array.from(rows.flat()), rows.length, cols);
}

function numberIn(name: string, word: string, line: number): number {
  const value = numberOf(word);
  if (value === undefined) throw new FormatError(`${name}: line ${line} has ${quoted(word)}, expected a number`, line);
  return value;
}

async function readFile(file: File): Promise<Operand> {
  const { name } = file;
  if (/\.npy$/i.test(name))
    return widened(
      await inFile(
        name,
        file.arrayBuffer().then((bytes) => readNpy(new Uint8Array(bytes))),
      ),
    );
  if (/\.mtx$/i.test(name)) return inFile(name, readMatrixMarket(decoded(file.stream())));
  if (/\.[ct]sv$/i.test(name)) return csvMatrix(name, pieces(file.stream()), {});
  if (/\.txt$/i.test(name)) return readText(name, await file.text(), false);
  throw new FormatError(`${name}: expected a name that ends in .csv, .npy, .mtx or .txt`, 0);
}

// Not every browser iterates over streams.
async function* pieces(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value;
}

async function* decoded(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const piece of pieces(stream)) yield decoder.decode(piece, { stream: true });
  yield decoder.decode();
}

// The user knows the name of the file or of the operand, not that of the routine.
async function inFile<R>(name: string, read: Promise<R>): Promise<R> {
  try {
    return await read;
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    const message = error.message.replace(/^\w+/, () => name);
    throw new FormatError(message, error.line);
  }
}

/** Binary32 numbers are binary64 numbers as well. */
function widened(value: ReturnType<typeof readNpy>): Operand {
  if (!("data" in value)) return Float64Array.from(value);
  return { ...value, data: Float64Array.from(value.data) };
}

function shaped(name: string, value: Operand, shape: Shape): Operand {
  if (value instanceof Float64Array) {
    if (shape === "vector" || shape === "columns") return value;
    throw new ShapeError(`${name} is a vector of ${value.length} numbers, expected a matrix`);
  }
  if (shape === "sparse") return isSparse(value) ? value : withoutZeros(value);
  if (shape === "matrix") return value;
  const { rows, cols } = value;
  if (rows === 1 || cols === 1) return entries(toDense(name, value));
  if (shape === "columns") return toDense(name, value);
  throw new ShapeError(`${name} is a matrix, ${rows} by ${cols}, expected a vector: one row or one column`);
}

/** The entries of a matrix, row by row. */
export function entries({ data, offset, rows, cols, order, ld }: Matrix): Float64Array {
  if (order === "row" && ld === cols) return data.subarray(offset, offset + rows * cols);
  const [down, right] = order === "row" ? [ld, 1] : [1, ld];
  return Float64Array.from({ length: rows * cols }, (_, k) => data[offset + Math.floor(k / cols) * down + (k % cols) * right] as number);
}

/** The same matrix with its zeros, by rows. */
export function toDense(name: string, A: Matrix | Sparse): Matrix {
  if (!isSparse(A)) return matrix(entries(A), A.rows, A.cols);
  const { rows, cols, pointers, indices, values, format } = A;
  if (rows * cols > MAX_DENSE)
    throw new ShapeError(`${name} is sparse, ${rows} by ${cols}, expected at most ${MAX_DENSE} entries with its zeros`);
  const data = new Float64Array(rows * cols);
  for (let k = 0; k + 1 < pointers.length; k++)
    for (let p = pointers[k] as number; p < (pointers[k + 1] as number); p++) {
      const other = indices[p] as number;
      data[format === "csr" ? k * cols + other : other * cols + k] = values[p] as number;
    }
  return matrix(data, rows, cols);
}

function withoutZeros(A: Matrix): Sparse {
  const data = entries(A);
  const pointers = new Int32Array(A.rows + 1);
  const kept: number[] = [];
  for (let i = 0; i < A.rows; i++) {
    for (let k = i * A.cols; k < (i + 1) * A.cols; k++) if (data[k] !== 0) kept.push(k);
    pointers[i + 1] = kept.length;
  }
  const indices = Int32Array.from(kept, (k) => k % A.cols);
  return csr(
    A.rows,
    A.cols,
    pointers,
    indices,
    Float64Array.from(kept, (k) => data[k] as number),
  );
}

/** What was read, in a few words. */
export function described(value: Operand): string {
  if (value instanceof Float64Array) return `${value.length} number${value.length === 1 ? "" : "s"}`;
  const size = `${value.rows} by ${value.cols}`;
  return isSparse(value) ? `${size}, ${value.values.length} entries` : size;
}

/** A result as a .npy file: a number is a vector of one. */
export function npyOf({ data, shape: [rows, cols] }: { data: Float64Array; shape: readonly number[] }): Uint8Array<ArrayBuffer> {
  return writeNpy(rows === undefined || cols === undefined ? data : matrix(data, rows, cols));
}
