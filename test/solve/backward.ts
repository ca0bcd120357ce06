// solve() and factor() as the tests of the mixed-precision solver call them.
import type { SolveOptions } from "../../src/index.ts";

type Call = (...args: never[]) => unknown;

/** The same routines with rounding "backward", unless a call has its own; so have the solves of their factors. */
export function backward<R extends { readonly solve: Call; readonly factor: Call }>(routines: R): R {
  const { solve, factor } = routines as unknown as Record<"solve" | "factor", (...args: unknown[]) => unknown>;
  const rounded = (options?: SolveOptions): SolveOptions => ({ rounding: "backward", ...options });
  return {
    ...routines,
    solve: (A: unknown, b: unknown, options?: SolveOptions) => solve(A, b, rounded(options)),
    factor: (A: unknown, options?: SolveOptions) => factor(A, rounded(options)),
  };
}
