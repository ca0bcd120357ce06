// The table of engines: every conformance test runs over all of it, and a new engine is one more row.
// HALFULP_ENGINES=reference,wasm-fma runs the tests on these rows only.
import { describe } from "vitest";
import type { Matrix, Real, Sparse, TriangularOptions } from "../src/arrays/types.ts";
import type { Solution, SolveOptions } from "../src/routines/solve/types.ts";
import type { Schedule, SparseOptions } from "../src/routines/sparse/types.ts";
import { engineOf, type Kernels, kernels, level1On, openclKernels, openThreads, routinesOn } from "../src/study.ts";

export interface Row {
  readonly name: string;
  readonly kernels: Kernels | undefined;
  readonly missing: string;
}

const reference = kernels("reference") as Kernels;

const TABLE = {
  reference: "",
  "wasm-fma": "no relaxed SIMD with a fused multiply-add on this machine",
  "wasm-dekker": "no WebAssembly SIMD on this machine",
  opencl: "no OpenCL device on this machine, see npm run setup",
};
type Name = keyof typeof TABLE;
const NAMES = Object.keys(TABLE) as Name[];

// Of many random cases OpenCL takes every so-many-th: a call costs a launch and a trip to the device.
const EVERY = 64;

// Engines for matrix routines only: pools of threads, more of them than cores too.
const pool = (threads: number, variant: "fma" | "dekker") => [`threads-${threads}-${variant}`, { threads, variant }] as const;
const POOLS = Object.fromEntries([
  ...[1, 2, 3, 4, 7, 16].map((threads) => pool(threads, "fma")),
  ...[2, 5].map((threads) => pool(threads, "dekker")),
]);
const FEW = ["threads-3-fma", "threads-2-dekker"];

function chosen(): readonly string[] {
  const all = [...NAMES, ...Object.keys(POOLS)];
  const names = process.env.HALFULP_ENGINES?.split(",") ?? all;
  const unknown = names.find((name) => !all.includes(name));
  if (unknown !== undefined) throw new Error(`HALFULP_ENGINES names "${unknown}", expected some of ${all.join(", ")}`);
  return names;
}

const CHOSEN = chosen();
const opencl = CHOSEN.includes("opencl") ? await openclKernels(process.env.HALFULP_DEVICE).catch(() => undefined) : undefined;
export const ENGINES: readonly Row[] = NAMES.filter((name) => CHOSEN.includes(name)).map((name) => ({
  name,
  kernels: name === "opencl" ? opencl : kernels(name),
  missing: TABLE[name],
}));

const everyOf = (name: string): number => (name === "opencl" && CHOSEN.length > 1 ? EVERY : 1);

export type Routines = ReturnType<typeof level1On>;

/** A block of tests for each engine; where one cannot run here, skipped with the reason in its title. */
export function describeEngines(title: string, body: (routines: Routines, engine: Kernels) => void): void {
  for (const { name, kernels: engine, missing } of ENGINES) {
    const usable = engine ?? reference; // a block that is skipped is still collected
    describe.skipIf(!engine)(`${title}, ${name}${engine ? "" : ` (${missing})`}`, () => body(level1On(usable), usable));
  }
}

/** The engines that run here. */
export const RUNNING: readonly Running[] = ENGINES.flatMap(({ name, kernels: engine }) =>
  engine ? [{ name, engine, routines: level1On(engine), every: everyOf(name) }] : [],
);
interface Running {
  readonly name: string;
  readonly engine: Kernels;
  readonly routines: Routines;
  /** Of many random cases it takes those whose number is a multiple of this. */
  readonly every: number;
}

