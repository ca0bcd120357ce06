// Exact sums of many groups at once, for numbers that arrive one by one and in any order of groups: halfulp mean --by. Each group has an
// expansion (Algorithm 3 of the triangular paper, as in expansion.ts); what spills goes to a superaccumulator of that group, which most
// groups never need. A group takes 32 bytes, and 2 kB more once something has spilled.
import { Superaccumulator } from "./superaccumulator.ts";
import { twoProd, twoSum } from "./transforms.ts";

const SIZE = 4;
// Larger terms could make a component overflow: 2^53 terms of this size stay below 2^1013.
const LARGE = 2 ** 960;
// Outside these bounds TwoProd could underflow, or overflow.
const SMALL_PRODUCT = 2 ** -900;
const LARGE_FACTOR = 2 ** 480;

/** The exact sums of groups 0, 1, …, which are there as soon as they get a term. */
export class GroupedSums {
  private parts = new Float64Array(SIZE * 64);
  private readonly spilled = new Map<number, Superaccumulator>();

  /** Add x to the sum of a group. */
  add(group: number, x: number): void {
    const first = SIZE * group;
    if (first >= this.parts.length) this.grow(first);
    if (!(Math.abs(x) < LARGE)) {
      this.overflowOf(group).add(x);
      return;
    }
    const { parts } = this;
    let rest = x;
    for (let i = first; i < first + SIZE; i++) {
      const component = parts[i] as number;
      const s = component + rest;
      rest = twoSum(component, rest, s);
      parts[i] = s;
      if (rest === 0) return;
    }
    this.overflowOf(group).add(rest);
  }

  /** Add x y exactly. */
  addProduct(group: number, x: number, y: number): void {
    const p = x * y;
    const isSafe = Math.abs(x) < LARGE_FACTOR && Math.abs(y) < LARGE_FACTOR && (Math.abs(p) > SMALL_PRODUCT || x === 0 || y === 0);
    if (isSafe) {
      this.add(group, p);
      this.add(group, twoProd(x, y, p));
    } else {
      this.overflowOf(group).addProduct(x, y);
    }
  }

  /** The sum of a group. */
  total(group: number): Superaccumulator {
    const sum = new Superaccumulator();
    const spilled = this.spilled.get(group);
    if (spilled) sum.merge(spilled);
    for (const part of this.parts.subarray(SIZE * group, SIZE * (group + 1))) sum.add(part);
    return sum;
  }

  private grow(needed: number): void {
    const parts = new Float64Array(Math.max(2 * this.parts.length, 2 * needed));
    parts.set(this.parts);
    this.parts = parts;
  }

  private overflowOf(group: number): Superaccumulator {
    let sum = this.spilled.get(group);
    if (sum === undefined) {
      sum = new Superaccumulator();
      this.spilled.set(group, sum);
    }
    return sum;
  }
}
