// The format in which the generated files hold the compiled modules. scripts/build.mjs writes it; load.ts and loadVectors.ts read it.

/** The two builds of one source: with fused multiply-add, and with Dekker's products. Both return the same bits. */
export type Variant = "fma" | "dekker";

/** Both builds of a module, one character per byte, in alternating slices. scripts/build.mjs explains why. */
export interface PackedModule {
  readonly lengths: readonly [number, number];
  /** In each build, the index of the byte that is 3 for a shared memory and 1 otherwise. */
  readonly shared: readonly [number, number];
  readonly slices: number;
  /** The code of the character for the byte 0. */
  readonly zero: number;
  readonly bytes: string;
}

/** The bytes of one build, for a memory of its own or for one that threads share. */
export function bytesOf(
  { lengths, shared, slices, zero, bytes }: PackedModule,
  variant: Variant,
  threads: boolean,
): Uint8Array<ArrayBuffer> {
  const build = variant === "fma" ? 0 : 1;
  const begin = (of: 0 | 1, slice: number): number => Math.floor((lengths[of] * slice) / slices);
  const out = new Uint8Array(lengths[build]);
  for (let slice = 0; slice < slices; slice++) {
    // This slice follows all earlier slices of both builds and, in the second build, its counterpart of the first.
    const other = begin(build === 0 ? 1 : 0, slice + build);
    for (let i = begin(build, slice); i < begin(build, slice + 1); i++) out[i] = bytes.charCodeAt(other + i) - zero;
  }
  if (threads) out[shared[build]] = 3;
  return out;
}
