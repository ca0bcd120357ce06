// The tables of the sparse paper: y = (U + D)^-1 (L + D)^-1 x with every schedule. GFLOPS of the two solves (formula 5.3), the set-up
// time of both plans, and the number of solves after which a schedule pays off. Schedules are not interleaved: on large grids their plans
// together would exceed the engine's 4 GiB.
import type { Engine, Resident } from "../../api/engine.ts";
import { EngineError } from "../../arrays/errors.ts";
import { csr, toCsc } from "../../arrays/sparse.ts";
import type { Sparse } from "../../arrays/types.ts";
import { elasticity } from "../../problems/elasticity.ts";
import { laplacian } from "../../problems/laplacian.ts";
import { powerLaw } from "../../problems/powerLaw.ts";
import type { Schedule, SparseOptions } from "../../routines/sparse/types.ts";
import { median } from "./clock.ts";
import { uniform } from "./data.ts";

export const SCHEDULES = ["serial", "levr", "levc", "slfr", "slfc", "gsf"] as const satisfies readonly Schedule[];
export const MODES = { plain: { exact: false }, exact: { exact: true } } as const;
export const BINARY64 = "binary64";
export const BINARY32 = "binary32";
type Mode = keyof typeof MODES;
type Precision = typeof BINARY64 | typeof BINARY32;

/** A schedule on one matrix; times in nanoseconds, for both triangles together. */
export interface ScheduleRow {
  readonly mode: string;
  readonly schedule: string;
  readonly levels: readonly number[];
  readonly setUp: number;
  readonly solve: number;
  readonly min: number;
  readonly gflops: number;
  readonly setUpInSolves: number;
  /** The number of solves from which it is faster, set-up included; null if never; absent when compared with itself. */
  readonly paysAgainst: { readonly serial?: number | null; readonly gsf?: number | null };
}

export interface SparseCase {
  readonly name: string;
  readonly precision: string;
  readonly n: number;
  readonly entries: number;
  readonly schedules?: readonly ScheduleRow[];
  /** Why it could not be measured. */
  readonly missing?: string;
}

export interface SparseTables {
  readonly engine: string;
  readonly groups: readonly { readonly title: string; readonly cases: readonly SparseCase[] }[];
}

export interface SparseMatrix {
  readonly name: string;
  make(): Sparse | Promise<Sparse>;
}

export interface SparseGroup {
  readonly title: string;
  readonly precisions: readonly Precision[];
  readonly matrices: readonly SparseMatrix[];
}

// The grids of the paper's Table 5.1.
export const PLANE: readonly (readonly number[])[] = [
  [1024, 1024],
  [512, 2048],
  [256, 4096],
  [128, 8192],
  [64, 16384],
];
export const SPACE: readonly (readonly number[])[] = [
  [128, 128, 128],
  [64, 128, 256],
  [64, 64, 512],
  [32, 64, 1024],
  [32, 32, 2048],
];

/** Laplacians on these grids, with every axis scaled by `scale`. */
export function laplacians(
  grids: readonly (readonly number[])[],
  points: 5 | 7 | 9 | 27,
  scale: number,
  precisions: readonly Precision[],
): SparseGroup {
  return {
    title: `${grids[0]?.length}-D Laplacians with ${points} points`,
    precisions,
    matrices: grids.map((grid) => {
      const [nx, ny, nz] = grid.map((nodes) => Math.max(2, Math.round(scale * nodes))) as [number, number, number | undefined];
      return { name: [nx, ny, nz].filter((nodes) => nodes !== undefined).join(" x "), make: () => laplacian(nx, ny, nz, points) };
    }),
  };
}

const WEB = { n: 1_000_005, entries: 3_105_536 }; // webbase-1M

/** Substitutes for the matrices of the paper's Table 5.2, at this scale. */
export function generalMatrices(scale: number): SparseGroup {
  const axis = (nodes: number): number => Math.max(2, Math.round(scale * nodes));
  const area = (count: number): number => Math.round(scale ** 2 * count);
  return {
    title: "General matrices",
    precisions: [BINARY64],
    matrices: [
      { name: "elasticity in 2-D", make: () => elasticity(axis(708), axis(708)) },
      { name: "elasticity in 3-D", make: () => elasticity(axis(70), axis(70), axis(70)) },
      { name: "power law", make: () => powerLaw(area(WEB.n), area(WEB.entries), 1) },
    ],
  };
}

/** Measures one matrix in these precisions, with every schedule in both modes. A case that runs out of memory is recorded as missing. */
export async function measureMatrix(
  pool: Engine,
  { name, make }: SparseMatrix,
  precisions: readonly Precision[],
  rounds: number,
): Promise<SparseCase[]> {
  const A = await make();
  const unit = !hasDiagonal(A);
  const cases: SparseCase[] = [];
  for (const precision of precisions) {
    const key = { name, precision, n: A.rows, entries: A.values.length };
    try {
      cases.push({ ...key, unit, ...(await measureCase(pool, inPrecision(A, precision), unit, rounds)) } as SparseCase);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      cases.push({ ...key, missing: error.message });
    }
  }
  return cases;
}

