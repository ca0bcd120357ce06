// Products and systems of the part "Try", for worker/compute.ts: on an engine of the library, and in ordinary arithmetic.
import type { Engine } from "../../src/api/engine.ts";
import { matrix } from "../../src/arrays/matrix.ts";
import type { Matrix, Sparse } from "../../src/arrays/types.ts";
import type { Operation } from "../try/operations.ts";
import type { Plan } from "./compute.ts";
import { isSparse, type Operand, toDense } from "./operands.ts";
import * as plain from "./ordinary.ts";

type Right = Float64Array | Matrix;

// Multiplications that ordinary arithmetic may take: about two seconds.
const MAX_WORK = 2e9;
const tooMuch = (work: number): string | undefined => (work > MAX_WORK ? "not computed: it would take many seconds" : undefined);

/** How to compute one of these operations. */
export function planFor(operation: Operation, [A, b]: readonly Operand[], method: string): Plan<Engine> {
  if (operation === "product") return product(A as Matrix | Sparse, b as Right);
  if (operation === "solve") return system(A as Matrix | Sparse, b as Right);
  return sparseSystem(A as Sparse, b as Float64Array, method);
}

function product(A: Matrix | Sparse, B: Right): Plan<Engine> {
  if (B instanceof Float64Array) {
    const exact = async (engine: Engine): Promise<{ result: Float64Array }> => {
      const y = new Float64Array(A.rows);
      return { result: isSparse(A) ? await engine.exspmv(1, A, B, 0, y) : await engine.exgemv(1, A, B, 0, y) };
    };
    return { shape: [A.rows], exact, ordinary: tooMuch(A.rows * A.cols) ?? (() => plain.plainMultiply(toDense("A", A), B)) };
  }
  const dense = toDense("A", A);
  return {
    shape: [A.rows, B.cols],
    exact: async (engine) => ({
      result: (await engine.exgemm(1, dense, B, 0, matrix(new Float64Array(A.rows * B.cols), A.rows, B.cols))).data,
    }),
    ordinary: tooMuch(A.rows * A.cols * B.cols) ?? (() => plain.plainMultiply(dense, B)),
  };
}

function system(A: Matrix | Sparse, b: Right): Plan<Engine> {
  return {
    shape: b instanceof Float64Array ? [A.cols] : [A.cols, b.cols],
    async exact(engine) {
      const { x, certified, method, condition } = await engine.solve(A, b);
      const proof = certified ? "Every component is proved to be the exact solution, rounded once." : "Not every component is proved.";
      const stage = method === "modular" ? "exact arithmetic" : `${method} precision factors and exact residuals`;
      return {
        result: x,
        notes: [proof, `Found by ${stage}. Condition: about ${condition.toExponential(0)}, as far as the factors can tell.`],
      };
    },
    ordinary: tooMuch(A.rows ** 3 / 3) ?? (() => plain.plainSystem(toDense("A", A), b)),
  };
}

function sparseSystem(A: Sparse, b: Float64Array, method: string): Plan<Engine> {
  const shape = [A.cols];
  if (method === "whole") return system(A, b);
  if (method === "cg")
    return {
      shape,
      isExact: false,
      async exact(engine) {
        const { x, converged, iterations, residual, reason } = await engine.cg(A, b);
        const end = converged ? "" : ` It stopped without converging (${reason}).`;
        return { result: x, notes: [`${iterations} iterations, residual ${residual.toExponential(1)}: the same on every machine.${end}`] };
      },
      ordinary: () => plain.plainConjugateGradients(A, b),
    };
  const uplo = method === "upper" ? "upper" : "lower";
  return {
    shape,
    isExact: false,
    exact: async (engine) => ({ result: await (await engine.sptrsv(A, { uplo })).solve(b) }),
    ordinary: () => plain.plainTriangle(A, b, uplo === "upper"),
  };
}
