import type { Real } from "../../arrays/types.ts";
import { Arena, END, PAGE } from "../wasm/arena.ts";
import type { WasmMemory, WasmModule } from "../wasm/objects.ts";

const MAX = 65536; // pages: 4 GiB
const STEP = 256; // pages to grow by at the least: 16 MiB

/** A memory that workers share. It grows; views handed out before that stay good. */
export class SharedArena extends Arena {
  // A grown memory is a new buffer over the same bytes, and a view of an old one has the same addresses.
  private readonly buffers = new WeakSet<ArrayBufferLike>();

  constructor(module: WasmModule, start: number) {
    super(() => module, sharedMemory(Math.ceil((start + END) / PAGE) + STEP), start);
    this.buffers.add(this.buffer);
  }

  override holds(x: Real): boolean {
    return this.buffers.has(x.buffer);
  }

  override allocate(bytes: number, clean = true): number {
    const at = super.allocate(bytes, clean);
    if (at !== 0) return at;
    const needed = Math.ceil((bytes + END) / PAGE);
    for (const more of [Math.max(needed, STEP, this.buffer.byteLength / PAGE / 4), needed]) {
      try {
        this.memory.grow(Math.ceil(more));
      } catch {
        continue; // refused: once more with as little as will do
      }
      this.extend(this.memory.buffer as ArrayBuffer);
      this.buffers.add(this.buffer);
      return super.allocate(bytes, clean);
    }
    return 0;
  }
}

// A shared memory takes all of its address space at once: where 4 GiB are not to be had, a half, and so on.
function sharedMemory(initial: number): WasmMemory {
  for (let maximum = MAX; ; maximum /= 2) {
    try {
      return new WebAssembly.Memory({ initial, maximum, shared: true });
    } catch (refused) {
      if (maximum / 2 < initial) throw refused;
    }
  }
}
