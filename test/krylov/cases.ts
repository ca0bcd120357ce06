// Small systems for the iterative solvers, of every kind that ends in its own way, and how an answer is compared with the oracle's.
import { expect } from "vitest";
import { csr, elasticity, type IterativeSolution, laplacian, type Matrix, matrix, type Sparse, toCsc } from "../../src/index.ts";
import type { Random } from "../../src/study.ts";
import type { AnyPlan, AnyRoutines } from "../engines.ts";
import { pick } from "../matrices.ts";
import { type Answer, ilu0, iterate, type Method, type Options, type Triangle } from "../oracles/krylov.ts";
import { range } from "../oracles/matrices.ts";
import { storedRows } from "../oracles/spmv.ts";
import { same } from "../sparse/checks.ts";
import { denseOf } from "../sparse/patterns.ts";

export const METHODS: readonly Method[] = ["cg", "bicgstab", "gmres"];

/** A matrix by rows of the entries that are not zero. */
export function fromEntries(n: number, entry: (i: number, j: number) => number): Sparse<Float64Array> {
  const lines = range(n).map((i) => range(n).filter((j) => entry(i, j) !== 0));
  const pointers = new Int32Array(n + 1);
  for (const [i, line] of lines.entries()) pointers[i + 1] = (pointers[i] as number) + line.length;
  const values = lines.flatMap((line, i) => line.map((j) => entry(i, j)));
  return csr(n, n, pointers, Int32Array.from(lines.flat()), Float64Array.from(values));
}

/** A dense matrix by rows, or by columns with gaps that are NaN. */
export function denseMatrix(n: number, entry: (i: number, j: number) => number, gaps = false): Matrix<Float64Array> {
  const [ld, offset] = gaps ? [n + 2, 3] : [n, 0];
  const data = new Float64Array(offset + ld * n).fill(Number.NaN);
  for (const i of range(n)) for (const j of range(n)) data[offset + (gaps ? j * ld + i : i * ld + j)] = entry(i, j);
  return matrix(data, n, n, { order: gaps ? "column" : "row", ld, offset });
}

// The same numbers on both sides of the diagonal.
function symmetric(of: (i: number, j: number) => number): (i: number, j: number) => number {
  return (i, j) => of(Math.min(i, j), Math.max(i, j));
}

function table(n: number, of: (i: number, j: number) => number): (i: number, j: number) => number {
  const values = range(n * n).map((at) => of(Math.floor(at / n), at % n));
  return (i, j) => values[i * n + j] as number;
}

