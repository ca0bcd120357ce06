// Matrices of grids, x fastest, for laplacian, convectionDiffusion and elasticity. The rows of a node depend only on the sides on which it has neighbours.
// There are at most 64 such cases: each is computed once and then copied, 56 million entries in half a second.
import { ShapeError } from "../arrays/errors.ts";
import { ascending, MAX } from "../arrays/sparse.ts";
import type { Sparse } from "../arrays/types.ts";
import { newIntegers, newVector } from "../arrays/vectors.ts";

/** From a node to a neighbour: steps of -1, 0 or 1 along x, y and z. */
export type Offset = readonly [x: number, y: number, z: number];

/** The sides on which a node has neighbours: 1 below and 2 above in x, 4 and 8 in y, 16 and 32 in z. */
export type Sides = number;

/** The entry that couples unknown r of a node with neighbours on these sides with unknown c of the node at this offset. */
export type Coupling = (offset: Offset, r: number, c: number, sides: Sides) => number;

const STEPS = [-1, 0, 1] as const;

/** The offsets to a node and its neighbours, in the plane or in space, that pass `keep`, in the order of the nodes. */
export function neighbourhood(space: boolean, keep: (...offset: Offset) => boolean): Offset[] {
  const all = STEPS.flatMap((z) => STEPS.flatMap((y) => STEPS.map((x): Offset => [x, y, z])));
  return all.filter(([x, y, z]) => (space || z === 0) && keep(x, y, z));
}

/** A node and its nearest neighbours along the axes: 5 points in the plane, 7 in space. */
export function star(space: boolean): Offset[] {
  return neighbourhood(space, (x, y, z) => Math.abs(x) + Math.abs(y) + Math.abs(z) <= 1);
}

/** The matrix of a grid whose nodes have `unknowns` adjacent unknowns each and are coupled with the nodes at these offsets. */
export function stencilMatrix(
  routine: string,
  grid: readonly [nx: number, ny: number, nz: number],
  unknowns: number,
  offsets: readonly Offset[],
  coupling: Coupling,
): Sparse {
  const [nx, ny, nz] = grid;
  const order = nx * ny * nz * unknowns;
  const pairs = offsets.reduce(
    (sum, offset) => sum + offset.reduce((n, step, axis) => n * Math.max((grid[axis] as number) - Math.abs(step), 0), 1),
    0,
  );
  const size = pairs * unknowns * unknowns;
  if (Math.max(order, size) > MAX)
    throw new ShapeError(`${routine}: ${nx} x ${ny} x ${nz} nodes give ${size} entries, expected at most ${MAX} (indices have 32 bits)`);
  const pointers = newIntegers(routine, order + 1);
  const indices = newIntegers(routine, size);
  const values = newVector(routine, new Float64Array(0), size);
  const cases: (Rows | undefined)[] = [];
  let row = 0;
  let p = 0;
  for (let z = 0; z < nz; z++) {
    for (let y = 0; y < ny; y++) {
      const across = neighbourSides(y, ny) * 4 + neighbourSides(z, nz) * 16;
      for (let x = 0; x < nx; x++) {
        const sides = neighbourSides(x, nx) + across;
        cases[sides] ??= rowsOf(grid, unknowns, offsets, coupling, sides);
        const { shifts, entries } = cases[sides];
        const first = row;
        for (let from = 0; from < entries.length; from += shifts.length) {
          for (let k = 0; k < shifts.length; k++) {
            indices[p] = first + (shifts[k] as number);
            values[p++] = entries[from + k] as number;
          }
          pointers[++row] = p;
        }
      }
    }
  }
  return ascending(routine, { format: "csr", rows: order, cols: order, pointers, indices, values });
}

const neighbourSides = (at: number, count: number): number => (at > 0 ? 1 : 0) + (at < count - 1 ? 2 : 0);

// The rows of a node: the columns relative to its first unknown, the same for all its rows, and the entries row by row.
interface Rows {
  readonly shifts: Int32Array;
  readonly entries: Float64Array;
}

function rowsOf(
  [nx, ny]: readonly [number, number, number],
  unknowns: number,
  offsets: readonly Offset[],
  coupling: Coupling,
  sides: Sides,
): Rows {
  const present = offsets.filter((offset) => offset.every((step, axis) => step === 0 || sides & ((step < 0 ? 1 : 2) << (2 * axis))));
  const each = Array.from({ length: unknowns }, (_, u) => u);
  return {
    shifts: Int32Array.from(present.flatMap(([x, y, z]) => each.map((c) => (x + nx * (y + ny * z)) * unknowns + c))),
    entries: Float64Array.from(each.flatMap((r) => present.flatMap((offset) => each.map((c) => coupling(offset, r, c, sides))))),
  };
}
