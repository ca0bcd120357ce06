import type { DeviceBuffer } from "./device.ts";

// Arrays on a device, as routines see them: they have a type and a length, and no elements here. Whoever would read one
// finds nothing; kernels find the memory behind it.

type Array = Float64Array | Float32Array | Int32Array;

const memory = new WeakMap<ArrayBufferLike, DeviceBuffer>();

/** An array of so many elements that is in this memory. */
export function remoteArray<V extends Array>(like: V, length: number, buffer: DeviceBuffer): V {
  const type = like instanceof Int32Array ? Int32Array : like.BYTES_PER_ELEMENT === 8 ? Float64Array : Float32Array;
  const array = new type(0);
  Object.defineProperties(array, { length: { value: length }, byteLength: { value: length * like.BYTES_PER_ELEMENT } });
  memory.set(array.buffer, buffer);
  return array as V;
}

/** The memory of an array that is on a device; undefined for one that is here. */
export function remoteMemory(array: Array): DeviceBuffer | undefined {
  return memory.get(array.buffer);
}
