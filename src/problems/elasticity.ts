// Isotropic linear elasticity, E = 1 and nu = 0.3, so lambda = 15/26 and mu = 10/26, on cells of side 1. With
//   I_ij = the integral over a cell of (the derivative along i of a's shape function) (the derivative along j of b's)
// a cell couples component r of its corner a with component c of its corner b by lambda I_rc + mu I_cr, plus mu (I_00 + I_11 + ...) if
// r = c. All I_ij are integer multiples of 1/2 in the plane and of 1/72 in space: cells are summed as integers and each entry is divided
// once, so that the bits are the same everywhere, and symmetric.
import { checkCount } from "../arrays/checks.ts";
import type { Sparse } from "../arrays/types.ts";
import { neighbourhood, type Offset, type Sides, stencilMatrix } from "./stencil.ts";

/** A corner of a cell: 0 or 1 along each axis. */
type Corner = Offset;

/** I_ij, times `units`. */
interface Element {
  readonly axes: 2 | 3;
  readonly units: number;
  integral(a: Corner, b: Corner, i: number, j: number): number;
}

// The diagonal from corner (0, 0) to (1, 1) divides a square into two triangles with linear shape functions. These are their gradients,
// for the corners (0, 0), (1, 0), (0, 1), (1, 1).
const HALVES = [
  [[-1, 0], [1, -1], undefined, [0, 1]],
  [[0, -1], undefined, [-1, 1], [1, 0]],
] as const;

const TRIANGLES: Element = {
  axes: 2,
  units: 2,
  integral(a, b, i, j) {
    const products = HALVES.map((half) => (half[a[0] + 2 * a[1]]?.[i] ?? 0) * (half[b[0] + 2 * b[1]]?.[j] ?? 0));
    return products.reduce((sum, product) => sum + product, 0);
  },
};

// Trilinear shape functions are products of 1 - t or t along each axis, and so their integrals are products, too: t' t' gives 1 or -1,
// t' t gives 1/2 or -1/2, and t t gives 1/3 or 1/6.
const HEXAHEDRA: Element = {
  axes: 3,
  units: 72,
  integral(a, b, i, j) {
    let product = i === j ? 2 : 3;
    for (const axis of [0, 1, 2] as const) {
      const derivatives = (axis === i && a[axis] === 0 ? -1 : 1) * (axis === j && b[axis] === 0 ? -1 : 1);
      product *= axis === i || axis === j ? derivatives : a[axis] === b[axis] ? 2 : 1;
    }
    return product;
  },
};

/**
 * The stiffness matrix of isotropic linear elasticity with linear finite elements, by rows, columns ascending: a body clamped at the
 * face x = 0, with nx by ny (by nz) free nodes and 2 (3) adjacent unknowns per node. Nodes are numbered lexicographically, x fastest.
 * Triangles in the plane, 14 entries per row away from the boundary; hexahedra in space, 81 entries. Symmetric and positive definite.
 * All unknowns of an element are coupled, even if the entry is zero. At least 1 node along x and 2 along the other axes.
 * @example
 * const A = elasticity(3, 3);
 * A.rows; // 18
 */
export function elasticity(nx: number, ny: number, nz?: number): Sparse {
  checkCount("elasticity", "nx", nx, 1);
  checkCount("elasticity", "ny", ny, 2);
  if (nz !== undefined) checkCount("elasticity", "nz", nz, 2);
  const element = nz === undefined ? TRIANGLES : HEXAHEDRA;
  const offsets = neighbourhood(element.axes === 3, (x, y) => element.axes === 3 || x * y >= 0);
  const coupling = (offset: Offset, r: number, c: number, sides: Sides): number => {
    let sum = 0;
    for (const [a, b] of cornerPairs(element.axes, offset, sides)) sum += stiffness(element, a, b, r, c);
    return (sum * 5) / (26 * element.units);
  };
  return stencilMatrix("elasticity", [nx, ny, nz ?? 1], element.axes, offsets, coupling);
}

// The coupling of two corners, in units of 5/26.
function stiffness({ axes, integral }: Element, a: Corner, b: Corner, r: number, c: number): number {
  let sum = 3 * integral(a, b, r, c) + 2 * integral(a, b, c, r);
  if (r === c) for (let axis = 0; axis < axes; axis++) sum += 2 * integral(a, b, axis, axis);
  return sum;
}

// For each cell that has a node and the node at this offset as corners: which corners they are. A node is corner 1 of the cells below
// it and corner 0 of the cells above; the clamped nodes form cells below the first free ones.
function* cornerPairs(axes: 2 | 3, offset: Offset, sides: Sides): Generator<[Corner, Corner]> {
  const CLAMPED = 1;
  for (let cell = 0; cell < 2 ** axes; cell++) {
    const a = [cell & 1, (cell >> 1) & 1, cell >> 2] as const;
    const b = [a[0] + offset[0], a[1] + offset[1], a[2] + offset[2]] as const;
    const present = a.every((side, axis) => axis >= axes || (sides | CLAMPED) & ((side === 1 ? 1 : 2) << (2 * axis)));
    if (present && b.every((side) => side === 0 || side === 1)) yield [a, b];
  }
}
