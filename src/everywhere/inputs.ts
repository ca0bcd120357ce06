// The inputs of the corpus: bit patterns from an integer generator, the same on every machine. Uniform bits alone rarely cancel, tie or
// touch the ends of the range, so a vector has a kind that makes one of these likely.
import { matrix } from "../arrays/matrix.ts";
import { Random } from "../arrays/random.ts";
import { csr } from "../arrays/sparse.ts";
import type { Format, Matrix, Sparse } from "../arrays/types.ts";

export const KINDS = [
  "bits", // any finite number
  "narrow", // exponents within 8 of each other
  "wide", // within 200
  "cancelling", // the second half takes away the first, up to a few last places
  "integers",
  "ties", // few bits, at distances of one or two significands
  "subnormal",
  "large", // next to overflow
  "ones", // significands of ones only
  "zeros", // mostly zeros of both signs
  "special", // NaN, infinities and zeros among ordinary numbers
] as const;
export type Kind = (typeof KINDS)[number];

// Largest field of the exponent of a finite number, the field of 1, digits of the significand.
const FORMATS = { binary64: { top: 2046, one: 1023, digits: 53 }, binary32: { top: 254, one: 127, digits: 24 } } as const;

const SPECIAL = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, -0];

const view = new DataView(new ArrayBuffer(8));

export class Inputs {
  readonly random: Random;
  private readonly top: number;
  private readonly one: number;
  private readonly digits: number;

  constructor(
    seed: number,
    readonly format: Format,
  ) {
    this.random = new Random(seed);
    ({ top: this.top, one: this.one, digits: this.digits } = FORMATS[format]);
  }

  zeros(n: number): Float64Array {
    return (this.format === "binary64" ? new Float64Array(n) : new Float32Array(n)) as Float64Array;
  }

  /** n numbers of a kind. (The type is that of binary64, so that one code serves both formats.) */
  vector(n: number, kind: Kind): Float64Array {
    const base = 1 + this.random.below(this.top - 1);
    const x = this.zeros(n);
    this.fill(x, kind, base);
    if (kind === "cancelling")
      for (let i = n >> 1; i < n; i++) {
        const other = -(x[i - (n >> 1)] as number);
        const which = this.random.below(16);
        if (which > 1) x[i] = which === 2 ? other * (1 + this.power(1 - this.digits)) : other;
      }
    return x;
  }

  /** A number with this sign, exponent field and random significand. */
  private assemble(field: number, ones = false): number {
    const sign = this.random.below(2);
    const high = ones ? 0xffffffff : this.random.word() >>> 0;
    const low = ones ? 0xffffffff : this.random.word() >>> 0;
    const bounded = Math.min(Math.max(field, 0), this.top);
    if (this.format === "binary64") {
      view.setUint32(0, ((sign << 31) | (bounded << 20) | (high >>> 12)) >>> 0);
      view.setUint32(4, low);
      return view.getFloat64(0);
    }
    view.setUint32(0, ((sign << 31) | (bounded << 23) | (high >>> 9)) >>> 0);
    return view.getFloat32(0);
  }

  /** 2^e, of normal numbers. */
  power(e: number): number {
    view.setUint32(0, (1023 + e) << 20);
    view.setUint32(4, 0);
    return view.getFloat64(0);
  }

