const BLOCK = 2 ** 16; // a power of two, so that the place of an entry is a shift and a mask

/**
 * Numbers that come one after another, up to `most` of them, in blocks: there is never more memory than numbers have come,
 * but for a block, and none is moved to make room.
 */
export class Growing<A extends Int32Array | Float64Array> {
  length = 0;
  private readonly blocks: A[] = [];
  private last: A;

  constructor(
    private readonly most: number,
    private readonly make: (length: number) => A,
  ) {
    this.last = make(0);
  }

  push(value: number): void {
    const at = this.length & (BLOCK - 1);
    if (at === 0) {
      this.last = this.make(Math.min(BLOCK, this.most - this.length));
      this.blocks.push(this.last);
    }
    this.last[at] = value;
    this.length++;
  }

  get(k: number): number {
    return (this.blocks[k >>> 16] as A)[k & (BLOCK - 1)] as number;
  }
}
