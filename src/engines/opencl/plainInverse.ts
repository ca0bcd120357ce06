import type { Device, DeviceBuffer, Work } from "../device.ts";
import type { PlainFactors, PlainInverses } from "../plain.ts";
import { BLOCK, bytesOf, definesOf, ITEMS, type PlainMatrix, STRIP } from "./plainLu.ts";
import { Scope } from "./scope.ts";
import * as sources from "./sources.generated.ts";

// Inverses of the factors of P (R A C) = L U on a device, by substitution.

/** Factors on a device, with the inverses of their diagonal blocks of 128 by 128, one after another. */
export interface Triangles {
  readonly matrix: PlainMatrix;
  readonly inverses: { readonly lower: DeviceBuffer; readonly upper: DeviceBuffer };
}

/** A lower and an upper triangle in one matrix, as in PlainMatrix. */
export interface Stored {
  readonly matrix: Pick<PlainMatrix, "n" | "ld" | "data">;
}

const kernelOf = (device: Device, matrix: PlainMatrix, name: string) =>
  device.kernel(name, [sources.plain, sources.plainRows, sources.plainInverse], {
    ...definesOf(matrix.real),
    P: STRIP,
    LISTS: 1,
    KB: BLOCK,
  });

/** The inverses of diagonal blocks, of both factors. */
export function invertBlocks(device: Device, { matrix, inverses }: Triangles): void {
  const { data, ld, size } = matrix;
  const kernel = kernelOf(device, matrix, "plainInverse");
  if (size > 0) device.launch(kernel, [BLOCK / STRIP, size / BLOCK, 2], [ITEMS, 1, 1], [data, ld, inverses.lower, inverses.upper]);
}

const DEEP = 8; // as in the factorization, see PlainBlocking

/**
 * L X = I and U Y = I, right-looking by blocks of 128 rows. Step s solves for row s of blocks of X by substitution and subtracts what
 * that gives from the rows below; the same step does row s from the end of Y and the rows above, which are as many. Only columns
 * that are not zero are touched, so that both take n^3 / 3 operations each. Diagonal blocks are there with the factors, also
 * by substitution; nothing else is multiplied by an inverse. `width`: of the tiles of products, 128, 64 or 32.
 */
export function* invert(scope: Scope, factors: PlainFactors, width?: number): Work<PlainInverses> {
  const { device, routine } = scope;
  const { matrix, inverses } = factors as PlainFactors & Triangles;
  const { real, n, size, data, ld } = matrix;
  const { lower, upper } = inverses;
  const blocks = size / BLOCK;
  const lasting = new Scope(device, routine); // what the inverses keep
  try {
    const to = lasting.scratch(size * size * bytesOf(real));
    const rows = kernelOf(device, matrix, "plainInverseRows");
    for (let step = 0; step < blocks; step++) {
      if (step > 0) device.launch(rows, [(step * BLOCK) / STRIP, 2], [ITEMS, 1], [data, ld, to, size, step, blocks]);
      const [done, left] = [step + 1, blocks - 1 - step];
      // Wide tiles read less, narrow ones are more: enough for every multiprocessor.
      const tile = width ?? [128, 64].find((w) => ((2 * done * BLOCK) / w) * left >= device.units) ?? 32;
      const defines = { ...definesOf(real), TN: tile, KT: DEEP, KB: BLOCK, TRIANGLES: 1 };
      const product = device.kernel("plainGemm", [sources.plain, sources.plainGemm], defines);
      const args = [to, size, data, ld, lower, upper, step, blocks];
      if (left > 0) device.launch(product, [(done * BLOCK) / tile, left, 2], [ITEMS, 1, 1], args);
    }
    if (size > 0) device.launch(kernelOf(device, matrix, "plainInverseDiagonal"), [size], [BLOCK], [lower, upper, to, size]);
    yield device.finish();
    const inverted: PlainInverses & Stored = { n, matrix: { n, ld: size, data: to }, free: () => lasting.free() };
    return inverted;
  } catch (error) {
    lasting.free();
    throw error;
  }
}
