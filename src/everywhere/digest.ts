// What a routine of the corpus has returned, as one running hash: numbers by their bits, as little-endian bytes on every machine.
import { LITTLE_ENDIAN } from "../arrays/byteOrder.ts";
import { EngineError, FormatError, HalfulpError, SingularError, ValueError } from "../arrays/errors.ts";
import type { Real } from "../arrays/types.ts";
import { swapBytes } from "../files/bytes.ts";
import { Sha256 } from "./sha256.ts";

export class Digest {
  private readonly hash = new Sha256();
  private readonly one = new Float64Array(1);

  /** The elements of an array, with the bits that they have in memory. */
  array(x: Real | Int32Array | Uint8Array): void {
    let bytes = new Uint8Array(x.buffer as ArrayBuffer, x.byteOffset, x.byteLength);
    if (!LITTLE_ENDIAN && x.BYTES_PER_ELEMENT > 1) {
      bytes = bytes.slice();
      swapBytes(bytes, x.BYTES_PER_ELEMENT as 4 | 8);
    }
    this.hash.update(bytes);
  }

  /** A number that a function returned: of a NaN only that it is one, its bits are up to the machine. */
  number(v: number): void {
    this.one[0] = v;
    if (v === v) this.array(this.one);
    else this.word("NaN");
  }

  /** A word in ASCII. */
  word(text: string): void {
    this.hash.update(Uint8Array.from(text, (letter) => letter.charCodeAt(0)));
  }

  /** What a call adds to the hash; or, if it is refused, the name of the error and the place that it names. */
  async outcome(call: () => Promise<void>): Promise<void> {
    try {
      await call();
    } catch (error) {
      if (!(error instanceof HalfulpError) || error instanceof EngineError) throw error;
      this.word(error.name);
      // Some machines give every error a line and a column: of the source.
      if (error instanceof ValueError) for (const place of [error.row, error.column]) this.number(place);
      if (error instanceof SingularError) this.number(error.index);
      if (error instanceof FormatError) this.number(error.line);
    }
  }

  /** The hash of everything so far, as 64 hexadecimal digits. */
  hex(): string {
    return this.hash.hex();
  }
}
