// Products by residues for exgemm on WebGPU: integers cut from the lines of both factors, their products modulo small numbers by dot products
// of bytes, and entries of C from those, with a certificate for each. Called by gemm.ts. After Ozaki, Uchino and Imamura's second scheme;
// the proof of the bound is in gemmResidues.wgsl and gemmCombine.wgsl.
import type { DeviceBuffer, Work } from "../../device.ts";
import type { Scope } from "../../deviceScope.ts";
import { COFACTOR, OFFSET, PIECE_BITS, type Precision, precisionFor, RECIPROCAL, RECORD, tableOf, WEIGHTS } from "../../moduli.ts";
import type { WebgpuDevice } from "../device/device.ts";
import { words } from "../exact/sources.generated.ts";
import {
  type Block,
  bindingBytes,
  double,
  type Factor,
  type Lines,
  rangesOf,
  roundingSourcesFor,
  roundUp,
  sourcesFor,
} from "./gemmBlocks.ts";
import { gemmCombine, gemmMeasure, gemmModulo, gemmPackedDot, gemmPlainDot, gemmProduct, gemmResidues } from "./sources.generated.ts";

/** Work-items of a group of the product. */
export const PRODUCT_GROUP = 256;
const TILE = 128; // lines of a tile of the product
const DEEP = 32; // terms at a time
const GROUP = 64;

// Bits kept below the largest entry of a line in excess of those of a significand. For K random terms about 3 sqrt(K) 2^(-2 MARGIN) of the
// entries stay open, one in 340 for K = 4096, and the moduli that this takes usually have room for a few more bits (with 18 moduli there,
// one in 5,000). An open entry costs as much as some fifty others.
const MARGIN = 8;

// Memory of the residues of a factor's lines and of a product's. More does not make a product faster.
const MAX_BYTES = 2 ** 28;
// Products of bytes in a launch: a tenth of a second where a device has 10^12 a second.
const PRODUCT_LAUNCH = 2 ** 37;

// See gemmMeasure.wgsl. Finite numbers begin and end at most at 2099.
const LOW = 4096;
const INFINITE = 0xffff;
const MEASURING = 128; // work-items in a group

/** Where the numbers of each line of a factor end and begin, on the device, and the bits of the widest line. */
interface Measured {
  readonly ends: DeviceBuffer;
  readonly width: number;
}

function* measure(scope: Scope, factors: readonly Factor[], single: boolean): Work<Measured[]> {
  const device = scope.device as WebgpuDevice;
  const kernel = device.kernel("measure", [...sourcesFor(single), gemmMeasure], { GROUP: MEASURING, LOW, INFINITE });
  const started = factors.map((factor) => {
    const ends = scope.scratch(8 * factor.count);
    device.fill(ends, Uint32Array.of(0), 0, 8 * factor.count);
    for (const { from, count } of rangesOf(factor.count, factor.maxLines, 1)) {
      const { buffer, offset, distance, step, n } = factor.lines(from, count);
      const together = step === 1 ? 32 : 4;
      const length = 1024;
      device.launch(
        kernel,
        [Math.ceil((count * together) / MEASURING), Math.ceil(n / length)],
        [MEASURING],
        [buffer, ends, offset, distance, step, from, count, n, length, together],
      );
    }
    const found = new Uint32Array(2 * factor.count);
    return { ends, found, wait: device.read(ends, found) };
  });
  const measured: Measured[] = [];
  for (const { ends, found, wait } of started) {
    yield wait;
    let width = 0;
    for (let l = 0; l < found.length; l += 2)
      if (found[l] !== 0) width = Math.max(width, (found[l] as number) + (found[l + 1] as number) - LOW);
    measured.push({ ends, width });
  }
  return measured;
}

/** Prepare products of these factors. Undefined if the numbers do not suit: not all finite, too many terms, or too little memory. */
export function* prepareResidues(scope: Scope, left: Factor, right: Factor, single: boolean): Work<ResidueProduct | undefined> {
  const [rows, cols] = (yield* measure(scope, [left, right], single)) as [Measured, Measured];
  const precision = precisionFor(rows.width, cols.width, left.n, (single ? 24 : 53) + MARGIN);
  if (!precision) return undefined;
  const product = new ResidueProduct(scope, rows.ends, cols.ends, precision, left.n, single);
  return product.maxRows(product.unit) < product.unit ? undefined : product;
}

// The residues of lines of a factor, and how many entries of each line were cut.
interface Side {
  data?: DeviceBuffer;
  cuts?: DeviceBuffer;
  lines: number; // that there is memory for
  pitch: number;
  bits: number;
}

/** Products by residues, block by block. */
export class ResidueProduct {
  /** Blocks have multiples of this number of lines, except the last. */
  readonly unit = TILE;
  /** The most lines of a block. */
  readonly maxLines: number;
  private readonly device: WebgpuDevice;
  private readonly table: DeviceBuffer;
  private readonly words: number; // of a line and modulus
  private readonly maxBytes: number;
  private readonly rows: Side;
  private readonly cols: Side;
  private sums: DeviceBuffer | undefined;
  private isKnown = false; // whether the numbers suit

