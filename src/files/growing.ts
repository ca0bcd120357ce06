// A growing list of numbers, for the entries of a file whose announced size cannot be trusted.

const BLOCK = 2 ** 16; // a power of two: the position of an entry is a shift and a mask
const FIRST = 2 ** 8; // of the first block, which doubles until it is one of those: most of the time of a small file was allocation

/**
 * A list of up to `max` numbers, stored in blocks: it never allocates more than one block beyond the numbers it holds, and moves only
 * those of the first block.
 */
export class Growing<A extends Int32Array | Float64Array> {
  length = 0;
  private readonly blocks: A[] = [];
  private last: A;
  private capacity = 0;

  constructor(
    private readonly max: number,
    private readonly allocate: (length: number) => A,
  ) {
    this.last = allocate(0);
  }

  push(value: number): void {
    if (this.length === this.capacity) this.grow();
    this.last[this.length & (BLOCK - 1)] = value;
    this.length++;
  }

  private grow(): void {
    const { length, last, max } = this;
    const isFirst = length < BLOCK;
    const whole = isFirst ? Math.max(FIRST, 2 * length) : BLOCK;
    this.last = this.allocate(Math.min(whole, isFirst ? max : max - length));
    if (isFirst) this.last.set(last);
    this.blocks[length >>> 16] = this.last;
    this.capacity = isFirst ? this.last.length : length + this.last.length;
  }

  get(k: number): number {
    return (this.blocks[k >>> 16] as A)[k & (BLOCK - 1)] as number;
  }
}
