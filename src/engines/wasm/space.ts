import { EngineError } from "../../arrays/errors.ts";
import type { Real } from "../../arrays/types.ts";
import type { StridedMatrix } from "../kernels.ts";
import { type Arena, part } from "./arena.ts";

/** Where a matrix is in an arena: the address of entry (0, 0) and the steps between entries, in bytes. */
export interface Operand {
  readonly address: number;
  readonly row: number;
  readonly col: number;
}

/** A matrix whose lines are rows, or columns, so many bytes apart. */
export function operandOf(byRows: boolean, address: number, step: number, width: number): Operand {
  return byRows ? { address, row: step, col: width } : { address, row: width, col: step };
}

/** Bytes, rounded up so that what follows is aligned. */
export function aligned(bytes: number): number {
  return Math.ceil(bytes / 64) * 64;
}

/** The entries of a matrix as lines of memory: its rows, or its columns if those are contiguous. */
export function linesOf(A: StridedMatrix): { byRows: boolean; lines: number; length: number; step: number } {
  const byRows = A.colStride === 1 || A.cols <= 1;
  return byRows
    ? { byRows, lines: A.rows, length: A.cols, step: A.rowStride }
    : { byRows, lines: A.cols, length: A.rows, step: A.colStride };
}

/** Room in an arena for the operands of one call: those that live there stay where they are, others are copied. */
export class Space {
  private next: number;

  constructor(
    readonly arena: Arena,
    start: number,
    private readonly end: number,
    private readonly apart = false, // results are written in one step at the end, not where they belong as they come
  ) {
    this.next = start;
  }

  /** The address of so many bytes, with whatever they hold. */
  reserve(bytes: number): number {
    const at = this.next;
    this.next += aligned(bytes);
    if (this.next > this.end) throw new EngineError(`the engine counted ${this.end} bytes for a call and needs ${this.next}`);
    return at;
  }

  /** The address of x, copied unless it is here, or unless its numbers do not matter. */
  vector(x: Real, copy = true, output = false): number {
    if (this.arena.holds(x) && !(output && this.apart)) return x.byteOffset;
    const at = this.reserve(x.byteLength);
    if (copy) this.arena.heap(x).set(x, at / x.BYTES_PER_ELEMENT);
    return at;
  }

  /** The address of a copy of x. */
  copy(x: Real): number {
    const at = this.reserve(x.byteLength);
    this.arena.heap(x).set(x, at / x.BYTES_PER_ELEMENT);
    return at;
  }

  /** The address of x with zeros behind it up to a multiple of 8. */
  padded(x: Real): number {
    if (this.arena.holds(x) && x.length % 8 === 0) return x.byteOffset;
    const at = this.reserve((x.length + 8) * x.BYTES_PER_ELEMENT);
    this.arena.heap(x).set(x, at / x.BYTES_PER_ELEMENT);
    this.arena.zero(at + x.byteLength, 8 * x.BYTES_PER_ELEMENT);
    return at;
  }

  /** Where the entries of A are: here already, or line by line in a copy without gaps. */
  matrix(A: StridedMatrix, copy = true, output = false): Operand {
    const width = A.data.BYTES_PER_ELEMENT;
    if (this.arena.holds(A.data) && !(output && this.apart))
      return { address: A.data.byteOffset + A.offset * width, row: A.rowStride * width, col: A.colStride * width };
    const { byRows, lines, length } = linesOf(A);
    const address = this.reserve(lines * length * width);
    if (copy) this.copyLines(A, 0, lines, 0, length, address);
    return operandOf(byRows, address, length * width, width);
  }

  /** Lines [first, end) of A, of each the entries from `from` on to `to`, to an address; a line there has all entries. */
  copyLines(A: StridedMatrix, first: number, end: number, from: number, to: number, address: number): void {
    const { length, step } = linesOf(A);
    const at = address / A.data.BYTES_PER_ELEMENT;
    const heap = this.arena.heap(A.data);
    if (from === 0 && to === length && step === length) {
      heap.set(part(A.data, A.offset + first * step, (end - first) * length), at);
      return;
    }
    for (let i = first; i < end; i++) heap.set(part(A.data, A.offset + i * step + from, to - from), at + (i - first) * length + from);
  }

  /** Numbers from here back to x, unless it is here. */
  readVector(x: Real, address: number): void {
    if (this.arena.holds(x) && !this.apart) return;
    const at = address / x.BYTES_PER_ELEMENT;
    x.set(this.arena.heap(x).subarray(at, at + x.length));
  }

  /** The entries of a copy made by matrix() back to A, unless it is here. */
  readMatrix(A: StridedMatrix, { address }: Operand): void {
    if (this.arena.holds(A.data) && !this.apart) return;
    const { lines, length, step } = linesOf(A);
    const at = address / A.data.BYTES_PER_ELEMENT;
    const heap = this.arena.heap(A.data);
    for (let i = 0; i < lines; i++) A.data.set(heap.subarray(at + i * length, at + (i + 1) * length), A.offset + i * step);
  }
}

/** The bytes that a call needs for these vectors and matrices where they are not in the arena. */
export function bytesFor(arena: Arena, vectors: readonly Real[], matrices: readonly StridedMatrix[]): number {
  let bytes = 0;
  for (const x of vectors) if (!arena.holds(x)) bytes += aligned(x.byteLength);
  for (const A of matrices) if (!arena.holds(A.data)) bytes += aligned(A.rows * A.cols * A.data.BYTES_PER_ELEMENT);
  return bytes;
}
