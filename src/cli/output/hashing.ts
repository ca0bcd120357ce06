import { createHash, type Hash } from "node:crypto";
import { LITTLE_ENDIAN } from "../../arrays/byteOrder.ts";
import { stridedView } from "../../arrays/matrix.ts";
import { toCsr } from "../../arrays/sparse.ts";
import type { Matrix, Real } from "../../arrays/types.ts";
import { bytesOf, swapBytes } from "../../files/npy.ts";
import { isSparse, isVector, type Loaded } from "../input/load.ts";

// The hash of a result is the SHA-256 of its numbers as they are stored, little-endian, and of nothing else: of a vector its
// elements, of a matrix its entries row by row whatever the order in memory. So it is also what sha256sum says of a raw file.
// Of a sparse matrix it is that of pointers, indices (32 bits each) and values, by rows with columns ascending.

/** The SHA-256 of these arrays, one after another. */
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

/** Add the numbers of an array to a hash. */
export function addTo(hash: Hash, x: Real | Int32Array): void {
  if (LITTLE_ENDIAN) {
    hash.update(bytesOf(x));
    return;
  }
  const copy = bytesOf(x).slice();
  swapBytes(copy, x.BYTES_PER_ELEMENT as 4 | 8);
  hash.update(copy);
}

/** The rows of a matrix, bit by bit, one array for all of them. */
export function* rowsOf(A: Matrix<Float64Array> | Matrix<Float32Array>): Generator<Real> {
  const { data, offset, rows, cols, rowStride, colStride } = stridedView(A);
  if (rows === 0 || cols === 0) return; // there may be very many of the others
  const words = new Int32Array(data.buffer, data.byteOffset, data.byteLength / 4); // a NaN keeps its bits only where it is no number
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
