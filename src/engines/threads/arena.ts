import type { Real } from "../../types.ts";
import { Arena, END, PAGE } from "../wasm/arena.ts";

const MOST = 65536; // pages: 4 GiB
const STEP = 256; // pages to grow by at the least: 16 MiB

/** A memory that workers share. It grows; views handed out before that stay good. */
export class SharedArena extends Arena {
  // A grown memory is a new buffer over the same bytes, and a view of an old one has the same addresses.
  private readonly buffers = new WeakSet<ArrayBufferLike>();

  constructor(
    module: WebAssembly.Module,
    start: number,
    readonly memory = new WebAssembly.Memory({ initial: Math.ceil((start + END) / PAGE) + STEP, maximum: MOST, shared: true }),
  ) {
    super(module, 0, memory, start);
    this.buffers.add(this.buffer);
  }

  override holds(x: Real): boolean {
    return this.buffers.has(x.buffer);
  }

  override allocate(bytes: number): number {
    const at = super.allocate(bytes);
    if (at !== 0) return at;
    const pages = this.buffer.byteLength / PAGE;
    const needed = Math.ceil((bytes + 64) / PAGE);
    for (const more of [Math.max(needed, STEP, pages >> 2), needed]) {
      try {
        this.memory.grow(Math.min(more, MOST - pages));
      } catch {
        continue; // refused: once more with as little as will do
      }
      this.extend(this.memory.buffer as ArrayBuffer);
      this.buffers.add(this.buffer);
      return super.allocate(bytes);
    }
    return 0;
  }
}
