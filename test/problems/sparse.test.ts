import { describe, expect, test } from "vitest";
import { Random } from "../../src/arrays/random.ts";
import { csr, toCsc } from "../../src/arrays/sparse.ts";
import type { Sparse } from "../../src/arrays/types.ts";
import { exdot, ShapeError } from "../../src/index.ts";
import { convectionDiffusion } from "../../src/problems/convectionDiffusion.ts";
import { elasticity } from "../../src/problems/elasticity.ts";
import { laplacian } from "../../src/problems/laplacian.ts";
import { powerLaw } from "../../src/problems/powerLaw.ts";
import { neighbourhood, stencilMatrix } from "../../src/problems/stencil.ts";
import { storedBits } from "../hex.ts";
import { type Exact, exactNumber, exactSum } from "../oracles/rational.ts";
import { hash } from "./hash.ts";

const fingerprint = (A: Sparse): string => hash(Float64Array.from(A.pointers), Float64Array.from(A.indices), A.values);

/** By rows, as the pattern says, checked, and ascending: what is made without a check must pass one. */
function expectWellMade(A: Sparse): void {
  expect(A.format).toBe("csr");
  expect(Object.isFrozen(A)).toBe(true);
  csr(A.rows, A.cols, A.pointers, A.indices, A.values);
  for (let i = 0; i < A.rows; i++)
    for (let p = (A.pointers[i] as number) + 1; p < (A.pointers[i + 1] as number); p++)
      if ((A.indices[p - 1] as number) >= (A.indices[p] as number)) expect.fail(`row ${i} does not ascend`);
}

/** A and its transpose have the same bits. */
function expectSymmetric(A: Sparse): void {
  const { pointers, indices, values } = toCsc(A);
  expect(pointers).toEqual(A.pointers);
  expect(indices).toEqual(A.indices);
  expect(storedBits(values)).toEqual(storedBits(A.values));
}

/** Each row as text, column: number. */
function rows(A: Sparse): string[] {
  return Array.from({ length: A.rows }, (_, i) =>
    Array.from(A.indices.subarray(A.pointers[i], A.pointers[i + 1]), (j, k) => `${j}:${A.values[(A.pointers[i] as number) + k]}`).join(" "),
  );
}

/** How many levels the rows of the lower triangle make: a row is one above the highest that it needs. */
function levels({ rows: n, pointers, indices }: Sparse): number {
  const level = new Int32Array(n);
  let most = 0;
  for (let i = 0; i < n; i++) {
    let highest = 0;
    for (let p = pointers[i] as number; p < (pointers[i + 1] as number); p++)
      if ((indices[p] as number) < i) highest = Math.max(highest, level[indices[p] as number] as number);
    level[i] = highest + 1;
    most = Math.max(most, highest + 1);
  }
  return most;
}

function times({ rows: n, pointers, indices, values }: Sparse, x: (j: number) => number): number[] {
  return Array.from({ length: n }, (_, i) => {
    const [from, end] = [pointers[i] as number, pointers[i + 1] as number];
    return exdot(values.slice(from, end), Float64Array.from(indices.subarray(from, end), x));
  });
}

const GRIDS = [
  [1, 1, 1],
  [2, 1, 1],
  [1, 2, 1],
  [1, 1, 2],
  [5, 1, 3],
  [2, 2, 2],
  [3, 4, 5],
  [7, 2, 6],
] as const;

