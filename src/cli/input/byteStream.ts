/** Bytes that come in pieces of any size, to be taken in pieces of another. */
export class ByteStream {
  private readonly source: AsyncIterator<Uint8Array>;
  private piece = new Uint8Array(0);

  constructor(source: AsyncIterable<Uint8Array>) {
    this.source = source[Symbol.asyncIterator]();
  }

  /** The first byte, which stays where it is; undefined where there is none. */
  async first(): Promise<number | undefined> {
    await this.more();
    return this.piece[0];
  }

  /** Fill `target`; returns how many bytes there were, fewer only at the end. */
  async fill(target: Uint8Array): Promise<number> {
    let filled = 0;
    while (filled < target.length) {
      if (!(await this.more())) break;
      const part = this.piece.subarray(0, target.length - filled);
      target.set(part, filled);
      filled += part.length;
      this.piece = this.piece.subarray(part.length);
    }
    return filled;
  }

  /** All that is left. */
  async *rest(): AsyncGenerator<Uint8Array> {
    while (await this.more()) {
      const { piece } = this;
      this.piece = piece.subarray(piece.length);
      yield piece;
    }
  }

  /** Nobody wants more: whoever sends it learns that. */
  async close(): Promise<void> {
    await this.source.return?.();
  }

  // Whether there is anything, after a wait for the next piece.
  private async more(): Promise<boolean> {
    while (this.piece.length === 0) {
      const { done, value } = await this.source.next();
      if (done === true) return false;
      this.piece = value as Uint8Array<ArrayBuffer>;
    }
    return true;
  }
}
