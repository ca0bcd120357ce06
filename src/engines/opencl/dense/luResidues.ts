// The products of a blocked exlu by residues, on tensor cores: the residues of L and U stay on the device, and each block multiplies
// those of the columns before it. Called by luBlocked.ts; the kernels are in luResidues.cl.
import type { DeviceBuffer } from "../../device.ts";
import type { Scope } from "../../deviceScope.ts";
import { capacityOf, MAX_BITS, MAX_TERMS } from "../../moduli.ts";
import { long, type RealType } from "../device/numbers.ts";
import { hasTensorCores } from "../device/tensorCores.ts";
import * as exact from "../exact/sources.ts";
import { measureLines } from "./gemm.ts";
import { STRIP } from "./luLayout.ts";
import { fits, type Int8Shape, type Lines, ResidueArithmetic, roundUp } from "./residues.ts";
import * as sources from "./sources.ts";

// An open entry delays its whole column. With 20 moduli, eight in 10,000 entries of a random matrix of order 16,384 stay open in the last columns, and
// the panels take three times as long; with 21 it is one in 200,000.
const MODULI = 21;
// The integers of L have this many bits more than those of U, whose entries grow as the factorization proceeds.
const FAVOUR = 7;

// H200: n = 4096 takes 39.3 ms with tiles of 128 rows, n = 16,384 403, and 387 with tiles of 256, which read the shorter factor less often.
const SHAPE: Int8Shape = { BM: 128, BN: 64, BK: 64, WM: 32, WN: 64, STAGES: 4, STRIP: 1 };
const LARGE: Int8Shape = { ...SHAPE, BM: 256, WM: 64 };
const OTHER: Int8Shape = { BM: 16, BN: 64, BK: 64, WM: 16, WN: 64, STAGES: 1, STRIP: 1 }; // one entry per work-item

/** The products of one factorization with blocks of `width` columns. `shape` is the Shape of luBlocked.cl, kept current by the caller. */
export interface LuProducts {
  /** The sums of the block, over the columns before it: of its columns, or of its rows in `count` columns from `right` on, in `sums[space]`. */
  panel(shape: BigInt64Array, first: number): void;
  right(shape: BigInt64Array, first: number, right: number, count: number, space: number): void;
  /** After the columns of a block: move rows, and take the residues of its L. */
  afterColumns(shape: BigInt64Array, first: number, columns: number): void;
  /** After the rows of a block in these columns: take the residues of U there. */
  afterRows(first: number, columns: number, right: number, count: number): void;
}

/** Whether tensor cores make the products of a factorization faster. */
export function suitsResidues(scope: Scope, rows: number, cols: number): boolean {
  return hasTensorCores(scope.device) && Math.min(rows, cols) >= 1024;
}

/**
 * Prepare a factorization in place, with blocks of 64 columns; undefined for others, or if the device has too little memory. Products with
 * different `sums` may run at the same time.
 */
export function luProducts(
  scope: Scope,
  real: RealType,
  data: DeviceBuffer,
  work: DeviceBuffer,
  out: DeviceBuffer,
  sums: readonly DeviceBuffer[],
  rows: number,
  cols: number,
  width: number,
): LuProducts | undefined {
  const { device } = scope;
  const tile = Math.max(rows, cols) > 8192 ? LARGE : SHAPE;
  const terms = roundUp(Math.min(rows, cols), width);
  const tall = roundUp(Math.max(rows, cols), tile.BM) + tile.BM;
  const bytes = [tall * terms, tall * terms, ...sums.map(() => tall * width)].map((size) => size * MODULI);
  if (width !== SHAPE.BN || terms > MAX_TERMS || !fits(device, bytes)) return undefined;
  const residues = new ResidueArithmetic(scope, real, MODULI, hasTensorCores(device) ? tile : OTHER);
  const [L, U] = [residues.allocate(tall, terms, true), residues.allocate(tall, terms, true)];
  const products = sums.map(() => scope.scratch(tall * width * MODULI));
  const common = [exact.superaccumulator, sources.lu, sources.luBlocked, sources.luResidues];
  const kernel = (name: string, PANEL: number) => residues.kernel(name, common, { W: width, GROUP: 64, PANEL });
  const kernels = { swap: kernel("luSwapResidues", 0), panel: kernel("luCombine", 1), right: kernel("luCombine", 0) };

  const wholeColumns: Lines = { buffer: data, offset: 0, count: cols, distance: 1, step: cols, n: rows };
  const colSizes = measureLines(scope, wholeColumns, real === "float").sizes;
  const [rowSizes, colTops] = [scope.scratch(8 * tall), scope.scratch(4 * tall)];
  device.fill(rowSizes, Uint32Array.of(0x3ff00000)); // |l| <= 1 < 2
  device.fill(colTops, Uint32Array.of(0));

  // 2^-3 of the capacity is left: a sum may be a quarter of the product of the moduli, and roundings of u' and of sums of magnitudes add
  // less than a hundredth. What remains goes to the bits of both, after log2(n) for the terms and half of that for the growth of U.
  const capacity = capacityOf(MODULI) - 3;
  const spare = capacity - Math.ceil(1.5 * Math.log2(terms));
  const rowBits = Math.min(MAX_BITS, Math.ceil((spare + FAVOUR) / 2));
  const colBits = spare - rowBits;
  const limit = capacity - rowBits + 1; // bits of the sum of all |u'| of a column

  const multiply = (which: "panel" | "right", shape: BigInt64Array, first: number, from: number, lines: number, space: number): void => {
    const [longer, shorter] = which === "panel" ? [L, U] : [U, L];
    const product = products[space] as DeviceBuffer;
    residues.multiply(longer, from, lines, shorter, first, width, first, product, width, tall * width);
    device.launch(
      kernels[which],
      [Math.ceil(lines / 32), width / 32],
      [256, 1],
      [
        ...[product, long((tall * width) / 4), residues.table, MODULI, lines, L.cuts, U.cuts, colSizes, colTops],
        ...[rowBits, colBits, limit, work, sums[space] as DeviceBuffer, shape],
      ],
    );
  };
  return {
    panel: (shape, first) => multiply("panel", shape, first, first, rows - first, 0),
    right: (shape, first, right, count, space) => multiply("right", shape, first, right, count, space),
    afterColumns(shape, first, columns) {
      if (first > 0)
        device.launch(
          kernels.swap,
          [Math.ceil(first / 4 / STRIP), MODULI],
          [8 * STRIP, 1],
          [L.data, L.pitch / 4, long(L.block / 4), long(L.batch / 4), L.cuts, out, shape],
        );
      const below = first + columns;
      const lines = { buffer: data, offset: below * cols + first, count: rows - below, distance: cols, step: 1, n: columns };
      if (lines.count > 0) residues.take(lines, rowSizes, below, rowBits, "left", L, { first: below, term: first });
    },
    afterRows(first, columns, right, count) {
      const lines = { buffer: data, offset: first * cols + right, count, distance: 1, step: cols, n: columns };
      residues.take(lines, colSizes, right, colBits, "right", U, { first: right, term: first, tops: colTops });
    },
  };
}
