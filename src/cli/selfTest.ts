// The self-test of doctor: conformance vectors that travel with the package. They come from random bits, the same on every machine, and
// are hard: terms that cancel, exponents from one end of the range to the other, subnormals, ties. All results of an engine make one hash.
import { createHash } from "node:crypto";
import { ROUNDINGS } from "../arrays/checks.ts";
import { matrix } from "../arrays/matrix.ts";
import { Random } from "../arrays/random.ts";
import { csr, toCsc } from "../arrays/sparse.ts";
import type { Matrix, Real, Sparse } from "../arrays/types.ts";
import { convectionDiffusion } from "../problems/convectionDiffusion.ts";
import { laplacian } from "../problems/laplacian.ts";
import type { IterativeSolution } from "../routines/krylov/types.ts";
import type { Callable } from "./engines.ts";
import { addTo } from "./output/hashing.ts";

/** The hash of the right results, from the reference engine, which the tests compare with independent oracles. */
export const EXPECTED = "08ca9b97900cfd5d0a8660107f6331168dc2bc1dfae58fc55d6f808b60623a85";

// 2^k at index 1022 + k. Not computed with **, whose result ECMAScript leaves to the implementation.
const POWERS = new Float64Array(2045);
POWERS[1022] = 1;
for (let k = 1; k <= 1022; k++) {
  POWERS[1022 + k] = 2 * (POWERS[1021 + k] as number);
  POWERS[1022 - k] = (POWERS[1023 - k] as number) / 2;
}

class Cases {
  private readonly random = new Random(20260101);

  /** Numbers whose exponents lie within `spread` of 0. */
  numbers<V extends Real>(like: V, n: number, spread: number): V {
    const x = like.BYTES_PER_ELEMENT === 8 ? new Float64Array(n) : new Float32Array(n);
    for (let i = 0; i < n; i++) x[i] = this.random.signed() * (POWERS[1022 + this.random.below(2 * spread + 1) - spread] as number);
    return x as V;
  }

  /** Numbers whose second half negates the first, except for one element: the sum cancels. */
  cancelling<V extends Real>(like: V, n: number, spread: number): V {
    const x = this.numbers(like, n, spread);
    for (let i = 0; i < n >> 1; i++) x[n - 1 - i] = -(x[i] as number);
    x[this.random.below(n)] = this.random.signed();
    return x;
  }

  /** A matrix with a large diagonal, safely nonsingular. */
  matrix<V extends Real>(like: V, rows: number, cols: number, order: "row" | "column"): Matrix<V> {
    const data = this.numbers(like, rows * cols, 8);
    for (let k = 0; k < Math.min(rows, cols); k++) {
      const at = order === "row" ? k * cols + k : k * rows + k;
      data[at] = 512 + (data[at] as number);
    }
    return matrix(data as Float64Array, rows, cols, { order }) as unknown as Matrix<V>;
  }

  /** A sparse matrix with a full diagonal and up to three more entries in each row. */
  sparse(n: number): Sparse {
    const rows = Array.from({ length: n }, (_, i) => [...new Set([i, this.random.below(n), this.random.below(n), this.random.below(n)])]);
    const pointers = new Int32Array(n + 1);
    for (const [i, row] of rows.entries()) pointers[i + 1] = (pointers[i] as number) + row.length;
    const indices = Int32Array.from(rows.flat());
    const values = this.numbers(new Float64Array(0), indices.length, 8);
    for (const [i, row] of rows.entries()) values[(pointers[i] as number) + row.indexOf(i)] = 3 + 2 * this.random.signed();
    return csr(n, n, pointers, indices, values);
  }
}

// The condition number at n = 14 is about 1e18.
function hilbert(n: number): Matrix {
  return matrix(
    Float64Array.from({ length: n * n }, (_, e) => 1 / (Math.floor(e / n) + (e % n) + 1)),
    n,
    n,
  );
}

