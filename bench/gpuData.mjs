// The same numbers on both sides: in memory of the OpenCL device, as routines take it, and of CUDA where that is there.
import { remoteArray } from "../dist/engines/remote.js";
import { uniform, vectors } from "./data.mjs";

// Long vectors are copies of one block: each has the condition of its block, and no host has to make 2^28 numbers.
const BLOCK = 2 ** 18;
// What goes through the host at a time, in bytes.
const PIECE = 2 ** 28;

const FILL = `
// Entry k of a matrix with lines of n numbers: even in (-scale, scale), and on the diagonal plus shift.
__kernel void fillMatrix(__global double *A, const int n, const double scale, const double shift, const long seed)
{
  const ulong k = get_global_id(0);
  ulong h = (k + (ulong)seed) * 0x9e3779b97f4a7c15ul;
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ul;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebul;
  h ^= h >> 31;
  const double even = ldexp((double)(long)h, -63);
  A[k] = scale * even + (k % (n + 1) == 0 ? shift : 0.0);
}
`;
const GROUP = 256;

/** Work with data that go when it is through or has failed. */
export async function withData({ device, cuda }, work) {
  const data = new Data(device, cuda.runtime);
  try {
    return await work(data);
  } finally {
    data.free();
  }
}

class Data {
  constructor(device, runtime) {
    this.device = device;
    this.runtime = runtime.missing ? undefined : runtime;
    this.taken = [];
  }

  /** So many numbers with whatever they are: { here, there }, the second undefined without CUDA. */
  room(n) {
    const buffer = this.device.allocate("bench", 8 * n);
    const there = this.runtime?.allocate(8 * n);
    this.taken.push({ buffer, there });
    return { here: remoteArray(new Float64Array(0), n, buffer), there, buffer, n };
  }

  /** An array of numbers or indices as it is, on the OpenCL device alone. */
  array(from) {
    const buffer = this.device.allocate("bench", from.byteLength);
    this.device.write(buffer, from);
    this.taken.push({ buffer });
    return remoteArray(from, from.length, buffer);
  }

  /** These numbers, over and over. */
  repeat(block, n) {
    const room = this.room(n);
    const first = block.subarray(0, Math.min(n, block.length));
    this.device.write(room.buffer, first);
    if (this.runtime) this.runtime.write(room.there, first);
    for (let have = first.length; have < n; have *= 2) {
      const bytes = 8 * Math.min(have, n - have);
      this.device.copy(room.buffer, room.buffer, bytes, 0, 8 * have);
      this.runtime?.copy(room.there + BigInt(8 * have), room.there, bytes);
    }
    this.device.finish().now();
    return room;
  }

  /** x and y of a reduction with data of this kind. */
  operands(kind, op, n) {
    const { x, y } = vectors(kind, op, Math.min(n, BLOCK));
    const first = this.repeat(x, n);
    return { x: first, y: y ? this.repeat(y, n) : first };
  }

  vector(n, seed) {
    return this.repeat(uniform(n, seed), n);
  }

  /** A matrix of so many lines of n numbers in (-scale, scale), on the diagonal plus shift. */
  matrix(lines, n, { scale = 1, shift = 0, seed = 1 } = {}) {
    const room = this.room(lines * n);
    const kernel = this.device.kernel("fillMatrix", [FILL]);
    const numbers = [scale, shift].map((value) => Float64Array.of(value));
    this.device.launch(kernel, [(lines * n) / GROUP], [GROUP], [room.buffer, n, ...numbers, BigInt64Array.of(BigInt(seed) << 40n)]);
    this.device.finish().now();
    if (this.runtime) this.carry(room);
    return room;
  }

  // From one device memory to the other: they belong to different drivers.
  carry({ buffer, there, n }) {
    const bytes = 8 * n;
    const piece = new Uint8Array(Math.min(PIECE, bytes));
    for (let at = 0; at < bytes; at += piece.length) {
      const part = piece.subarray(0, Math.min(piece.length, bytes - at));
      this.device.read(buffer, part, at).now();
      this.runtime.write(there + BigInt(at), part);
    }
  }

  read({ buffer, n }) {
    const numbers = new Float64Array(n);
    this.device.read(buffer, numbers).now();
    return numbers;
  }

  readThere({ there, n }) {
    return this.runtime.read(there, new Float64Array(n));
  }

  /** All of it goes. */
  free() {
    for (const { buffer, there } of this.taken.splice(0)) {
      buffer.free();
      if (there !== undefined) this.runtime.free(there);
    }
  }
}
