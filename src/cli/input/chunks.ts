// Numbers of a file or a stream in chunks. They are read into the engine's memory, where the kernels use them without a copy, and several
// reads are in flight while one chunk is summed. Time relative to `cat`, 1.5 GB in the page cache of an AMD EPYC with two cores: 0.83
// with four reads of 1 MiB in flight, 1.28 with two; 1.26 with eight of 256 KiB; 1.02 with eight of 4 MiB.
import type { FileHandle } from "node:fs/promises";
import { allocate, free } from "../../api/memory.ts";
import { FormatError } from "../../arrays/errors.ts";
import type { Real } from "../../arrays/types.ts";
import { decode, type NpyLayout, type NpyType, rawBytes } from "../../files/npyTypes.ts";
import type { ByteStream } from "./byteStream.ts";

/** Numbers per chunk: 1 MiB of binary64. */
export const CHUNK = 2 ** 17;
const IN_FLIGHT = 4;

/** Numbers, and the bytes that were read for them. */
interface Buffer {
  readonly numbers: Real;
  readonly raw: Uint8Array;
}

function newBuffer(type: NpyType): Buffer {
  const numbers: Real = type.precision === 8 ? allocate(CHUNK) : allocate(CHUNK, "binary32");
  return { numbers, raw: rawBytes(type, numbers) };
}

/** The numbers of a file from number `first` to `end` - 1; number 0 is at byte `start`. */
export async function* fileChunks(
  name: string,
  handle: FileHandle,
  layout: NpyLayout,
  start: number,
  first: number,
  end: number,
): AsyncGenerator<Real> {
  const { width } = layout.type;
  const count = end - first;
  const buffers = Array.from({ length: Math.min(IN_FLIGHT, Math.ceil(count / CHUNK)) }, () => newBuffer(layout.type));
  const begin = (k: number): Promise<Buffer> => {
    const length = Math.min(CHUNK, count - k * CHUNK);
    const { numbers, raw } = buffers[k % IN_FLIGHT] as Buffer;
    const chunk = { numbers: numbers.subarray(0, length), raw: raw.subarray(0, length * width) };
    const reading = read(name, handle, chunk.raw, start + (first + k * CHUNK) * width).then(() => chunk);
    reading.catch(() => {}); // reported when the chunk is awaited
    return reading;
  };
  const pending = buffers.map((_, k) => begin(k));
  try {
    for (let k = 0; k * CHUNK < count; k++) {
      const { numbers, raw } = await (pending[k % IN_FLIGHT] as Promise<Buffer>);
      decode(name, layout, raw, numbers, first + k * CHUNK);
      yield numbers;
      if ((k + IN_FLIGHT) * CHUNK < count) pending[k % IN_FLIGHT] = begin(k + IN_FLIGHT);
    }
  } finally {
    await Promise.allSettled(pending); // no read may write to freed memory
    for (const { numbers } of buffers) free(numbers);
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
export async function* streamChunks(name: string, bytes: ByteStream, layout: NpyLayout, count: number | undefined): AsyncGenerator<Real> {
  const { width } = layout.type;
  const { numbers, raw } = newBuffer(layout.type);
  try {
    let read = 0;
    for (;;) {
      const target = raw.subarray(0, Math.min(CHUNK, (count ?? Number.POSITIVE_INFINITY) - read) * width);
      const filled = await bytes.fill(target);
      const whole = Math.floor(filled / width);
      if (filled % width !== 0 || (count !== undefined && filled < target.length))
        throw new FormatError(
          `${name} ends after ${read * width + filled} bytes of numbers, expected ${count === undefined ? `a multiple of ${width}` : count * width}`,
        );
      if (whole === 0) break;
      const chunk = numbers.subarray(0, whole);
      decode(name, layout, target.subarray(0, filled), chunk, read);
      read += whole;
      yield chunk;
      if (filled < target.length) break;
    }
    if ((await bytes.fill(new Uint8Array(1))) > 0) throw new FormatError(`${name} continues after the last number, expected the end`);
  } finally {
    free(numbers);
  }
}
