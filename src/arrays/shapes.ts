// The shapes of a sparse matrix: the column offsets of its rows relative to the diagonal (row offsets of columns, if it is stored by
// columns). TriangleFinder (triangular.ts) finds them while a pattern is checked; plans store them instead of indices.
import { newIntegers } from "./vectors.ts";

/**
 * The shapes of the lines of a matrix: line l has its entries at l + offsets[p], p from starts[s] to starts[s + 1] - 1, where s is
 * ofLine[l]. A grid has few shapes, and then its indices, a third of the bytes of a matrix, are not needed.
 */
export interface Shapes {
  readonly ofLine: Uint8Array;
  readonly starts: Int32Array;
  readonly offsets: Int32Array;
}

// The largest number of shapes and of their offsets. At most COMPARISONS entries, plus one for each entry read so far, are compared
// with known shapes: the search ends early for a matrix that is not a grid.
const MAX_SHAPES = 256;
const MAX_OFFSETS = 65536;
const COMPARISONS = 4096;

/** Finds the shapes of lines for TriangleFinder. */
export class ShapeFinder {
  private readonly ofLine: Uint8Array;
  private readonly starts = [0];
  private readonly offsets: number[] = [];
  private comparisons = 0;
  /** Whether there are too many shapes. */
  gaveUp = false;
  private last = 0; // the last line that was added
  private shape = 0;
  private readonly next: number[] = []; // for each shape the one that followed it last

  constructor(routine: string, lines: number) {
    this.ofLine = new Uint8Array(newIntegers(routine, Math.ceil(lines / 4)).buffer, 0, lines);
  }

  /** Line l has the entries [from, end). Lines between the last one added and l repeat its shape. */
  add(l: number, indices: Int32Array, from: number, end: number): void {
    this.ofLine.fill(this.shape, this.last, l);
    this.last = l;
    this.shape = this.shapeOf(l, indices, from, end);
  }

  found(lines: number): Shapes | undefined {
    if (this.gaveUp) return undefined;
    this.ofLine.fill(this.shape, this.last, lines);
    return { ofLine: this.ofLine, starts: Int32Array.from(this.starts), offsets: Int32Array.from(this.offsets) };
  }

  // The shape that followed the previous line's shape last time is tried first.
  private shapeOf(l: number, indices: Int32Array, from: number, end: number): number {
    const count = this.starts.length - 1;
    const previous = this.shape;
    let shape = this.next[previous] ?? 0;
    if (shape >= count || !this.matches(shape, l, indices, from, end))
      for (shape = 0; shape < count && !this.matches(shape, l, indices, from, end); ) shape++;
    if (shape === count) this.insert(l, indices, from, end);
    if (this.comparisons > COMPARISONS + from) this.gaveUp = true;
    this.next[previous] = shape;
    return shape;
  }

  private insert(l: number, indices: Int32Array, from: number, end: number): void {
    if (this.starts.length > MAX_SHAPES || this.offsets.length + end - from > MAX_OFFSETS) this.gaveUp = true;
    if (this.gaveUp) return;
    for (let p = from; p < end; p++) this.offsets.push((indices[p] as number) - l);
    this.starts.push(this.offsets.length);
  }

  private matches(shape: number, l: number, indices: Int32Array, from: number, end: number): boolean {
    const start = this.starts[shape] as number;
    let p = from;
    if ((this.starts[shape + 1] as number) - start === end - from)
      while (p < end && (indices[p] as number) - l === this.offsets[start + p - from]) p++;
    else p = -1;
    this.comparisons += Math.max(1, p - from);
    return p === end;
  }
}
