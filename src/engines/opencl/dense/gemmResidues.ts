// The first stage of exgemm by residues: C := alpha A B + beta C with a certificate for each entry. Called by gemm.ts; see residues.ts.
import type { Device, DeviceBuffer, Work } from "../../device.ts";
import type { Scope } from "../../deviceScope.ts";
import { precisionFor } from "../../moduli.ts";
import { declarableLocalBytes } from "../device/local.ts";
import { double, long, realOf } from "../device/numbers.ts";
import { hasTensorCores } from "../device/tensorCores.ts";
import { kernelArguments, type Product } from "./entries.ts";
import { fits, type Int8Shape, type Lines, localBytesOf, ResidueArithmetic, roundUp } from "./residues.ts";
import { entries, gemmResidues } from "./sources.ts";

/** What `measure` found of each line: the words of the largest and the smallest magnitude, and the place of the lowest bit. */
export interface Measured {
  readonly sizes: DeviceBuffer;
  readonly lowest: DeviceBuffer;
}

// By local memory: 147 KB and 64 KB.
const LARGE: Int8Shape = { BM: 128, BN: 256, BK: 128, WM: 64, WN: 64, STAGES: 3, STRIP: 8 };
const MEDIUM: Int8Shape = { BM: 128, BN: 128, BK: 64, WM: 64, WN: 64, STAGES: 4, STRIP: 8 };
const OTHER: Int8Shape = { BM: 16, BN: 16, BK: 64, WM: 16, WN: 16, STAGES: 1, STRIP: 1 }; // one entry per work-item
const GROUP = 256;

function shapeFor(device: Device): Int8Shape {
  if (!hasTensorCores(device)) return OTHER;
  return declarableLocalBytes(device) >= localBytesOf(LARGE) ? LARGE : MEDIUM;
}

// Bits kept below the largest entry of a line in excess of 53. For K random terms about 3 sqrt(K) 2^(-2 MARGIN) of the entries stay
// open: one in 20,000 for K = 4096. An open entry costs as much as some thousands of others, and the moduli that this takes usually
// have room for a few more bits.
const MARGIN = 11;

/** Products with one right factor. */
export interface ResidueProduct {
  /** Compute and certify the entries of the block of rows from number `from`: those that are not proved are listed, and marked in `open`. */
  launch(product: Product, rows: Lines, from: number, open: DeviceBuffer): void;
}

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
  const shape = shapeFor(device);
  const widths = scope.scratch(8);
  device.fill(widths, Int32Array.of(0));
  const arithmetic = (moduli: number): ResidueArithmetic => new ResidueArithmetic(scope, realOf(single ? 4 : 8), moduli, shape);
  const widest = arithmetic(1).kernel("widest");
  for (const [which, { count }, { sizes, lowest }] of [
    [0, rows, rowsMeasured],
    [1, cols, colsMeasured],
  ] as const)
    device.launch(widest, [Math.ceil(count / GROUP)], [GROUP], [sizes, lowest, count, widths, which]);
  const found = new Int32Array(2);
  yield device.read(widths, found);
  const precision = precisionFor(found[0] as number, found[1] as number, cols.n, 53 + MARGIN);
  if (!precision) return undefined;
  const { moduli } = precision;
  const [M, N, K] = [roundUp(maxRows, shape.BM), roundUp(cols.count, shape.BN), roundUp(cols.n, shape.BK)];
  const bytes = [M * K, N * K, M * N].map((size) => size * moduli);
  if (!fits(device, bytes)) return undefined;

  const residues = arithmetic(moduli);
  const combine = residues.kernel("combine", [entries, gemmResidues]);
  const [left, right] = [residues.allocate(M, K, false), residues.allocate(N, K, false)];
  const rowCuts = scope.scratch(4 * rows.count);
  device.fill(rowCuts, Int32Array.of(0));
  residues.take(cols, colsMeasured.sizes, 0, precision.right, "right", right, { terms: K });
  const sums = scope.scratch(M * N * moduli);
  return {
    launch({ alpha, beta, C, list }, lines, from, open) {
      residues.take(lines, rowsMeasured.sizes, from, precision.left, "left", { ...left, cuts: rowCuts }, { terms: K });
      residues.multiply(left, 0, C.rows, right, 0, C.cols, K, sums, N, M * N);
      device.fill(list, Uint32Array.of(0), 0, 4);
      device.launch(
        combine,
        [Math.ceil(C.cols / 4 / GROUP), C.rows],
        [GROUP, 1],
        [
          ...[sums, N / 4, long((M * N) / 4), residues.table, moduli, ...kernelArguments(C), C.rows, C.cols, double(alpha), double(beta)],
          ...[rowsMeasured.sizes, from, colsMeasured.sizes, rowCuts, right.cuts, precision.left, precision.right, open, list],
        ],
      );
    },
  };
}