describe("laplacian", () => {
  test("by hand", () => {
    expect(rows(laplacian(2, 2))).toEqual(["0:4 1:-1 2:-1", "0:-1 1:4 3:-1", "0:-1 2:4 3:-1", "1:-1 2:-1 3:4"]);
    expect(rows(laplacian(2, 2, undefined, 9))).toEqual([
      "0:8 1:-1 2:-1 3:-1",
      "0:-1 1:8 2:-1 3:-1",
      "0:-1 1:-1 2:8 3:-1",
      "0:-1 1:-1 2:-1 3:8",
    ]);
    expect(rows(laplacian(1, 2, 2))).toEqual(["0:6 1:-1 2:-1", "0:-1 1:6 3:-1", "0:-1 2:6 3:-1", "1:-1 2:-1 3:6"]);
    expect(rows(laplacian(3, 1))).toEqual(["0:4 1:-1", "0:-1 1:4 2:-1", "1:-1 2:4"]);
  });

  // Node by node from the definition.
  function definition(nx: number, ny: number, nz: number, points: number): string[] {
    const star = points === 5 || points === 7;
    const nodes = Array.from({ length: nx * ny * nz }, (_, i) => [i % nx, Math.floor(i / nx) % ny, Math.floor(i / (nx * ny))] as const);
    return nodes.map((a, i) =>
      nodes
        .flatMap((b, j) => {
          const steps = a.map((at, axis) => Math.abs(at - (b[axis] as number)));
          const near = star ? (steps[0] as number) + (steps[1] as number) + (steps[2] as number) <= 1 : Math.max(...steps) <= 1;
          return near ? [`${j}:${i === j ? points - 1 : -1}`] : [];
        })
        .join(" "),
    );
  }

  test("is its definition on small grids of all shapes", () => {
    for (const [nx, ny, nz] of GRIDS) {
      for (const points of [7, 27] as const) expect(rows(laplacian(nx, ny, nz, points))).toEqual(definition(nx, ny, nz, points));
      for (const points of [5, 9] as const) expect(rows(laplacian(nx, ny, 1, points))).toEqual(definition(nx, ny, 1, points));
      expect(rows(laplacian(nx, ny))).toEqual(definition(nx, ny, 1, 5));
    }
  });

  test("is well made and symmetric", () => {
    for (const [nx, ny, nz] of GRIDS)
      for (const A of [laplacian(nx, ny), laplacian(nx, ny, 1, 9), laplacian(nx, ny, nz, 7), laplacian(nx, ny, nz, 27)]) {
        expectWellMade(A);
        expectSymmetric(A);
      }
  });

  test("has as many entries as stencils that reach over the boundary leave", () => {
    expect(laplacian(30, 40).values.length).toBe(5 * 1200 - 2 * (30 + 40));
    expect(laplacian(30, 40, undefined, 9).values.length).toBe(88 * 118);
    expect(laplacian(10, 20, 30).values.length).toBe(7 * 6000 - 2 * (200 + 600 + 300));
    expect(laplacian(10, 20, 30, 27).values.length).toBe(28 * 58 * 88);
  });

  test("has the levels of the paper", () => {
    expect(levels(laplacian(40, 70))).toBe(40 + 70 - 1);
    expect(levels(laplacian(9, 12, 15))).toBe(9 + 12 + 15 - 2);
    // a node needs the one above on its right: two levels a line, and four a plane
    expect(levels(laplacian(40, 70, undefined, 9))).toBe(40 + 2 * 69);
    expect(levels(laplacian(9, 12, 15, 27))).toBe(9 + 2 * 11 + 4 * 14);
  });

  test("nz = 1 is the plane unless the points say otherwise", () => {
    expect(rows(laplacian(3, 3, 1))).toEqual(rows(laplacian(3, 3)));
    expect(laplacian(3, 3, 1, 7).values[0]).toBe(6);
    expect(laplacian(3, 3, 2).values[0]).toBe(6);
  });

  test("of a grid without nodes has no rows", () => {
    for (const A of [laplacian(0, 5), laplacian(5, 0, undefined, 9), laplacian(5, 5, 0), laplacian(0, 0, 0, 27)])
      expect([A.rows, A.cols, A.pointers.length, A.values.length]).toEqual([0, 0, 1, 0]);
  });

  test("a stencil is evaluated once per kind of node, not once per node", () => {
    let calls = 0;
    const all = neighbourhood(true, () => true);
    const A = stencilMatrix("test", [20, 30, 40], 1, all, () => ++calls);
    expect(A.rows).toBe(24_000);
    expect(calls).toBe(7 ** 3); // along each axis: 2 offsets at the first node, 3 inside, 2 at the last
  });

  test("at the paper's size", () => {
    const A = laplacian(128, 128, 128, 27);
    expect([A.rows, A.indices.length, A.values.length, A.pointers[A.rows]]).toEqual([2 ** 21, 382 ** 3, 382 ** 3, 382 ** 3]);
  });

  test.each<[string, () => unknown, string]>([
    ["7 points in the plane", () => laplacian(3, 3, undefined, 7), "laplacian: points is 7, expected one of 5, 9 (nz is omitted)"],
    ["27 points in the plane", () => laplacian(3, 3, undefined, 27), "laplacian: points is 27, expected one of 5, 9 (nz is omitted)"],
    ["5 points in space", () => laplacian(3, 3, 3, 5), "laplacian: points is 5, expected one of 7, 27 (nz is 3)"],
    ["9 points in space", () => laplacian(3, 3, 2, 9), "laplacian: points is 9, expected one of 7, 27 (nz is 2)"],
    ["11 points", () => laplacian(3, 3, 1, 11 as never), "laplacian: points is 11, expected one of 5, 9, 7, 27 (nz is 1)"],
    ["points as text", () => laplacian(3, 3, 3, "7" as never), 'laplacian: points is "7", expected one of 7, 27 (nz is 3)'],
    ["half a node", () => laplacian(2.5, 3), "laplacian: nx is 2.5, expected a whole number of at least 0"],
    ["fewer than none", () => laplacian(2, -3), "laplacian: ny is -3, expected a whole number of at least 0"],
    ["null", () => laplacian(2, 2, null as never), "laplacian: nz is null, expected a whole number of at least 0"],
    [
      "more than 32 bits count",
      () => laplacian(1024, 1024, 1024),
      "laplacian: 1024 x 1024 x 1024 nodes give 7509901312 entries, expected at most 2147483647 (indices have 32 bits)",
    ],
  ])("refuses %s", (_, call, message) => {
    expect(call).toThrow(ShapeError);
    expect(call).toThrow(message);
  });
});

