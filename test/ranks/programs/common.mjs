// What the programs of the tests share: random numbers that are the same on every rank, cuts of vectors, comparison of bits.

/** Random numbers from a seed (Marsaglia's xorshift). */
export function generator(seed) {
  let s = (seed ^ 0x9e3779b9) >>> 0 || 1;
  const word = () => {
    s ^= s << 13;
    s ^= s >>> 17;
    s ^= s << 5;
    s >>>= 0;
    return s;
  };
  const next = () => word() / 2 ** 32;
  const integer = (n) => Math.floor(next() * n);
  const view = new DataView(new ArrayBuffer(8));
  return {
    next,
    integer,
    pick: (list) => list[integer(list.length)],
    /** A finite number of random bits. */
    bits() {
      for (;;) {
        view.setUint32(0, word());
        view.setUint32(4, word());
        const x = view.getFloat64(0);
        if (Number.isFinite(x)) return x;
      }
    },
    /** A random number of either sign with this exponent. */
    near: (exponent) => (1 + word() / 2 ** 32 + word() / 2 ** 64) * 2 ** exponent * (integer(2) === 0 ? 1 : -1),
  };
}

/** Where the parts of a vector of length n begin, and the end: uneven, some empty. */
export function cutsOf(n, parts, next) {
  const inner = Array.from({ length: parts - 1 }, () => Math.floor(next() * (n + 1))).sort((a, b) => a - b);
  return [0, ...inner, n];
}

/** Whether two numbers have the same bits; all NaNs count as the same. */
export const sameNumber = (a, b) => Object.is(a, b);
