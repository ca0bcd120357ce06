// A stand-in for solve() on ranks: every rank collects the whole matrix and solves the system by itself.
import { solve as solveAlone } from "../../api/matrixRoutines.ts";
import { matrix } from "../../arrays/matrix.ts";
import type { Matrix } from "../../arrays/types.ts";
import type { Solution, SolveOptions } from "../../routines/solve/types.ts";
import type { Context } from "../context.ts";
import { callWith } from "../dense/matrix.ts";
import { collect } from "../dense/redistribute.ts";
import { hashOf } from "../replicated.ts";
import type { Distributed } from "../types.ts";

/** The solution of A x = b. */
export function solve(context: Context, A: Distributed<Matrix>, b: Float64Array, options: SolveOptions = {}): Promise<Solution> {
  return callWith(context, "solve", (borrow) => {
    const from = borrow("A", A);
    const { rows, cols } = from;
    return {
      facts: { A: from.description, "b with hash": hashOf(b) },
      async body() {
        const all = { rows: Int32Array.from({ length: rows }, (_, i) => i), cols: Int32Array.from({ length: cols }, (_, j) => j) };
        return solveAlone(matrix(await collect(context, from, () => all), rows, cols), b, options);
      },
    };
  });
}
