// WebAssembly's objects as declarations name them: the namespace WebAssembly comes with "DOM" and with Node's types, and a program
// that uses halfulp may be compiled with neither.

/** A WebAssembly.Module. */
export type WasmModule = object;

/** A WebAssembly.Memory. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}
