// What the check of a pattern finds about a matrix that is triangular. Lines are examined during the check (sparse.ts), while they are in
// a cache: a separate analysis would fetch them from memory again, which is most of its cost. Plans in routines/sparse/ use the result.
import { ShapeFinder, type Shapes } from "./shapes.ts";
import type { Pattern } from "./sparse.ts";
import { newIntegers } from "./vectors.ts";

/** A triangular matrix with ascending lines. */
export interface Triangular {
  /** Whether no line has an entry after its diagonal. Both are true for a diagonal matrix. */
  readonly endsAtDiagonal: boolean;
  /** Whether no line has an entry before its diagonal. */
  readonly startsAtDiagonal: boolean;
  /** Whether every line has its diagonal entry, as its last or first. If not, none has. */
  readonly diagonal: boolean;
  /** Whether line l lacks the entry next to its diagonal: bit l % 32 of number l >> 5. */
  readonly lacksNeighbour: Int32Array;
  readonly shapes: Shapes | undefined;
}

/**
 * Finds out whether ascending lines form a triangle. Lines are added in order; those that repeat the previous line, shifted by one, may be
 * omitted.
 */
export class TriangleFinder {
  private endsAtDiagonal = true;
  private startsAtDiagonal = true;
  private allHaveDiagonal = true;
  private noneHasDiagonal = true;
  private readonly lacksNeighbour: Int32Array;
  private readonly shapes: ShapeFinder;
  private added = 0; // one more than the last line added

  constructor(
    routine: string,
    private readonly pattern: Pattern,
  ) {
    const lines = pattern.pointers.length - 1;
    this.lacksNeighbour = newIntegers(routine, Math.ceil(lines / 32));
    this.shapes = new ShapeFinder(routine, lines);
  }

  /** Add lines [from, to). */
  add(from: number, to: number): void {
    if (!this.isOpen()) return;
    this.repeatUntil(from);
    const { lacksNeighbour, pattern } = this;
    const { pointers, indices } = pattern;
    let { endsAtDiagonal, startsAtDiagonal, allHaveDiagonal, noneHasDiagonal } = this;
    for (let l = from, p = pointers[from] as number; l < to; l++) {
      const end = pointers[l + 1] as number;
      let lacks = 1;
      if (p < end) {
        const first = indices[p] as number;
        const last = indices[end - 1] as number;
        const has = first === l || last === l;
        if (last > l) endsAtDiagonal = false;
        if (first < l) startsAtDiagonal = false;
        if (has) noneHasDiagonal = false;
        else allHaveDiagonal = false;
        // While both triangles are possible, lines have nothing but their diagonal.
        const next = endsAtDiagonal ? end - (has ? 2 : 1) : p + (has ? 1 : 0);
        if (next >= p && next < end && indices[next] === (endsAtDiagonal ? l - 1 : l + 1)) lacks = 0;
      } else allHaveDiagonal = false;
      lacksNeighbour[l >> 5] = (lacksNeighbour[l >> 5] as number) | (lacks << (l & 31));
      p = end;
    }
    this.endsAtDiagonal = endsAtDiagonal;
    this.startsAtDiagonal = startsAtDiagonal;
    this.allHaveDiagonal = allHaveDiagonal;
    this.noneHasDiagonal = noneHasDiagonal;
    this.added = to;
    for (let l = from; l < to && this.isRegular(); l++) this.shapes.add(l, indices, pointers[l] as number, pointers[l + 1] as number);
  }

  /** Whether the lines so far may be those of a triangle. */
  isOpen(): boolean {
    return (this.endsAtDiagonal || this.startsAtDiagonal) && (this.allHaveDiagonal || this.noneHasDiagonal);
  }

  /** Whether it pays to look for lines that repeat the previous one: there are few shapes so far. */
  isRegular(): boolean {
    return this.isOpen() && !this.shapes.gaveUp;
  }

  found(): Triangular | undefined {
    if (!this.isOpen()) return undefined;
    const lines = this.pattern.pointers.length - 1;
    this.repeatUntil(lines);
    const { endsAtDiagonal, startsAtDiagonal, allHaveDiagonal: diagonal, lacksNeighbour } = this;
    return { endsAtDiagonal, startsAtDiagonal, diagonal, lacksNeighbour, shapes: this.shapes.found(lines) };
  }

  private repeatUntil(l: number): void {
    const { lacksNeighbour: bits, added } = this;
    const last = added - 1;
    if (last < 0 || (((bits[last >> 5] as number) >>> (last & 31)) & 1) === 0) return;
    for (let k = added; k < l; k++) bits[k >> 5] = (bits[k >> 5] as number) | (1 << (k & 31));
  }
}

/** What TriangleFinder finds for a matrix whose lines are known to ascend. */
export function triangularOf(routine: string, pattern: Pattern): Triangular | undefined {
  const lines = pattern.pointers.length - 1;
  const finder = new TriangleFinder(routine, pattern);
  const repeats = new Repeats(pattern);
  for (let l = 0, end = 0; l < lines && finder.isOpen(); l = end + (finder.isRegular() ? repeats.countAfter(end - 1) : 0)) {
    end = finder.isRegular() ? l + 1 : lines;
    finder.add(l, end);
  }
  return finder.found();
}

/** Finds lines that repeat the previous one, every index shifted by one. They ascend if that one does. */
export class Repeats {
  private end = 0; // lines before this one are as long as the last line asked for

  constructor(private readonly pattern: Pattern) {}

  /** How many lines after line l repeat it. */
  countAfter(l: number): number {
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

// The first position in [from, end) whose index is not one more than the index `length` positions earlier. Four at a time: 33 ms for 29
// million, 38 one by one; checking that they ascend takes 27. Differences are compared in 32 bits: one that is off by 2^32 is outside
// the range of indices.
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
