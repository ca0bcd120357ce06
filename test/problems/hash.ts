import { createHash } from "node:crypto";

/** The first 16 hexadecimal digits of the SHA-256 of these arrays: a problem's bits in one word. */
export function hash(...arrays: Float64Array[]): string {
  const all = createHash("sha256");
  for (const array of arrays) all.update(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
  return all.digest("hex").slice(0, 16);
}
