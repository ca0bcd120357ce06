// The memory of the WebAssembly engines: an allocator in one linear memory, and the kernels instantiated over it. wasm/index.ts and
// threads/arena.ts build on it; assembly/layout.ts describes the frame in front of the arrays.

import type { Real, Reduction } from "../../arrays/types.ts";
import { part } from "../../arrays/vectors.ts";
import type { Elementwise } from "../kernels.ts";
import { DIGIT_COUNT, DIGITS, FRAME, JOB } from "./assembly/layout.ts";
import { Job } from "./jobs/job.ts";
import type { WasmMemory, WasmModule } from "./objects.ts";

// A compiled kernel (assembly/vectors.ts, assembly/matrices.ts), and the same kernel for binary32 and for binary64.
type Kernel = (...args: number[]) => number;
type Pair = readonly [Kernel, Kernel];
type Kernels = Readonly<Record<Reduction, Pair>>;

export const PAGE = 65536;
const ALIGNMENT = 64;
const SHORT = 64; // up to this number of elements, a loop is faster than set() with a view
export const END = 64; // bytes kept free: kernels read elements in pairs, possibly one past the end of an array

/** Which kernel of a pair is for the format of `like`. */
export function kernelIndex(like: Real): 0 | 1 {
  return like.BYTES_PER_ELEMENT === 8 ? 1 : 0;
}

/** The size limit of one array, in bytes. */
export const LIMIT = 65536 * PAGE - FRAME - END;

/** A memory of this size, after the frame. */
export function fixedMemory(bytes: number): WasmMemory {
  const pages = Math.ceil((FRAME + bytes + END) / PAGE);
  return new WebAssembly.Memory({ initial: pages, maximum: pages });
}

/**
 * A memory with its own instance of the kernels: a frame through which ordinary arrays are streamed, and an allocator for arrays that
 * live in the arena. On the calling thread the memory never grows, so its views never detach. It is garbage-collected as a whole when
 * nothing refers to the arena or its arrays any more.
 */
export class Arena {
  private exports: Record<string, Kernel> | undefined;
  buffer: ArrayBuffer;
  binary64: Float64Array;
  binary32: Float32Array;
  words: Int32Array;
  private readonly blocks = new Map<number, number>(); // offsets and sizes of allocated blocks
  private readonly gaps: { offset: number; size: number }[]; // free memory by ascending offset, no two gaps adjacent
  /** Called by the kernels to copy a row of a streamed matrix to the address that its job has set. */
  fetch: (row: number) => void = () => {};
  // The registry belongs to the arena. One that outlived it would keep it alive until the next turn of the event loop, and a synchronous
  // loop that creates and drops plans would run out of memory.
  private readonly owners = new FinalizationRegistry<number>((offset) => {
    this.release(offset);
    this.onCollected();
  });
  /** Called after a block has been freed because its owner was garbage-collected. */
  onCollected: () => void = () => {};
  private fresh: number; // memory from this offset on has never been allocated: it is all zeros

  constructor(
    private readonly matrices: () => WasmModule,
    readonly memory: WasmMemory,
    private readonly start = FRAME,
  ) {
    this.buffer = memory.buffer as ArrayBuffer;
    this.gaps = [{ offset: start, size: this.buffer.byteLength - END - start }];
    this.fresh = start;
    this.binary64 = new Float64Array(this.buffer);
    this.binary32 = new Float32Array(this.buffer);
    this.words = new Int32Array(this.buffer);
  }

  /** Call a matrix kernel. The first call instantiates the module. */
  call(name: string, ...args: number[]): number {
    return (this.kernels()[name] as Kernel)(...args);
  }

  /** Run this worker's part of a job: call("work", job, worker) without the array of arguments. */
  work(job: number, worker: number): void {
    (this.kernels().work as Kernel)(job, worker);
  }

  private kernels(): Record<string, Kernel> {
    this.exports ??= instantiate(this.matrices(), this.memory, (row) => this.fetch(row));
    return this.exports;
  }

  /** The memory as an array of the format of `like`. */
  heap(like: Real): Real {
    return like.BYTES_PER_ELEMENT === 8 ? this.binary64 : this.binary32;
  }

  /** Whether x is in this memory. (The first look at the buffer of a short array makes V8 create it, which takes 0.25 µs.) */
  holds(x: ArrayBufferView): boolean {
    return this.fresh > this.start && x.buffer === this.buffer;
  }

  /**
   * The address of n elements of x from element i on, in the format of `like`, padded with zeros to a multiple of 8 elements. They are
   * copied to scratch unless x already provides all this in the arena.
   */
  padded(x: Real, i: number, n: number, scratch: number, like: Real): number {
    const width = like.BYTES_PER_ELEMENT;
    if (n % 8 === 0 && x.BYTES_PER_ELEMENT === width && this.holds(x)) return x.byteOffset + i * width;
    const heap = this.heap(like);
    const at = scratch / width;
    if (n <= SHORT) for (let j = 0; j < n; j++) heap[at + j] = x[i + j] as number;
    else heap.set(i === 0 && n === x.length ? x : part(x, i, n), at);
    for (let j = n; j % 8 !== 0; j++) heap[at + j] = 0;
    return scratch;
  }