type Plans = [Plan, Plan];
interface Plan {
  readonly schedule: string;
  readonly reason: string;
  readonly levels: number;
  solve(b: Resident<Float64Array>, out: Resident<Float64Array>): Promise<unknown>;
  free(): Promise<void>;
}
type Vectors = [Resident<Float64Array>, Resident<Float64Array>, Resident<Float64Array>];
type Measured = Pick<ScheduleRow, "mode" | "schedule" | "levels" | "setUp" | "solve" | "min"> & {
  rounds: number[];
  result: ArrayLike<number>;
};

async function measureCase(pool: Engine, A: Sparse, unit: boolean, rounds: number): Promise<object> {
  const byColumns = toCsc(A);
  // The choice of "auto". This also touches the memory before anything is timed.
  const chosen = await plansOf(pool, A, { unit });
  const auto = chosen.map(({ schedule, reason }) => ({ schedule, reason }));
  for (const plan of chosen) await plan.free();
  const vectors: Resident<Float64Array>[] = [];
  const outcomes: Measured[] = [];
  try {
    const like = A.values.constructor as Float64ArrayConstructor;
    for (const data of [uniform(A.rows, 1), new Float64Array(A.rows), new Float64Array(A.rows)])
      vectors.push(await pool.upload(like.from(data)));
    for (const mode of Object.keys(MODES) as Mode[]) {
      for (const schedule of SCHEDULES) {
        // Only plain arithmetic updates columns; the paper then stores the matrix by columns.
        const format = mode === "plain" && schedule.endsWith("c") ? byColumns : A;
        const how = { unit, schedule, ...MODES[mode] };
        outcomes.push({ mode, schedule, ...(await measureSchedule(pool, format, how, vectors as Vectors, rounds)) });
      }
    }
  } finally {
    for (const vector of vectors) vector.free();
  }
  for (const mode of Object.keys(MODES)) agree(outcomes.filter((one) => one.mode === mode && !updatesColumns(one)));
  return { auto, schedules: outcomes.map(({ result: _, ...one }) => rowOf(one)) };

  // Compared with serial and gsf in the same mode.
  function rowOf(one: Omit<Measured, "result">): ScheduleRow {
    const beside = (name: string): number | null | undefined => {
      const other = outcomes.find(({ mode, schedule }) => mode === one.mode && schedule === name) as Measured;
      return solvesToPay(one, other);
    };
    return {
      ...one,
      gflops: (2 * A.values.length) / one.solve,
      setUpInSolves: one.setUp / one.solve,
      paysAgainst: { serial: beside("serial"), gsf: beside("gsf") } as ScheduleRow["paysAgainst"],
    };
  }
}

// In plain mode columns are updated as they become ready, so the bits depend on the order.
const updatesColumns = ({ mode, schedule }: Measured): boolean => mode === "plain" && schedule.endsWith("c");

function agree(outcomes: readonly Measured[]): void {
  const [first, ...others] = outcomes as [Measured, ...Measured[]];
  for (const { mode, schedule, result } of others) {
    const at = Array.prototype.findIndex.call(result, (v: number, i: number) => !Object.is(v, first.result[i]));
    if (at >= 0) throw new Error(`y: ${mode} ${schedule} has ${result[at]} at ${at}, ${first.schedule} ${first.result[at]}`);
  }
}

// Plans for the lower and the upper triangle.
async function plansOf(pool: Engine, A: Sparse, how: SparseOptions): Promise<Plans> {
  const lower = await pool.sptrsv(A, { ...how, uplo: "lower" });
  try {
    return [lower, await pool.sptrsv(A, { ...how, uplo: "upper" })];
  } catch (error) {
    await lower.free();
    throw error;
  }
}

async function measureSchedule(
  pool: Engine,
  A: Sparse,
  how: SparseOptions,
  [x, between, y]: Vectors,
  rounds: number,
): Promise<Omit<Measured, "mode" | "schedule">> {
  const start = performance.now();
  const plans = await plansOf(pool, A, how);
  const setUp = (performance.now() - start) * 1e6;
  const [lower, upper] = plans;
  const times: number[] = [];
  for (let round = -1; round < rounds; round++) {
    const begin = performance.now();
    await lower.solve(x, between);
    await upper.solve(between, y);
    if (round >= 0) times.push((performance.now() - begin) * 1e6);
  }
  const levels = plans.map((plan) => plan.levels);
  for (const plan of plans) await plan.free();
  return { levels, setUp, solve: median(times), min: Math.min(...times), rounds: times, result: await y.read() };
}

/** The smallest number of solves from which a schedule takes less total time than another; null if there is none. */
function solvesToPay(one: Omit<Measured, "result">, other: Measured): number | null | undefined {
  if (one.schedule === other.schedule) return undefined;
  if (one.solve >= other.solve) return null;
  return Math.max(0, Math.floor((one.setUp - other.setUp) / (other.solve - one.solve)) + 1);
}

/** Whether the diagonal is full and nonzero. */
function hasDiagonal({ rows, pointers, indices, values }: Sparse): boolean {
  for (let i = 0; i < rows; i++) {
    const end = pointers[i + 1] as number;
    let p = pointers[i] as number;
    while (p < end && indices[p] !== i) p++;
    if (p === end || values[p] === 0) return false;
  }
  return true;
}

// The result has the binary64 type, but the routines accept either.
function inPrecision(A: Sparse, precision: Precision): Sparse {
  if (precision === BINARY64) return A;
  return csr(A.rows, A.cols, A.pointers, A.indices, Float32Array.from(A.values)) as unknown as Sparse;
}
