// Vectors of random bit patterns. Uniform bits alone rarely cancel, tie or touch the ends of the range, so each vector
// has a kind that makes one of these likely.
import type { Random } from "../src/study.ts";

const view = new DataView(new ArrayBuffer(8));

/** A double of these parts: sign 0 or 1, exponent field 0 to 2047, 52 bits of fraction in two words. */
export function assemble(sign: number, field: number, high20: number, low32: number): number {
  view.setUint32(0, ((sign << 31) | (field << 20) | high20) >>> 0);
  view.setUint32(4, low32 >>> 0);
  return view.getFloat64(0);
}

export const KINDS = [
  "bits",
  "narrow",
  "wide",
  "integers",
  "cancelling",
  "ties",
  "subnormal",
  "large",
  "ones",
  "edges",
  "special",
  "zeros",
] as const;
export type Kind = (typeof KINDS)[number];

/** n doubles of one kind. */
export function vector(random: Random, n: number, kind: Kind): Float64Array {
  const base = 1 + random.below(2045);
  const x = new Float64Array(n);
  for (let i = 0; i < n; i++) x[i] = element(random, kind, base);
  if (kind === "cancelling") {
    for (let i = n >> 1; i < n; i++)
      x[i] = random.below(4) === 0 ? (x[i] as number) : -(x[i - (n >> 1)] as number) * (random.below(3) === 0 ? 1 + 2 ** -52 : 1);
  }
  return x;
}

function element(random: Random, kind: Kind, base: number): number {
  const sign = random.below(2);
  const high = random.word() >>> 12;
  const low = random.word() >>> 0;
  switch (kind) {
    case "bits":
      return assemble(sign, random.below(2047), high, low);
    case "narrow":
      return assemble(sign, Math.min(Math.max(base + random.below(8) - 4, 0), 2046), high, low);
    case "wide":
    case "cancelling":
      return assemble(sign, Math.min(Math.max(base + random.below(200) - 100, 0), 2046), high, low);
    case "integers":
      return (sign ? -1 : 1) * random.below(1 << (1 + random.below(30)));
    case "ties":
      // few bits at a few places: sums that end in exactly half a step, or next to it
      return (sign ? -1 : 1) * (random.below(4) + 1) * 2 ** ([0, -1, -52, -53, -54, -105, -106, -160][random.below(8)] as number);
    case "subnormal":
      return assemble(sign, random.below(3), high, low);
    case "large":
      return assemble(sign, 2044 + random.below(3), high, low);
    case "ones":
      return assemble(sign, 1023 + 53 * (random.below(5) - 2), 0xfffff, 0xffffffff);
    case "edges":
      // powers of two, subnormal ones among them, and numbers just below one: what splits and grids round up
      if (low % 2) return (sign ? -1 : 1) * 2 ** (random.below(2098) - 1074);
      return assemble(sign, random.below(2047), 0xfffff, 0xffffffff - random.below(3));
    case "special":
      return random.below(8) === 0
        ? ([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, -0][random.below(5)] as number)
        : assemble(sign, 1000 + random.below(40), high, low);
    case "zeros":
      return random.below(3) === 0 ? assemble(sign, 1020 + random.below(6), high, low) : sign ? -0 : 0;
  }
}

/** The same numbers as binary32, where they are too large or too small for that moved into its range. */
export function toSingle(random: Random, x: Float64Array): Float32Array {
  const words = new Uint32Array(x.length);
  for (let i = 0; i < x.length; i++) {
    view.setFloat64(0, x[i] as number);
    const high = view.getUint32(0);
    const field = (high >>> 20) & 0x7ff;
    const special = field === 0x7ff;
    const moved = special ? 255 : field >= 897 && field < 1151 ? field - 896 : field % 255;
    words[i] = (high & 0x80000000) | (moved << 23) | (special && Number.isNaN(x[i]) ? 0x400000 : special ? 0 : random.word() >>> 9);
    if (x[i] === 0) words[i] = high & 0x80000000;
  }
  return new Float32Array(words.buffer);
}

/** A vector in another order. */
export function shuffled<V extends Float64Array | Float32Array>(random: Random, x: V): V {
  const order = permutation(random, x.length);
  return x.map((_, i) => x[order[i] as number] as number) as V;
}

/** 0 to n - 1 in random order. */
export function permutation(random: Random, n: number): Int32Array {
  const order = Int32Array.from({ length: n }, (_, i) => i);
  for (let i = n - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [order[i], order[j]] = [order[j] as number, order[i] as number];
  }
  return order;
}

/** Lengths that matter to the engines: short, around lanes and blocks, and now and then long. */
export function length(random: Random): number {
  const which = random.below(100);
  if (which < 60) return random.below(12);
  if (which < 90) return random.below(80);
  if (which < 99) return 500 + random.below(40);
  return [1023, 1024, 1025, 2047, 2049, 4096][random.below(6)] as number;
}
