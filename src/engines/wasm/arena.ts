// The memory of the WebAssembly engines: allocation in one linear memory, and the kernels instantiated over it. wasm/index.ts and
// threads/arena.ts build on it; assembly/layout.ts is the map of what lies in front of the arrays.

import type { Real, Reduction } from "../../arrays/types.ts";
import { part } from "../../arrays/vectors.ts";
import type { Elementwise } from "../kernels.ts";
import { DIGIT_COUNT, DIGITS, FRAME } from "./assembly/layout.ts";
import type { WasmMemory, WasmModule } from "./objects.ts";

// A compiled kernel: see assembly/vectors.ts and assembly/matrices.ts.
type Kernel = (...args: number[]) => number;
type Pair = readonly [Kernel, Kernel];
type Kernels = Readonly<Record<Reduction, Pair>>;

export const PAGE = 65536;
const ALIGNMENT = 64;
const SHORT = 64; // elements up to which a loop is faster than set() with a view
export const END = 64; // bytes kept free: kernels read elements in pairs, possibly one past the end of an array

/** Which kernel of a pair takes the format of `like`. */
export function widthOf(like: Real): 0 | 1 {
  return like.BYTES_PER_ELEMENT === 8 ? 1 : 0;
}

/** The size limit of one array, in bytes. */
export const LIMIT = 65536 * PAGE - FRAME - END;

function fixedMemory(bytes: number): WasmMemory {
  const pages = Math.ceil((FRAME + bytes + END) / PAGE);
  return new WebAssembly.Memory({ initial: pages, maximum: pages });
}

/**
 * One instance of the kernels with a memory of fixed size: scratch through which ordinary arrays are streamed, and room for arrays that
 * live in the arena. The memory never grows, so its views never detach. When nothing refers to the arena or its arrays any more, all
 * of it is garbage-collected.
 */
export class Arena {
  private exports: Record<string, Kernel> | undefined;
  buffer: ArrayBuffer;
  binary64: Float64Array;
  binary32: Float32Array;
  words: Int32Array;
  private readonly blocks = new Map<number, number>(); // offset and size of live arrays
  private readonly gaps: { offset: number; size: number }[]; // free memory by ascending offset, no two gaps adjacent
  /** Copies a row of a streamed matrix to where its job says. The kernels call it. */
  fetch: (row: number) => void = () => {};
  // The registry belongs to the arena. One that outlives it would keep it alive until the next turn of the event loop, and a loop that
  // makes and drops plans would not get their memory back before that.
  private readonly owners = new FinalizationRegistry<number>((offset) => {
    this.release(offset);
    this.collected();
  });
  /** Called after the memory of a collected owner has been released. */
  collected: () => void = () => {};
  private fresh: number; // no array has been beyond this offset: still all zeros

  constructor(
    private readonly matrices: () => WasmModule,
    readonly memory: WasmMemory,
    start = FRAME,
  ) {
    this.buffer = memory.buffer as ArrayBuffer;
    this.gaps = [{ offset: start, size: this.buffer.byteLength - END - start }];
    this.fresh = start;
    this.binary64 = new Float64Array(this.buffer);
    this.binary32 = new Float32Array(this.buffer);
    this.words = new Int32Array(this.buffer);
  }

  /** Call a matrix kernel. The first call instantiates them. */
  call(name: string, ...args: number[]): number {
    this.exports ??= instantiate(this.matrices(), this.memory, (row) => this.fetch(row));
    return (this.exports[name] as Kernel)(...args);
  }

  /** The memory as an array of the format of `like`. */
  heap(like: Real): Real {
    return like.BYTES_PER_ELEMENT === 8 ? this.binary64 : this.binary32;
  }

  holds(x: Real): boolean {
    return x.buffer === this.buffer;
  }

  /**
   * The address of n elements of x from element i on, in the format of `like`, followed by zeros up to a multiple of 8 elements. They are
   * copied to scratch unless they meet these conditions where they are.
   */
  place(x: Real, i: number, n: number, scratch: number, like: Real): number {
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

  /** The offset of a free block, zeroed unless `clean` is false, or 0 if no gap is large enough. First fit. */
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

  /** Free the block at this offset when its owner is garbage-collected, unless disown() is called before. */
  own(owner: object, offset: number): void {
    this.owners.register(owner, offset, owner);
  }

  disown(owner: object): void {
    this.owners.unregister(owner);
  }

  /** The memory has grown: renew the views, and add a gap. */
  protected extend(buffer: ArrayBuffer): void {
    const offset = this.buffer.byteLength - END;
    this.gaps.push({ offset, size: buffer.byteLength - this.buffer.byteLength });
    this.join(this.gaps.length - 2);
    this.buffer = buffer;
    this.binary64 = new Float64Array(buffer);
    this.binary32 = new Float32Array(buffer);
    this.words = new Int32Array(buffer);
  }

  /** The end of the memory that arrays have used so far. Untouched memory costs nothing. */
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

/** The modules of one build. The one for matrices is set once a matrix routine has been loaded. */
export interface Modules {
  readonly vectors: WasmModule;
  matrices: WasmModule | undefined;
}

/** An arena of the calling thread, with the vector kernels. */
export class VectorArena extends Arena {
  /** The kernels of each stage by the kind of reduction, for binary32 and binary64. */
  readonly filter: Kernels;
  readonly ladder: Kernels;
  readonly exact: Kernels;
  readonly expansion: Kernels;
  readonly deposit: Kernels;
  /** The element-by-element kernels, for binary32 and binary64. */
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
