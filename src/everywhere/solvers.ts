// The solvers of the corpus: iterative ones with their residual histories, and solve() with its proofs. In binary64, as they are.
import type { Engine } from "../api/engine.ts";
import { matrix } from "../arrays/matrix.ts";
import { csr } from "../arrays/sparse.ts";
import type { Matrix, Sparse } from "../arrays/types.ts";
import type { IterativeSolution } from "../routines/krylov/types.ts";
import type { Solution } from "../routines/solve/types.ts";
import type { CorpusRoutines, CorpusRow } from "./corpus.ts";
import type { Digest } from "./digest.ts";
import { grid, Inputs, scattered } from "./inputs.ts";

// ---------------------------------------------------------------- iterative solvers

type Method = "cg" | "bicgstab" | "gmres";

/** A grid's differences, symmetric and positive definite; with `wind` the neighbours on one side weigh more. */
function differences(side: number, wind: number): Sparse {
  const pattern = grid(side, 7);
  const pointers = new Int32Array(pattern.length + 1);
  for (const [i, row] of pattern.entries()) pointers[i + 1] = (pointers[i] as number) + row.length;
  const values = pattern.flatMap((row, i) => row.map((j) => (j === i ? 6 + wind : j < i ? -1 - wind / 4 : -1)));
  return csr(pattern.length, pattern.length, pointers, Int32Array.from(pattern.flat()), Float64Array.from(values));
}

function addIteration(out: Digest, { x, history, converged, reason, iterations, residual }: IterativeSolution): void {
  out.array(x);
  out.array(history);
  for (const v of [converged ? 1 : 0, iterations, residual]) out.number(v);
  out.word(reason);
}

const systemOf = (method: Method, side: number): Sparse => differences(side, method === "cg" ? 0 : 1);

function iterative(seed: number, method: Method): CorpusRow {
  const each = async (routines: CorpusRoutines, out: Digest, inputs: Inputs, side: number): Promise<void> => {
    const A = systemOf(method, side);
    for (const preconditioner of ["none", "jacobi"] as const)
      addIteration(out, await routines[method](A, inputs.vector(A.rows, "narrow"), { preconditioner }));
  };
  return {
    async short(routines, out) {
      const inputs = new Inputs(2 * seed, "binary64");
      await each(routines, out, inputs, 4);
      const A = systemOf(method, 3);
      addIteration(out, await routines[method](A, inputs.vector(27, "wide"), { maxIterations: 5, x0: inputs.vector(27, "narrow") }));
      addIteration(out, await routines[method](A, inputs.zeros(27)));
      addIteration(out, await routines[method](A, inputs.vector(27, "integers"), { tolerance: 1e-30, restart: 4, maxRestarts: 2 }));
      const indefinite = csr(2, 2, Int32Array.of(0, 1, 2), Int32Array.of(1, 0), Float64Array.of(1, -1));
      addIteration(out, await routines[method](indefinite, Float64Array.of(1, 2))); // breaks down, or not
    },
    full: (routines, out) => each(routines, out, new Inputs(2 * seed + 1, "binary64"), 10),
  };
}

// What engines of one machine have and ranks have not: incomplete factors, plans of one's own, dense matrices.
const preconditioned: CorpusRow = {
  async short(routines, out) {
    const inputs = new Inputs(62, "binary64");
    const plansOf = routines.sptrsv as unknown as Engine["sptrsv"]; // the plans of these routines, whether they return promises or not
    for (const method of ["cg", "bicgstab", "gmres"] as const) {
      const A = systemOf(method, 4);
      addIteration(out, await routines[method](A, inputs.vector(64, "narrow"), { preconditioner: "ilu0" }));
      const factors = await routines.ilu0(A);
      const plans = [await plansOf(factors, { unit: true }), await plansOf(factors, { uplo: "upper" })];
      addIteration(out, await routines[method](A, inputs.vector(64, "narrow"), { preconditioner: plans }));
      for (const plan of plans) await plan.free();
    }
    const A = inputs.dominant(20);
    for (const method of ["bicgstab", "gmres"] as const) addIteration(out, await routines[method](A, inputs.vector(20, "narrow")));
  },
};

// ---------------------------------------------------------------- solve

function addSolution(out: Digest, { x, certified, residual, backwardError }: Solution): void {
  out.array(x);
  for (const v of [certified ? 1 : 0, residual, backwardError]) out.number(v);
}

