// C := alpha A B + beta C on WebGPU, block by block: entries by residues or by windows; those that are not proved are listed, and finished by
// a work-group each. Called by the engine. The kernels are in the gemm*.wgsl beside this file.
import { compactLike, contiguousLines, type StridedMatrix, type StridedOperand, transposeOf } from "../../../arrays/matrix.ts";
import { isOnHost } from "../../../arrays/operands.ts";
import type { Real } from "../../../arrays/types.ts";
import { newVector, part } from "../../../arrays/vectors.ts";
import type { DeviceBuffer, DeviceMatrix, Kernel, Work } from "../../device.ts";
import { bufferOf } from "../../deviceArray.ts";
import type { Scope } from "../../deviceScope.ts";
import { MAX_TERMS } from "../../moduli.ts";
import { CHOICES } from "../choices.ts";
import type { WebgpuDevice } from "../device/device.ts";
import { gather, limbs, settle } from "../exact/sources.generated.ts";
import * as host from "../host.ts";
import { type Block, bindingBytes, double, Factor, type LineRange, rangesOf, rectanglesOf, roundingSourcesFor } from "./gemmBlocks.ts";
import { PRODUCT_GROUP, prepareResidues } from "./gemmResidues.ts";
import { gemmEntries, gemmTiles } from "./sources.generated.ts";

/**
 * How entries are computed: "host" on the calling thread; "residues"; "tiles" by the windows of lanes, one each; "entries" by the windows of
 * a work-group each; "exact" by the exact stage alone, which takes any alpha. What the others leave open the exact stage finishes.
 */
export type Path = "host" | "residues" | "tiles" | "entries" | "exact";

export interface GemmOptions {
  readonly path?: Path | undefined;
  /** Up to this number of products it is "host" by default: see choices.ts. */
  readonly minTerms?: number;
  /** The most entries of a block of C. The list of those that are not proved has 32 bits for each. */
  readonly maxEntries?: number;
  /** The share of cut entries of the factors from which on residues are not used. */
  readonly maxCutShare?: number;
}

// From here residues, some five instructions a term, save more than their preparation costs. Windows take 100.
const RESIDUE_TERMS = 2 ** 26;
const MIN_SIDE = 64;
// Long sums in few tiles leave most of a device idle: then each entry has a work-group.
const LONG = 4096;
const FEW_TILES = 128;
// With more than this share of entries cut, too many sums stay open, and windows are faster.
const MAX_CUT_SHARE = 1 / 8;
// And a lane should not have more terms than this in a launch.
const VERY_LONG = 2 ** 18;

// Terms of a launch: some 100 ms where a device has a hundredth of an H200's speed, which adds 1.6 * 10^11 a second by windows.
const TILE_LAUNCH = 2 ** 28;
const ENTRY_LAUNCH = 2 ** 27;
const EXACT_LAUNCH = 2 ** 25;

export function* gemm(
  scope: Scope,
  alpha: number,
  A: StridedOperand,
  B: StridedOperand,
  beta: number,
  C: StridedOperand,
  options: GemmOptions = {},
): Work<void> {
  const reads = alpha !== 0 && A.cols > 0;
  const wanted = options.path ?? pathFor(scope.device as WebgpuDevice, C, reads ? A.cols : 0, options.minTerms);
  // With an alpha that is not finite, signs and zeros of terms matter.
  const path = Number.isFinite(alpha) || wanted === "host" ? wanted : "exact";
  if (path === "host") return yield* host.gemm(scope, alpha, A, B, beta, C);
  // Neighbours in a row are stored together: by columns it is the product of the transposes.
  if (C.colStride !== 1 && C.rowStride === 1) {
    yield* gemm(scope, alpha, transposeOf(B), transposeOf(A), beta, transposeOf(C), { ...options, path });
    return;
  }
  const device = scope.device as WebgpuDevice;
  if (C.rows === 0 || C.cols === 0) {
    yield device.finish();
    return;
  }
  const width = C.data.BYTES_PER_ELEMENT;
  const unread = (rows: number): DeviceMatrix => ({ buffer: scope.scratch(8), offset: 0, rows, cols: 0, rowStride: 0, colStride: 0 });
  const left = new Factor(scope, reads ? scope.matrix(A) : unread(C.rows), width);
  const right = new Factor(scope, reads ? scope.matrix(transposeOf(B)) : unread(C.cols), width);
  const into = beta !== 0 ? scope.matrix(C) : output(scope, C);
  const given = { alpha: reads ? alpha : 1, beta, single: width === 4 };

  let residues = path === "residues" ? yield* prepareResidues(scope, left, right, given.single) : undefined;
  // A block of C fits a binding, with what is between its rows.
  const maxElements = Math.floor(bindingBytes(device) / width);
  const maxCols = Math.min(right.maxLines, maxElements, residues?.maxLines ?? Number.POSITIVE_INFINITY);
  const columns = rangesOf(C.cols, maxCols, residues?.unit ?? 1);
  const wide = (columns[0] as { count: number }).count;
  const maxEntries = Math.min(options.maxEntries ?? 2 ** 24, Math.floor(maxElements / 2) - 1);
  const maxRows = Math.min(
    ...[left.maxLines, Math.floor(maxEntries / wide), Math.floor((maxElements - wide) / into.rowStride) + 1],
    residues?.maxRows(wide) ?? Number.POSITIVE_INFINITY,
  );
  const rows = rangesOf(C.rows, Math.max(1, maxRows), residues?.unit ?? 1);
  const list = scope.scratch(4 + 4 * wide * (rows[0] as { count: number }).count);
  for (const across of columns) {
    const B = right.lines(across.from, across.count);
    residues?.takeColumns(B, across.from);
    for (const down of rows) {
      const A = left.lines(down.from, down.count);
      const block: Block = { ...given, A, B, C: blockOf(device, into, down, across, width), rows: down.count, cols: across.count, list };
      residues?.takeRows(A, down.from);
      if (residues && !(yield* residues.suit(block, options.maxCutShare ?? MAX_CUT_SHARE))) residues = undefined;
      device.fill(list, Uint32Array.of(0), 0, 4);
      if (residues) residues.multiply(block, down.from, across.from);
      else if (path === "tiles" || path === "residues") launchTiles(device, block);
      else {
        launchEntries(device, block, block.rows * block.cols, false, path === "entries");
        continue;
      }
      const open = yield* listLength(device, list);
      if (open > 0) launchEntries(device, block, open, true, residues !== undefined);
    }
  }
  const { data } = C;
  if (!isOnHost(data)) {
    yield device.finish();
    return;
  }
  const copy = newVector(scope.routine, data, C.rows * C.cols);
  yield device.read(into.buffer, copy);
  writeBack(copy, { ...C, data });
}

