// The engines under test, one row each. The conformance tests run over all rows; a new engine joins them with its row in
// src/engines/table.ts.
//
// Rows are the functions of the main module ("embedded"), the synchronous builds one by one ("reference", "wasm-fma",
// "wasm-dekker"), and every engine as open() returns it ("wasm", "threads-3", "opencl-0", ...). HALFULP_ENGINES=reference,opencl
// runs the tests on the rows of these names or kinds only. HALFULP_DEVICE chooses the device, as the option `device` of open() does.
import { afterAll, describe } from "vitest";
import { SCHEDULES } from "../src/engines/kernels.ts";
import { type EngineRow, type Kind, type OpenOptions, ENGINES as TABLE } from "../src/engines/table.ts";
import * as library from "../src/index.ts";
import {
  Accumulator,
  type Engine,
  type IterativeOptions,
  type IterativeSolution,
  type Matrix,
  open,
  type Real,
  type RoundOptions,
  type Schedule,
  type Solution,
  type SolveOptions,
  type Sparse,
  type SparseOptions,
  type TriangularOptions,
} from "../src/index.ts";
import { engineOf, kernels, LOCAL_ENGINES, openThreads, routinesOn, Superaccumulator } from "../src/study.ts";
import { FULL } from "./effort.ts";

type Later<T> = T | Promise<T>;

/** All routines as the tests call them: of either precision, on an engine that may return promises. */
export interface AnyRoutines {
  exsum(x: Real, options?: RoundOptions): Later<number>;
  exasum(x: Real, options?: RoundOptions): Later<number>;
  exdot(x: Real, y: Real, options?: RoundOptions): Later<number>;
  exnrm2(x: Real, options?: RoundOptions): Later<number>;
  exaxpy(alpha: number, x: Real, y: Real): Later<Real>;
  exscal(alpha: number, x: Real): Later<Real>;
  exinvscal(alpha: number, x: Real): Later<Real>;
  accumulate(x: Real, y?: Real): Later<Accumulator>;
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
  extrsm(T: Matrix<Real>, B: Matrix<Real>, options?: TriangularOptions): Later<Matrix<Real>>;
  exlu(A: Matrix<Real>): Later<AnyLU>;
  exluBatch(data: Real, n: number, count: number): Later<{ lu: Real; pivots: Int32Array; info: Int32Array }>;
  sptrsv(A: Sparse<Real>, options?: SparseOptions): Later<AnyPlan>;
  exspmv(alpha: number, A: Sparse<Real>, x: Real, beta: number, y: Real, options?: { trans?: boolean }): Later<Real>;
  cg: AnyIterative;
  bicgstab: AnyIterative;
  gmres: AnyIterative;
  ilu0(A: Sparse<Real>): Later<Sparse<Real>>;
  solve(A: Matrix | Sparse, b: Float64Array | Matrix, options?: SolveOptions): Later<Solution>;
  factor(A: Matrix | Sparse, options?: SolveOptions): Later<AnyFactors>;
}
/** The result of exlu(). */
export interface AnyLU {
  readonly lu: Matrix<Real>;
  readonly pivots: Int32Array;
  solve(b: Real, options?: { refine?: number }): Later<Real>;
  solve(b: Matrix<Real>, options?: { refine?: number }): Later<Matrix<Real>>;
}
/** cg, bicgstab or gmres. */
export type AnyIterative = (A: Sparse | Matrix, b: Float64Array, options?: AnyIterativeOptions) => Later<IterativeSolution>;
export type AnyIterativeOptions = Omit<IterativeOptions, "preconditioner"> & {
  preconditioner?: "none" | "jacobi" | "ilu0" | readonly AnyPlan[] | undefined;
};
/** The result of factor(). */
export interface AnyFactors {
  solve(b: Float64Array | Matrix, options?: SolveOptions): Later<Solution>;
  free(): Later<void>;
}
/** The result of sptrsv(). */
export interface AnyPlan {
  readonly schedule: Schedule;
  readonly reason: string;
  readonly levels: number;
  readonly bytes: number;
  solve(b: Real, out?: Real): Later<Real>;
  solve(B: Matrix<Real>): Later<Matrix<Real>>;
  update(values: Real): Later<void>;
  free(): Later<void>;
}

