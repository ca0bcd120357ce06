// Numbers of a file or a stream in chunks. They are read into the engine's memory, where the kernels use them without a copy, and several
// reads are in flight while one chunk is summed. Time relative to `cat`, 1.5 GB in the page cache of an AMD EPYC with two cores: 0.83
// with four reads of 1 MiB in flight, 1.28 with two; 1.26 with eight of 256 KiB; 1.02 with eight of 4 MiB.
import type { FileHandle } from "node:fs/promises";
import { allocate, free } from "../../api/memory.ts";
import { FormatError } from "../../arrays/errors.ts";
import type { Real } from "../../arrays/types.ts";
import { bytesOf, swapBytes } from "../../files/npy.ts";
import type { ByteStream } from "./byteStream.ts";

/** Numbers per chunk: 1 MiB of binary64. */
export const CHUNK = 2 ** 17;
const IN_FLIGHT = 4;

const vector = (width: 4 | 8): Real => (width === 8 ? allocate(CHUNK) : allocate(CHUNK, "binary32"));

/** The numbers of a file from byte `start` on. */
export async function* fileChunks(
  name: string,
  handle: FileHandle,
  start: number,
  count: number,
  width: 4 | 8,
  swap: boolean,
): AsyncGenerator<Real> {
  const buffers = Array.from({ length: Math.min(IN_FLIGHT, Math.ceil(count / CHUNK)) }, () => vector(width));
  const begin = (k: number): Promise<Real> => {
    const chunk = (buffers[k % IN_FLIGHT] as Real).subarray(0, Math.min(CHUNK, count - k * CHUNK));
    const reading = read(name, handle, bytesOf(chunk), start + k * CHUNK * width).then(() => chunk);
    reading.catch(() => {}); // reported when the chunk is awaited
    return reading;
  };
  const pending = buffers.map((_, k) => begin(k));
  try {
    for (let k = 0; k * CHUNK < count; k++) {
      const chunk = await (pending[k % IN_FLIGHT] as Promise<Real>);
      if (swap) swapBytes(bytesOf(chunk), width);
      yield chunk;
      if ((k + IN_FLIGHT) * CHUNK < count) pending[k % IN_FLIGHT] = begin(k + IN_FLIGHT);
    }
  } finally {
    await Promise.allSettled(pending); // no read may write to freed memory
    for (const buffer of buffers) free(buffer);
  }
}

async function read(name: string, handle: FileHandle, target: Uint8Array, position: number): Promise<void> {
  for (let at = 0; at < target.length; ) {
    const { bytesRead } = await handle.read(target, at, target.length - at, position + at);
    if (bytesRead === 0) throw new FormatError(`${name}: the file ends at byte ${position + at}, expected ${target.length - at} more`);
    at += bytesRead;
  }
}

/** The numbers of a stream: `count` of them, or all. */
export async function* streamChunks(
  name: string,
  bytes: ByteStream,
  count: number | undefined,
  width: 4 | 8,
  swap: boolean,
): AsyncGenerator<Real> {
  const buffer = vector(width);
  try {
    let read = 0;
    for (;;) {
      const target = bytesOf(buffer).subarray(0, Math.min(CHUNK, (count ?? Number.POSITIVE_INFINITY) - read) * width);
      const filled = await bytes.fill(target);
      const whole = Math.floor(filled / width);
      if (filled % width !== 0 || (count !== undefined && filled < target.length))
        throw new FormatError(
          `${name} ends after ${read * width + filled} bytes of numbers, expected ${count === undefined ? `a multiple of ${width}` : count * width}`,
        );
      if (whole === 0) break;
      read += whole;
      if (swap) swapBytes(target.subarray(0, filled), width);
      yield buffer.subarray(0, whole);
      if (filled < target.length) break;
    }
    if ((await bytes.fill(new Uint8Array(1))) > 0) throw new FormatError(`${name} continues after the last number, expected the end`);
  } finally {
    free(buffer);
  }
}
