// How large work is cut to what WebGPU allows: pieces of a vector that fit one binding, and groups spread over two dimensions. Kernels'
// host code calls it.

/** A binding begins at a multiple of this number of bytes. */
export const BINDING_ALIGNMENT = 256;
/** The largest number of groups in one dimension. */
export const MAX_GROUPS = 65535;

/** A range of elements, to be bound as one piece. */
export interface Range {
  readonly from: number;
  readonly length: number;
}

/** The ranges of a vector of `length` elements of `width` bytes that each fit a binding of `maxBytes` and begin where a binding may. */
export function piecesOf(length: number, width: number, maxBytes: number): Range[] {
  const step = (Math.floor(maxBytes / BINDING_ALIGNMENT) * BINDING_ALIGNMENT) / width;
  const ranges: Range[] = [];
  for (let from = 0; from < length; from += step) ranges.push({ from, length: Math.min(step, length - from) });
  return ranges;
}

/** `groups` in one dimension as a rectangle of at least as many. Kernels find their place in it with groupIndex() of prelude.wgsl. */
export function spread(groups: number): readonly [x: number, y: number] {
  const y = Math.ceil(groups / MAX_GROUPS);
  return [Math.ceil(groups / Math.max(1, y)), y];
}
