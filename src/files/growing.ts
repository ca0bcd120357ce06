// A growing list of numbers, for the entries of a file whose announced size cannot be trusted.

const BLOCK = 2 ** 16; // a power of two: the position of an entry is a shift and a mask

/**
 * A list of up to `max` numbers, stored in blocks: it never allocates more than one block beyond the numbers it holds, and never moves
 * them.
 */
export class Growing<A extends Int32Array | Float64Array> {
  length = 0;
  private readonly blocks: A[] = [];
  private last: A;

  constructor(
    private readonly max: number,
    private readonly allocate: (length: number) => A,
  ) {
    this.last = allocate(0);
  }

  push(value: number): void {
    const at = this.length & (BLOCK - 1);
    if (at === 0) {
      this.last = this.allocate(Math.min(BLOCK, this.max - this.length));
      this.blocks.push(this.last);
    }
    this.last[at] = value;
    this.length++;
  }

  get(k: number): number {
    return (this.blocks[k >>> 16] as A)[k & (BLOCK - 1)] as number;
  }
}