/** An engine under test. */
export interface Row {
  readonly name: string;
  readonly kind: Kind | "synchronous";
  /** The number of workers of a pool, else 0. */
  readonly threads: number;
  /** Whether the schedules of sparse solves differ on it. */
  readonly hasSchedules: boolean;
  /** Of many random cases it takes those whose number is a multiple of this: calls to a device are slow. */
  readonly every: number;
  readonly routines: AnyRoutines;
  /** Why it cannot run on this machine. */
  readonly missing: string | undefined;
  /** The engine itself, for rows that are opened. */
  readonly opened: (() => Promise<Engine>) | undefined;
}

const ROUTINES: readonly (keyof AnyRoutines)[] = [
  ...(["exsum", "exasum", "exdot", "exnrm2", "exaxpy", "exscal", "exinvscal", "accumulate"] as const),
  ...(["exgemv", "exgemm", "extrsv", "extrsm", "exlu", "exluBatch", "sptrsv", "ilu0", "solve", "factor"] as const),
  ...(["exspmv", "cg", "bicgstab", "gmres"] as const),
];

// ---------------------------------------------------------------- the synchronous rows

const synchronous = { kind: "synchronous", threads: 0, hasSchedules: false, every: 1, missing: undefined, opened: undefined } as const;

function embeddedRow(): Row {
  const accumulate = (x: Real, y?: Real) => (y === undefined ? new Accumulator().add(x) : new Accumulator().addProduct(x, y));
  return { ...synchronous, name: "embedded", routines: { ...library, accumulate } as unknown as AnyRoutines };
}

function localRow(name: (typeof LOCAL_ENGINES)[number]): Row {
  const engine = kernels(name);
  if (!engine) return { ...synchronous, name, routines: {} as AnyRoutines, missing: "this machine cannot run these WebAssembly kernels" };
  const accumulate = (x: Real, y?: Real): Accumulator => {
    const sum = new Superaccumulator();
    engine.accumulate(y === undefined ? "sum" : "dot", x, y ?? x, sum, true);
    return Accumulator.of(sum, y === undefined ? x.every((v) => Object.is(v, -0)) : x.length === 0);
  };
  return { ...synchronous, name, routines: { ...routinesOn(engine), accumulate } as unknown as AnyRoutines };
}

// ---------------------------------------------------------------- the rows that are opened

// Pools of as many threads as there are cores, fewer and more; and some on the build of the kernels that open() does not choose on
// machines with a fused multiply-add.
const POOL_SIZES = [1, 2, 3, 4, 7, 16];
const DEKKER_POOL_SIZES = [2, 5];
/** The pools that take part in tests of many small cases. */
const SELECTED_POOLS = ["threads-3", "threads-2-dekker"];

// Kinds without an entry are devices, to which a call takes a launch and a transfer.
const EVERY: Record<string, number> = { wasm: 1, threads: 1 };
const EVERY_ON_DEVICES = 64;
// A GPU in software takes seconds to compile a kernel and minutes for a file of tests: the quick suite has test/webgpu, the full one all.
const SOFTWARE = /swiftshader|llvmpipe/i;
const asked = process.env.HALFULP_ENGINES?.split(",");

const openedEngines: Promise<Engine>[] = [];
afterAll(async () => {
  for (const engine of openedEngines) await (await engine.catch(() => undefined))?.close();
});

// Opened at the first call: most test files need few engines.
function openedRow(name: string, kind: Kind, hasSchedules: boolean, threads: number, start: () => Promise<Engine>): Row {
  let engine: Promise<Engine> | undefined;
  const opened = (): Promise<Engine> => {
    if (engine) return engine;
    engine = start();
    openedEngines.push(engine);
    return engine;
  };
  const method =
    (routine: keyof AnyRoutines) =>
    async (...args: unknown[]) =>
      ((await opened())[routine] as (...args: unknown[]) => unknown)(...args);
  const routines = Object.fromEntries(ROUTINES.map((routine) => [routine, method(routine)])) as unknown as AnyRoutines;
  return { name, kind, threads, hasSchedules, every: EVERY[kind] ?? EVERY_ON_DEVICES, routines, missing: undefined, opened };
}

