// The inverses of the factors of P (R A C) = L U on a device, by substitution. Called by approximate.ts.
import type { ApproximateFactors, ApproximateInverses } from "../../approximate.ts";
import type { Device, DeviceBuffer, Work } from "../../device.ts";
import { Scope } from "../../deviceScope.ts";
import { type ApproximateMatrix, BLOCK, bytesOf, definesOf, ITEMS, roundingsOf, STRIP } from "./lu.ts";
import * as sources from "./sources.ts";

/** Factors on a device, and the inverses of their diagonal blocks of 128 by 128, one after another. */
export interface Triangles {
  readonly matrix: ApproximateMatrix;
  readonly inverses: { readonly lower: DeviceBuffer; readonly upper: DeviceBuffer };
}

/** A lower and an upper triangle in one matrix, as in ApproximateMatrix. */
export interface StoredTriangles {
  readonly matrix: Pick<ApproximateMatrix, "n" | "ld" | "data">;
}

const kernelOf = (device: Device, matrix: ApproximateMatrix, name: string) =>
  device.kernel(name, [sources.common, sources.rows, sources.inverse], {
    ...definesOf(matrix.real),
    P: STRIP,
    LISTS: 1,
    KB: BLOCK,
  });

/** The inverses of the diagonal blocks of both factors. */
export function invertBlocks(device: Device, { matrix, inverses }: Triangles): void {
  const { data, ld, size } = matrix;
  const kernel = kernelOf(device, matrix, "invertDiagonalBlocks");
  if (size > 0) device.launch(kernel, [BLOCK / STRIP, size / BLOCK, 2], [ITEMS, 1, 1], [data, ld, inverses.lower, inverses.upper]);
}

const DEEP = 8; // as in the factorization, see ApproximateBlocking

// L X = I and U Y = I, right-looking in blocks of 128 rows. Step s solves for block row s of X by substitution and subtracts its
// products with L from the rows below. The same launches handle block row s from the end of Y and the rows above it, since the shapes
// are equal. Only nonzero columns are touched: n^3 / 3 operations for each inverse. The diagonal blocks of X and Y come with the
// factors, and were computed by substitution too. No right-hand side is multiplied by an inverse.
//
// The bound of ApproximateInverses: x_ij = (delta_ij - sum of t_ik x_kj) / t_ii is one sum, in an order that the blocks determine, with
// fused multiply-adds. A term goes through at most 128 roundings in the product of its block, one for each later block, one for each row of
// the diagonal block that comes before row i, and the division (Higham, Accuracy and Stability, Lemma 8.4). Terms of the padding are 0.

/** The inverses of both factors. `width` of the tiles of products: 128, 64 or 32; default: the widest that keeps the device busy. */
export function* invert(scope: Scope, factors: ApproximateFactors, width?: number): Work<ApproximateInverses> {
  const { device, routine } = scope;
  const { matrix, inverses } = factors as ApproximateFactors & Triangles;
  const { real, n, size, data, ld } = matrix;
  const { lower, upper } = inverses;
  const blocks = size / BLOCK;
  const lasting = new Scope(device, routine); // the memory of the inverses
  try {
    const to = lasting.scratch(size * size * bytesOf(real));
    const rows = kernelOf(device, matrix, "invertRows");
    for (let step = 0; step < blocks; step++) {
      if (step > 0) device.launch(rows, [(step * BLOCK) / STRIP, 2], [ITEMS, 1], [data, ld, to, size, step, blocks]);
      const [done, left] = [step + 1, blocks - 1 - step];
      // Wide tiles read less; narrow ones keep more multiprocessors busy.
      const tile = width ?? [128, 64].find((w) => ((2 * done * BLOCK) / w) * left >= device.computeUnits) ?? 32;
      const defines = { ...definesOf(real), TN: tile, KT: DEEP, KB: BLOCK, TRIANGLES: 1 };
      const product = device.kernel("subtractProduct", [sources.common, sources.gemm], defines);
      const args = [to, size, data, ld, lower, upper, step, blocks];
      if (left > 0) device.launch(product, [(done * BLOCK) / tile, left, 2], [ITEMS, 1, 1], args);
    }
    if (size > 0) device.launch(kernelOf(device, matrix, "copyInverseBlocks"), [size], [BLOCK], [lower, upper, to, size]);
    yield device.finish();
    const stored = { n, ld: size, data: to };
    const inverted: ApproximateInverses & StoredTriangles = {
      n,
      roundings: roundingsOf(n, BLOCK),
      matrix: stored,
      free: () => lasting.free(),
    };
    return inverted;
  } catch (error) {
    lasting.free();
    throw error;
  }
}
