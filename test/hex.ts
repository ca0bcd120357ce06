// Numbers as hex digits, most significant first: the only way bits are written in test files.
const view = new DataView(new ArrayBuffer(8));

export function fromHex(hex: string): number {
  view.setBigUint64(0, BigInt(`0x${hex}`));
  return view.getFloat64(0);
}

export function toHex(x: number): string {
  view.setFloat64(0, x);
  return view.getBigUint64(0).toString(16).padStart(16, "0");
}

/** The bits of each element as stored, so that the NaN in an array counts too. */
export function storedBits(x: Float64Array | Float32Array): string[] {
  const width = x.BYTES_PER_ELEMENT;
  const bytes = new DataView(x.buffer, x.byteOffset, x.byteLength);
  return Array.from(x, (_, i) =>
    width === 8
      ? bytes
          .getBigUint64(8 * i, true)
          .toString(16)
          .padStart(16, "0")
      : bytes
          .getUint32(4 * i, true)
          .toString(16)
          .padStart(8, "0"),
  );
}
