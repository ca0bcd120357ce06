// How much to measure at each scale. Called by all.ts.
import type { Scale } from "../parts.ts";
import type { AccuracyScale } from "./accuracy.ts";
import { type ConvergenceProblem, convergenceProblems } from "./convergence.ts";
import { BINARY32, BINARY64, generalMatrices, laplacians, PLANE, SPACE, type SparseGroup } from "./sparse.ts";
import type { StagedOperation } from "./stages.ts";

/** The sizes of a scale. */
export interface Sizes {
  readonly accuracy: AccuracyScale;
  readonly stages: { readonly rounds: number; readonly sizes: Readonly<Record<StagedOperation, readonly number[]>> };
  readonly sparse: { readonly rounds: number; readonly groups: readonly SparseGroup[] };
  readonly convergence: readonly ConvergenceProblem[];
  readonly solve: {
    readonly rounds: number;
    readonly orders: readonly number[];
    readonly gpu: readonly number[];
    readonly ill: number;
    readonly seeds: number;
  };
}

const decades = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, k) => 10 ** (from + k));
const doublings = (from: number, to: number): number[] => Array.from({ length: Math.log2(to / from) + 1 }, (_, k) => from * 2 ** k);

// A minute, ten minutes and an hour on two cores. LU by stages takes at least 200 ns per product, so its orders are small.
export const SCALES: Readonly<Record<Scale, () => Sizes>> = {
  quick: () => ({
    accuracy: { n: 24, seeds: 2, every: 2 },
    stages: {
      rounds: 3,
      sizes: { sum: decades(2, 6), dot: decades(2, 6), gemv: doublings(16, 512), trsv: doublings(16, 512), lu: doublings(8, 64) },
    },
    sparse: { rounds: 5, groups: [laplacians(PLANE, 5, 0.25, [BINARY64]), laplacians(SPACE, 7, 0.25, [BINARY64])] },
    convergence: convergenceProblems(32),
    solve: { rounds: 5, orders: doublings(64, 1024), gpu: doublings(256, 2048), ill: 32, seeds: 2 },
  }),
  medium: () => ({
    accuracy: { n: 40, seeds: 3, every: 1 },
    stages: {
      rounds: 7,
      sizes: { sum: decades(1, 7), dot: decades(1, 7), gemv: doublings(16, 1024), trsv: doublings(16, 1024), lu: doublings(8, 128) },
    },
    sparse: {
      rounds: 5,
      groups: [
        laplacians(PLANE, 5, 0.5, [BINARY64]),
        laplacians(PLANE, 9, 0.5, [BINARY64]),
        laplacians(SPACE, 7, 0.5, [BINARY64]),
        laplacians(SPACE, 27, 0.5, [BINARY64]),
        generalMatrices(0.5),
      ],
    },
    convergence: convergenceProblems(64),
    solve: { rounds: 7, orders: doublings(64, 1024), gpu: doublings(256, 8192), ill: 64, seeds: 5 },
  }),
  full: () => ({
    accuracy: { n: 40, seeds: 5, every: 1 },
    stages: {
      rounds: 11,
      sizes: { sum: decades(1, 7), dot: decades(1, 7), gemv: doublings(16, 4096), trsv: doublings(16, 4096), lu: doublings(8, 256) },
    },
    sparse: {
      rounds: 5,
      groups: [
        laplacians(PLANE, 5, 1, [BINARY64, BINARY32]),
        laplacians(PLANE, 9, 1, [BINARY64, BINARY32]),
        laplacians(SPACE, 7, 1, [BINARY64, BINARY32]),
        laplacians(SPACE, 27, 1, [BINARY64, BINARY32]),
        generalMatrices(1),
      ],
    },
    convergence: convergenceProblems(128),
    solve: { rounds: 7, orders: doublings(64, 4096), gpu: doublings(256, 16384), ill: 100, seeds: 10 },
  }),
};
