// readNpy and writeNpy: NumPy's .npy files in memory. npyHeader.ts handles the header and npyTypes.ts the numbers; the command and the ranks
// of MPI read files in parts with the same functions.
import { LITTLE_ENDIAN } from "../arrays/byteOrder.ts";
import { checkVector, describe, typedArrayTag } from "../arrays/checks.ts";
import { FormatError, ShapeError } from "../arrays/errors.ts";
import { checkMatrix, matrix, stridedView } from "../arrays/matrix.ts";
import type { Matrix, Real } from "../arrays/types.ts";
import { newVector, part } from "../arrays/vectors.ts";
import { bytesOf, swapBytes } from "./bytes.ts";
import { checkDimensions, type NpyHeader, readNpyHeader, writeNpyHeader } from "./npyHeader.ts";
import { decode, vectorOf } from "./npyTypes.ts";

/**
 * Reads a .npy file: a vector if it has at most one dimension, else a matrix in the order of the file. Floating-point numbers keep their
 * exact bits, NaN included; binary16, integers and booleans become the same values in binary64. Throws a FormatError if the bytes are not
 * such a file, or if an integer is not exactly a binary64 number.
 * @example
 * readNpy(writeNpy(Float64Array.of(0.1, 0.2))); // Float64Array(2) [ 0.1, 0.2 ]
 */
export function readNpy(bytes: Uint8Array): Real | Matrix<Float64Array> | Matrix<Float32Array> {
  if (typedArrayTag(bytes) !== "Uint8Array") throw new ShapeError(`readNpy: bytes is ${describe(bytes)}, expected a Uint8Array`);
  const header = readNpyHeader("readNpy", bytes);
  checkNpySize("readNpy", header, bytes.length);
  checkDimensions("readNpy", header.shape);
  const data = vectorOf("readNpy", header.type, header.count);
  let raw = bytes.subarray(header.start);
  if (header.type.read === undefined) {
    bytesOf(data).set(raw);
    raw = bytesOf(data);
  }
  decode("readNpy", header, raw, data, 0);
  return shaped(header, data);
}

/** Throws unless a file of this size holds exactly the numbers that its header announces. */
export function checkNpySize(routine: string, { type: { width }, shape, count, start }: NpyHeader, size: number): void {
  if (size - start === count * width) return;
  throw new FormatError(
    `${routine}: ${size - start} bytes of numbers, expected ${count * width} (shape (${shape.join(", ")}), ${width} bytes each)`,
  );
}

/** The numbers as a vector or matrix of the given shape. */
export function shaped(
  { shape, fortranOrder }: Pick<NpyHeader, "shape" | "fortranOrder">,
  data: Real,
): Real | Matrix<Float64Array> | Matrix<Float32Array> {
  if (shape.length < 2) return data;
  return matrix(data as Float64Array, shape[0] as number, shape[1] as number, { order: fortranOrder ? "column" : "row" });
}

/**
 * Writes a vector or a matrix as a .npy file, version 1.0, little-endian, in the order of the matrix. Reading it returns the same bits.
 * @example
 * writeNpy(matrix(Float64Array.of(1, 2, 3, 4), 2, 2)).length; // 160
 */
export function writeNpy(value: Real | Matrix<Float64Array> | Matrix<Float32Array>): Uint8Array<ArrayBuffer> {
  const isVector = ArrayBuffer.isView(value);
  if (!isVector && (typeof value !== "object" || value === null || !("data" in value)))
    throw new ShapeError(`writeNpy: value is ${describe(value)}, expected a vector or a matrix (see matrix())`);
  const format = isVector ? checkVector("writeNpy", "value", value) : checkMatrix("writeNpy", "value", value);
  const [shape, parts] = isVector ? [[value.length], [value]] : [[value.rows, value.cols], contiguousParts(value)];
  // A single row or column is in both orders; NumPy writes C order.
  const fortranOrder = !isVector && value.order === "column" && value.rows > 1 && value.cols > 1;
  const width = format === "binary64" ? 8 : 4;
  const header = writeNpyHeader(width, fortranOrder, shape);
  const size = shape.reduce((product, n) => product * n, width);
  const file = bytesOf(newVector("writeNpy", new Float32Array(0), (header.length + size) / 4));
  file.set(header);
  let at = header.length;
  for (const each of parts) {
    file.set(bytesOf(each), at);
    at += each.byteLength;
  }
  if (!LITTLE_ENDIAN) swapBytes(file.subarray(header.length), width);
  return file;
}

// The entries of a matrix in its own order, without padding, as contiguous rows or columns.
function* contiguousParts(A: Matrix<Real>): Generator<Real> {
  const { data, offset, rows, cols, rowStride, colStride } = stridedView(A);
  let [count, length, step] = A.order === "row" ? [rows, cols, rowStride] : [cols, rows, colStride];
  if (step === length) [count, length] = [1, count * length];
  if (length > 0) for (let k = 0; k < count; k++) yield part(data, offset + k * step, length);
}
