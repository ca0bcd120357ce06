// Vectors that every rank has as a whole: a hash for the facts of a call, so that ranks whose vectors differ are noticed.

/** A hash of the elements: FNV-1a over the words of their bits. All NaNs count as one. */
export function hashOf(x: Float64Array): number {
  const element = new Float64Array(1);
  const words = new Int32Array(element.buffer);
  let h = 0x811c9dc5;
  for (let i = 0; i < x.length; i++) {
    const v = x[i] as number;
    element[0] = v === v ? v : 0.1;
    h = Math.imul(h ^ (words[0] as number), 0x01000193);
    h = Math.imul(h ^ (h >>> 15) ^ (words[1] as number), 0x01000193);
  }
  return h >>> 0;
}