async function solved(routines: CorpusRoutines, out: Digest, A: Matrix | Sparse, b: Float64Array | Matrix): Promise<void> {
  await out.outcome(async () => addSolution(out, await routines.solve(A, b)));
}

/** Hilbert's matrix: its condition passes 1e16 at n = 12. */
function hilbert(n: number): Matrix {
  return matrix(
    Float64Array.from({ length: n * n }, (_, e) => 1 / (Math.floor(e / n) + (e % n) + 1)),
    n,
    n,
  );
}

// A row that is the sum of two others, but for `difference` in one entry: any condition, or singular.
function dependent(inputs: Inputs, n: number, difference: number): Matrix {
  const A = matrix(inputs.vector(n * n, "integers"), n, n);
  for (let j = 0; j < n; j++) A.data[(n - 1) * n + j] = (A.data[j] as number) + (A.data[n + j] as number);
  A.data[n * n - 1] = (A.data[n * n - 1] as number) + difference;
  return A;
}

const solve: CorpusRow = {
  async short(routines, out) {
    const inputs = new Inputs(64, "binary64");
    for (const n of [0, 1, 2, 3, 7, 18]) {
      await solved(routines, out, inputs.dominant(n, "column"), inputs.vector(n, "narrow"));
      await solved(routines, out, inputs.matrix(n, n, "narrow"), inputs.vector(n, "integers"));
      await solved(routines, out, inputs.matrix(n, n, "wide"), inputs.vector(n, "wide"));
      await solved(routines, out, inputs.matrix(n, n, "integers"), inputs.vector(n, "integers"));
    }
    for (const n of [5, 9, 13]) await solved(routines, out, hilbert(n), inputs.vector(n, "integers"));
    for (const difference of [1, inputs.power(-40), inputs.power(-900), 0])
      await solved(routines, out, dependent(inputs, 8, difference), inputs.vector(8, "integers"));
    // Ties, and the ends of the range: thirds of odd multiples of 2^-k by a diagonal of 3 2^k.
    const diagonal = matrix(new Float64Array(16), 4, 4);
    for (const [i, v] of [3 * inputs.power(60), 4, inputs.power(-1000), inputs.power(1000)].entries()) diagonal.data[5 * i] = v;
    for (const kind of ["ties", "ones", "large", "subnormal"] as const) await solved(routines, out, diagonal, inputs.vector(4, kind));
    await solved(routines, out, inputs.dominant(9), inputs.matrix(9, 3, "narrow", "column"));
    await solved(routines, out, inputs.sparse(scattered(inputs.random, 15, 3), 30), inputs.vector(15, "narrow"));
    await solved(routines, out, matrix(Float64Array.of(1, Number.NaN, 2, 3), 2, 2), inputs.vector(2, "narrow"));
    await out.outcome(async () => {
      const factors = await routines.factor(inputs.dominant(11));
      for (const kind of ["narrow", "wide"] as const) addSolution(out, await factors.solve(inputs.vector(11, kind)));
      await factors.free();
    });
  },
  async full(routines, out) {
    const inputs = new Inputs(65, "binary64");
    await solved(routines, out, inputs.matrix(120, 120, "narrow"), inputs.vector(120, "narrow"));
    await solved(routines, out, inputs.dominant(200, "column"), inputs.matrix(200, 3, "narrow"));
    await solved(routines, out, hilbert(30), inputs.vector(30, "integers"));
    await solved(routines, out, dependent(inputs, 60, inputs.power(-70)), inputs.vector(60, "narrow"));
    await solved(routines, out, dependent(inputs, 40, 0), inputs.vector(40, "integers"));
    await solved(routines, out, differences(6, 1), inputs.vector(216, "narrow"));
  },
  async large(routines, out) {
    const inputs = new Inputs(66, "binary64");
    await solved(routines, out, inputs.matrix(700, 700, "narrow"), inputs.vector(700, "narrow"));
  },
};

export const solvers: Readonly<Record<string, CorpusRow>> = {
  cg: iterative(31, "cg"),
  bicgstab: iterative(32, "bicgstab"),
  gmres: iterative(33, "gmres"),
  "cg, bicgstab, gmres: ilu0, plans, dense": preconditioned,
  solve,
};
