// The hash of a result: the SHA-256 of its numbers as little-endian bytes. Vectors are hashed element by element, matrices row by row in
// any storage order, so a raw file has the hash that sha256sum prints. A sparse matrix is hashed as row pointers, column indices (32 bits
// each) and values, columns ascending in each row.
import { createHash, type Hash } from "node:crypto";
import { LITTLE_ENDIAN } from "../../arrays/byteOrder.ts";
import { matrix, stridedView } from "../../arrays/matrix.ts";
import { toCsr } from "../../arrays/sparse.ts";
import type { Matrix, Real } from "../../arrays/types.ts";
import { bytesOf, swapBytes } from "../../files/bytes.ts";
import { isSparse, isVector, type Loaded } from "../input/load.ts";

/** The SHA-256 of these arrays, concatenated. */
export function hashOf(...parts: readonly (Loaded | Int32Array)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) {
    if (part instanceof Int32Array || isVector(part)) addTo(hash, part);
    else if (isSparse(part)) {
      const { pointers, indices, values } = toCsr(part);
      for (const array of [pointers, indices, values]) addTo(hash, array);
    } else for (const row of rowsOf(part)) addTo(hash, row);
  }
  return hash.digest("hex");
}

/** The SHA-256 of a matrix that comes in strips of rows, and of the integers after it. */
export async function hashOfParts(strips: AsyncIterable<Real>, integers: Int32Array): Promise<string> {
  const hash = createHash("sha256");
  for await (const strip of strips) addTo(hash, strip);
  addTo(hash, integers);
  return hash.digest("hex");
}

/** Adds the numbers of an array to a hash. */
export function addTo(hash: Hash, x: Real | Int32Array): void {
  if (LITTLE_ENDIAN) {
    hash.update(bytesOf(x));
    return;
  }
  const copy = bytesOf(x).slice();
  swapBytes(copy, x.BYTES_PER_ELEMENT as 4 | 8);
  hash.update(copy);
}

/** An array of any number of dimensions that is stored in Fortran order, in C order: row by row, the last index fastest. */
export function* inRowOrder(data: Real, shape: readonly number[]): Generator<Real> {
  const [rows = 1, ...rest] = shape;
  if (rest.length === 0) yield data;
  else
    for (const row of rowsOf(
      matrix(
        data as Float64Array,
        rows,
        rest.reduce((product, n) => product * n, 1),
        { order: "column" },
      ),
    ))
      yield* inRowOrder(row, rest);
}

/** The rows of a matrix with their exact bits, all in the same array. */
export function* rowsOf(A: Matrix<Float64Array> | Matrix<Float32Array>): Generator<Real> {
  const { data, offset, rows, cols, rowStride, colStride } = stridedView(A);
  if (rows === 0 || cols === 0) return; // an empty matrix may have very many rows
  const words = new Int32Array(data.buffer, data.byteOffset, data.byteLength / 4); // copying a NaN as a number may change its bits
  const width = data.BYTES_PER_ELEMENT / 4;
  const row = data.BYTES_PER_ELEMENT === 8 ? new Float64Array(cols) : new Float32Array(cols);
  const target = new Int32Array(row.buffer);
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < cols; j++) {
      const from = width * (offset + i * rowStride + j * colStride);
      for (let k = 0; k < width; k++) target[width * j + k] = words[from + k] as number;
    }
    yield row;
  }
}
