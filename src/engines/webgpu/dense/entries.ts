// The entries of exgemv and exgemm on a device from their windows. Those that are not proved are listed, then computed exactly.
import type { Device, DeviceBuffer, DeviceMatrix, KernelArgument, Work } from "../../device.ts";
import type { Scope } from "../../deviceScope.ts";
import { gather, round, settle, window, words } from "../exact/sources.generated.ts";
import { entries, finish } from "./sources.generated.ts";

/** Matrices on a device, each in one binding, and a list of the entries of C that are not proved: their number, then i * C.cols + j. */
export interface Product {
  readonly alpha: number;
  readonly A: DeviceMatrix;
  readonly B: DeviceMatrix;
  readonly beta: number;
  readonly C: DeviceMatrix;
  readonly single: boolean;
  readonly list: DeviceBuffer;
}

/** A list with room for `entries`. */
export function newList(scope: Scope, entries: number): DeviceBuffer {
  const list = scope.scratch(4 + 4 * entries);
  scope.device.fill(list, new Uint32Array(1), 0, 4);
  return list;
}

const FINISHING = 64; // work-items in a group

/** Round the entries of C from windows: `parts` for each, in which `lanes` lanes added the terms. */
export function finishEntries(
  { device }: Scope,
  { alpha, A, beta, C, single, list }: Product,
  records: DeviceBuffer,
  parts: number,
  lanes: number,
): void {
  const kernel = device.kernel("finishEntries", [words, window, round, gather, finish], { GROUP: FINISHING, SINGLE: Number(single) });
  const loss = A.cols + 4 * lanes; // n + 4 L: see limbs.wgsl
  const args = [Float64Array.of(alpha), Float64Array.of(beta), ...strides(C), C.rows, C.cols, parts, loss];
  device.launch(kernel, [Math.ceil((C.rows * C.cols) / FINISHING)], [FINISHING], [records, C.buffer, list, ...args]);
}

const GROUP = 64;
// The terms of all entries of a launch, which should not take long on a small GPU either: a term takes about a thousand operations for each
// window, and most entries need two or three.
const MAX_TERMS = 2 ** 24;

/**
 * Compute the entries on the list. The first launch does not wait for their number: the list is mostly empty. Only where it may be longer than
 * a launch can do is it read.
 */
export function* settleEntries(scope: Scope, product: Product): Work<void> {
  const { device } = scope;
  const { A, C, list } = product;
  const limit = Math.max(1, Math.floor(MAX_TERMS / (A.cols + 1)));
  launch(device, product, 0, limit);
  if (C.rows * C.cols <= limit) return;
  const found = new Uint32Array(1);
  yield device.read(list, found);
  const open = found[0] as number;
  for (let start = limit; start < open; start += limit) launch(device, product, start, limit);
}

const strides = ({ offset, rowStride, colStride }: DeviceMatrix): KernelArgument[] => [offset, rowStride, colStride];

function launch(device: Device, { alpha, A, B, beta, C, single, list }: Product, start: number, limit: number): void {
  const kernel = device.kernel("settleEntries", [words, window, round, gather, settle, entries], { GROUP, SINGLE: Number(single) });
  device.launch(
    kernel,
    [Math.min(limit, C.rows * C.cols, 16 * device.computeUnits)],
    [GROUP],
    [
      A.buffer,
      B.buffer,
      C.buffer,
      list,
      ...strides(A),
      ...strides(B),
      ...strides(C),
      C.cols,
      A.cols,
      start,
      limit,
      Float64Array.of(alpha),
      Float64Array.of(beta),
    ],
  );
}
