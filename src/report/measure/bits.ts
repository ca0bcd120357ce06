// The table of hashes: fixed inputs through the synchronous functions and every engine, number of threads and schedule of this machine.
// The SHA-256 of each routine's results must be the same for all of them.

import { EngineError } from "../../arrays/errors.ts";
import { matrix } from "../../arrays/matrix.ts";
import { toCsc } from "../../arrays/sparse.ts";
import type { Real, Sparse } from "../../arrays/types.ts";
import { type Callable, everyOpening } from "../../cli/engines.ts";
import { hashOf } from "../../cli/output/hashing.ts";
import { convectionDiffusion } from "../../problems/convectionDiffusion.ts";
import { illConditionedMatrix } from "../../problems/illConditionedMatrix.ts";
import { illConditionedTriangular } from "../../problems/illConditionedTriangular.ts";
import { laplacian } from "../../problems/laplacian.ts";
import { powerLaw } from "../../problems/powerLaw.ts";
import { dominant, dotOfCondition, hardProduct, hardTriangle, sumOfCondition, uniform } from "./data.ts";
import { SCHEDULES } from "./sparse.ts";

export interface BitsRow {
  /** The device, with the number of threads if it is a pool. */
  readonly engine: string;
  readonly schedule: string;
  /** The hash of each routine's results; a routine that does not apply to this row has none. */
  readonly hashes: Readonly<Record<string, string>>;
  /** Why the engine cannot run here. */
  readonly missing?: string;
}

export interface Bits {
  /** A description of the inputs. */
  readonly inputs: string;
  readonly rows: readonly BitsRow[];
}

// Pool sizes to try, some of them larger than the number of cores.
const THREADS = [1, 2, 3, 4, 7];
const N = 4096;
const ORDER = 96;
const GRID = 24;
const SPARSE_ORDER = 3000;
const SIDE = 12;
const INPUTS = `sums and dot products of ${N} terms of conditions 1 and 1e30, matrices of order ${ORDER} and conditions up to 1e30, random and hard; sparse triangles of a ${GRID} x ${GRID} x ${GRID} grid with 27 points; a web graph of ${SPARSE_ORDER} rows; iterative solvers on grids of ${SIDE} x ${SIDE}, their results and residual histories, with every preconditioner; binary64`;

type Results = readonly (Real | Int32Array)[];
type Run = (routines: Callable) => Promise<Results>;

const wellConditioned = { x: uniform(N, 1), y: uniform(N, 2) };

const DENSE: Readonly<Record<string, Run>> = {
  async exsum({ exsum }) {
    return [
      Float64Array.of(
        await exsum(wellConditioned.x),
        await exsum(sumOfCondition(N, 1e30)),
        await exsum(wellConditioned.x, { round: "up" }),
      ),
    ];
  },
  async exdot({ exdot }) {
    const { x, y } = dotOfCondition(N, 1e30);
    return [Float64Array.of(await exdot(wellConditioned.x, wellConditioned.y), await exdot(x, y), await exdot(x, y, { round: "down" }))];
  },
  exnrm2: async ({ exnrm2 }) => [Float64Array.of(await exnrm2(wellConditioned.x), await exnrm2(wellConditioned.x.map((v) => v * 1e-200)))],
  async exgemv({ exgemv }) {
    const { rows, vector } = hardProduct(ORDER);
    const random = matrix(uniform(ORDER ** 2, 3), ORDER, ORDER);
    const [x, y] = [uniform(ORDER, 4), uniform(ORDER, 5)];
    return [
      await exgemv(1, matrix(rows, ORDER, ORDER), vector, 0, new Float64Array(ORDER)),
      await exgemv(1.5, random, x, -0.3, y.slice()),
      await exgemv(1.5, random, x, -0.3, y.slice(), { trans: true }),
    ];
  },
  async exgemm({ exgemm }) {
    const { rows, columns } = hardProduct(ORDER);
    const C = await exgemm(
      1,
      matrix(rows, ORDER, ORDER),
      matrix(columns, ORDER, ORDER),
      0,
      matrix(new Float64Array(ORDER ** 2), ORDER, ORDER),
    );
    return [C.data];
  },
  async extrsv({ extrsv }) {
    const [hard, ill] = [hardTriangle(ORDER), illConditionedTriangular(ORDER, 1e20, 6)];
    return [
      await extrsv(matrix(dominant(ORDER), ORDER, ORDER), uniform(ORDER, 7)),
      await extrsv(matrix(hard.T, ORDER, ORDER), hard.b),
      await extrsv(ill.T, ill.b, { refine: 1 }),
    ];
  },
  async exlu({ exlu }) {
    const b = uniform(ORDER, 8);
    const results: (Real | Int32Array)[] = [];
    for (const A of [matrix(uniform(ORDER ** 2, 9), ORDER, ORDER), illConditionedMatrix(ORDER, 1e20, 10)]) {
      const factors = await exlu(A);
      results.push(factors.lu.data, factors.pivots, await factors.solve(b), await factors.solve(b, { refine: 2 }));
    }
    return results;
  },
  async solve({ solve }) {
    const b = uniform(ORDER, 13);
    const results: Real[] = [];
    for (const A of [matrix(uniform(ORDER ** 2, 14), ORDER, ORDER), illConditionedMatrix(ORDER, 1e20, 15)])
      results.push((await solve(A, b)).x);
    return results;
  },
  async exspmv({ exspmv }) {
    const A = powerLaw(SPARSE_ORDER, 4 * SPARSE_ORDER, 17);
    const [x, y] = [uniform(SPARSE_ORDER, 18), uniform(SPARSE_ORDER, 19)];
    const results: Real[] = [];
    for (const form of [A, toCsc(A)])
      for (const trans of [false, true]) results.push(await exspmv(1.5, form, x, -0.3, y.slice(), { trans }));
    return results;
  },
  cg: ({ cg }) => iterated(cg, laplacian(SIDE, SIDE)),
  bicgstab: ({ bicgstab }) => iterated(bicgstab, convectionDiffusion(SIDE, SIDE)),
  gmres: ({ gmres }) => iterated(gmres, convectionDiffusion(SIDE, SIDE)),
  async exluBatch({ exluBatch }) {
    const { lu, pivots, info } = await exluBatch(uniform(64 * 8 ** 2, 11), 8, 64);
    return [lu, pivots, info];
  },
};

