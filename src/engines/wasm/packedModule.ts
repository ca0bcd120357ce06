/** The two builds of one source: with fused multiply-add, and with Dekker's products. The bits are the same. */
export type Variant = "fma" | "dekker";

/** Both builds of a module, a character a byte, cut into slices that take turns. scripts/build.mjs says why. */
export interface PackedModule {
  readonly lengths: readonly [number, number];
  /** The index of the byte that is 3 in a module for shared memory, and 1 otherwise. */
  readonly shared: readonly [number, number];
  readonly slices: number;
  /** The code of the character that means 0. */
  readonly zero: number;
  readonly bytes: string;
}

/** One build, for a memory of its own or for one that threads share. */
export function bytesOf(
  { lengths, shared, slices, zero, bytes }: PackedModule,
  variant: Variant,
  threads: boolean,
): Uint8Array<ArrayBuffer> {
  const build = variant === "fma" ? 0 : 1;
  const begin = (of: 0 | 1, slice: number): number => Math.floor((lengths[of] * slice) / slices);
  const out = new Uint8Array(lengths[build]);
  for (let slice = 0; slice < slices; slice++) {
    // Before this slice are all earlier ones of both builds and, where it is the second, its neighbour.
    const other = begin(build === 0 ? 1 : 0, slice + build);
    for (let i = begin(build, slice); i < begin(build, slice + 1); i++) out[i] = bytes.charCodeAt(other + i) - zero;
  }
  if (threads) out[shared[build]] = 3;
  return out;
}
