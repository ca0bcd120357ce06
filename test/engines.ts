// The table of engines: every conformance test runs over all of it, and a new engine is one more row.
// HALFULP_ENGINES=reference,wasm-fma runs the tests on these rows only.
import { describe } from "vitest";
import { type Kernels, kernels, level1On, routinesOn } from "../src/study.ts";
import type { Matrix, Real, TriangularOptions } from "../src/types.ts";

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
};
type Name = keyof typeof TABLE;
const NAMES = Object.keys(TABLE) as Name[];

function chosen(): readonly string[] {
  const names = process.env.HALFULP_ENGINES?.split(",") ?? NAMES;
  const unknown = names.find((name) => !Object.hasOwn(TABLE, name));
  if (unknown !== undefined) throw new Error(`HALFULP_ENGINES names "${unknown}", expected some of ${NAMES.join(", ")}`);
  return names;
}

const CHOSEN = chosen();
export const ENGINES: readonly Row[] = NAMES.filter((name) => CHOSEN.includes(name)).map((name) => ({
  name,
  kernels: kernels(name),
  missing: TABLE[name],
}));

export type Routines = ReturnType<typeof level1On>;

/** A block of tests for each engine; where one cannot run here, skipped with the reason in its title. */
export function describeEngines(title: string, body: (routines: Routines, engine: Kernels) => void): void {
  for (const { name, kernels: engine, missing } of ENGINES) {
    const usable = engine ?? reference; // a block that is skipped is still collected
    describe.skipIf(!engine)(`${title}, ${name}${engine ? "" : ` (${missing})`}`, () => body(level1On(usable), usable));
  }
}

/** The engines that run here. */
export const RUNNING: readonly { name: string; engine: Kernels; routines: Routines }[] = ENGINES.flatMap(({ name, kernels: engine }) =>
  engine ? [{ name, engine, routines: level1On(engine) }] : [],
);

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
}
type Later<T> = T | Promise<T>;

/** The matrix routines of every engine that runs here. */
export const DENSE: readonly { name: string; routines: DenseRoutines }[] = RUNNING.map(({ name, engine }) => ({
  name,
  routines: routinesOn(engine) as unknown as DenseRoutines,
}));

/** A block of tests for each engine that has matrix routines. */
export function describeDense(title: string, body: (routines: DenseRoutines) => void): void {
  describeEngines(title, (_, engine) => body(routinesOn(engine) as unknown as DenseRoutines));
}