/** Runs every routine on the vectors, in both precisions, and returns the hash of all results. */
export async function selfTest(engine: Callable): Promise<string> {
  const hash = createHash("sha256");
  const cases = new Cases();
  for (const like of [new Float64Array(0), new Float32Array(0)] as unknown as Float64Array[]) {
    const numbers: number[] = [];
    for (const n of [0, 1, 2, 31, 1000, 20000])
      for (const spread of like.BYTES_PER_ELEMENT === 8 ? [0, 30, 500, 1022] : [0, 20, 60, 126]) {
        const x = n < 2 ? cases.numbers(like, n, spread) : cases.cancelling(like, n, spread);
        const y = cases.numbers(like, n, spread);
        for (const round of ROUNDINGS)
          numbers.push(
            await engine.exsum(x, { round }),
            await engine.exasum(x, { round }),
            await engine.exdot(x, y, { round }),
            await engine.exnrm2(x, { round }),
          );
        addTo(hash, await engine.exaxpy(0.1, x, y));
        addTo(hash, await engine.exscal(1 / 3, x));
        addTo(hash, await engine.exinvscal(0.7, y));
      }
    addTo(hash, Float64Array.from(numbers));
    for (const [n, order] of [
      [1, "row"],
      [17, "column"],
      [70, "row"],
    ] as const) {
      const A = cases.matrix(like, n, n, order);
      const x = cases.cancelling(like, Math.max(n, 2), 20).subarray(0, n);
      for (const trans of [false, true]) addTo(hash, await engine.exgemv(0.3, A, x, -1.5, x.slice(), { trans }));
      addTo(hash, (await engine.exgemm(-0.7, A, A, 0.2, { ...A, data: A.data.slice() }, { transB: true })).data);
      for (const uplo of ["lower", "upper"] as const)
        for (const rounding of ["single", "paper", "corrected"] as const)
          addTo(hash, await engine.extrsv(A, x, { uplo, rounding, refine: rounding === "single" ? 1 : 0, trans: rounding === "paper" }));
      const factors = await engine.exlu(A);
      addTo(hash, factors.lu.data);
      addTo(hash, factors.pivots);
      addTo(hash, await factors.solve(x, { refine: 1 }));
      const batch = await engine.exluBatch(A.data, n, 1);
      addTo(hash, batch.lu);
      addTo(hash, batch.pivots);
    }
  }
  const A = cases.sparse(500);
  const b = cases.numbers(new Float64Array(0), 500, 20);
  for (const uplo of ["lower", "upper"] as const)
    for (const trans of [false, true]) addTo(hash, await (await engine.sptrsv(A, { uplo, trans })).solve(b));
  const single = csr(A.rows, A.cols, A.pointers, A.indices, Float32Array.from(A.values));
  const x = Float32Array.from(b);
  for (const trans of [false, true]) {
    for (const form of [A, toCsc(A)]) addTo(hash, await engine.exspmv(0.3, form, b, -1.5, b.slice(), { trans }));
    addTo(hash, await engine.exspmv(0.3, single, x, -1.5, x.slice(), { trans }));
  }
  for (const preconditioner of ["none", "jacobi", "ilu0"] as const) {
    const right = cases.numbers(new Float64Array(0), 80, 20);
    addIterations(await engine.cg(laplacian(10, 8), right, { preconditioner }));
    addIterations(await engine.bicgstab(convectionDiffusion(10, 8), right, { preconditioner }));
    addIterations(await engine.gmres(convectionDiffusion(10, 8), right, { preconditioner }));
  }
  for (const n of [1, 17, 70]) {
    const right = cases.numbers(new Float64Array(0), n, 20);
    addTo(hash, (await engine.solve(cases.matrix(new Float64Array(0), n, n, "column"), right)).x);
  }
  addTo(hash, (await engine.solve(hilbert(14), cases.numbers(new Float64Array(0), 14, 2))).x);
  return hash.digest("hex");

  function addIterations({ x: found, history, iterations, residual }: IterativeSolution): void {
    for (const part of [found, history, Float64Array.of(iterations, residual)]) addTo(hash, part);
  }
}
