// What is an instance's own in a memory that instances may share: everything of layout.ts lies behind `frame`. The
// globals of an instance are not shared.
export let frame: usize = 0;
export function setFrame(at: usize): void { frame = at; }
