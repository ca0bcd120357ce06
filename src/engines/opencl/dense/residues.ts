// Products by residues on a device: C := alpha A B + beta C from integers, their residues, products of 8-bit numbers, and a certificate
// for each entry. The kernels, with the proof of the bound, are in residues.cl and int8Product.cl. Called by gemm.ts.
import type { Device, DeviceBuffer, Kernel, Work } from "../../device.ts";
import { double, long, realOf } from "../device/numbers.ts";
import type { DeviceMatrix, Scope } from "../device/scope.ts";
import { certificate } from "../exact/sources.ts";
import { kernelArguments, type Product } from "./entries.ts";
import { capacityOf, MAX_BITS, MAX_TERMS, moduliFor, tableOf } from "./moduli.ts";
import { entries, int8Product, residues as residuesSource } from "./sources.ts";

/** The lines of a factor, rows of A or columns of B: n entries each, `step` apart. */
export interface Lines {
  readonly buffer: DeviceBuffer;
  readonly offset: number;
  readonly count: number;
  readonly distance: number;
  readonly step: number;
  readonly n: number;
}

/** What `measure` found of each line: the words of the largest and the smallest magnitude, and the place of the lowest bit. */
export interface Measured {
  readonly sizes: DeviceBuffer;
  readonly lowest: DeviceBuffer;
}

/** How work-groups divide a product of 8-bit numbers. */
interface Int8Shape {
  readonly BM: number; // entries of a work-group, and terms at a time
  readonly BN: number;
  readonly BK: number;
  readonly WM: number; // entries of a warp
  readonly WN: number;
  readonly STAGES: number;
  readonly STRIP: number;
}

// The first takes 147 KB of local memory, which compute capability 8.0, 9.0 and 10.x have; others from 8.6 on have 99.
const LARGE: Int8Shape = { BM: 128, BN: 256, BK: 128, WM: 64, WN: 64, STAGES: 3, STRIP: 8 };
const MEDIUM: Int8Shape = { BM: 128, BN: 128, BK: 64, WM: 64, WN: 64, STAGES: 4, STRIP: 8 };
const OTHER: Int8Shape = { BM: 16, BN: 16, BK: 64, WM: 16, WN: 16, STAGES: 1, STRIP: 1 }; // one entry per work-item
const GROUP = 256;

/** The tensor cores that int8Product.cl drives are those of compute capability 8.0 and later. */
export const hasInt8 = (device: Device): boolean => device.computeCapability >= 80;

function shapeFor({ computeCapability }: Device): Int8Shape {
  if (computeCapability < 80) return OTHER;
  return computeCapability === 80 || (computeCapability >= 90 && computeCapability < 120) ? LARGE : MEDIUM;
}

// Bits kept below the largest entry of a line in excess of 53. For K random terms about 3 sqrt(K) 2^(-2 MARGIN) of the entries stay
// open: one in 1400 for K = 4096. The moduli that this takes usually have room for more.
const MARGIN = 9;

/** Bits of the integers on both sides, and how many moduli their products need. */
interface Precision {
  readonly left: number;
  readonly right: number;
  readonly moduli: number;
}

/** The precision for lines whose integers have these widths. Undefined if no number of moduli is enough. */
export function precisionFor(leftWidth: number, rightWidth: number, terms: number): Precision | undefined {
  const bitsOfTerms = Math.ceil(Math.log2(Math.max(1, terms))) + 2;
  let [left, right] = [leftWidth, rightWidth].map((width) => Math.min(width, 53 + MARGIN)) as [number, number];
  const moduli = moduliFor(left + right + bitsOfTerms);
  if (moduli === undefined || terms > MAX_TERMS || Math.max(leftWidth, rightWidth) > 4096) return undefined;
  for (let spare = capacityOf(moduli) - left - right - bitsOfTerms; spare > 0; spare--) {
    if (left < Math.min(leftWidth, MAX_BITS) && (left <= right || right >= rightWidth)) left++;
    else if (right < Math.min(rightWidth, MAX_BITS)) right++;
  }
  return { left, right, moduli };
}

/** A factor as residues modulo each m: lines of `pitch` bytes, padded with zeros, and how many entries of each line were cut. */
interface Residues {
  readonly data: DeviceBuffer;
  readonly pitch: number;
  readonly batch: number;
  readonly cuts: DeviceBuffer;
}

/** Products with one right factor. */
export interface ResidueProduct {
  /** Compute and certify the entries of the block of rows from number `from`: those that are not proved are listed, and marked in `open`. */
  launch(product: Product, rows: Lines, rowSizes: DeviceBuffer, from: number, open: DeviceBuffer): void;
}

const roundUp = (n: number, unit: number): number => unit * Math.ceil(n / unit);