/** The matrix routines as tests see them: of either precision, and of an engine that may answer later. */
export interface DenseRoutines {
  exgemv(alpha: number, A: Matrix<Real>, x: Real, beta: number, y: Real, options?: { trans?: boolean }): Later<Real>;
  exgemm(
    alpha: number,
    A: Matrix<Real>,
    B: Matrix<Real>,
    beta: number,
    C: Matrix<Real>,
    options?: { transA?: boolean; transB?: boolean },
  ): Later<Matrix<Real>>;
  extrsv(T: Matrix<Real>, b: Real, options?: TriangularOptions): Later<Real>;
  exlu(A: Matrix<Real>): Later<{ lu: Matrix<Real>; pivots: Int32Array; solve(b: Real, options?: { refine?: number }): Later<Real> }>;
  exluBatch(data: Real, n: number, count: number): Later<{ lu: Real; pivots: Int32Array; info: Int32Array }>;
  sptrsv(A: Sparse<Real>, options?: SparseOptions): Later<AnyPlan>;
  solve(A: Matrix, b: Float64Array | Matrix, options?: SolveOptions): Later<Solution>;
  factor(A: Matrix, options?: SolveOptions): Later<AnyFactored>;
}
/** Factors as tests see them. */
export interface AnyFactored {
  solve(b: Float64Array | Matrix, options?: SolveOptions): Later<Solution>;
  free(): Later<void>;
}
/** A plan as tests see it: of either precision, and of an engine that may answer later. */
export interface AnyPlan {
  readonly schedule: Schedule;
  readonly reason: string;
  readonly levels: number;
  readonly bytes: number;
  solve(b: Real, out?: Real): Later<Real>;
  update(values: Real): Later<void>;
  free(): Later<void>;
}
type Later<T> = T | Promise<T>;
interface DenseRow {
  readonly name: string;
  /** Of the pool; 0 on the calling thread. */
  readonly threads: number;
  readonly routines: DenseRoutines;
  readonly every: number;
}

const RUNS = { fma: kernels("wasm-fma") !== undefined, dekker: kernels("wasm-dekker") !== undefined };
const sync: readonly DenseRow[] = RUNNING.map(({ name, engine, every }) => ({
  name,
  threads: 0,
  routines: routinesOn(engine) as unknown as DenseRoutines,
  every,
}));
const pools: readonly DenseRow[] = Object.entries(POOLS).flatMap(([name, { threads, variant }]) =>
  CHOSEN.includes(name) && RUNS[variant] ? [{ name, threads, routines: onPool(threads, variant), every: 1 }] : [],
);

// The pool is opened at the first call: most test files need none.
function onPool(threads: number, variant: "fma" | "dekker"): DenseRoutines {
  let opened: Promise<DenseRoutines> | undefined;
  const open = async (): Promise<DenseRoutines> => engineOf(await openThreads(threads, variant)) as unknown as DenseRoutines;
  const method =
    (name: keyof DenseRoutines) =>
    async (...args: unknown[]) => {
      opened ??= open();
      return ((await opened)[name] as (...args: unknown[]) => unknown)(...args);
    };
  const names = ["exgemv", "exgemm", "extrsv", "exlu", "exluBatch", "sptrsv", "solve", "factor"] as const;
  return Object.fromEntries(names.map((name) => [name, method(name)])) as unknown as DenseRoutines;
}

/** The matrix routines of every engine that runs here. */
export const DENSE: readonly DenseRow[] = [...sync, ...pools];

/** The same without most of the pools, which differ in the number of threads only: for many small cases. */
export const DENSE_FEW: readonly DenseRow[] = [...sync, ...pools.filter(({ name }) => FEW.includes(name))];

/** A block of tests for each engine that has matrix routines. */
export function describeDense(title: string, body: (routines: DenseRoutines) => void): void {
  describeEngines(title, (_, engine) => body(routinesOn(engine) as unknown as DenseRoutines));
  for (const { name, routines } of pools) describe(`${title}, ${name}`, () => body(routines));
}

/** The kinds of engine that can be opened here. That OpenCL is missing is told by the tests that are skipped above. */
export const KINDS: readonly ("wasm" | "threads" | "opencl")[] = ["wasm", "threads", ...(opencl ? (["opencl"] as const) : [])];
