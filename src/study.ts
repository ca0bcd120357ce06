// halfulp/study, for benchmarks and experiments: every stage alone, on a chosen engine, the pieces of exact/, an OpenCL device,
// and the measurements of the report. Ordinary users need none of this: the main module returns the same bits.
import { checkPair, checkVector, checkWord, ROUNDINGS } from "./arrays/checks.ts";
import type { Real, Reduction, Rounding } from "./arrays/types.ts";
import { newVector, part } from "./arrays/vectors.ts";
import { embedded } from "./engines/embedded.ts";
import { EXACT_STAGES, type ExactStage, type Kernels, type LocalKernels } from "./engines/kernels.ts";
import { type LocalEngine, localKernels } from "./engines/local.ts";
import type { StudyDevice } from "./engines/opencl/study.ts";
import { reduce } from "./engines/reduce.ts";
import { type AddProducts, dense, type StridedVector } from "./engines/reference/dense.ts";
import { reference } from "./engines/reference/index.ts";
import { sparse, spmv } from "./engines/reference/sparse.ts";
import { enclosure } from "./exact/enclosure.ts";
import type { Superaccumulator } from "./exact/superaccumulator.ts";
import type * as accuracy from "./report/measure/accuracy.ts";
import type * as data from "./report/measure/data.ts";
import type * as exactErrors from "./report/measure/exactErrors.ts";
import type * as sparseTables from "./report/measure/sparse.ts";
import type * as stages from "./report/measure/stages.ts";
import { type Level1, level1, onlyNegativeZeros } from "./routines/level1.ts";
import { routines } from "./routines/routines.ts";
import type { Solves } from "./routines/solve/types.ts";
import type { BothPrecisions } from "./routines/types.ts";

// Engines and their kernels
export { type Engine, engineOf } from "./api/engine.ts";
// Arrays and random numbers
export type { StridedMatrix } from "./arrays/matrix.ts";
export { Random } from "./arrays/random.ts";
export type { Reduction } from "./arrays/types.ts";
export type { ExactStage, Kernels, LocalKernels, Substitution } from "./engines/kernels.ts";
export { LOCAL_ENGINES, type LocalEngine } from "./engines/local.ts";
export type { StudyDevice, StudyPlan, StudyTriangle } from "./engines/opencl/study.ts";
export type { AsyncKernels } from "./engines/steps.ts";
export { openThreads } from "./engines/threads/backend.ts";
// Exact arithmetic
export { doubleDoubleTrsv } from "./exact/doubleDouble.ts";
export { expansionAccumulate } from "./exact/expansion.ts";
export { Superaccumulator } from "./exact/superaccumulator.ts";
export { twoProd, twoSum } from "./exact/transforms.ts";
export { asyncRoutines } from "./routines/routines.ts";

// Levels of a sparse triangle
export { dependencyCounts, kahn, type Levels, levels } from "./routines/sparse/levels.ts";

/** The synchronous engine of this name; undefined where this machine cannot run it. */
export function kernels(name: "embedded" | LocalEngine): LocalKernels | undefined {
  return name === "embedded" ? embedded() : localKernels(name);
}

/** The kernels of the OpenCL engine as a synchronous engine. `device` is as in `open` of halfulp/opencl. */
export async function openclKernels(device?: string | number): Promise<Kernels> {
  return (await import("./engines/opencl/index.ts")).openclKernels(device);
}

/** An OpenCL device with its memory and the library's routines on it. `device` is as in `open` of halfulp/opencl. */
export async function openclDevice(device?: string | number): Promise<StudyDevice> {
  return (await import("./engines/opencl/study.ts")).openStudyDevice(device);
}

/** The level 1 routines on one of these engines. */
export function level1On(engine: Kernels): Pick<BothPrecisions, keyof Level1<Real>> {
  return level1(() => engine);
}