/** Matrices by name, each with its order and numbers from a source of random numbers. */
export const MATRICES: Record<string, (random: Random) => Sparse | Matrix> = {
  "5 points": () => laplacian(5, 4),
  "7 points": () => laplacian(3, 3, 2),
  "9 points by columns": () => toCsc(laplacian(4, 4, undefined, 9)),
  elasticity: () => elasticity(3, 2),
  "one unknown": () => fromEntries(1, () => 3),
  // Diffusion, and convection to the right and upwards, upwind.
  convection: () => {
    const nx = 5;
    return fromEntries(20, (i, j) => {
      const [x, y] = [(j % nx) - (i % nx), Math.floor(j / nx) - Math.floor(i / nx)];
      if (x === 0 && y === 0) return 7;
      return Math.abs(x) + Math.abs(y) > 1 ? 0 : x < 0 ? -3 : y < 0 ? -2 : -1;
    });
  },
  "not symmetric, by columns": (random) => toCsc(dominant(random, 18)),
  "not symmetric, its lines unsorted": (random) => {
    const A = toCsc(dominant(random, 16));
    const reversed = A.indices.slice();
    const values = A.values.slice();
    for (const line of range(16)) {
      const [from, end] = [A.pointers[line] as number, A.pointers[line + 1] as number];
      reversed.subarray(from, end).reverse();
      values.subarray(from, end).reverse();
    }
    return csr(16, 16, A.pointers, reversed, values); // its transpose
  },
  dense: (random) =>
    denseMatrix(
      12,
      table(12, (i, j) => random.signed() + (i === j ? 5 : 0)),
    ),
  "dense, by columns with gaps": (random) => denseMatrix(10, symmetric(table(10, (i, j) => random.signed() + (i === j ? 9 : 0))), true),
  Hilbert: () => denseMatrix(8, (i, j) => 1 / (i + j + 1)),
  "badly scaled rows": (random) => {
    const A = dominant(random, 14);
    const powers = range(14).map(() => 2 ** (random.below(601) - 300));
    return scaled(A, (i) => powers[i] as number);
  },
  "badly scaled rows and columns": (random) => {
    const powers = range(15).map(() => 2 ** (random.below(301) - 150));
    return scaled(laplacian(5, 3), (i, j) => (powers[i] as number) * (powers[j] as number));
  },
  integers: (random) =>
    fromEntries(
      12,
      table(12, (i, j) => (i === j ? 8 * (1 + random.below(3)) : random.below(4) ? 0 : random.below(5) - 2)),
    ),
  "powers of two": () => fromEntries(9, (i, j) => (i === j ? 2 ** (i % 3) : 0)),
  indefinite: () => shifted(laplacian(5, 4), 1.9),
  "indefinite and dense": (random) => denseMatrix(9, symmetric(table(9, () => random.signed()))),
  singular: () => {
    // The Laplacian of a ring: its rows add up to zero.
    return fromEntries(12, (i, j) => (i === j ? 2 : [1, 11].includes((i - j + 12) % 12) ? -1 : 0));
  },
  "zero rows": () => fromEntries(9, (i, j) => (i % 4 === 2 ? 0 : i === j ? 3 : Math.abs(i - j) === 1 ? 1 : 0)),
  zero: () => fromEntries(5, () => 0),
  "skew-symmetric": () => fromEntries(10, (i, j) => (j === i + 1 ? 1 : j === i - 1 ? -1 : 0)),
  "nearly skew-symmetric": () => fromEntries(10, (i, j) => (i === j ? 2 ** -10 : j === i + 1 ? 1 : j === i - 1 ? -1 : 0)),
  "cyclic shift": () => fromEntries(11, (i, j) => (i === (j + 1) % 11 ? 1 : 0)),
  nilpotent: () => fromEntries(7, (i, j) => (j === i + 1 ? 1 : 0)),
  huge: () => scaled(laplacian(4, 3), () => 2 ** 1000),
  tiny: () => scaled(laplacian(4, 3), () => 2 ** -1000),
  subnormal: () => scaled(laplacian(4, 3), () => 2 ** -1070),
  "stored zeros": () => {
    const A = laplacian(4, 4, undefined, 9);
    return csr(
      16,
      16,
      A.pointers,
      A.indices,
      A.values.map((v, p) => (v < 0 && p % 3 === 0 ? -0 : v)),
    );
  },
};

export const isSparse = (A: Sparse | Matrix): A is Sparse => "pointers" in A;

// Random entries beside a diagonal that outweighs them.
function dominant(random: Random, n: number): Sparse<Float64Array> {
  const entry = table(n, (i, j) => (i === j ? (random.below(2) ? 1 : -1) * (4 + random.signed()) : random.below(4) ? 0 : random.signed()));
  return fromEntries(n, entry);
}
function scaled(A: Sparse, by: (i: number, j: number) => number): Sparse<Float64Array> {
  const entry = denseOf(A);
  return fromEntries(A.rows, (i, j) => (entry(i, j) ?? 0) * by(i, j));
}
function shifted(A: Sparse, by: number): Sparse<Float64Array> {
  const entry = denseOf(A);
  return fromEntries(A.rows, (i, j) => (entry(i, j) ?? 0) - (i === j ? by : 0));
}

// ---------------------------------------------------------------- right-hand sides and preconditioners

export const RIGHT_SIDES = {
  random: (random: Random, n: number) => Float64Array.from({ length: n }, () => random.signed()),
  integers: (random: Random, n: number) => Float64Array.from({ length: n }, () => random.below(9) - 4),
  "a unit vector": (_: Random, n: number) => Float64Array.from({ length: n }, (_, i) => Number(i === 0)),
  "far apart": (random: Random, n: number) => Float64Array.from({ length: n }, () => random.signed() * 2 ** (random.below(200) - 100)),
  huge: (random: Random, n: number) => Float64Array.from({ length: n }, () => random.signed() * 2 ** 1010),
  tiny: (random: Random, n: number) => Float64Array.from({ length: n }, () => random.signed() * 2 ** -1020),
  zeros: (_: Random, n: number) => new Float64Array(n).fill(-0),
};
export type RightSide = keyof typeof RIGHT_SIDES;

export const PRECONDITIONERS = ["none", "jacobi", "ilu0", "triangles"] as const;
export type Preconditioner = (typeof PRECONDITIONERS)[number];

