// solve() and factor() over ranks: the routines of src/routines/solve on the kernels of kernels.ts. See Ranks.
import { checkOptions, describe } from "../../arrays/checks.ts";
import { ShapeError } from "../../arrays/errors.ts";
import type { MatrixOperand } from "../../arrays/operands.ts";
import type { Matrix } from "../../arrays/types.ts";
import { type Routine, runAsync } from "../../engines/steps.ts";
import * as routines from "../../routines/solve/factor.ts";
import { solve as solveRoutine } from "../../routines/solve/solve.ts";
import type { Solution, SolveOptions } from "../../routines/solve/types.ts";
import { type Context, type Facts, together } from "../context.ts";
import { callWith, type DistributedMatrix } from "../dense/matrix.ts";
import { relayout } from "../dense/redistribute.ts";
import { hashOf } from "../replicated.ts";
import type { Distributed, DistributedFactors } from "../types.ts";
import { RankKernels } from "./kernels.ts";

/** The solution of A x = b: see Ranks.solve. */
export function solve(context: Context, A: Distributed<Matrix>, b: Float64Array | Matrix, options: SolveOptions = {}): Promise<Solution> {
  return callWith(context, "solve", (borrow) => {
    const matrix = borrow("A", A);
    const own = ownOptions("solve", options);
    const { kernels, rows, spread } = spreadByRows(context, "solve", matrix);
    const routine = solveRoutine(rows, b, own);
    const first = routine.next();
    return {
      facts: { A: matrix.description, ...factsOf(b, own) },
      async body() {
        const free = await spread();
        try {
          return await runAsync(routine, () => kernels.asKernels, first);
        } finally {
          free();
        }
      },
    };
  });
}

/** Factors for several right-hand sides: see Ranks.factor. */
export function factor(context: Context, A: Distributed<Matrix>, options: SolveOptions = {}): Promise<DistributedFactors> {
  return callWith(context, "factor", (borrow) => {
    const matrix = borrow("A", A);
    const own = ownOptions("factor", options);
    const { kernels, rows, spread } = spreadByRows(context, "factor", matrix);
    // The name and the facts of the method that is being called: it makes its call before it returns.
    let [name, factsOfCall] = ["", (): Facts => ({})];
    const run = (routine: Routine<unknown>): Promise<unknown> =>
      context.call(name, () => {
        const facts = { factors: matrix.description, ...factsOfCall() };
        const first = routine.next();
        return { facts, body: () => runAsync(routine, () => kernels.asKernels, first) };
      });
    const routine = routines.factor(rows, own, run);
    const first = routine.next();
    return {
      facts: { A: matrix.description, ...optionFacts(own) },
      async body() {
        const free = await spread();
        let factored: DistributedFactors;
        try {
          factored = (await runAsync(routine, () => kernels.asKernels, first)) as DistributedFactors;
        } finally {
          free();
        }
        return {
          solve(b, options = {}) {
            [name, factsOfCall] = ["Factored.solve", () => factsOf(b, ownOptions("Factored.solve", options))];
            return factored.solve(b, withBinary64(options));
          },
          free() {
            [name, factsOfCall] = ["Factored.free", () => ({})];
            return factored.free();
          },
        };
      },
    };
  });
}

// A matrix as the routines take it, and how its rows get there. The rows are freed with what spread() returns.
function spreadByRows(context: Context, routine: string, A: DistributedMatrix) {
  if (A.rows !== A.cols) throw new ShapeError(`${routine}: A is ${A.rows} by ${A.cols}, expected a square matrix`);
  const n = A.rows;
  const kernels = new RankKernels(context, n);
  const array = kernels.newMatrix();
  const rows: MatrixOperand = { data: array, rows: n, cols: n, order: "row", ld: n, offset: 0 };
  const spread = async (): Promise<() => void> => {
    const { layout } = kernels;
    const data = await together(context, routine, () => new Float64Array(layout.shapeOn(context.comm.rank)[0] * n));
    await relayout(context, A.stored, { layout, data, rowStart: (r) => r * n, colStart: (c) => c });
    await kernels.fill(routine, array, data);
    return () => array.free();
  };
  return { kernels, rows, spread };
}

// Factors over ranks are binary64.
function ownOptions(routine: string, options: SolveOptions): SolveOptions {
  if (typeof options !== "object" || options === null) checkOptions(routine, options, []);
  if (options.method === "mixed")
    throw new ShapeError(`${routine}: method is "mixed", expected "auto", "double" or "exact": factors over ranks are binary64`);
  return withBinary64(options);
}

// "auto" begins with binary32 factors if the rounding is "backward".
function withBinary64(options: SolveOptions): SolveOptions {
  return options?.rounding === "backward" && (options.method ?? "auto") === "auto" ? { ...options, method: "double" } : options;
}

const optionFacts = ({ rounding, method, fallback, maxIterations }: SolveOptions): Facts => ({ rounding, method, fallback, maxIterations });

function factsOf(b: Float64Array | Matrix, options: SolveOptions): Facts {
  return { "b with hash": rightHash(b), ...optionFacts(options) };
}

function rightHash(b: Float64Array | Matrix): string {
  if (b instanceof Float64Array) return String(hashOf(b));
  if (typeof b !== "object" || b === null || !(b.data instanceof Float64Array)) return describe(b);
  return `${hashOf(b.data)} (${b.rows} by ${b.cols}, ${b.order}, ${b.ld}, ${b.offset})`;
}