  // A loop for each kind: one around them all takes twice as long.
  private fill(x: Float64Array, kind: Kind, base: number): void {
    const { random, one, top, digits } = this;
    const n = x.length;
    switch (kind) {
      case "bits":
        for (let i = 0; i < n; i++) x[i] = this.assemble(random.below(top + 1));
        break;
      case "narrow":
        for (let i = 0; i < n; i++) x[i] = this.assemble(one - 4 + random.below(8));
        break;
      case "wide":
      case "cancelling":
        for (let i = 0; i < n; i++) x[i] = this.assemble(base - 100 + random.below(200));
        break;
      case "integers":
        for (let i = 0; i < n; i++) x[i] = (random.below(2) ? -1 : 1) * random.below(1 << (1 + random.below(20)));
        break;
      case "ties":
        for (let i = 0; i < n; i++)
          x[i] = (random.below(2) ? -1 : 1) * (random.below(4) + 1) * this.power(-(random.below(4) * digits + random.below(3)));
        break;
      case "subnormal":
        for (let i = 0; i < n; i++) x[i] = this.assemble(random.below(3));
        break;
      case "large":
        for (let i = 0; i < n; i++) x[i] = this.assemble(top - random.below(3));
        break;
      case "ones":
        for (let i = 0; i < n; i++) x[i] = this.assemble(one + digits * (random.below(5) - 2), true);
        break;
      case "zeros":
        for (let i = 0; i < n; i++) x[i] = random.below(4) === 0 ? this.assemble(one - 3 + random.below(6)) : random.below(2) ? -0 : 0;
        break;
      case "special":
        for (let i = 0; i < n; i++)
          x[i] = random.below(12) === 0 ? (SPECIAL[random.below(5)] as number) : this.assemble(one - 20 + random.below(40));
        break;
    }
  }

  /** A matrix of a kind, by rows or by columns, with room between them and before the first. */
  matrix(rows: number, cols: number, kind: Kind, order: "row" | "column" = "row"): Matrix {
    const [lines, length] = order === "row" ? [rows, cols] : [cols, rows];
    const ld = length + this.random.below(3);
    const offset = this.random.below(4);
    return matrix(this.vector(offset + Math.max(lines, 1) * ld, kind), rows, cols, { order, ld: Math.max(ld, 1), offset });
  }

  /** A square matrix with a diagonal that is larger than the other entries of its row together. */
  dominant(n: number, order: "row" | "column" = "row"): Matrix {
    const A = matrix(this.vector(n * n, "narrow"), n, n, { order });
    let size = 16;
    while (size < 16 * n) size *= 2;
    for (let i = 0; i < n; i++) A.data[i * n + i] = (A.data[i * n + i] as number) + (this.random.below(2) ? -size : size);
    return A;
  }

  /** A sparse matrix with these columns in its rows, of numbers near 1, and a diagonal that outweighs them. */
  sparse(columns: readonly (readonly number[])[], diagonal: number): Sparse {
    const n = columns.length;
    const pointers = new Int32Array(n + 1);
    for (const [i, row] of columns.entries()) pointers[i + 1] = (pointers[i] as number) + row.length;
    const values = this.vector(pointers[n] as number, "narrow");
    for (const [i, row] of columns.entries()) {
      const at = row.indexOf(i);
      if (at >= 0) values[(pointers[i] as number) + at] = diagonal + this.random.below(8);
    }
    return csr(n, n, pointers, Int32Array.from(columns.flat()), values);
  }
}

/** The columns of each row of a sparse matrix: a pattern. All have a full diagonal. */
export type Pattern = readonly (readonly number[])[];

/** Up to `most` other entries in each row, anywhere, in no order. */
export function scattered(random: Random, n: number, most: number): Pattern {
  return Array.from({ length: n }, (_, i) => [...new Set([i, ...Array.from({ length: random.below(most + 1) }, () => random.below(n))])]);
}

/** A row and a column that are full, and a chain. */
export function arrow(n: number): Pattern {
  const all = Array.from({ length: n }, (_, j) => j);
  return all.map((i) => (i === n >> 1 ? all : [...new Set([i - 1, i, n >> 1].filter((j) => j >= 0))].sort((a, b) => a - b)));
}

/** Neighbours in a grid of `side` cubed nodes: 27 points, or 7. */
export function grid(side: number, points: 7 | 27): Pattern {
  const steps = [-1, 0, 1];
  const rows: number[][] = [];
  for (let z = 0; z < side; z++)
    for (let y = 0; y < side; y++)
      for (let x = 0; x < side; x++) {
        const row: number[] = [];
        for (const dz of steps)
          for (const dy of steps)
            for (const dx of steps) {
              if (points === 7 && Math.abs(dx) + Math.abs(dy) + Math.abs(dz) > 1) continue;
              if ([x + dx, y + dy, z + dz].every((at) => at >= 0 && at < side)) row.push(((z + dz) * side + y + dy) * side + x + dx);
            }
        rows.push(row);
      }
  return rows;
}