async function rowsOf(row: EngineRow & { readonly kind: Kind }): Promise<Row[]> {
  const { kind, hasSchedules } = row;
  const make = (name: string, options: OpenOptions): Row =>
    openedRow(name, kind, hasSchedules, options.threads ?? 0, () => open(kind, options));
  const probe = await row.probe();
  if ("reason" in probe) return [{ ...make(kind, {}), missing: probe.reason }];
  if (kind === "webgpu" && SOFTWARE.test(probe.device) && !FULL && !asked?.includes(kind)) return [];
  const device = process.env.HALFULP_DEVICE;
  if (device !== undefined && row.options.includes("device")) return [make(kind, { device })];
  const rows = (await row.configurations(POOL_SIZES)).map(({ name, options }) => make(name.replace(/, (device )?/, "-"), options));
  if (kind !== "threads") return rows;
  const dekker = DEKKER_POOL_SIZES.map((threads) =>
    openedRow(`threads-${threads}-dekker`, kind, hasSchedules, threads, async () => engineOf(await openThreads(threads, "dekker"))),
  );
  return [...rows, ...dekker];
}

// ---------------------------------------------------------------- the table

const everyRow: readonly Row[] = [embeddedRow(), ...LOCAL_ENGINES.map(localRow), ...(await Promise.all(TABLE.map(rowsOf))).flat()];

function chosen(): readonly Row[] {
  if (!asked) return everyRow;
  const isIt = (word: string, { name, kind }: Row): boolean => word === name || word === kind;
  const unknown = asked.find((word) => !everyRow.some((row) => isIt(word, row)));
  const expected = everyRow.map(({ name }) => name).join(", ");
  if (unknown !== undefined) throw new Error(`HALFULP_ENGINES names "${unknown}", expected some of ${expected}, or a kind`);
  const rows = everyRow.filter((row) => asked.some((word) => isIt(word, row)));
  return asked.length === 1 ? rows.map((row) => ({ ...row, every: 1 })) : rows;
}

const table = chosen();

/** The engines under test that run on this machine. */
export const ENGINES: readonly Row[] = table.filter(({ missing }) => missing === undefined);

/** The same without most of the pools, which differ in the number of threads only: for many small cases. */
export const SELECTED_ENGINES: readonly Row[] = ENGINES.filter(
  ({ name, threads }) => asked || threads === 0 || SELECTED_POOLS.includes(name),
);

/** A block of tests for each engine; where one cannot run here, skipped with the reason in its title. */
export function describeEngines(title: string, body: (routines: AnyRoutines, row: Row) => void): void {
  for (const row of table)
    describe.skipIf(row.missing)(`${title}, ${row.name}${row.missing ? ` (${row.missing})` : ""}`, () => body(row.routines, row));
}

/** The kinds of engine that open() can open here. That one is missing is told by the tests that are skipped above. */
export const AVAILABLE_KINDS: readonly Kind[] = [...new Set(ENGINES.flatMap(({ kind }) => (kind === "synchronous" ? [] : [kind])))];

// ---------------------------------------------------------------- for sparse solves

export { SCHEDULES };
export const SCHEDULES_AND_AUTO = [...SCHEDULES, "auto"] as const;

/** The engines on one thread, where all schedules run serially; the pools; and the devices. */
export const ON_ONE_THREAD = ENGINES.filter(({ kind }) => kind === "synchronous" || kind === "wasm");
export const POOLS = ENGINES.filter(({ threads }) => threads > 0);
export const DEVICES = ENGINES.filter((row) => !ON_ONE_THREAD.includes(row) && !POOLS.includes(row));