describe("convectionDiffusion", () => {
  test("by hand: the wind comes from below, from above, or along one axis only", () => {
    expect(rows(convectionDiffusion(2, 2))).toEqual(["0:5.5 1:-1 2:-1", "0:-2 1:5.5 3:-1", "0:-1.5 2:5.5 3:-1", "1:-1.5 2:-2 3:5.5"]);
    expect(rows(convectionDiffusion(3, 1, undefined, [-2, 0]))).toEqual(["0:6 1:-3", "0:-1 1:6 2:-3", "1:-1 2:6"]);
    expect(rows(convectionDiffusion(1, 1, 3, [0, 0, 8]))).toEqual(["0:14 1:-1", "0:-9 1:14 2:-1", "1:-9 2:14"]);
    expect(rows(convectionDiffusion(1, 2, 2))).toEqual([
      "0:7.75 1:-1 2:-1",
      "0:-1.5 1:7.75 3:-1",
      "0:-1.25 2:7.75 3:-1",
      "1:-1.25 2:-1.5 3:7.75",
    ]);
  });

  test("without a wind it is the Laplacian", () => {
    for (const [nx, ny, nz] of GRIDS) {
      expect(rows(convectionDiffusion(nx, ny, undefined, [0, -0]))).toEqual(rows(laplacian(nx, ny)));
      expect(rows(convectionDiffusion(nx, ny, nz, [0, 0, 0]))).toEqual(rows(laplacian(nx, ny, nz, 7)));
    }
  });

  test("turning the wind round transposes the matrix", () => {
    for (const [nx, ny, nz] of GRIDS) {
      const wind = [0.1, -3, 1 / 3];
      const turned = convectionDiffusion(
        nx,
        ny,
        nz,
        wind.map((w) => -w),
      );
      const { pointers, indices, values } = toCsc(convectionDiffusion(nx, ny, nz, wind));
      expect([pointers, indices, storedBits(values)]).toEqual([turned.pointers, turned.indices, storedBits(turned.values)]);
    }
  });

  // Exact sums: Superaccumulator is not asked.
  const sumOf = (A: Sparse, i: number): Exact => exactSum(Array.from(A.values.subarray(A.pointers[i], A.pointers[i + 1]), exactNumber));

  test("is well made, with positive diagonals, negative neighbours, and rows that sum to what the boundary takes, exactly", () => {
    for (const [nx, ny, nz] of GRIDS) {
      for (const wind of [undefined, [0, 7, -0.125], [-(2 ** 30), 3, 2 ** -10]]) {
        const A = convectionDiffusion(nx, ny, nz, wind === undefined && nz === 1 ? [1, 0.5, 0.25] : wind);
        expectWellMade(A);
        const [wx, wy, wz] = wind ?? [1, 0.5, 0.25];
        for (let i = 0; i < A.rows; i++) {
          const at = [i % nx, Math.floor(i / nx) % ny, Math.floor(i / (nx * ny))];
          const beyond = [nx, ny, nz].flatMap((count, axis) => {
            const w = [wx, wy, wz][axis] as number;
            return [...(at[axis] === 0 ? [1 + Math.max(w, 0)] : []), ...(at[axis] === count - 1 ? [1 + Math.max(-w, 0)] : [])];
          });
          expect(sumOf(A, i)).toBe(exactSum(beyond.map(exactNumber)));
          for (let p = A.pointers[i] as number; p < (A.pointers[i + 1] as number); p++)
            expect(Math.sign(A.values[p] as number)).toBe(A.indices[p] === i ? 1 : -1);
        }
      }
    }
  });

  test("is diagonally dominant where entries have to be rounded, and the diagonal is as small as that allows", () => {
    const random = new Random(5);
    const below = (x: number): number => {
      const view = new DataView(new ArrayBuffer(8));
      view.setFloat64(0, x);
      view.setBigUint64(0, view.getBigUint64(0) - 1n);
      return view.getFloat64(0);
    };
    let rounded = 0;
    for (let round = 0; round < 200; round++) {
      const wind = Array.from({ length: 3 }, () => random.signed() * 2 ** (random.below(120) - 60));
      const A = convectionDiffusion(3, 3, 3, wind);
      const total = sumOf(A, 13) as bigint;
      expect(total).toBeGreaterThanOrEqual(0n);
      const centre = A.values[(A.pointers[13] as number) + 3] as number;
      expect(total - ((exactNumber(centre) as bigint) - (exactNumber(below(centre)) as bigint))).toBeLessThan(0n);
      if (total > 0n) rounded++;
    }
    expect(rounded).toBeGreaterThan(20);
    const strong = convectionDiffusion(3, 3, 3, [2 ** 1020, -(2 ** 1020), 2 ** 1020]);
    expect(strong.values.every(Number.isFinite)).toBe(true);
  });

  test("nz = 1 is the plane unless the wind says otherwise", () => {
    expect(rows(convectionDiffusion(3, 3, 1))).toEqual(rows(convectionDiffusion(3, 3)));
    expect(convectionDiffusion(3, 3, 1, [1, 1]).values[0]).toBe(6);
    expect(convectionDiffusion(3, 3, 1, [1, 1, 1]).values[0]).toBe(9);
  });

  test("of a grid without nodes has no rows", () => {
    for (const A of [convectionDiffusion(0, 5), convectionDiffusion(5, 5, 0), convectionDiffusion(5, 0, 0, [1, 2, 3])])
      expect([A.rows, A.cols, A.pointers.length, A.values.length]).toEqual([0, 0, 1, 0]);
  });

  test("has the same bits on every engine", () => {
    expect(fingerprint(convectionDiffusion(7, 5))).toBe("53336c32573e4e45");
    expect(fingerprint(convectionDiffusion(5, 4, 3, [0.1, -0.7, 11]))).toBe("9da0ed91d3f19c0a");
  });

  test.each<[string, () => unknown, string]>([
    ["two numbers in space", () => convectionDiffusion(3, 3, 3, [1, 2]), "convectionDiffusion: wind has length 2, expected 3 (nz is 3)"],
    [
      "three in the plane",
      () => convectionDiffusion(3, 3, undefined, [1, 2, 3]),
      "convectionDiffusion: wind has length 3, expected 2 (nz is omitted)",
    ],
    ["none", () => convectionDiffusion(3, 3, 1, []), "convectionDiffusion: wind has length 0, expected 2 or 3 (nz is 1)"],
    [
      "a wind that is not a number",
      () => convectionDiffusion(3, 3, undefined, [1, Number.NaN]),
      "convectionDiffusion: wind[1] is NaN, expected a finite number, at most 2^1020 in magnitude",
    ],
    [
      "an infinite wind",
      () => convectionDiffusion(3, 3, 3, [1, 2, Number.NEGATIVE_INFINITY]),
      "convectionDiffusion: wind[2] is -Infinity, expected a finite number",
    ],
    [
      "a wind that overflows",
      () => convectionDiffusion(3, 3, 3, [2 ** 1021, 0, 0]),
      "convectionDiffusion: wind[0] is 2.247116418577895e+307, expected a finite number, at most 2^1020 in magnitude",
    ],
    [
      "a wind as text",
      () => convectionDiffusion(3, 3, undefined, ["1", 1] as never),
      'convectionDiffusion: wind[0] is "1", expected a finite number',
    ],
    ["a single number", () => convectionDiffusion(3, 3, 3, 1 as never), "convectionDiffusion: wind is 1, expected an array of numbers"],
    ["null", () => convectionDiffusion(3, 3, 3, null as never), "convectionDiffusion: wind is null, expected an array of numbers"],
    ["half a node", () => convectionDiffusion(2.5, 3), "convectionDiffusion: nx is 2.5, expected a whole number of at least 0"],
    ["fewer than none", () => convectionDiffusion(2, 3, -1), "convectionDiffusion: nz is -1, expected a whole number of at least 0"],
    [
      "more than 32 bits count",
      () => convectionDiffusion(1024, 1024, 1024),
      "convectionDiffusion: 1024 x 1024 x 1024 nodes give 7509901312 entries, expected at most 2147483647 (indices have 32 bits)",
    ],
  ])("refuses %s", (_, call, message) => {
    expect(call).toThrow(ShapeError);
    expect(call).toThrow(message);
  });
});

