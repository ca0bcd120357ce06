// SHA-256 (FIPS 180-4) in plain TypeScript, for the corpus: browsers have crypto.subtle on secure pages only, and the shells of
// JavaScript engines have none. Programs that run in Node use node:crypto.

/** A running hash. */
export class Sha256 {
  private readonly state = Uint32Array.from(START);
  private readonly block = new Uint8Array(64);
  private filled = 0; // bytes in the block
  private length = 0; // bytes in all

  update(bytes: Uint8Array): this {
    this.length += bytes.length;
    let at = 0;
    while (at < bytes.length) {
      const part = bytes.subarray(at, at + 64 - this.filled);
      this.block.set(part, this.filled);
      this.filled += part.length;
      at += part.length;
      if (this.filled < 64) break;
      compress(this.state, this.block);
      this.filled = 0;
    }
    return this;
  }

  /** The hash of everything so far, as 64 hexadecimal digits. More may be added afterwards. */
  hex(): string {
    const state = this.state.slice();
    const end = new Uint8Array(this.filled < 56 ? 64 : 128);
    end.set(this.block.subarray(0, this.filled));
    end[this.filled] = 0x80;
    const view = new DataView(end.buffer);
    view.setUint32(end.length - 8, Math.floor(this.length / 0x20000000));
    view.setUint32(end.length - 4, this.length << 3);
    for (let at = 0; at < end.length; at += 64) compress(state, end.subarray(at, at + 64));
    return Array.from(state, (word) => word.toString(16).padStart(8, "0")).join("");
  }
}

// The fractional bits of the square roots of the first 8 primes and of the cube roots of the first 64.
const START = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];
const ROUND = Int32Array.of(
  ...[0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5],
  ...[0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174],
  ...[0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da],
  ...[0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967],
  ...[0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85],
  ...[0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070],
  ...[0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3],
  ...[0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2],
);
const schedule = new Int32Array(64);

const rotate = (word: number, by: number): number => (word >>> by) | (word << (32 - by));

function compress(state: Uint32Array, block: Uint8Array): void {
  const w = schedule;
  for (let t = 0; t < 16; t++) {
    const at = 4 * t;
    w[t] = ((block[at] as number) << 24) | ((block[at + 1] as number) << 16) | ((block[at + 2] as number) << 8) | (block[at + 3] as number);
  }
  for (let t = 16; t < 64; t++) {
    const early = w[t - 15] as number;
    const late = w[t - 2] as number;
    const s0 = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3);
    const s1 = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10);
    w[t] = ((w[t - 16] as number) + s0 + (w[t - 7] as number) + s1) | 0;
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
  for (let t = 0; t < 64; t++) {
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const first = (h + s1 + ((e & f) ^ (~e & g)) + (ROUND[t] as number) + (w[t] as number)) | 0;
    const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const second = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + second) | 0;
  }
  for (const [i, word] of [a, b, c, d, e, f, g, h].entries()) state[i] = ((state[i] as number) + word) | 0;
}
