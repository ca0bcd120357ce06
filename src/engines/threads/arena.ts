// The memory of a pool of threads (pool.ts): an arena over a shared WebAssembly memory, which grows on demand.

import { Arena, END, PAGE } from "../wasm/arena.ts";
import type { WasmMemory, WasmModule } from "../wasm/objects.ts";

const MAX_PAGES = 65536; // 4 GiB
const MIN_GROWTH = 256; // pages: 16 MiB

/** A memory that workers share. It grows on demand; earlier views stay valid. */
export class SharedArena extends Arena {
  // A memory that grows gets a new buffer over the same bytes: addresses in views of old buffers stay the same.
  private readonly buffers = new WeakSet<ArrayBufferLike>();

  constructor(module: WasmModule, start: number) {
    super(() => module, sharedMemory(Math.ceil((start + END) / PAGE) + MIN_GROWTH), start);
    this.buffers.add(this.buffer);
  }

  override holds(x: ArrayBufferView): boolean {
    return this.buffers.has(x.buffer);
  }

  override allocate(bytes: number, clean = true): number {
    const at = super.allocate(bytes, clean);
    if (at !== 0) return at;
    const needed = Math.ceil((bytes + END) / PAGE);
    for (const more of [Math.max(needed, MIN_GROWTH, this.buffer.byteLength / PAGE / 4), needed]) {
      try {
        this.memory.grow(Math.ceil(more));
      } catch {
        continue; // refused: try again with the minimum
      }
      this.extend(this.memory.buffer as ArrayBuffer);
      this.buffers.add(this.buffer);
      return super.allocate(bytes, clean);
    }
    return 0;
  }
}

// A shared memory reserves its maximum address space at once. If 4 GiB are not available, try half of that, and so on.
function sharedMemory(initial: number): WasmMemory {
  for (let maximum = MAX_PAGES; ; maximum /= 2) {
    try {
      return new WebAssembly.Memory({ initial, maximum, shared: true });
    } catch (refused) {
      if (maximum / 2 < initial) throw refused;
    }
  }
}