  constructor(
    private readonly scope: Scope,
    private readonly rowEnds: DeviceBuffer,
    private readonly colEnds: DeviceBuffer,
    private readonly precision: Precision,
    private readonly terms: number,
    private readonly single: boolean,
  ) {
    this.device = scope.device as WebgpuDevice;
    this.table = scope.copy(tableOf(precision.moduli));
    this.words = roundUp(terms, DEEP) / 4;
    this.maxBytes = Math.min(MAX_BYTES, bindingBytes(this.device));
    this.maxLines = Math.min(this.linesFor(4 * this.words), this.linesFor(TILE)); // and TILE lines of the product
    this.rows = { lines: 0, pitch: 0, bits: precision.left };
    this.cols = { lines: 0, pitch: 0, bits: precision.right };
  }

  // Lines with this many bytes for each modulus.
  private linesFor(bytes: number): number {
    return Math.floor(this.maxBytes / (bytes * this.precision.moduli) / TILE) * TILE;
  }

  /** The most rows of a block with this many columns. */
  maxRows(columns: number): number {
    return Math.min(this.maxLines, this.linesFor(roundUp(columns, TILE)));
  }

  /** The rows of the next products, from number `first` of A on. */
  takeRows(lines: Lines, first: number): void {
    this.take(this.rows, lines, first, this.rowEnds, false);
  }

  /** Their columns. */
  takeColumns(lines: Lines, first: number): void {
    this.take(this.cols, lines, first, this.colEnds, true);
  }

  private take(side: Side, { buffer, offset, count, distance, step, n }: Lines, first: number, ends: DeviceBuffer, isRight: boolean): void {
    const { device, scope, words: length } = this;
    const { moduli } = this.precision;
    side.pitch = roundUp(count, TILE);
    if (side.lines < side.pitch) {
      side.data = scope.scratch(4 * moduli * length * side.pitch);
      side.cuts = scope.scratch(4 * side.pitch);
      side.lines = side.pitch;
    }
    const [data, cuts] = [side.data as DeviceBuffer, side.cuts as DeviceBuffer];
    device.fill(cuts, Uint32Array.of(0), 0, 4 * side.pitch);
    const defines = { GROUP, RECORD, RECIPROCAL, OFFSET, WEIGHTS, PIECE_BITS };
    device.launch(
      device.kernel("residues", [...sourcesFor(this.single), gemmModulo, gemmResidues], defines),
      [side.pitch / GROUP, length],
      [GROUP],
      [
        ...[buffer, ends, this.table, data, cuts, offset, distance, step, first, count, n],
        ...[side.bits, Number(isRight), moduli, side.pitch, length],
      ],
    );
  }

  /** Whether at most this share of the entries of the lines taken was cut. Only the first block is asked. */
  *suit({ rows, cols }: Block, maxShare: number): Work<boolean> {
    if (this.isKnown) return true;
    this.isKnown = true;
    const [left, right] = [new Uint32Array(rows), new Uint32Array(cols)];
    const waits = [this.device.read(this.rows.cuts as DeviceBuffer, left), this.device.read(this.cols.cuts as DeviceBuffer, right)];
    for (const wait of waits) yield wait;
    const share = (cuts: Uint32Array): number => cuts.reduce((sum, n) => sum + n, 0) / (cuts.length * this.terms);
    return share(left) <= maxShare && share(right) <= maxShare;
  }

  /** Compute and certify the entries of a block, whose lines have been taken: those that are not proved are listed. */
  multiply({ alpha, beta, C, rows, cols, single, list }: Block, firstRow: number, firstCol: number): void {
    const { device, words: length } = this;
    const { moduli, left, right } = this.precision;
    const [tilesDown, tilesAcross] = [this.rows.pitch / TILE, this.cols.pitch / TILE];
    const bytes = moduli * this.rows.pitch * this.cols.pitch;
    if (!this.sums || this.sums.bytes < bytes) this.sums = this.scope.scratch(bytes);
    const dot = device.hasPackedDot ? gemmPackedDot : gemmPlainDot;
    const product = device.kernel("product", [words, gemmModulo, dot, gemmProduct], { RECORD, RECIPROCAL, OFFSET });
    const atOnce = Math.max(1, Math.floor(PRODUCT_LAUNCH / (this.rows.pitch * this.cols.pitch * 4 * length)));
    for (let modulus = 0; modulus < moduli; modulus += atOnce)
      device.launch(
        product,
        [tilesAcross, tilesDown, Math.min(atOnce, moduli - modulus)],
        [PRODUCT_GROUP],
        [
          ...[this.rows.data, this.cols.data, this.table, this.sums].map((buffer) => buffer as DeviceBuffer),
          ...[modulus, this.rows.pitch / 4, this.cols.pitch / 4, this.cols.pitch / 4, this.rows.pitch, length],
        ],
      );
    device.launch(
      device.kernel("combine", [...roundingSourcesFor(single), gemmCombine], { GROUP, RECORD, RECIPROCAL, COFACTOR }),
      [Math.ceil(cols / GROUP), rows],
      [GROUP],
      [
        ...[
          this.sums,
          this.table,
          C.buffer,
          this.rowEnds,
          this.colEnds,
          this.rows.cuts as DeviceBuffer,
          this.cols.cuts as DeviceBuffer,
          list,
        ],
        ...[double(alpha), double(beta), C.offset, C.rowStride, rows, cols, moduli, this.cols.pitch / 4, this.rows.pitch],
        ...[firstRow, firstCol, left, right],
      ],
    );
  }
}