/**
 * Prepare products of blocks of at most `maxRows` rows with these columns. Undefined if the numbers do not suit: not all finite, too many
 * terms, or too little memory.
 */
export function* prepareProduct(
  scope: Scope,
  rows: Lines,
  rowsMeasured: Measured,
  cols: Lines,
  colsMeasured: Measured,
  maxRows: number,
  single: boolean,
): Work<ResidueProduct | undefined> {
  const { device } = scope;
  const kernels = kernelsOf(device, single);
  const widths = new Int32Array(2);
  const found = scope.scratch(8);
  device.fill(found, Int32Array.of(0));
  for (const [i, lines, measured] of [
    [0, rows, rowsMeasured],
    [1, cols, colsMeasured],
  ] as const)
    device.launch(kernels.widest, [Math.ceil(lines.count / GROUP)], [GROUP], [measured.sizes, measured.lowest, lines.count, found, i]);
  yield device.read(found, widths);
  const precision = precisionFor(widths[0] as number, widths[1] as number, cols.n);
  if (!precision) return undefined;
  const { moduli } = precision;
  const shape = shapeFor(device);
  const [M, N, K] = [roundUp(maxRows, shape.BM), roundUp(cols.count, shape.BN), roundUp(cols.n, shape.BK)];
  const sizes = [M * K, N * K, M * N].map((size) => size * moduli);
  if (sizes.reduce((a, b) => a + b) > device.memoryBytes / 4 || Math.max(...sizes) > device.maxBufferBytes) return undefined;

  const table = scope.copy(tableOf(moduli));
  const newResidues = (lines: number): Residues => ({
    data: scope.scratch(lines * K * moduli),
    pitch: K,
    batch: lines * K,
    cuts: scope.scratch(4 * lines),
  });
  const takeResidues = (lines: Lines, sizes: DeviceBuffer, from: number, bits: number, isRight: boolean, to: Residues): void => {
    device.fill(to.cuts, Int32Array.of(0));
    device.launch(
      kernels.residues,
      [K / 64, Math.ceil(lines.count / 32)],
      [GROUP, 1],
      [
        ...[lines.buffer, long(lines.offset), long(lines.distance), long(lines.step), lines.count, lines.n, sizes, from, bits],
        ...[table, moduli, isRight ? 1 : 0, to.data, to.pitch / 4, long(to.batch / 4), to.cuts],
      ],
    );
  };
  const [left, right] = [newResidues(M), newResidues(N)];
  takeResidues(cols, colsMeasured.sizes, 0, precision.right, true, right);
  const sums = scope.scratch(M * N * moduli);
  return {
    launch({ alpha, beta, C, list }, lines, rowSizes, from, open) {
      takeResidues(lines, rowSizes, from, precision.left, false, left);
      const tiles = [Math.ceil(C.rows / shape.BM), N / shape.BN] as const;
      const threads = shape === OTHER ? GROUP : 32 * (shape.BM / shape.WM) * (shape.BN / shape.WN);
      const groups = shape === OTHER ? Math.ceil((tiles[0] * shape.BM * N) / GROUP) : tiles[0] * tiles[1];
      device.launch(
        kernels.product,
        [groups, moduli],
        [threads, 1],
        [
          ...[left.data, left.pitch, long(left.batch), right.data, right.pitch, long(right.batch)],
          ...[sums, N, long(M * N), ...tiles, K, table],
        ],
      );
      device.fill(list, Uint32Array.of(0), 0, 4);
      device.launch(
        kernels.combine,
        [Math.ceil(C.cols / 4 / GROUP), C.rows],
        [GROUP, 1],
        [
          ...[sums, N / 4, long((M * N) / 4), table, moduli, ...kernelArguments(C), C.rows, C.cols, double(alpha), double(beta)],
          ...[rowSizes, from, colsMeasured.sizes, left.cuts, right.cuts, precision.left, precision.right, open, list],
        ],
      );
    },
  };
}

function kernelsOf(device: Device, single: boolean): Record<"widest" | "residues" | "product" | "combine", Kernel> {
  const REAL = realOf(single ? 4 : 8);
  const around = (name: string, defines: Readonly<Record<string, number>> = {}): Kernel =>
    device.kernel(name, [certificate, entries, int8Product, residuesSource], { REAL, ...defines });
  return {
    widest: around("widest"),
    residues: around("residues"),
    product: device.kernel("int8Product", [int8Product], { ...shapeFor(device) }),
    combine: around("combine", { COMBINE: 1 }),
  };
}

/** The rows of A, or the columns of B as rows of its transpose. */
export const rowsOf = ({ buffer, offset, rows, cols, rowStride, colStride }: DeviceMatrix): Lines => ({
  buffer,
  offset,
  count: rows,
  distance: rowStride,
  step: colStride,
  n: cols,
});
