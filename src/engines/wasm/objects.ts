// Types of WebAssembly objects for the declarations of the package. The namespace WebAssembly comes with the library "DOM" or with Node's
// types, and a program that uses halfulp may be compiled with neither.

/** A WebAssembly.Module. */
export type WasmModule = object;

/** A WebAssembly.Memory. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}
