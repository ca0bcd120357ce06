// A byte stream with reads of any size, for input that can be read only once. numbers.ts and load.ts use it.

/** Bytes that arrive in pieces of any size and are read in pieces of another. */
export class ByteStream {
  private readonly source: AsyncIterator<Uint8Array>;
  private piece = new Uint8Array(0);

  constructor(source: AsyncIterable<Uint8Array>) {
    this.source = source[Symbol.asyncIterator]();
  }

  /** The next byte, without consuming it; undefined at the end. */
  async peek(): Promise<number | undefined> {
    await this.more();
    return this.piece[0];
  }

  /** Fills `target` and returns the number of bytes read, which is smaller only at the end. */
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

  /** The remaining bytes. */
  async *rest(): AsyncGenerator<Uint8Array> {
    while (await this.more()) {
      const { piece } = this;
      this.piece = piece.subarray(piece.length);
      yield piece;
    }
  }

  /** Ends the source early. */
  async close(): Promise<void> {
    await this.source.return?.();
  }

  // Waits for the next piece if needed; false at the end.
  private async more(): Promise<boolean> {
    while (this.piece.length === 0) {
      const { done, value } = await this.source.next();
      if (done === true) return false;
      this.piece = value as Uint8Array<ArrayBuffer>;
    }
    return true;
  }
}