/** A preconditioner of this kind as the oracle takes it; undefined where A has none. */
export function preconditioner(kind: Preconditioner, A: Sparse | Matrix): Options["preconditioner"] {
  if (kind === "none") return kind;
  if (!isSparse(A)) {
    if (kind !== "jacobi") return undefined;
    return range(A.rows).every((i) => A.data[A.offset + i * (A.ld + 1)] !== 0) ? kind : undefined;
  }
  const diagonal = storedRows(A).map(({ columns, values }, i) => values[columns.indexOf(i)]?.n ?? 0n);
  if (diagonal.includes(0n)) return undefined;
  // Symmetric Gauss-Seidel without its diagonal, in part by columns, in part transposed.
  if (kind === "triangles")
    return [
      { A: toCsc(A), part: {} },
      { A, part: { trans: true } },
    ] satisfies Triangle[];
  if (kind === "jacobi") return kind;
  const factors = ilu0(A);
  const pivots = storedRows(factors).map(({ columns, values }, i) => values[columns.indexOf(i)]?.n);
  return factors.values.every(Number.isFinite) && !pivots.includes(0n) ? kind : undefined;
}

// ---------------------------------------------------------------- cases

export interface Case {
  readonly name: string;
  readonly method: Method;
  readonly A: Sparse | Matrix;
  readonly b: Float64Array;
  readonly options: Options;
  readonly want: Answer;
}

export function caseOf(name: string, method: Method, A: Sparse | Matrix, b: Float64Array, options: Options = {}): Case {
  const shown = Object.entries(options).map(([key, v]) => `${key} ${typeof v === "object" ? "given" : v}`);
  return { name: [`${method} of ${name}`, ...shown].join(", "), method, A, b, options, want: iterate(method, A, b, options) };
}

/** A system with a method and options, all at random. */
export function anyCase(random: Random): Case {
  const name = pick(random, Object.keys(MATRICES));
  const A = (MATRICES[name] as (random: Random) => Sparse | Matrix)(random);
  const right = pick(random, ["random", "random", "random", ...Object.keys(RIGHT_SIDES)] as RightSide[]);
  const kind = pick(random, PRECONDITIONERS);
  const options = {
    preconditioner: preconditioner(kind, A) ?? "none",
    tolerance: pick(random, [1e-10, 1e-10, 1e-3, 1e-14, 1e-16, 0]),
    absolute: pick(random, [0, 0, 0, 1e-5, 1e-300, 10]),
    maxIterations: pick(random, [40, 40, 0, 1, 2, 3, 17]),
    maxRestarts: pick(random, [3, 0, 1, 10]),
    restart: pick(random, [30, 1, 2, 5, A.rows]),
    ...(random.below(3) === 0 ? { x0: RIGHT_SIDES[pick(random, ["random", "integers", "zeros"] as const)](random, A.rows) } : {}),
  };
  return caseOf(`${name}, b ${right}`, pick(random, METHODS), A, RIGHT_SIDES[right](random, A.rows), options);
}

/** The same system on an engine. */
export async function solve(
  routines: AnyRoutines,
  { method, A, b, options }: Pick<Case, "method" | "A" | "b" | "options">,
): Promise<IterativeSolution> {
  const { preconditioner: M, x0, ...rest } = options;
  const plans: AnyPlan[] = [];
  if (typeof M === "object") for (const { A: T, part } of M) plans.push(await routines.sptrsv(T, part));
  const given = x0 === undefined ? {} : { x0: Float64Array.from(x0) };
  const solution = await routines[method](A, b, { ...rest, ...given, preconditioner: typeof M === "object" ? plans : M });
  for (const plan of plans) await plan.free();
  return solution;
}

/** The same answer, to the bit. */
export function expectAnswer(got: IterativeSolution, want: Answer | IterativeSolution, label: string): void {
  const told = ({ reason, iterations, residual, converged }: Answer | IterativeSolution) => ({ reason, iterations, residual, converged });
  expect(told(got), label).toEqual(told(want)); // toEqual tells -0 from +0
  same(got.history, want.history, `${label}, history`);
  same(got.x, want.x, `${label}, x`);
}

/** Solve on an engine and compare; inputs stay as they are. */
export async function check(routines: AnyRoutines, of: Case): Promise<void> {
  const [b, data] = [of.b.slice(), (isSparse(of.A) ? of.A.values : of.A.data).slice()];
  expectAnswer(await solve(routines, of), of.want, of.name);
  same(of.b, b, `${of.name}, b as it was`);
  expect(isSparse(of.A) ? of.A.values : of.A.data, of.name).toEqual(data);
}