  /** Set bytes to zero. */
  zero(at: number, bytes: number): void {
    new Uint8Array(this.buffer, at, bytes).fill(0);
  }

  /** Allocate a block, first fit. Returns its offset, or 0 if no gap is large enough. The block is zeroed if `clean`. */
  allocate(bytes: number, clean = true): number {
    const size = Math.max(ALIGNMENT, Math.ceil(bytes / ALIGNMENT) * ALIGNMENT);
    const i = this.gaps.findIndex((gap) => gap.size >= size);
    const gap = this.gaps[i];
    if (gap === undefined) return 0;
    const at = gap.offset;
    gap.offset += size;
    gap.size -= size;
    if (gap.size === 0) this.gaps.splice(i, 1);
    if (clean && at < this.fresh) this.zero(at, Math.min(size, this.fresh - at));
    this.fresh = Math.max(this.fresh, at + size);
    this.blocks.set(at, size);
    return at;
  }

  /** Free the block at this offset. */
  release(offset: number): void {
    const size = this.blocks.get(offset) as number;
    this.blocks.delete(offset);
    // Insert the gap in order, and merge it with adjacent gaps.
    let i = this.gaps.findIndex((gap) => gap.offset > offset);
    if (i < 0) i = this.gaps.length;
    this.gaps.splice(i, 0, { offset, size });
    this.join(i);
    this.join(i - 1);
  }

  /** Free the block at this offset when `owner` is garbage-collected, unless disown() is called before. */
  own(owner: object, offset: number): void {
    this.owners.register(owner, offset, owner);
  }

  disown(owner: object): void {
    this.owners.unregister(owner);
  }

  /** The memory has grown: renew the views and add a gap. */
  protected extend(buffer: ArrayBuffer): void {
    const offset = this.buffer.byteLength - END;
    this.gaps.push({ offset, size: buffer.byteLength - this.buffer.byteLength });
    this.join(this.gaps.length - 2);
    this.buffer = buffer;
    this.binary64 = new Float64Array(buffer);
    this.binary32 = new Float32Array(buffer);
    this.words = new Int32Array(buffer);
  }

  /** The end of the memory that has been allocated at some time. Memory beyond it costs no more than address space. */
  get touched(): number {
    return this.fresh;
  }

  isEmpty(): boolean {
    return this.blocks.size === 0;
  }

  // Merge gap i with the next one if they are adjacent.
  private join(i: number): void {
    const [gap, next] = [this.gaps[i], this.gaps[i + 1]];
    if (!gap || !next || gap.offset + gap.size !== next.offset) return;
    gap.size += next.size;
    this.gaps.splice(i + 1, 1);
  }

  /** The digits of the superaccumulator after normalize(): all but the last are in [0, 2^32), the last carries the sign. */
  digits(): Float64Array {
    const digits = new Float64Array(DIGIT_COUNT);
    for (let i = 0; i < DIGIT_COUNT; i++) digits[i] = (this.words[DIGITS / 4 + 2 * i] as number) >>> 0;
    digits[DIGIT_COUNT - 1] = this.words[DIGITS / 4 + 2 * (DIGIT_COUNT - 1)] as number;
    return digits;
  }
}

/** The modules of one build. `matrices` is set when a matrix routine is loaded. */
export interface Modules {
  readonly vectors: WasmModule;
  matrices: WasmModule | undefined;
}

/** An arena on the calling thread, with the vector kernels. */
export class VectorArena extends Arena {
  /** The record of the job that runs. */
  readonly job = new Job(this, JOB, 1);
  /** The kernels of each stage by the kind of reduction. */
  readonly filter: Kernels;
  readonly ladder: Kernels;
  readonly exact: Kernels;
  readonly expansion: Kernels;
  readonly deposit: Kernels;
  /** The elementwise kernels. */
  readonly map: Record<Elementwise, Pair>;
  readonly clear: Kernel;
  readonly multiplyAdd: Kernel;

  constructor(modules: Modules, bytes: number) {
    super(() => modules.matrices as WasmModule, fixedMemory(bytes));
    const exports = instantiate(modules.vectors, this.memory, () => {});
    // Looked up once: building the name in every call would take longer than the sum of a short vector.
    const pair = (name: string): Pair => [exports[`${name}32`] as Kernel, exports[`${name}64`] as Kernel];
    const stage = (name: string): Kernels => ({ sum: pair(`${name}_sum`), asum: pair(`${name}_asum`), dot: pair(`${name}_dot`) });
    this.filter = stage("filter");
    this.ladder = stage("ladder");
    this.exact = stage("exact");
    this.expansion = stage("expansion");
    this.deposit = stage("deposit");
    this.map = { scal: pair("scal"), invscal: pair("invscal"), axpy: pair("axpy") };
    this.clear = exports.clear as Kernel;
    this.multiplyAdd = exports.multiplyAdd as Kernel;
  }
}

function instantiate(module: WasmModule, memory: WasmMemory, fetch: (row: number) => void): Record<string, Kernel> {
  return new WebAssembly.Instance(module, { env: { memory, fetch, sleep() {} } }).exports as Record<string, Kernel>;
}
