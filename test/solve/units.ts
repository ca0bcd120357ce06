// For tests of the parts of solve() alone: engines to run routines on, and linear algebra in BigInt to compare with.

import { afterAll } from "vitest";
import type { StridedMatrix, StridedOperand } from "../../src/arrays/matrix.ts";
import type { ApproximateFactors } from "../../src/engines/approximate.ts";
import type { Allocation } from "../../src/engines/memory.ts";
import { type AsyncKernels, type MatrixKernels, type Routine, runAsync, runSync } from "../../src/engines/steps.ts";
import { openThreads } from "../../src/engines/threads/backend.ts";
import { allRows } from "../../src/routines/solve/held.ts";
import * as integers from "../../src/routines/solve/integers.ts";
import { entryExponents } from "../../src/routines/solve/matching.ts";
import { Progress } from "../../src/routines/solve/progress.ts";
import { Pattern } from "../../src/routines/solve/structure.ts";
import { keepMatrix } from "../../src/routines/transfer.ts";
import { kernels } from "../../src/study.ts";
import { range, value } from "../oracles/matrices.ts";

/** An engine that runs routines. */
export interface Runner {
  readonly name: string;
  run<R>(routine: Routine<R>): Promise<R>;
}

/** On an engine that answers at once. */
export const runnerOn = (name: string, engine: MatrixKernels): Runner => ({ name, run: async (routine) => runSync(routine, () => engine) });

export const REFERENCE = runnerOn("reference", kernels("reference") as MatrixKernels);

/** The reference, the embedded engine in both variants as far as they run here, and a pool of threads. For the top of a test file. */
export async function openRunners(): Promise<Runner[]> {
  const runners: Runner[] = [REFERENCE];
  for (const name of ["wasm-fma", "wasm-dekker"] as const) {
    const engine = kernels(name);
    if (engine) runners.push(runnerOn(name, engine));
  }
  const pool = await openThreads(3);
  afterAll(() => pool.close());
  runners.push({ name: "threads-3", run: (routine) => runAsync(routine, () => pool as unknown as AsyncKernels) });
  return runners;
}

/** Progress that counts how often it was asked, and stops after the given number of times. */
export class Counting extends Progress {
  count = 0;

  constructor(private readonly most = Number.POSITIVE_INFINITY) {
    super(undefined, undefined);
  }

  // biome-ignore lint/correctness/useYield: it never waits
  override *shouldContinue(): Routine<boolean> {
    return ++this.count <= this.most;
  }
}

export const square = (data: Float64Array, n: number): StridedMatrix => ({ data, offset: 0, rows: n, cols: n, rowStride: n, colStride: 1 });

// Routines that combine what several processes know, on one process: they need no engine.
const now = <R>(routine: Routine<R>): R => runSync(routine, () => kernels("reference") as MatrixKernels);
export const integerScale = (bits: Int32Array, n: number): integers.ScaleExponents => now(integers.integerScale(bits, n));
export const slicesOf = (A: Float64Array, n: number, scale: integers.ScaleExponents): integers.Slices =>
  now(integers.slicesOf("test", A, integers.lastBits(A), n, scale));
export const patternOf = (data: Float64Array, n: number): Pattern => now(Pattern.of({ rows: allRows(n), data }, n));
export const exponentsOf = (data: Float64Array, n: number): Int16Array => now(entryExponents({ rows: allRows(n), data }, n));

export const keepSlices = (slices: integers.Slices): Routine<integers.EngineSlices> => integers.keepSlices("test", slices);

/** A square matrix on the engine. */
export const keepWhole = (data: Float64Array, n: number): Routine<Allocation<StridedOperand>> => keepMatrix("test", square(data, n), true);

/** The binary64 factors of a matrix that is not scaled. */
export function* approximateFactors(data: Float64Array, n: number): Routine<ApproximateFactors> {
  const [ones, none] = [new Float64Array(n).fill(1), new Float64Array(0)];
  const scaling = { rows: ones, cols: ones };
  return (yield (kernels) =>
    kernels.approximate.factorize("test", square(data, n), scaling, "binary64", none, 0, none)) as ApproximateFactors;
}

// ---------------------------------------------------------------- BigInt

export type Whole = bigint[][];

export const magnitude = (v: bigint): bigint => (v < 0n ? -v : v);
export const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/** x * 2^power, a whole number. */
export function shifted(x: number, power: number): bigint {
  const { n, e } = value(x);
  const by = BigInt(e + power);
  if (by >= 0n) return n << by;
  const result = n >> -by;
  if (result << -by !== n) throw new Error(`${x} * 2^${power} is not whole`);
  return result;
}

/** The entries of an n by n matrix times 2^power. */
export const shiftedMatrix = (data: ArrayLike<number>, n: number, power: number): Whole =>
  range(n).map((i) => range(n).map((j) => shifted(data[i * n + j] as number, power)));

export const timesVector = (M: Whole, y: readonly bigint[]): bigint[] =>
  M.map((row) => row.reduce((sum, v, j) => sum + v * (y[j] as bigint), 0n));

export const timesMatrix = (A: Whole, B: Whole): Whole =>
  A.map((row) => range(B[0]?.length ?? 0).map((j) => row.reduce((sum, v, k) => sum + v * (B[k]?.[j] as bigint), 0n)));

export const identity = (n: number): Whole => range(n).map((i) => range(n).map((j) => (i === j ? 1n : 0n)));

/** Y and d with M Y = d C, d being the determinant of M but for its sign; undefined if that is zero. Fraction-free elimination. */
export function solveWhole(M: Whole, C: Whole): { Y: Whole; d: bigint } | undefined {
  const n = M.length;
  const rows = M.map((row, i) => [...row, ...(C[i] as bigint[])]);
  const width = rows[0]?.length ?? 0;
  let last = 1n;
  for (let k = 0; k < n; k++) {
    const pivot = rows.findIndex((row, i) => i >= k && row[k] !== 0n);
    if (pivot < 0) return undefined;
    [rows[k], rows[pivot]] = [rows[pivot] as bigint[], rows[k] as bigint[]];
    const above = rows[k] as bigint[];
    const diagonal = above[k] as bigint;
    for (const [i, row] of rows.entries()) {
      if (i === k) continue;
      const factor = row[k] as bigint;
      for (let j = k; j < width; j++) row[j] = (diagonal * (row[j] as bigint) - factor * (above[j] as bigint)) / last;
    }
    last = diagonal;
  }
  return { Y: rows.map((row) => row.slice(n)), d: last };
}

/** The magnitude of the determinant. */
export const determinant = (M: Whole): bigint =>
  magnitude(
    solveWhole(
      M,
      M.map(() => []),
    )?.d ?? 0n,
  );

/** Whether a pattern has an assignment of rows to columns, by dynamic programming over sets of columns: for small orders. */
export function hasAssignment(n: number, isThere: (i: number, j: number) => boolean): boolean {
  let sets = new Set([0]);
  for (let i = 0; i < n; i++) {
    const next = new Set<number>();
    for (const set of sets) for (let j = 0; j < n; j++) if ((set & (1 << j)) === 0 && isThere(i, j)) next.add(set | (1 << j));
    sets = next;
  }
  return sets.size > 0;
}
