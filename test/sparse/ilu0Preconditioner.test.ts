// The preconditioner "ilu0" on every engine, whose plans use the factors where the engine left them: the same iterations as with plans that
// sptrsv makes of the result of ilu0.
import { describe, expect, test } from "vitest";
import { cg, csr, gmres, ilu0, laplacian, type Real, type Sparse, sptrsv, toCsc } from "../../src/index.ts";
import { elasticity } from "../../src/problems/elasticity.ts";
import { kernels, LOCAL_ENGINES, Random, routinesOn } from "../../src/study.ts";
import { caught } from "../caught.ts";
import { ENGINES } from "../engines.ts";
import { storedBits } from "../hex.ts";

type Solver = (A: Sparse, b: Float64Array, options: object) => unknown;
interface Solvers {
  readonly name: string;
  readonly cg: Solver;
  readonly gmres: Solver;
}

const local = LOCAL_ENGINES.flatMap((name) => {
  const engine = kernels(name);
  return engine ? [{ name, ...(routinesOn(engine) as unknown as Pick<Solvers, "cg" | "gmres">) }] : [];
});
const opened = ENGINES.flatMap(({ name, opened }) =>
  opened
    ? [
        {
          name,
          cg: async (...args: Parameters<Solver>) => (await opened()).cg(...args),
          gmres: async (...args: Parameters<Solver>) => (await opened()).gmres(...args),
        },
      ]
    : [],
);
const asked = process.env.HALFULP_ENGINES?.split(",");
const SOLVERS: readonly Solvers[] = [...local.filter(({ name }) => !asked || asked.includes(name)), ...opened];

/** The lines in descending order. */
function reversed(A: Sparse): Sparse {
  const [indices, values] = [A.indices.slice(), A.values.slice()];
  for (let i = 0; i < A.rows; i++) {
    indices.subarray(A.pointers[i], A.pointers[i + 1]).reverse();
    values.subarray(A.pointers[i], A.pointers[i + 1]).reverse();
  }
  return csr(A.rows, A.cols, A.pointers, indices, values);
}

function result(solution: unknown): unknown {
  const { x, iterations, history, reason } = solution as { x: Real; iterations: number; history: Real; reason: string };
  return { x: storedBits(x), iterations, history: storedBits(history), reason };
}

describe.each(SOLVERS)('"ilu0" on $name', (solvers) => {
  test.each([
    ["7 points", laplacian(12, 11, 10), "cg"],
    ["27 points, enough for several threads", laplacian(14, 14, 15, 27), "cg"],
    ["by columns", toCsc(laplacian(9, 8, 7, 27)), "cg"],
    ["descending lines", reversed(elasticity(5, 4, 3)), "cg"],
    ["9 points", laplacian(40, 30, undefined, 9), "gmres"],
  ] as const)("%s", async (_title, A, method) => {
    const random = new Random(3);
    const b = Float64Array.from({ length: A.rows }, () => random.signed());
    const F = ilu0(A);
    const plans = [sptrsv(F, { unit: true }), sptrsv(F, { uplo: "upper" })];
    const options = { tolerance: 1e-8, maxIterations: 12 };
    const wanted = result({ cg, gmres }[method](A, b, { ...options, preconditioner: plans }));
    expect(result(await solvers[method](A, b, { ...options, preconditioner: "ilu0" }))).toEqual(wanted);
  });

  test("zero pivots and missing diagonals end the call", async () => {
    const pattern = [Int32Array.of(0, 2, 4), Int32Array.of(0, 1, 0, 1)] as const;
    const zero = csr(2, 2, ...pattern, Float64Array.of(1, 2, 2, 4));
    const missing = csr(2, 2, Int32Array.of(0, 1, 2), Int32Array.of(0, 0), Float64Array.of(1, 1));
    for (const A of [zero, missing]) {
      const { name, message } = caught(() => ilu0(A)) as Error;
      await expect((async () => solvers.cg(A, Float64Array.of(1, 1), { preconditioner: "ilu0" }))()).rejects.toMatchObject({
        name,
        message,
      });
    }
  });
});