// x, the number of iterations and all residual norms.
async function iterated(method: Callable["cg"], A: Sparse): Promise<Results> {
  const b = uniform(A.rows, 20);
  const results: Real[] = [];
  for (const preconditioner of ["none", "jacobi", "ilu0"] as const) {
    const { x, history, iterations, residual } = await method(A, b, { preconditioner });
    results.push(x, history, Float64Array.of(iterations, residual));
  }
  return results;
}

const sparse =
  (schedule: (typeof SCHEDULES)[number]): Run =>
  async ({ sptrsv }) => {
    const A = laplacian(GRID, GRID, GRID, 27);
    const b = uniform(A.rows, 12);
    const results: Real[] = [];
    for (const uplo of ["lower", "upper"] as const) {
      const plan = await sptrsv(A, { uplo, schedule });
      results.push(await plan.solve(b));
      await plan.free();
    }
    return results;
  };

/** The hashes of the synchronous functions and of every engine. */
export async function measureBits(): Promise<Bits> {
  const rows: BitsRow[] = [];
  const { openings, missing } = await everyOpening(THREADS);
  for (const { name, synchronous, hasSchedules, open } of openings) {
    try {
      const { routines, device, close } = await open();
      const label = synchronous ? `${device}, synchronous` : device;
      const engine = rows.some((row) => row.engine === label) ? `${label} (${name})` : label; // a machine may have two equal devices
      const hashes: Record<string, string> = {};
      for (const [routine, run] of Object.entries(DENSE)) hashes[routine] = hashOf(...(await run(routines)));
      const [first, ...others] = hasSchedules ? SCHEDULES : (["serial"] as const);
      hashes.sptrsv = hashOf(...(await sparse(first)(routines)));
      rows.push({ engine, schedule: first, hashes });
      for (const schedule of others) rows.push({ engine, schedule, hashes: { sptrsv: hashOf(...(await sparse(schedule)(routines))) } });
      await close();
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      rows.push({ engine: name, schedule: "", hashes: {}, missing: error.message });
    }
  }
  for (const { kind, reason } of missing) rows.push({ engine: kind, schedule: "", hashes: {}, missing: reason });
  return { inputs: INPUTS, rows };
}

/** The routines whose rows do not all agree. */
export function disagreements({ rows }: Bits): string[] {
  const names = new Set(rows.flatMap(({ hashes }) => Object.keys(hashes)));
  return [...names].filter((name) => new Set(rows.flatMap(({ hashes }) => hashes[name] ?? [])).size > 1);
}
