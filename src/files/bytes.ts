// Numbers as bytes: for .npy files, raw files and hashes.
import type { Real } from "../arrays/types.ts";

/** The bytes of an array, without a copy. */
export function bytesOf(x: Real | Int32Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(x.buffer as ArrayBuffer, x.byteOffset, x.byteLength);
}

/** Reverses the bytes of each number. */
export function swapBytes(bytes: Uint8Array, width: 4 | 8): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < bytes.length; at += 4) view.setUint32(at, view.getUint32(at, false), true);
  if (width === 8)
    for (let at = 0; at < bytes.length; at += 8) {
      const first = view.getUint32(at);
      view.setUint32(at, view.getUint32(at + 4));
      view.setUint32(at + 4, first);
    }
}
