import { newIntegers } from "../dense/vectors.ts";
import type { Pattern } from "./formats.ts";
import { ShapeFinder, type Shapes } from "./shapes.ts";

// What ascending lines tell of a matrix that is a triangle. They are looked at while the pattern is checked, when they are at hand: an
// analysis would have to fetch them from memory again, and that is most of what it costs.

/** A matrix that is a triangle. A diagonal one is two. */
export interface Triangular {
  /** Whether no line has an entry behind its diagonal; before it. */
  readonly before: boolean;
  readonly after: boolean;
  /** Whether all lines have their diagonal entry, or none: with it lines end, or begin. */
  readonly diagonal: boolean;
  /** Of every line whether the entry next to the diagonal is missing: bit l % 32 of number l >> 5. */
  readonly gaps: Int32Array;
  readonly shapes: Shapes | undefined;
}

/**
 * Finds out whether lines that ascend are those of a triangle: they are named one after another, but for those that are the line before
 * once more, one further on.
 */
export class TriangleFinder {
  private before = true;
  private after = true;
  private all = true;
  private none = true;
  private readonly gaps: Int32Array;
  private readonly shapes: ShapeFinder;
  private isGap = false; // of the line that was named last
  private last = 0;

  constructor(
    routine: string,
    private readonly lines: number,
  ) {
    this.gaps = newIntegers(routine, Math.ceil(lines / 32));
    this.shapes = new ShapeFinder(routine, lines);
  }

  /** Line l has the entries from..end. */
  add(l: number, indices: Int32Array, from: number, end: number): void {
    if (!this.isOpen()) return;
    this.repeatUntil(l);
    const isLast = from < end && indices[end - 1] === l;
    const isFirst = from < end && indices[from] === l;
    if (isLast || isFirst) this.none = false;
    else this.all = false;
    if (from < end && (indices[end - 1] as number) > l) this.before = false;
    if (from < end && (indices[from] as number) < l) this.after = false;
    // While both are open lines have nothing but their diagonal.
    const next = this.before ? end - (isLast ? 2 : 1) : from + (isFirst ? 1 : 0);
    this.isGap = next < from || next >= end || indices[next] !== (this.before ? l - 1 : l + 1);
    this.last = l;
    this.shapes.add(l, indices, from, end);
  }

  /** Whether there may be a triangle. */
  isOpen(): boolean {
    return (this.before || this.after) && (this.all || this.none);
  }

  /** Whether lines may go unnamed that repeat the last: it is worth while to look for them as long as there are few shapes. */
  isRegular(): boolean {
    return this.isOpen() && this.shapes.areFew();
  }

  found(): Triangular | undefined {
    if (!this.isOpen()) return undefined;
    this.repeatUntil(this.lines);
    const { before, after, all, gaps } = this;
    return { before, after, diagonal: all, gaps, shapes: this.shapes.found(this.lines) };
  }

  private repeatUntil(l: number): void {
    if (this.isGap) for (let k = this.last; k < l; k++) this.gaps[k >> 5] = (this.gaps[k >> 5] as number) | (1 << (k & 31));
  }
}

/** The triangle that a matrix is whose lines are known to ascend. */
export function triangularOf(routine: string, pattern: Pattern): Triangular | undefined {
  const { pointers, indices } = pattern;
  const lines = pointers.length - 1;
  const finder = new TriangleFinder(routine, lines);
  const repeats = new Repeats(pattern);
  for (let l = 0; l < lines && finder.isOpen(); l += 1 + (finder.isRegular() ? repeats.after(l) : 0))
    finder.add(l, indices, pointers[l] as number, pointers[l + 1] as number);
  return finder.found();
}

/** Finds lines that have the entries of the one before, each one further on. They ascend if that does. */
export class Repeats {
  private end = 0; // up to here lines are as long as the one before those that were asked for last

  constructor(private readonly pattern: Pattern) {}

  /** How many lines behind line l repeat it. */
  after(l: number): number {
    const { pointers, indices } = this.pattern;
    const start = pointers[l + 1] as number;
    const length = start - (pointers[l] as number);
    if (this.end <= l + 1) {
      this.end = l + 1;
      while (this.end + 1 < pointers.length && (pointers[this.end + 1] as number) - (pointers[this.end] as number) === length) this.end++;
    }
    if (length === 0) return this.end - l - 1;
    return Math.floor((shiftedUntil(indices, start, pointers[this.end] as number, length) - start) / length);
  }
}

// The first entry from..end that is not the one `length` before it, one further on. Four at a time: 33 ms for 29 million, 38 one by one,
// where 27 see that they ascend. (Indices that are in range differ by less than 2^31: no difference is lost in 32 bits.)
function shiftedUntil(indices: Int32Array, from: number, end: number, length: number): number {
  let p = from;
  for (let q = from - length; p + 4 <= end; p += 4, q += 4) {
    const a = (indices[p] as number) - (indices[q] as number) - 1;
    const b = (indices[p + 1] as number) - (indices[q + 1] as number) - 1;
    const c = (indices[p + 2] as number) - (indices[q + 2] as number) - 1;
    const d = (indices[p + 3] as number) - (indices[q + 3] as number) - 1;
    if ((a | b | c | d) !== 0) break;
  }
  while (p < end && (indices[p] as number) - (indices[p - length] as number) === 1) p++;
  return p;
}
