// laplacian: the matrices of the grids in the sparse paper.
import { checkCount, describe } from "../arrays/checks.ts";
import { ShapeError } from "../arrays/errors.ts";
import type { Sparse } from "../arrays/types.ts";
import { neighbourhood, star, stencilMatrix } from "./stencil.ts";

/**
 * The Laplacian of a grid with Dirichlet boundaries, by rows, columns ascending: `points - 1` on the diagonal and -1 for every
 * neighbour, nodes numbered lexicographically, x fastest. 5 or 9 points in the plane (nz omitted or 1), 7 or 27 in space (nz given);
 * default: 5 and 7. A grid without nodes gives a matrix without rows.
 * @example
 * laplacian(2, 1).values; // Float64Array(4) [ 4, -1, -1, 4 ]
 * laplacian(100, 100, 100).rows; // 1000000
 */
export function laplacian(nx: number, ny: number, nz?: number, points?: 5 | 7 | 9 | 27): Sparse {
  checkCount("laplacian", "nx", nx, 0);
  checkCount("laplacian", "ny", ny, 0);
  if (nz !== undefined) checkCount("laplacian", "nz", nz, 0);
  const depth = nz ?? 1;
  const stencil = points ?? (depth === 1 ? 5 : 7);
  const fitting = [...(depth === 1 ? [5, 9] : []), ...(nz === undefined ? [] : [7, 27])];
  if (!fitting.includes(stencil))
    throw new ShapeError(
      `laplacian: points is ${describe(points)}, expected one of ${fitting.join(", ")} (nz is ${nz === undefined ? "omitted" : nz})`,
    );
  const offsets = stencil === 5 || stencil === 7 ? star(stencil === 7) : neighbourhood(stencil === 27, () => true);
  return stencilMatrix("laplacian", [nx, ny, depth], 1, offsets, ([x, y, z]) => (x === 0 && y === 0 && z === 0 ? stencil - 1 : -1));
}
