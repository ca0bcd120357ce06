// What the stages of exgemm on WebGPU share: how matrices are cut, since every binding has a limit, into lines of the factors that fit one and
// blocks of C; and the sources that their programs begin with. Used by gemm.ts and gemmResidues.ts.
import type { DeviceBuffer, DeviceMatrix } from "../../device.ts";
import type { Scope } from "../../deviceScope.ts";
import type { WebgpuDevice } from "../device/device.ts";
import { BINDING_ALIGNMENT, MAX_GROUPS } from "../device/pieces.ts";
import { round, window, words } from "../exact/sources.generated.ts";
import { gemmDouble, gemmEntry, gemmSingle } from "./sources.generated.ts";

/** Lines of a factor, rows of A or columns of B, in one binding: n entries each, `step` apart. */
export interface Lines {
  readonly buffer: DeviceBuffer;
  readonly offset: number;
  readonly count: number;
  readonly distance: number;
  readonly step: number;
  readonly n: number;
}

/** A block of C with its lines of both factors. */
export interface Block {
  readonly alpha: number;
  readonly A: Lines;
  readonly B: Lines;
  readonly beta: number;
  /** Neighbours in a row are stored together. */
  readonly C: { readonly buffer: DeviceBuffer; readonly offset: number; readonly rowStride: number };
  readonly rows: number;
  readonly cols: number;
  readonly single: boolean;
  /** The number of entries that are not proved, then i * cols + j for each. */
  readonly list: DeviceBuffer;
}

/** The bytes of a matrix that a binding holds, wherever they begin. */
export const bindingBytes = (device: WebgpuDevice): number => device.maxBindingBytes - BINDING_ALIGNMENT;

/** The lines of a factor: A by its rows, or B by the rows of its transpose. */
export class Factor {
  /** How many lines fit a binding. */
  readonly maxLines: number;
  private readonly device: WebgpuDevice;
  private memory: DeviceBuffer | undefined;

  constructor(
    private readonly scope: Scope,
    private readonly matrix: DeviceMatrix,
    private readonly width: number,
  ) {
    this.device = scope.device as WebgpuDevice;
    this.maxLines = Math.floor(bindingBytes(this.device) / (width * Math.max(1, matrix.cols)));
  }

  get count(): number {
    return this.matrix.rows;
  }

  get n(): number {
    return this.matrix.cols;
  }

  /** Lines where they are, or, if what is between them is too much for a binding, a copy, which the next one replaces. */
  lines(from: number, count: number): Lines {
    const { device, matrix, width } = this;
    const { buffer, rowStride, colStride, cols } = matrix;
    const offset = matrix.offset + from * rowStride;
    const span = ((count - 1) * rowStride + (cols - 1) * colStride + 1) * width;
    if (span <= bindingBytes(device)) {
      const { part, before } = device.around(buffer, offset * width, span);
      return { buffer: part, offset: before / width, count, distance: rowStride, step: colStride, n: cols };
    }
    this.memory ??= this.scope.scratch(Math.min(this.maxLines, matrix.rows) * cols * width);
    device.copyMatrix({ ...matrix, offset, rows: count }, this.memory, width);
    return { buffer: this.memory, offset: 0, count, distance: cols, step: 1, n: cols };
  }
}

/** A range of lines. */
export interface LineRange {
  readonly from: number;
  readonly count: number;
}

/** `total` lines in ranges of about the same length, at most `max` each, and multiples of `unit` if `max` is. */
export function rangesOf(total: number, max: number, unit: number): LineRange[] {
  const step = Math.min(max, roundUp(Math.ceil(total / Math.ceil(total / max)), unit));
  const ranges: LineRange[] = [];
  for (let from = 0; from < total; from += step) ranges.push({ from, count: Math.min(step, total - from) });
  return ranges;
}

/** A rectangle of work-groups. */
export interface Rectangle {
  readonly row: number;
  readonly col: number;
  readonly rows: number;
  readonly cols: number;
}

/** A grid of groups cut into rectangles of at most `atOnce`, so that no launch takes long. */
export function rectanglesOf(rows: number, cols: number, atOnce: number): Rectangle[] {
  const width = Math.max(1, Math.min(cols, atOnce, MAX_GROUPS));
  const height = Math.max(1, Math.min(rows, Math.floor(atOnce / width), MAX_GROUPS));
  const rectangles: Rectangle[] = [];
  for (let row = 0; row < rows; row += height)
    for (let col = 0; col < cols; col += width)
      rectangles.push({ row, col, rows: Math.min(height, rows - row), cols: Math.min(width, cols - col) });
  return rectangles;
}

export const roundUp = (n: number, unit: number): number => unit * Math.ceil(n / unit);

/** The sources that programs with entries of this format begin with. */
export const sourcesFor = (single: boolean): string[] => [single ? gemmSingle : gemmDouble, words];
/** And those of programs that round sums. */
export const roundingSourcesFor = (single: boolean): string[] => [...sourcesFor(single), window, round, gemmEntry];

/** A number as an argument of a kernel. */
export const double = (x: number): Float64Array => Float64Array.of(x);