describe("elasticity", () => {
  test("by hand: one free edge of a square, cut in two", () => {
    // The free nodes are (1, 0) and (1, 1). With lambda = 15/26 and mu = 10/26, lambda + 2 mu = 35/26. Node (1, 0) is in one triangle of
    // area 1/2, with the gradient (1, -1): 1/2 ((lambda + 2 mu) + mu) = 45/52 and 1/2 (-lambda - mu) = -25/52. Node (1, 1) has (0, 1) there, and (1, 0) in
    // the other. Between them: (1, -1) and (0, 1), so -mu, mu; lambda, -(lambda + 2 mu), times 1/2.
    const shares = (...units: number[]) => units.map((u, j) => `${j}:${u / 52}`).join(" ");
    expect(rows(elasticity(1, 2))).toEqual([
      shares(45, -25, -10, 15),
      shares(-25, 45, 10, -35),
      shares(-10, 10, 45, 0),
      shares(15, -35, 0, 45),
    ]);
  });

  test("is well made and symmetric to the bit", () => {
    for (const A of [elasticity(1, 2), elasticity(6, 5), elasticity(1, 2, 2), elasticity(4, 3, 5), elasticity(2, 5, 2)]) {
      expectWellMade(A);
      expectSymmetric(A);
      expect(storedBits(A.values)).not.toContain("8000000000000000");
    }
  });

  test("has the entries of the paper: all unknowns of nodes that share an element", () => {
    expect(elasticity(20, 30).values.length).toBe(4 * (600 + 2 * (19 * 30 + 20 * 29 + 19 * 29)));
    expect(elasticity(5, 6, 7).values.length).toBe(9 * (13 * 16 * 19));
    const plane = elasticity(708, 708);
    expect([plane.rows, plane.values.length]).toEqual([1_002_528, 14_012_744]);
    expect(9 * (3 * 70 - 2) ** 3).toBe(80_990_208); // what 70 x 70 x 70 nodes give, by the same formula
    const inside = (A: Sparse, node: number, unknowns: number) =>
      (A.pointers[node * unknowns + 1] as number) - (A.pointers[node * unknowns] as number);
    expect(inside(elasticity(5, 5), 12, 2)).toBe(14);
    expect(inside(elasticity(3, 3, 3), 13, 3)).toBe(81);
  });

  test("moved or turned as a whole there is no force, but for rows next to the clamped face", () => {
    const [nx, ny, nz] = [4, 3, 5];
    const plane = elasticity(nx, ny);
    const space = elasticity(nx, ny, nz);
    const node = (j: number, unknowns: number) => {
      const k = Math.floor(j / unknowns);
      return [k % nx, Math.floor(k / nx) % ny, Math.floor(k / (nx * ny))] as const;
    };
    for (const [A, axes] of [[plane, 2] as const, [space, 3] as const]) {
      const translations = Array.from({ length: axes }, (_, axis) => (j: number) => (j % axes === axis ? 1 : 0));
      // turning in the plane of two axes: (-y, x)
      const rotations = Array.from({ length: axes === 2 ? 1 : 3 }, (_, axis) => (j: number) => {
        const [a, b] = [axis % axes, (axis + 1) % axes];
        const at = node(j, axes);
        return j % axes === a ? -(at[b] as number) : j % axes === b ? (at[a] as number) : 0;
      });
      for (const motion of [...translations, ...rotations]) {
        const force = times(A, motion).map(Math.abs);
        for (const [i, f] of force.entries()) if (node(i, axes)[0] > 0) expect(f).toBeLessThan(1e-13);
        expect(Math.max(...force)).toBeGreaterThan(0.1);
      }
    }
  });

  test("stretched evenly there is a force at the ends only, that of Hooke's law", () => {
    // u = (x, 0, 0) with x counted from the clamped face, which does not move: stress (lambda + 2 mu, lambda, lambda)
    const [nx, ny, nz] = [4, 4, 4];
    const force = times(elasticity(nx, ny, nz), (j) => (j % 3 === 0 ? (Math.floor(j / 3) % nx) + 1 : 0));
    let pull = 0;
    let side = 0;
    for (const [i, f] of force.entries()) {
      const k = Math.floor(i / 3);
      const [x, y] = [k % nx, Math.floor(k / nx) % ny];
      if (i % 3 === 0 && x === nx - 1) pull += f;
      if (i % 3 === 0 && x < nx - 1) expect(Math.abs(f)).toBeLessThan(1e-13);
      if (i % 3 === 1 && y === ny - 1) side += f;
    }
    expect(pull).toBeCloseTo((35 / 26) * 9, 12); // the area of the face
    expect(side).toBeCloseTo((15 / 26) * 3 * 3.5, 12); // less what the clamped nodes hold
  });

  test("is positive definite", () => {
    for (const A of [elasticity(3, 3), elasticity(2, 3, 2)]) {
      const table = rows(A).map((row) => {
        const dense = new Array<number>(A.rows).fill(0);
        for (const [j, v] of row.split(" ").map((entry) => entry.split(":").map(Number))) dense[j as number] = v as number;
        return dense;
      });
      for (const [k, pivotRow] of table.entries()) {
        const pivot = pivotRow[k] as number;
        expect(pivot).toBeGreaterThan(0.01);
        for (const row of table.slice(k + 1)) {
          const l = (row[k] as number) / pivot;
          for (let j = k; j < A.rows; j++) row[j] = (row[j] as number) - l * (pivotRow[j] as number);
        }
      }
    }
  });

  test("has the levels of its grid, once for each unknown of a node", () => {
    expect(levels(elasticity(20, 30))).toBe(2 * (20 + 30 - 1));
    expect(levels(elasticity(5, 6, 7))).toBe(3 * (5 + 2 * 5 + 4 * 6));
  });

  test("has the same bits on every engine", () => {
    expect(fingerprint(elasticity(7, 5))).toBe("157f3c141db782c4");
    expect(fingerprint(elasticity(5, 4, 3))).toBe("907dbdab7ca6e989");
  });

  test.each<[string, () => unknown, string]>([
    ["no free nodes", () => elasticity(0, 5), "elasticity: nx is 0, expected a whole number of at least 1"],
    ["no elements", () => elasticity(5, 1), "elasticity: ny is 1, expected a whole number of at least 2"],
    ["no elements in space", () => elasticity(5, 5, 1), "elasticity: nz is 1, expected a whole number of at least 2"],
    ["half a node", () => elasticity(5, 2.5), "elasticity: ny is 2.5, expected a whole number of at least 2"],
    ["more than 32 bits count", () => elasticity(300, 300, 300), "elasticity: 300 x 300 x 300 nodes give 6517357128 entries"],
  ])("refuses %s", (_, call, message) => {
    expect(call).toThrow(ShapeError);
    expect(call).toThrow(message);
  });
});

