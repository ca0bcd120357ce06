// The time of every stage alone against n, next to plain loops: the cost of each stage doing all the work, on easy and on hard data.

import { allocate, free } from "../../api/memory.ts";
import { matrix } from "../../arrays/matrix.ts";
import type { Kernels } from "../../engines/kernels.ts";
import type { Routines } from "../../routines/types.ts";
import { routinesBy, STAGES, type Stage } from "../../study.ts";
import { type Rival, race, type Timing } from "./clock.ts";
import {
  dominant,
  dotOfCondition,
  HARD,
  hardMatrix,
  hardProduct,
  hardTriangle,
  sumOfCondition,
  uniform,
  WELL_CONDITIONED,
} from "./data.ts";
import { plainDot, plainFactors, plainProduct, plainSubstitution, plainSum } from "./plain.ts";

export type StagedOperation = "sum" | "dot" | "gemv" | "trsv" | "lu";

/** One operation on one kind of data: the time of every stage. */
export interface StageRace {
  readonly op: string;
  readonly kind: string;
  readonly n: number;
  readonly engine: string;
  readonly stages: readonly Timing[];
}

/** The plain loop among the stages. */
export const PLAIN = "plain";

type Arrays = Record<"A" | "x" | "y", Float64Array>;
interface Operation {
  /** The number of terms or products that are summed. */
  terms(n: number): number;
  readonly data: Readonly<Record<typeof WELL_CONDITIONED | typeof HARD, (n: number) => Partial<Arrays>>>;
  run(routines: Routines<Float64Array>, n: number, arrays: Arrays): unknown;
  plain(n: number, arrays: Arrays): unknown;
}

export const OPERATIONS: Readonly<Record<StagedOperation, Operation>> = {
  sum: {
    terms: (n) => n,
    data: { [WELL_CONDITIONED]: (n) => ({ x: uniform(n, 1) }), [HARD]: (n) => ({ x: sumOfCondition(n, 1e30) }) },
    run: ({ exsum }, _, { x }) => exsum(x),
    plain: (_, { x }) => plainSum(x),
  },
  dot: {
    terms: (n) => n,
    data: { [WELL_CONDITIONED]: (n) => ({ x: uniform(n, 1), y: uniform(n, 2) }), [HARD]: (n) => dotOfCondition(n, 1e30) },
    run: ({ exdot }, _, { x, y }) => exdot(x, y),
    plain: (_, { x, y }) => plainDot(x, y),
  },
  gemv: {
    terms: (n) => n ** 2,
    data: {
      [WELL_CONDITIONED]: (n) => ({ A: uniform(n * n, 1), x: uniform(n, 2) }),
      [HARD](n) {
        const { rows, vector } = hardProduct(n);
        return { A: rows, x: vector };
      },
    },
    run: ({ exgemv }, n, { A, x, y }) => exgemv(1, matrix(A, n, n), x, 0, y),
    plain: (n, { A, x, y }) => plainProduct(matrix(A, n, n), x, y),
  },
  trsv: {
    terms: (n) => (n * (n + 1)) / 2,
    data: {
      [WELL_CONDITIONED]: (n) => ({ A: dominant(n), x: uniform(n, 2) }),
      [HARD](n) {
        const { T, b } = hardTriangle(n);
        return { A: T, x: b };
      },
    },
    run: ({ extrsv }, n, { A, x }) => extrsv(matrix(A, n, n), x),
    plain: (n, { A, x }) => plainSubstitution(matrix(A, n, n), x),
  },
  lu: {
    terms: (n) => n ** 3 / 3,
    data: { [WELL_CONDITIONED]: (n) => ({ A: uniform(n * n, 1) }), [HARD]: (n) => ({ A: hardMatrix(n) }) },
    run: ({ exlu }, n, { A }) => exlu(matrix(A, n, n)).lu.data,
    plain: (n, { A }) => plainFactors(matrix(A, n, n)),
  },
};

export const KINDS = [WELL_CONDITIONED, HARD] as const;

/** Times the stages and the plain loop, with arrays in the memory of the embedded engine, which is the one measured. */
export async function raceStages(
  op: StagedOperation,
  kind: (typeof KINDS)[number],
  n: number,
  engine: Kernels,
  rounds: number,
  stages: readonly Stage[] = STAGES,
): Promise<StageRace> {
  const { data, run, plain } = OPERATIONS[op];
  const inputs = data[kind](n);
  const arrays = Object.fromEntries(
    (["A", "x", "y"] as const).map((name) => [name, inEngine(inputs[name] ?? new Float64Array(n))]),
  ) as Arrays;
  const rivals: Rival[] = [{ name: PLAIN, run: () => plain(n, arrays) }];
  for (const stage of stages) {
    const routines = routinesBy(stage, engine);
    rivals.push({ name: stage, run: () => run(routines, n, arrays) });
  }
  const timings = await race(rivals, rounds);
  for (const array of Object.values(arrays)) free(array);
  return { op, kind, n, engine: engine.name, stages: timings };
}

function inEngine(values: Float64Array): Float64Array {
  const array = allocate(values.length);
  array.set(values);
  return array;
}
