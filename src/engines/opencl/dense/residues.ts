// Products by residues on a device, for exgemm and exlu: integers cut from binary64 numbers, their residues modulo pairwise coprime
// numbers, and products of 8-bit numbers. The kernels, with the proof of the bound, are in residues.cl and int8Product.cl. Called by
// gemmResidues.ts and luResidues.ts. After Ozaki, Uchino and Imamura's second scheme.
import type { Device, DeviceBuffer, DeviceMatrix, Kernel } from "../../device.ts";
import type { Scope } from "../../deviceScope.ts";
import { limbsOf, tableOf } from "../../moduli.ts";
import { long, type RealType } from "../device/numbers.ts";
import { hasTensorCores } from "../device/tensorCores.ts";
import { certificate } from "../exact/sources.ts";
import { int8Product, residues } from "./sources.ts";

/** The lines of a factor, rows of A or columns of B: n entries each, `step` apart. */
export interface Lines {
  readonly buffer: DeviceBuffer;
  readonly offset: number;
  readonly count: number;
  readonly distance: number;
  readonly step: number;
  readonly n: number;
}

/** The rows of a matrix. (The columns are those of its transpose.) */
export function rowsOf({ buffer, offset, rows, cols, rowStride, colStride }: DeviceMatrix): Lines {
  return { buffer, offset, count: rows, distance: rowStride, step: colStride, n: cols };
}

/** How work-groups divide a product of 8-bit numbers. */
export interface Int8Shape {
  readonly BM: number; // entries of a work-group, and terms at a time
  readonly BN: number;
  readonly BK: number;
  readonly WM: number; // entries of a warp
  readonly WN: number;
  readonly STAGES: number;
  readonly STRIP: number;
}

/** The local memory that a shape takes. */
export const localBytesOf = ({ BM, BN, BK, STAGES }: Int8Shape): number => STAGES * (BM + BN) * BK;

/**
 * A factor as residues modulo each m, a byte each, in blocks of `terms` of a line: the next line is `pitch` bytes away, the next block of
 * the same line `block`. And how many entries of each line were cut.
 */
export interface Residues {
  readonly data: DeviceBuffer;
  readonly terms: number;
  readonly pitch: number;
  readonly block: number;
  readonly batch: number; // bytes per modulus
  readonly cuts: DeviceBuffer;
}

/** Where residues are stored: from line `first` and term `term` on, where a block begins, `terms` in all; `tops`: where the largest word of each line is kept. */
interface Place {
  readonly first?: number;
  readonly term?: number;
  readonly terms?: number;
  readonly tops?: DeviceBuffer;
}

const GROUP = 256;
// What a work-group of the kernel `residues` takes: lines, and terms of each.
const TILE_LINES = 32;
const TILE_TERMS = 64;

/** Residues modulo a number of moduli on one device. */
export class ResidueArithmetic {
  readonly table: DeviceBuffer;

  constructor(
    private readonly scope: Scope,
    private readonly real: RealType,
    readonly moduli: number,
    private readonly shape: Int8Shape,
  ) {
    this.table = scope.copy(tableOf(moduli));
  }

  /** A kernel of residues.cl and these sources after it. */
  kernel(name: string, sources: readonly string[] = [], defines: Readonly<Record<string, number>> = {}): Kernel {
    const all = { REAL: this.real, LIMBS: limbsOf(this.moduli), ...defines };
    return this.scope.device.kernel(name, [certificate, int8Product, residues, ...sources], all);
  }

  /** Memory for lines of n terms, uninitialized, with nothing cut yet. `blocked`: blocks are stored one after another, each for all lines. */
  allocate(lines: number, n: number, blocked: boolean): Residues {
    const { device } = this.scope;
    const cuts = this.scope.scratch(4 * lines);
    device.fill(cuts, Int32Array.of(0));
    const terms = this.shape.BK;
    const [pitch, block] = blocked ? [terms, lines * terms] : [n, terms];
    return { data: this.scope.scratch(lines * n * this.moduli), terms, pitch, block, batch: lines * n, cuts };
  }

  /**
   * Cut lines to integers of this many bits below the largest entry of each (its word is in `sizes`) and store their residues. Line l
   * has size and cuts number `from` + l.
   */
  take(
    lines: Lines,
    sizes: DeviceBuffer,
    from: number,
    bits: number,
    side: "left" | "right",
    to: Residues,
    { first = 0, term = 0, terms = lines.n, tops }: Place = {},
  ): void {
    const offset = (term / to.terms) * to.block;
    this.scope.device.launch(
      this.kernel("residues", [], tops ? { TOPS: 1 } : {}),
      [Math.ceil(terms / TILE_TERMS), Math.ceil(lines.count / TILE_LINES)],
      [GROUP, 1],
      [
        ...[lines.buffer, long(lines.offset), long(lines.distance), long(lines.step), lines.count, lines.n, sizes, from, bits, this.table],
        ...[this.moduli, side === "right" ? 1 : 0, to.data, first, long(offset / 4), to.pitch / 4, long(to.batch / 4), to.cuts],
        ...(tops ? [tops] : []),
      ],
    );
  }

  /** Multiply K terms of `rows` lines of A from `aStart` with those of `cols` lines of B from `bStart`: a byte per entry and modulus. */
  multiply(
    A: Residues,
    aStart: number,
    rows: number,
    B: Residues,
    bStart: number,
    cols: number,
    K: number,
    to: DeviceBuffer,
    pitch: number,
    batch: number,
  ): void {
    const { device } = this.scope;
    const { BM, BN, WM, WN } = this.shape;
    const tiles = [Math.ceil(rows / BM), Math.ceil(cols / BN)] as const;
    const onTensorCores = hasTensorCores(device);
    device.launch(
      device.kernel("int8Product", [int8Product], { ...this.shape }),
      [onTensorCores ? tiles[0] * tiles[1] : Math.ceil((tiles[0] * BM * tiles[1] * BN) / GROUP), this.moduli],
      [onTensorCores ? ((32 * BM) / WM) * (BN / WN) : GROUP, 1],
      [
        ...[A.data, aStart, A.pitch, long(A.block), long(A.batch), B.data, bStart, B.pitch, long(B.block), long(B.batch)],
        ...[to, pitch, long(batch), ...tiles, K, this.table],
      ],
    );
  }
}

export const roundUp = (n: number, unit: number): number => unit * Math.ceil(n / unit);

/** Whether buffers of these sizes fit into a part of the device's memory that leaves room for the user's matrices. */
export const fits = (device: Device, sizes: readonly number[]): boolean =>
  Math.max(...sizes) <= device.maxBufferBytes && sizes.reduce((a, b) => a + b) <= device.memoryBytes / 4;
