// How the iterative solvers converge: the residual norms of every iteration on small grids, with and without a preconditioner. They are
// the same on every machine and every engine, so one engine computes them. The table of hashes (bits.ts) compares the others with it.

import type { Sparse } from "../../arrays/types.ts";
import { bicgstab, cg, gmres } from "../../index.ts";
import { convectionDiffusion } from "../../problems/convectionDiffusion.ts";
import { elasticity } from "../../problems/elasticity.ts";
import { laplacian } from "../../problems/laplacian.ts";
import { uniform } from "./data.ts";

export const METHODS = { cg, bicgstab, gmres } as const;
export const PRECONDITIONERS = ["none", "jacobi", "ilu0"] as const;
type Method = keyof typeof METHODS;
type Named = (typeof PRECONDITIONERS)[number];

/** One method with one preconditioner. */
export interface ConvergenceCurve {
  readonly method: string;
  readonly preconditioner: string;
  readonly reason: string;
  readonly iterations: number;
  /** The exact residual of the result, relative to the right-hand side. */
  readonly residual: number;
  /** Residual norms relative to that of the right-hand side: at the start, then after every iteration. */
  readonly history: readonly number[];
}

export interface ConvergenceCase {
  readonly name: string;
  readonly n: number;
  readonly entries: number;
  readonly curves: readonly ConvergenceCurve[];
}

/** A grid and what is tried on it. */
export interface ConvergenceProblem {
  readonly name: string;
  readonly make: () => Sparse;
  readonly methods: readonly Method[];
  readonly preconditioners: readonly Named[];
}

const TOLERANCE = 1e-10;

/** Where a curve ends at the latest: gmres does not converge on the grids of elasticity before. */
const MAX_ITERATIONS = 500;

/** The grids with this many nodes on a side. The diagonals of the first two are constant: Jacobi changes nothing there. */
export function convergenceProblems(side: number): readonly ConvergenceProblem[] {
  const square = `${side} x ${side}`;
  const half = Math.round(side / 2);
  return [
    {
      name: `Laplacian, ${square}, 5 points`,
      make: () => laplacian(side, side),
      methods: ["cg", "bicgstab", "gmres"],
      preconditioners: ["none", "ilu0"],
    },
    {
      name: `Convection and diffusion, ${square}`,
      make: () => convectionDiffusion(side, side),
      methods: ["bicgstab", "gmres"],
      preconditioners: ["none", "ilu0"],
    },
    {
      name: `Elasticity, ${half} x ${half}`,
      make: () => elasticity(half, half),
      methods: ["cg", "bicgstab", "gmres"],
      preconditioners: ["none", "jacobi", "ilu0"],
    },
  ];
}

/** Solves with everything that is tried on a grid; the right-hand side is random. */
export function measureConvergence({ name, make, methods, preconditioners }: ConvergenceProblem): ConvergenceCase {
  const A = make();
  const b = uniform(A.rows, 16);
  const curves = methods.flatMap((method) =>
    preconditioners.map((preconditioner) => {
      const { reason, iterations, residual, history } = METHODS[method](A, b, {
        preconditioner,
        tolerance: TOLERANCE,
        maxIterations: MAX_ITERATIONS,
      });
      const norm = history[0] as number; // that of b, as x0 is 0
      return { method, preconditioner, reason, iterations, residual, history: Array.from(history, (r) => r / norm) };
    }),
  );
  return { name, n: A.rows, entries: A.values.length, curves };
}
