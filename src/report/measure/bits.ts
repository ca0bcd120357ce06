// One set of fixed inputs through every engine, number of threads and schedule that there is here: the SHA-256 of the bits of
// each routine's results, which must be the same for all of them.

import { openOnThisThread } from "../../api/open.ts";
import { EngineError } from "../../arrays/errors.ts";
import { matrix } from "../../arrays/matrix.ts";
import type { Real } from "../../arrays/types.ts";
import { hashOf } from "../../cli/output/hashing.ts";
import { embedded } from "../../engines/embedded.ts";
import { illConditionedMatrix } from "../../problems/illConditionedMatrix.ts";
import { illConditionedTriangular } from "../../problems/illConditionedTriangular.ts";
import { laplacian } from "../../problems/laplacian.ts";
import type { Solves } from "../../routines/solve/types.ts";
import type { AsyncMethods, Routines } from "../../routines/types.ts";
import { engineOf, kernels, openclKernels, openThreads, routinesOn } from "../../study.ts";
import { dominant, dotOfCondition, hardProduct, hardTriangle, sumOfCondition, uniform } from "./data.ts";
import { SCHEDULES } from "./sparse.ts";

export interface BitsRow {
  /** Engine, number of threads, device. */
  readonly engine: string;
  readonly schedule: string;
  /** For each routine the hash of its results; nothing where this engine or schedule has no such routine. */
  readonly hashes: Readonly<Record<string, string>>;
  /** Why an engine does not run here. */
  readonly missing?: string;
}

export interface Bits {
  /** What went in, in words. */
  readonly inputs: string;
  readonly rows: readonly BitsRow[];
}

/** The threads that are tried, more than there are cores too. */
const THREADS = [1, 2, 3, 4, 7];
const N = 4096;
const ORDER = 96;
const GRID = 24;
const INPUTS = `sums and dot products of ${N} terms of conditions 1 and 1e30, matrices of order ${ORDER} and conditions up to 1e30, random and hard; sparse triangles of a ${GRID} x ${GRID} x ${GRID} grid with 27 points; binary64`;

// The routines of engines that answer at once and of those that answer later, for one precision.
type Some = Pick<Solves, "solve"> &
  Pick<Routines<Float64Array>, "exsum" | "exdot" | "exnrm2" | "exgemv" | "exgemm" | "extrsv" | "exlu" | "exluBatch" | "sptrsv">;
type Later = Some | AsyncMethods<Some>;
type Results = readonly (Real | Int32Array)[];
type Run = (routines: Some) => Promise<Results>;

const well = { x: uniform(N, 1), y: uniform(N, 2) };

// `await` takes either: what answers at once too.
const DENSE: Readonly<Record<string, Run>> = {
  async exsum({ exsum }) {
    return [Float64Array.of(await exsum(well.x), await exsum(sumOfCondition(N, 1e30)), await exsum(well.x, { round: "up" }))];
  },
  async exdot({ exdot }) {
    const { x, y } = dotOfCondition(N, 1e30);
    return [Float64Array.of(await exdot(well.x, well.y), await exdot(x, y), await exdot(x, y, { round: "down" }))];
  },
  exnrm2: async ({ exnrm2 }) => [Float64Array.of(await exnrm2(well.x), await exnrm2(well.x.map((v) => v * 1e-200)))],
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
  async exluBatch({ exluBatch }) {
    const { lu, pivots, info } = await exluBatch(uniform(64 * 8 ** 2, 11), 8, 64);
    return [lu, pivots, info];
  },
};

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

interface Candidate {
  readonly engine: string;
  /** Whether schedules differ on it: on one thread of JavaScript all of them run serially. */
  readonly scheduled: boolean;
  open(): Promise<{ routines: Later; close?(): Promise<void> }>;
}

// The engines by name, as far as this machine may have them. Synchronous engines are tried as such, which is another way in.
function candidates(): Candidate[] {
  const local = (["reference", "wasm-fma", "wasm-dekker"] as const).map((name) => ({
    engine: name === "reference" ? "plain TypeScript" : name,
    scheduled: false,
    async open() {
      const engine = kernels(name);
      if (!engine) throw new EngineError(`${name}: this machine or this version of Node cannot run it`);
      return { routines: routinesOn(engine) };
    },
  }));
  const later = {
    engine: `${embedded().name}, asynchronous`,
    scheduled: false,
    open: async () => ({ routines: openOnThisThread() as unknown as Later }),
  };
  const pools = THREADS.map((threads) => ({
    engine: `${threads} ${threads === 1 ? "thread" : "threads"}, ${embedded().name}`,
    scheduled: true,
    async open() {
      const engine = engineOf(await openThreads(threads));
      return { routines: engine as unknown as Later, close: () => engine.close() };
    },
  }));
  const opencl = { engine: "opencl", scheduled: true, open: async () => ({ routines: routinesOn(await openclKernels()) }) };
  return [...local, later, ...pools, opencl];
}

/** The hashes of all engines. `device` is what the OpenCL engine is called. */
export async function measureBits(device: string | undefined): Promise<Bits> {
  const rows: BitsRow[] = [];
  for (const { engine: name, scheduled, open } of candidates()) {
    const engine = name === "opencl" && device !== undefined ? `opencl, ${device}` : name;
    try {
      const { routines, close } = await open();
      const hashes: Record<string, string> = {};
      for (const [routine, run] of Object.entries(DENSE)) hashes[routine] = hashOf(...(await run(routines as Some)));
      const [first, ...others] = scheduled ? SCHEDULES : (["serial"] as const);
      hashes.sptrsv = hashOf(...(await sparse(first)(routines as Some)));
      rows.push({ engine, schedule: first, hashes });
      for (const schedule of others)
        rows.push({ engine, schedule, hashes: { sptrsv: hashOf(...(await sparse(schedule)(routines as Some))) } });
      await close?.();
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      rows.push({ engine, schedule: "", hashes: {}, missing: error.message });
    }
  }
  return { inputs: INPUTS, rows };
}

/** The routines on which not all of the rows agree. */
export function disagreements({ rows }: Bits): string[] {
  const names = new Set(rows.flatMap(({ hashes }) => Object.keys(hashes)));
  return [...names].filter((name) => new Set(rows.flatMap(({ hashes }) => hashes[name] ?? [])).size > 1);
}