describe("powerLaw", () => {
  const lengths = (A: Sparse): Int32Array => A.pointers.slice(1).map((end, i) => end - (A.pointers[i] as number));
  const popularity = (A: Sparse): Int32Array => lengths(toCsc(A));

  test("is well made, with a full diagonal and exactly as many entries as asked for", () => {
    for (const [n, entries] of [
      [0, 0],
      [1, 1],
      [2, 2],
      [2, 3],
      [2, 4],
      [3, 5],
      [7, 48],
      [7, 49],
      [50, 50],
      [50, 51],
      [50, 1300],
      [50, 2499],
      [50, 2500],
      [1000, 3105],
      [1000, 400_000],
    ] as const) {
      for (let seed = 0; seed < 5; seed++) {
        const A = powerLaw(n, entries, seed);
        expectWellMade(A);
        expect([A.rows, A.cols, A.values.length]).toEqual([n, n, entries]);
        for (let i = 0; i < n; i++) expect(A.indices.subarray(A.pointers[i], A.pointers[i + 1])).toContain(i);
      }
    }
  });

  test("the diagonal outweighs the rest of its row twice at least, and nothing but it is large", () => {
    const A = powerLaw(5000, 16_000, 3);
    for (let i = 0; i < A.rows; i++) {
      let rest = 0;
      for (let p = A.pointers[i] as number; p < (A.pointers[i + 1] as number); p++) {
        const size = Math.abs(A.values[p] as number);
        expect(size).toBeGreaterThan(0);
        if (A.indices[p] !== i) rest += size;
        else expect(A.values[p] as number).toBeGreaterThanOrEqual(1);
      }
      expect(rest).toBeLessThanOrEqual(0.5 + 1e-12);
    }
    expect(A.values.some((v) => v < 0)).toBe(true);
  });

  // webbase1M: 1,000,005 rows, 3,105,536 entries
  test("of the paper's size has few enormous rows and columns, and many short ones, anywhere", () => {
    const A = powerLaw(1_000_005, 3_105_536, 1);
    expect([A.rows, A.values.length]).toEqual([1_000_005, 3_105_536]);
    for (const [counts, most] of [[lengths(A), 4000] as const, [popularity(A), 15_000] as const]) {
      const sorted = counts.slice().sort().reverse();
      expect(sorted[0]).toBeGreaterThan(most);
      expect(sorted[10]).toBeGreaterThan(500);
      expect(sorted[1000]).toBeLessThan(200);
      expect(sorted[500_000]).toBeLessThanOrEqual(2);
      // A power law: over a decade of sizes there are fewer by a factor between 10^1.2 and 10^2.
      const above = (size: number) => counts.reduce((sum, count) => sum + (count > size ? 1 : 0), 0);
      expect(above(10) / above(100)).toBeGreaterThan(10 ** 1.2);
      expect(above(10) / above(100)).toBeLessThan(10 ** 2);
      const where = Array.from(sorted.subarray(0, 6), (count) => counts.indexOf(count) / A.rows);
      expect(Math.min(...where)).toBeLessThan(0.5);
      expect(Math.max(...where)).toBeGreaterThan(0.5);
    }
  });

  test("a seed makes the same bits on every engine, another seed makes others", () => {
    expect(fingerprint(powerLaw(2000, 6000, 1))).toBe("8bc1d4afd4047227");
    expect(fingerprint(powerLaw(60, 3000, 1))).toBe("201de03f118192ae");
    expect(fingerprint(powerLaw(2000, 6000, 2))).not.toBe(fingerprint(powerLaw(2000, 6000, 1)));
  });

  test.each<[string, () => unknown, string]>([
    ["fewer entries than rows", () => powerLaw(10, 9, 1), "powerLaw: entries is 9, expected a whole number of at least 10"],
    ["more entries than places", () => powerLaw(10, 101, 1), "powerLaw: entries is 101, expected at most 100 (a full matrix)"],
    ["entries of an empty matrix", () => powerLaw(0, 1, 1), "powerLaw: entries is 1, expected at most 0 (a full matrix)"],
    [
      "more than 32 bits count",
      () => powerLaw(2 ** 20, 2 ** 31, 1),
      "powerLaw: entries is 2147483648, expected at most 2147483647 (indices have 32 bits)",
    ],
    ["half a row", () => powerLaw(1.5, 3, 1), "powerLaw: n is 1.5, expected a whole number of at least 0"],
    ["a seed that is none", () => powerLaw(10, 20, -1), "powerLaw: seed is -1, expected a whole number of at least 0"],
  ])("refuses %s", (_, call, message) => {
    expect(call).toThrow(ShapeError);
    expect(call).toThrow(message);
  });
});