/** How a product with K terms an entry is computed by default. */
export function pathFor(device: WebgpuDevice, C: StridedOperand, K: number, minTerms = CHOICES.minTerms): Path {
  const terms = C.rows * C.cols * Math.max(1, K);
  if (terms <= minTerms || K * C.data.BYTES_PER_ELEMENT > bindingBytes(device)) return "host";
  const isLarge = terms >= RESIDUE_TERMS && Math.min(C.rows, C.cols, K) >= MIN_SIDE;
  if (isLarge && K <= MAX_TERMS && device.maxGroupSize >= PRODUCT_GROUP) return "residues";
  const tile = tileOf(device);
  const tiles = Math.ceil(C.rows / tile) * Math.ceil(C.cols / tile);
  return K >= VERY_LONG || (K >= LONG && tiles < FEW_TILES) ? "entries" : "tiles";
}

// The memory of C, or new memory without gaps, in the order of C.
function output(scope: Scope, C: StridedOperand): DeviceMatrix {
  const { data, ...layout } = C;
  if (!isOnHost(data)) return { ...layout, buffer: bufferOf(data) };
  const { data: _, ...compact } = compactLike(C, data);
  return { ...compact, buffer: scope.scratch(data.BYTES_PER_ELEMENT * C.rows * C.cols) };
}

// Copy entries without gaps, in the order of C, to C.
function writeBack(from: Real, C: StridedMatrix): void {
  const { lines, length, stride } = contiguousLines(C);
  for (let l = 0; l < lines; l++) part(C.data, C.offset + l * stride, length).set(from.subarray(l * length, (l + 1) * length));
}

function blockOf(
  device: WebgpuDevice,
  { buffer, offset, rowStride }: DeviceMatrix,
  down: LineRange,
  across: LineRange,
  width: number,
): Block["C"] {
  const span = ((down.count - 1) * rowStride + across.count) * width;
  const { part, before } = device.around(buffer, (offset + down.from * rowStride + across.from) * width, span);
  return { buffer: part, offset: before / width, rowStride };
}

function* listLength(device: WebgpuDevice, list: DeviceBuffer): Work<number> {
  const found = new Uint32Array(1);
  yield device.read(list, found);
  return found[0] as number;
}

const tileOf = (device: WebgpuDevice): number => (device.maxGroupSize >= 256 ? 16 : 8);

function launchTiles(device: WebgpuDevice, block: Block): void {
  const { alpha, A, B, beta, C, rows, cols, single, list } = block;
  const tile = tileOf(device);
  const kernel = device.kernel("tiles", [...roundingSourcesFor(single), limbs, gemmTiles], { TILE: tile });
  const atOnce = Math.floor(TILE_LAUNCH / (tile * tile * Math.max(1, A.n)));
  for (const { row, col, ...groups } of rectanglesOf(Math.ceil(rows / tile), Math.ceil(cols / tile), atOnce))
    device.launch(
      kernel,
      [groups.cols, groups.rows],
      [tile, tile],
      [
        ...[A.buffer, B.buffer, C.buffer, list, double(alpha), double(beta)],
        ...[A.offset, A.distance, A.step, B.offset, B.step, B.distance, C.offset, C.rowStride],
        ...[rows, cols, A.n, row * tile, col * tile],
      ],
    );
}

// Entries by a work-group each: the first `count` of the list, or of all.
function launchEntries(device: WebgpuDevice, block: Block, count: number, listed: boolean, windows: boolean): void {
  const { alpha, A, B, beta, C, cols, single, list } = block;
  const K = A.n;
  const group = device.type === "cpu" ? 16 : K >= LONG ? Math.min(256, device.maxGroupSize) : 64;
  const kernel: Kernel = device.kernel("entries", [...roundingSourcesFor(single), limbs, gather, settle, gemmEntries], { GROUP: group });
  const atOnce = Math.max(1, Math.floor((windows ? ENTRY_LAUNCH : EXACT_LAUNCH) / Math.max(group, K)));
  for (let from = 0; from < count; from += atOnce) {
    const n = Math.min(atOnce, count - from);
    device.launch(
      kernel,
      [n],
      [group],
      [
        ...[A.buffer, B.buffer, C.buffer, list, double(alpha), double(beta)],
        ...[A.offset, A.distance, A.step, B.offset, B.step, B.distance, C.offset, C.rowStride],
        ...[cols, K, from, n, Number(listed), Number(windows)],
      ],
    );
  }
}
