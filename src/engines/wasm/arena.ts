import type { Real, Reduction } from "../../arrays/types.ts";
import type { Elementwise } from "../kernels.ts";
import { DIGIT_COUNT, DIGITS, FRAME } from "./assembly/layout.ts";
import type { WasmMemory, WasmModule } from "./objects.ts";

type Kernel = (...args: number[]) => number; // see assembly/vectors.ts and assembly/matrices.ts
type Pair = readonly [Kernel, Kernel];
type Kernels = Readonly<Record<Reduction, Pair>>;

export const PAGE = 65536;
const ALIGNMENT = 64;
const SHORT = 64; // up to this a loop is faster than set() and its view
export const END = 64; // kernels read in pairs and may look one element past an array's end
/** Which of a pair of kernels takes numbers of the width of `like`. */
export function widthOf(like: Real): 0 | 1 {
  return like.BYTES_PER_ELEMENT === 8 ? 1 : 0;
}

// n elements of x from i on. Not subarray(): a subclass may make that another type.
export function part(x: Real, i: number, n: number): Real {
  const at = x.byteOffset + i * x.BYTES_PER_ELEMENT;
  return x.BYTES_PER_ELEMENT === 8 ? new Float64Array(x.buffer, at, n) : new Float32Array(x.buffer, at, n);
}

/** The most bytes that one array can have. */
export const LIMIT = 65536 * PAGE - FRAME - END;

function fixedMemory(bytes: number): WasmMemory {
  const pages = Math.ceil((FRAME + bytes + END) / PAGE);
  return new WebAssembly.Memory({ initial: pages, maximum: pages });
}

/**
 * One instance of the kernels with a memory of fixed size: scratch to stream ordinary arrays through, and room
 * for arrays that live here. The memory never grows, so views of it never detach; when nothing refers to
 * the arena or its arrays any more, the collector takes it all.
 */
export class Arena {
  private exports: Record<string, Kernel> | undefined;
  buffer: ArrayBuffer;
  binary64: Float64Array;
  binary32: Float32Array;
  words: Int32Array;
  private readonly blocks = new Map<number, number>(); // live arrays: offset and size
  private readonly gaps: { offset: number; size: number }[]; // in order, no two of them touching
  /** Brings a row of a streamed matrix to where its job says, when the kernels ask for one. */
  fetch: (row: number) => void = () => {};
  // Of the arena's own: a registry that outlives it would hold it until the event loop turns, and a loop that makes plans and drops
  // them would have none of its memory back before.
  private readonly owners = new FinalizationRegistry<number>((offset) => {
    this.release(offset);
    this.collected();
  });
  /** Called when an owner's memory has been given back. */
  collected: () => void = () => {};
  private fresh: number; // beyond this no array has ever been: still all zeros

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

  /** Call a kernel for matrices. They are instantiated at the first of these calls. */
  call(name: string, ...args: number[]): number {
    this.exports ??= instantiate(this.matrices(), this.memory, (row) => this.fetch(row));
    return (this.exports[name] as Kernel)(...args);
  }

  /** This memory as numbers of the width of `like`. */
  heap(like: Real): Real {
    return like.BYTES_PER_ELEMENT === 8 ? this.binary64 : this.binary32;
  }

  holds(x: Real): boolean {
    return x.buffer === this.buffer;
  }

  /**
   * The address of n elements of x from i on, as numbers of the width of `like`, padded with zeros to a multiple
   * of 8: where they are if that will do, else copied to scratch.
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

  /** The offset of so many zeroed bytes, or of bytes that may hold anything; 0 if there is no gap wide enough. First fit. */
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

  /** Give back the array at this offset. */
  release(offset: number): void {
    const size = this.blocks.get(offset) as number;
    this.blocks.delete(offset);
    // The gap goes among the others in order, and joins its neighbours where they touch.
    let i = this.gaps.findIndex((gap) => gap.offset > offset);
    if (i < 0) i = this.gaps.length;
    this.gaps.splice(i, 0, { offset, size });
    this.join(i);
    this.join(i - 1);
  }

  /** Give back the array at this offset when its owner is collected, unless disown() is called before. */
  own(owner: object, offset: number): void {
    this.owners.register(owner, offset, owner);
  }

  disown(owner: object): void {
    this.owners.unregister(owner);
  }

  /** The memory has grown: its views see all of it, and there is a gap more. */
  protected extend(buffer: ArrayBuffer): void {
    const offset = this.buffer.byteLength - END;
    this.gaps.push({ offset, size: buffer.byteLength - this.buffer.byteLength });
    this.join(this.gaps.length - 2);
    this.buffer = buffer;
    this.binary64 = new Float64Array(buffer);
    this.binary32 = new Float32Array(buffer);
    this.words = new Int32Array(buffer);
  }

  /** Bytes up to which arrays have been: memory that was never touched costs nothing. */
  get touched(): number {
    return this.fresh;
  }

  isEmpty(): boolean {
    return this.blocks.size === 0;
  }

  private join(i: number): void {
    const [gap, next] = [this.gaps[i], this.gaps[i + 1]];
    if (!gap || !next || gap.offset + gap.size !== next.offset) return;
    gap.size += next.size;
    this.gaps.splice(i + 1, 1);
  }

  /** The digits of the superaccumulator after normalize(): all in [0, 2^32) but the last, which has the sign. */
  digits(): Float64Array {
    const digits = new Float64Array(DIGIT_COUNT);
    for (let i = 0; i < DIGIT_COUNT; i++) digits[i] = (this.words[DIGITS / 4 + 2 * i] as number) >>> 0;
    digits[DIGIT_COUNT - 1] = this.words[DIGITS / 4 + 2 * (DIGIT_COUNT - 1)] as number;
    return digits;
  }
}

/** The modules of one build. Those for matrices are there once somebody has asked for them. */
export interface Modules {
  readonly vectors: WasmModule;
  matrices: WasmModule | undefined;
}

/** An arena of the calling thread, with the kernels for vectors. */
export class VectorArena extends Arena {
  /** The kernels of each stage, by the kind of reduction, for binary32 and binary64. */
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
    // Looked up once: a name put together at every call would cost a short vector more than its sum.
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
