// Random numbers from integer arithmetic only, for test problems: the same on every JavaScript engine, unlike Math.random, Math.pow and
// Math.log.

/** Marsaglia's xorshift128. A mixing step makes the sequences of neighbouring seeds unrelated. */
export class Random {
  private readonly state = new Uint32Array(4);

  constructor(seed: number) {
    // splitmix32 on the 53 bits of the seed
    let z = ((seed % 2 ** 32) ^ (Math.floor(seed / 2 ** 32) * 0x85ebca6b)) >>> 0;
    for (let i = 0; i < 4; i++) {
      z = (z + 0x9e3779b9) >>> 0;
      let t = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
      t = Math.imul(t ^ (t >>> 15), 0x735a2d97);
      this.state[i] = t ^ (t >>> 15);
    }
    if (this.state.every((word) => word === 0)) this.state[0] = 1;
  }

  /** 32 random bits. */
  word(): number {
    const s = this.state as unknown as [number, number, number, number];
    let t = s[3];
    t ^= t << 11;
    t ^= t >>> 8;
    s[3] = s[2];
    s[2] = s[1];
    s[1] = s[0];
    s[0] = t ^ s[0] ^ (s[0] >>> 19);
    return s[0];
  }

  /** An integer from 0 to n - 1, for n up to 2^32. */
  below(n: number): number {
    return Math.floor((this.word() / 2 ** 32) * n);
  }

  /** A number in (-1, 1) with 53 random bits. */
  signed(): number {
    return ((this.word() >>> 0) * 2 ** 21 + (this.word() >>> 11) - 2 ** 52) / 2 ** 52;
  }
}
