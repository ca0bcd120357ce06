import { newIntegers } from "./vectors.ts";

/**
 * The shapes of the lines of a matrix: line l has its entries at l + offsets[p], p from starts[s] to starts[s + 1] - 1, where s is
 * ofLine[l]. A grid has few, and with them nobody needs its indices: a third of the bytes of a matrix.
 */
export interface Shapes {
  readonly ofLine: Uint8Array;
  readonly starts: Int32Array;
  readonly offsets: Int32Array;
}

// The most shapes, and their offsets; and the most entries that are compared with those of a known shape, beside as many as there were
// so far: what is not a grid is given up soon.
const MAX_SHAPES = 256;
const MAX_OFFSETS = 65536;
const COMPARISONS = 4096;

/** Finds the shapes of lines: see TriangleFinder. */
export class ShapeFinder {
  private readonly ofLine: Uint8Array;
  private readonly starts = [0];
  private readonly offsets: number[] = [];
  private comparisons = 0;
  /** There are too many. */
  isGivenUp = false;
  private last = 0; // the line that was named last
  private shape = 0;
  private readonly next: number[] = []; // of each shape the one that came after it

  constructor(routine: string, lines: number) {
    this.ofLine = new Uint8Array(newIntegers(routine, Math.ceil(lines / 4)).buffer, 0, lines);
  }

  /** Line l has the entries from..end, and lines before it that were not named have the shape of the last that was. */
  add(l: number, indices: Int32Array, from: number, end: number): void {
    this.ofLine.fill(this.shape, this.last, l);
    this.last = l;
    this.shape = this.shapeOf(l, indices, from, end);
  }

  found(lines: number): Shapes | undefined {
    if (this.isGivenUp) return undefined;
    this.ofLine.fill(this.shape, this.last, lines);
    return { ofLine: this.ofLine, starts: Int32Array.from(this.starts), offsets: Int32Array.from(this.offsets) };
  }

  // What came after the line before when it was last seen is tried first.
  private shapeOf(l: number, indices: Int32Array, from: number, end: number): number {
    const count = this.starts.length - 1;
    const before = this.shape;
    let shape = this.next[before] ?? 0;
    if (shape >= count || !this.is(shape, l, indices, from, end))
      for (shape = 0; shape < count && !this.is(shape, l, indices, from, end); ) shape++;
    if (shape === count) this.insert(l, indices, from, end);
    if (this.comparisons > COMPARISONS + from) this.isGivenUp = true;
    this.next[before] = shape;
    return shape;
  }

  private insert(l: number, indices: Int32Array, from: number, end: number): void {
    if (this.starts.length > MAX_SHAPES || this.offsets.length + end - from > MAX_OFFSETS) this.isGivenUp = true;
    if (this.isGivenUp) return;
    for (let p = from; p < end; p++) this.offsets.push((indices[p] as number) - l);
    this.starts.push(this.offsets.length);
  }

  private is(shape: number, l: number, indices: Int32Array, from: number, end: number): boolean {
    const start = this.starts[shape] as number;
    let p = from;
    if ((this.starts[shape + 1] as number) - start === end - from)
      while (p < end && (indices[p] as number) - l === this.offsets[start + p - from]) p++;
    else p = -1;
    this.comparisons += Math.max(1, p - from);
    return p === end;
  }
}
