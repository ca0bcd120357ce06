// Each instance's own part of a memory that several instances may share. All offsets of layout.ts outside job records count from
// `frame`, a global, which WebAssembly keeps per instance.
export let frame: usize = 0;
export function setFrame(at: usize): void { frame = at; }
