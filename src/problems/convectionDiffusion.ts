// convectionDiffusion: a grid of laplacian() with a wind, for solvers of systems that are not symmetric.
import { checkCount, describe } from "../arrays/checks.ts";
import { ShapeError } from "../arrays/errors.ts";
import type { Sparse } from "../arrays/types.ts";
import { Superaccumulator } from "../exact/superaccumulator.ts";
import { type Offset, star, stencilMatrix } from "./stencil.ts";

// Powers of two: all entries are exact.
const WIND = [1, 0.5, 0.25] as const;

// The diagonal is at most 6 + 3 * 2^1020 and does not overflow.
const STRONGEST = 2 ** 1020;

/**
 * Convection and diffusion on a grid with Dirichlet boundaries, by rows, columns ascending, nodes numbered lexicographically, x fastest:
 * the 5 points of laplacian() in the plane (nz omitted or 1) or its 7 points in space, and first-order upwind differences along `wind`,
 * which has 2 or 3 numbers: the speed along each axis, times the distance of two nodes, over the diffusion. Default: 1, 0.5, 0.25. The
 * neighbour from which the wind w blows has the entry -1 - |w|, the others -1; the diagonal is minus their sum, computed exactly and
 * rounded up. Not symmetric, unless there is no wind; diagonally dominant for every wind, and an M-matrix. A grid without nodes gives
 * a matrix without rows.
 * @example
 * convectionDiffusion(2, 1).values; // Float64Array(4) [ 5.5, -1, -2, 5.5 ]
 */
export function convectionDiffusion(nx: number, ny: number, nz?: number, wind?: readonly number[]): Sparse {
  checkCount("convectionDiffusion", "nx", nx, 0);
  checkCount("convectionDiffusion", "ny", ny, 0);
  if (nz !== undefined) checkCount("convectionDiffusion", "nz", nz, 0);
  const depth = nz ?? 1;
  const speeds = wind === undefined ? WIND.slice(0, depth === 1 ? 2 : 3) : wind;
  checkWind(speeds, [...(depth === 1 ? [2] : []), ...(nz === undefined ? [] : [3])], nz);
  const offsets = star(speeds.length === 3);
  const diagonal = new Superaccumulator();
  for (const offset of offsets) if (offset.some((step) => step !== 0)) diagonal.add(-neighbour(speeds, offset));
  const centre = diagonal.round("up");
  return stencilMatrix("convectionDiffusion", [nx, ny, depth], 1, offsets, (offset) =>
    offset.every((step) => step === 0) ? centre : neighbour(speeds, offset),
  );
}

// The wind w along an axis blows from the neighbour below if w > 0, from the one above if w < 0.
function neighbour(wind: readonly number[], offset: Offset): number {
  const axis = offset.findIndex((step) => step !== 0);
  return -1 - Math.max(-(offset[axis] as number) * (wind[axis] as number), 0);
}

function checkWind(wind: readonly number[], lengths: readonly number[], nz: number | undefined): void {
  if (!Array.isArray(wind)) throw new ShapeError(`convectionDiffusion: wind is ${describe(wind)}, expected an array of numbers`);
  if (!lengths.includes(wind.length))
    throw new ShapeError(
      `convectionDiffusion: wind has length ${wind.length}, expected ${lengths.join(" or ")} (nz is ${nz === undefined ? "omitted" : nz})`,
    );
  for (const [axis, speed] of wind.entries())
    if (!(typeof speed === "number" && Math.abs(speed) <= STRONGEST))
      throw new ShapeError(
        `convectionDiffusion: wind[${axis}] is ${describe(speed)}, expected a finite number, at most 2^1020 in magnitude`,
      );
}
