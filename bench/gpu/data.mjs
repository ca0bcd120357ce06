// The same numbers twice: in memory of the OpenCL device, as arrays that our routines take, and of CUDA where that is available. An
// array is { array, buffer, cuda, n }: the array and its OpenCL memory, the CUDA address (undefined without CUDA), the length.
import { uniform, vectors } from "../harness/data.mjs";

// Long vectors repeat one block: each has the condition of its block, and the host need not generate 2^28 numbers.
const BLOCK = 2 ** 18;
// Bytes copied through the host at a time.
const PIECE = 2 ** 28;

const FILL = `
// Entry k of a matrix with contiguous lines of n numbers: uniform in (-scale, scale), on the diagonal plus shift.
__kernel void fillMatrix(__global double *A, const int n, const double scale, const double shift, const long seed)
{
  const ulong k = get_global_id(0);
  ulong h = (k + (ulong)seed) * 0x9e3779b97f4a7c15ul;
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ul;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebul;
  h ^= h >> 31;
  const double uniform_ = ldexp((double)(long)h, -63);
  A[k] = scale * uniform_ + (k % (n + 1) == 0 ? shift : 0.0);
}
`;
const GROUP = 256;

/** Call `work` with a Data, whose memory is freed afterwards, also after an error. */
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

  /** An array of n numbers, not initialised. */
  allocate(n) {
    const buffer = this.device.allocate(8 * n);
    const cuda = this.runtime?.allocate(8 * n);
    this.taken.push({ buffer, cuda });
    return { array: this.device.array(new Float64Array(0), n, buffer), buffer, cuda, n };
  }

  /** A copy of an array of numbers or indices, on the OpenCL device alone. */
  upload(values) {
    const buffer = this.device.allocate(values.byteLength);
    this.device.write(buffer, values);
    this.taken.push({ buffer });
    return this.device.array(values, values.length, buffer);
  }

  /** An array of n numbers that repeats this block. */
  repeat(block, n) {
    const result = this.allocate(n);
    const first = block.subarray(0, Math.min(n, block.length));
    this.device.write(result.buffer, first);
    if (this.runtime) this.runtime.write(result.cuda, first);
    for (let have = first.length; have < n; have *= 2) {
      const bytes = 8 * Math.min(have, n - have);
      this.device.copy(result.buffer, result.buffer, bytes, 0, 8 * have);
      this.runtime?.copy(result.cuda + BigInt(8 * have), result.cuda, bytes);
    }
    this.device.finish();
    return result;
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

  /** A matrix of `lines` contiguous lines of n numbers in (-scale, scale), on the diagonal plus shift. */
  matrix(lines, n, { scale = 1, shift = 0, seed = 1 } = {}) {
    const result = this.allocate(lines * n);
    const kernel = this.device.kernel("fillMatrix", FILL);
    const numbers = [scale, shift].map((value) => Float64Array.of(value));
    this.device.launch(kernel, [(lines * n) / GROUP], [GROUP], [result.buffer, n, ...numbers, BigInt64Array.of(BigInt(seed) << 40n)]);
    this.device.finish();
    if (this.runtime) this.copyToCuda(result);
    return result;
  }

  // Through the host: the two memories belong to different drivers.
  copyToCuda({ buffer, cuda, n }) {
    const bytes = 8 * n;
    const piece = new Uint8Array(Math.min(PIECE, bytes));
    for (let at = 0; at < bytes; at += piece.length) {
      const part = piece.subarray(0, Math.min(piece.length, bytes - at));
      this.device.read(buffer, part, at);
      this.runtime.write(cuda + BigInt(at), part);
    }
  }

  /** The numbers in OpenCL memory. */
  read({ buffer, n }) {
    const numbers = new Float64Array(n);
    this.device.read(buffer, numbers);
    return numbers;
  }

  /** The numbers in CUDA memory. */
  readCuda({ cuda, n }) {
    return this.runtime.read(cuda, new Float64Array(n));
  }

  free() {
    for (const { buffer, cuda } of this.taken.splice(0)) {
      buffer.free();
      if (cuda !== undefined) this.runtime.free(cuda);
    }
  }
}
