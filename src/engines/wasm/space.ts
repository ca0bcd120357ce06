// Memory for the operands of one call of a matrix routine. The jobs (jobs/*.ts) take addresses from it; wasm/index.ts and
// threads/pool.ts decide where it is.

import { EngineError } from "../../arrays/errors.ts";
import { contiguousLines, type StridedMatrix } from "../../arrays/matrix.ts";
import type { Real } from "../../arrays/types.ts";
import { aligned, copyPart } from "../../arrays/vectors.ts";
import type { Arena } from "./arena.ts";

/** Where a matrix is in an arena: the address of entry (0, 0), and the distances between rows and between columns, in bytes. */
export interface MatrixLocation {
  readonly address: number;
  readonly row: number;
  readonly col: number;
}

/** A matrix whose contiguous lines are `stride` bytes apart. `width` is the size of an entry. */
export function locationOf(byRows: boolean, address: number, stride: number, width: number): MatrixLocation {
  return byRows ? { address, row: stride, col: width } : { address, row: width, col: stride };
}

/** Memory in an arena for the operands of one call. Operands that are in the arena stay where they are, others are copied. */
export class Space {
  private next: number;

  constructor(
    readonly arena: Arena,
    start: number,
    private readonly end: number,
    private readonly copyOutputs = false, // also of outputs in the arena, so that results are written at the end, in one step
  ) {
    this.next = start;
  }

  /** The address of a block of this size. Its contents are undefined. */
  reserve(bytes: number): number {
    const at = this.next;
    this.next += aligned(bytes);
    if (this.next > this.end)
      throw new EngineError(`internal error: a call needs memory up to ${this.next}, but it was reserved up to ${this.end}`);
    return at;
  }

  /** The address of x in the arena, or of space for it. Without `copy` that space is not filled. */
  vector(x: Real, copy = true, output = false): number {
    if (this.arena.holds(x) && !(output && this.copyOutputs)) return x.byteOffset;
    const at = this.reserve(x.byteLength);
    if (copy) copyPart(x, 0, x.length, this.arena.heap(x), at / x.BYTES_PER_ELEMENT);
    return at;
  }

  /** The address of integers in the arena, or of a copy of them. */
  integers(array: Int32Array): number {
    if (this.arena.holds(array)) return array.byteOffset;
    const at = this.reserve(array.byteLength);
    this.arena.words.set(array, at / 4);
    return at;
  }

  /** The address of a copy of x. */
  copy(x: Real): number {
    const at = this.reserve(x.byteLength);
    this.arena.heap(x).set(x, at / x.BYTES_PER_ELEMENT);
    return at;
  }

  /** The address of x, followed by zeros up to a multiple of 8 elements. */
  padded(x: Real): number {
    if (this.arena.holds(x) && x.length % 8 === 0) return x.byteOffset;
    const at = this.reserve((x.length + 8) * x.BYTES_PER_ELEMENT);
    this.arena.heap(x).set(x, at / x.BYTES_PER_ELEMENT);
    this.arena.zero(at + x.byteLength, 8 * x.BYTES_PER_ELEMENT);
    return at;
  }

  /** Where A is in the arena, or space for a copy whose contiguous lines have no gaps between them. Without `copy` it is not filled. */
  matrix(A: StridedMatrix, copy = true, output = false): MatrixLocation {
    const width = A.data.BYTES_PER_ELEMENT;
    if (this.arena.holds(A.data) && !(output && this.copyOutputs))
      return { address: A.data.byteOffset + A.offset * width, row: A.rowStride * width, col: A.colStride * width };
    const { byRows, lines, length } = contiguousLines(A);
    const address = this.reserve(lines * length * width);
    if (copy) this.copyLines(A, 0, lines, 0, length, address);
    return locationOf(byRows, address, length * width, width);
  }

  /** The same matrix in the arena: itself, or a copy. */
  held(A: StridedMatrix): StridedMatrix {
    const { address, row, col } = this.matrix(A);
    const width = A.data.BYTES_PER_ELEMENT;
    return { ...A, data: this.arena.heap(A.data), offset: address / width, rowStride: row / width, colStride: col / width };
  }

  /** Copy entries [from, to) of the contiguous lines [first, end) of A to an address. There each line has space for its full length. */
  copyLines(A: StridedMatrix, first: number, end: number, from: number, to: number, address: number): void {
    const { length, stride } = contiguousLines(A);
    const at = address / A.data.BYTES_PER_ELEMENT;
    const heap = this.arena.heap(A.data);
    if (from === 0 && to === length && stride === length) {
      copyPart(A.data, A.offset + first * stride, (end - first) * length, heap, at);
      return;
    }
    for (let i = first; i < end; i++) copyPart(A.data, A.offset + i * stride + from, to - from, heap, at + (i - first) * length + from);
  }

  /** Copy the result at an address to x, unless the kernels wrote to x itself. */
  readVector(x: Real, address: number): void {
    if (this.arena.holds(x) && !this.copyOutputs) return;
    copyPart(this.arena.heap(x), address / x.BYTES_PER_ELEMENT, x.length, x, 0);
  }

  /** Copy the result in the space that matrix() reserved to A, unless the kernels wrote to A itself. */
  readMatrix(A: StridedMatrix, { address }: MatrixLocation): void {
    if (this.arena.holds(A.data) && !this.copyOutputs) return;
    const { lines, length, stride } = contiguousLines(A);
    const at = address / A.data.BYTES_PER_ELEMENT;
    const heap = this.arena.heap(A.data);
    if (stride === length) copyPart(heap, at, lines * length, A.data, A.offset);
    else for (let i = 0; i < lines; i++) copyPart(heap, at + i * length, length, A.data, A.offset + i * stride);
  }
}

/** The bytes that a call needs for these vectors and matrices, without those that are in the arena. */
export function bytesFor(arena: Arena, vectors: readonly (Real | Int32Array)[], matrices: readonly StridedMatrix[]): number {
  let bytes = 0;
  for (const x of vectors) if (!arena.holds(x)) bytes += aligned(x.byteLength);
  for (const A of matrices) if (!arena.holds(A.data)) bytes += aligned(A.rows * A.cols * A.data.BYTES_PER_ELEMENT);
  return bytes;
}