/** All routines on one of these engines. */
export function routinesOn(engine: Kernels): BothPrecisions & Solves {
  return routines(() => engine);
}

/**
 * One stage alone: all terms into the superaccumulator; through expansions of 2 to 8 components, with early exit
 * ("ee") or without; through the ladder, exactly; or all stages as the routines use them ("certified").
 */
export type Stage = ExactStage | "ladder" | "certified";

/** All stages, in the order in which figures show them. */
export const STAGES: readonly Stage[] = [...EXACT_STAGES, "ladder", "certified"];

/** A reduction by one stage. All stages return the same result. */
export function reduceBy(stage: Stage, engine: Kernels, op: Reduction, x: Real, y: Real = x, round: Rounding = "nearest"): number {
  checkWord("reduceBy", "stage", stage, STAGES);
  checkWord("reduceBy", "op", op, ["sum", "asum", "dot"]);
  checkWord("reduceBy", "round", round, ROUNDINGS);
  const format = op === "dot" ? checkPair("reduceBy", x, y) : checkVector("reduceBy", "x", x);
  const result = reduce(kernelsBy(stage, engine), op, x, op === "dot" ? y : x, false, round, format);
  return op === "sum" && result === 0 && onlyNegativeZeros(x) ? -0 : result;
}

/**
 * All routines by one stage: the terms of every sum, and the products of every inner product of a matrix routine, go
 * through it. All stages return the same results.
 */
export function routinesBy(stage: Stage, engine: Kernels): BothPrecisions & Solves {
  checkWord("routinesBy", "stage", stage, STAGES);
  return routinesOn(kernelsBy(stage, engine));
}

// The engine with one stage for all sums. Elementwise operations have no stages.
function kernelsBy(stage: Stage, engine: Kernels): Kernels {
  if (stage === "certified") return engine;
  const accumulate = (op: Reduction, x: Real, y: Real, into: Superaccumulator): number => {
    if (stage === "ladder") return engine.accumulate(op, x, y, into, true);
    engine.accumulateBy(stage, op, x, y, into);
    return 0;
  };
  const addProducts: AddProducts = (x, y, into) => void accumulate("dot", contiguous(x), contiguous(y), into);
  return {
    name: `${engine.name}, ${stage}`,
    enclose: () => enclosure.fill(Number.NaN),
    accumulate,
    accumulateBy: (other, op, x, y, into) => engine.accumulateBy(other, op, x, y, into),
    map: (op, alpha, x, y) => engine.map(op, alpha, x, y),
    workers: reference.workers,
    memory: reference.memory,
    firstZero: reference.firstZero,
    sptrsv: sparse(addProducts),
    approximate: engine.approximate,
    ...dense(addProducts),
    spmv: spmv(addProducts) as Kernels["spmv"],
    ilu0: reference.ilu0,
    krylov: reference.krylov,
  };
}

// A row or column as a vector: a view if its elements are adjacent, else a copy.
function contiguous({ data, offset, step, length }: StridedVector): Real {
  if (step === 1 && length > 0) return part(data, offset, length);
  const copy = newVector("routinesBy", data, length);
  for (let k = 0; k < length; k++) copy[k] = data[offset + k * step] as number;
  return copy;
}

/** The data sets and measurements of the report. The benchmarks run them at larger sizes. */
export interface Measurements {
  readonly data: typeof data;
  readonly exactErrors: typeof exactErrors;
  readonly accuracy: typeof accuracy;
  readonly sparse: typeof sparseTables;
  readonly stages: typeof stages;
}

/** Load the measurements of the report. */
export async function measurements(): Promise<Measurements> {
  return {
    data: await import("./report/measure/data.ts"),
    exactErrors: await import("./report/measure/exactErrors.ts"),
    accuracy: await import("./report/measure/accuracy.ts"),
    sparse: await import("./report/measure/sparse.ts"),
    stages: await import("./report/measure/stages.ts"),
  };
}
