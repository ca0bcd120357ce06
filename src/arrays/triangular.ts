import { ShapeFinder, type Shapes } from "./shapes.ts";
import type { Pattern } from "./sparse.ts";
import { newIntegers } from "./vectors.ts";

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
 * Finds out whether lines that ascend are those of a triangle: they are named in order, but for those that are the line before once more,
 * one further on.
 */
export class TriangleFinder {
  private before = true;
  private after = true;
  private all = true;
  private none = true;
  private readonly gaps: Int32Array;
  private readonly shapes: ShapeFinder;
  private named = 0; // lines up to here

  constructor(
    routine: string,
    private readonly pattern: Pattern,
  ) {
    const lines = pattern.pointers.length - 1;
    this.gaps = newIntegers(routine, Math.ceil(lines / 32));
    this.shapes = new ShapeFinder(routine, lines);
  }

  /** The next lines, from..to. */
  add(from: number, to: number): void {
    if (!this.isOpen()) return;
    this.repeatUntil(from);
    const { gaps, pattern } = this;
    const { pointers, indices } = pattern;
    let { before, after, all, none } = this;
    for (let l = from, p = pointers[from] as number; l < to; l++) {
      const end = pointers[l + 1] as number;
      let gap = 1;
      if (p < end) {
        const first = indices[p] as number;
        const last = indices[end - 1] as number;
        const has = first === l || last === l;
        if (last > l) before = false;
        if (first < l) after = false;
        if (has) none = false;
        else all = false;
        // While both are open lines have nothing but their diagonal.
        const next = before ? end - (has ? 2 : 1) : p + (has ? 1 : 0);
        if (next >= p && next < end && indices[next] === (before ? l - 1 : l + 1)) gap = 0;
      } else all = false;
      gaps[l >> 5] = (gaps[l >> 5] as number) | (gap << (l & 31));
      p = end;
    }
    this.before = before;
    this.after = after;
    this.all = all;
    this.none = none;
    this.named = to;
    for (let l = from; l < to && this.isRegular(); l++) this.shapes.add(l, indices, pointers[l] as number, pointers[l + 1] as number);
  }

  /** Whether there may be a triangle. */
  isOpen(): boolean {
    return (this.before || this.after) && (this.all || this.none);
  }

  /** Whether it is worth while to look for lines that repeat the last: there are few shapes so far. */
  isRegular(): boolean {
    return this.isOpen() && !this.shapes.isGivenUp;
  }

  found(): Triangular | undefined {
    if (!this.isOpen()) return undefined;
    const lines = this.pattern.pointers.length - 1;
    this.repeatUntil(lines);
    const { before, after, all, gaps } = this;
    return { before, after, diagonal: all, gaps, shapes: this.shapes.found(lines) };
  }

  private repeatUntil(l: number): void {
    const last = this.named - 1;
    if (last < 0 || (((this.gaps[last >> 5] as number) >>> (last & 31)) & 1) === 0) return;
    for (let k = this.named; k < l; k++) this.gaps[k >> 5] = (this.gaps[k >> 5] as number) | (1 << (k & 31));
  }
}

/** The triangle that a matrix is whose lines are known to ascend. */
export function triangularOf(routine: string, pattern: Pattern): Triangular | undefined {
  const lines = pattern.pointers.length - 1;
  const finder = new TriangleFinder(routine, pattern);
  const repeats = new Repeats(pattern);
  for (let l = 0, end = 0; l < lines && finder.isOpen(); l = end + (finder.isRegular() ? repeats.after(end - 1) : 0)) {
    end = finder.isRegular() ? l + 1 : lines;
    finder.add(l, end);
  }
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

// The first entry from..end that is not the one `length` before it, one further on. Four at a time: 33 ms for 29 million, 38 one by one;
// to see that they ascend takes 27. Differences are told apart in 32 bits: one that is wrong by 2^32 leads beyond every column.
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
