// The rivals of every dense case. Rivals in the same memory share their outputs: `read` copies them.

import { transposed } from "../harness/data.mjs";
import { matrix } from "../harness/library.mjs";
import { oursFor } from "../harness/ours.mjs";
import { mlMatrix } from "../peers/dense.mjs";

/** The name of the plain kernel of an engine. */
export function plainName(op, engine) {
  return `plain ${op} ${engine}`;
}

const copy = (array) => array.slice();

/**
 * The rivals of every dense case, from the plain kernels and the libraries that were loaded. Each function returns { rivals, free };
 * orders are multiples of 4.
 */
export function denseRivals({ space, plain, blas, numpy }) {
  return { gemv, trsv, gemm, lu, luSolve, solve, luBatch };

  // Plain kernels and OpenBLAS take the same arguments: the order, the arrays, the options.
  function rivalsOf(op, n, arrays, options, rival, hasPlain = true) {
    const ours = oursFor(op, arrays, (routines, own) => ({ run: rival(routines, own), read: copy }));
    const aligned = Object.values(space.place(arrays));
    const others = [...(hasPlain ? plainOf(op) : []), ...(blas[op] ?? [])];
    return {
      rivals: [...ours.rivals, ...others.map(({ name, run }) => ({ name, run: () => run(n, ...aligned, options), read: copy }))],
      free: ours.free,
    };
  }

  function plainOf(op) {
    return plain.map((kernels) => ({ name: plainName(op, kernels.engine), run: kernels[op] }));
  }

  function gemv(n, A, x, options) {
    return rivalsOf("gemv", n, { A, x, y: new Float64Array(n) }, options, ({ exgemv }, own) => {
      const M = matrix(own.A, n, n);
      return () => exgemv(1, M, own.x, 0, own.y, options);
    });
  }

  /** Options are those of extrsv, and the storage order of T. */
  function trsv(n, T, b, { order = "row", ...options }) {
    const isLower = order === "row" && options.uplo !== "upper" && !options.trans;
    const rival = ({ extrsv }, own) => {
      const M = matrix(own.T, n, n, { order });
      return () => extrsv(M, own.b, options);
    };
    return rivalsOf("trsv", n, { T, b, x: new Float64Array(n) }, { order, ...options }, rival, isLower);
  }

  function gemm(n, A, B) {
    return rivalsOf("gemm", n, { A, B, C: new Float64Array(n * n) }, {}, ({ exgemm }, own) => {
      const [MA, MB, MC] = [own.A, own.B, own.C].map((data) => matrix(data, n, n));
      return () => exgemm(1, MA, MB, 0, MC).data;
    });
  }

  /** P A = L U of a copy of A: exlu makes one, too. */
  function lu(n, A) {
    const ours = oursFor("lu", { A }, ({ exlu }, own) => {
      const M = matrix(own.A, n, n);
      return { run: () => exlu(M), read: (factors) => copy(factors.lu.data) };
    });
    return { rivals: [...ours.rivals, ...factorizations("lu", n, A, 1), peer(mlMatrix.lu, mlMatrix.matrix(n, A))], free: ours.free };
  }

  function luBatch(n, A, count) {
    const ours = oursFor("luBatch", { A }, ({ exluBatch }, own) => ({ run: () => exluBatch(own.A, n, count), read: ({ lu }) => copy(lu) }));
    return { rivals: [...ours.rivals, ...factorizations("luBatch", n, A, count)], free: ours.free };
  }

  // One call of the plain kernel and of dgetrf for each matrix.
  function factorizations(op, n, A, count) {
    const { rows, columns, factors, pivots } = placeForLu(n, A, count);
    const matrices = Array.from({ length: count }, (_, k) => factors.subarray(k * n * n, (k + 1) * n * n));
    const rival = (run, from) => () => {
      factors.set(from);
      for (const one of matrices) run(n, one, pivots);
      return factors;
    };
    return [
      ...plain.map(({ engine, lu }) => ({ name: plainName(op, engine), run: rival(lu, rows), read: copy })),
      ...(blas.lu ?? []).map(({ name, run }) => ({ name, run: rival(run, columns), read: (data) => transposed(data, n) })),
    ];
  }

  /** Substitution with factors that are known. */
  function luSolve(n, A, b) {
    const ours = oursFor("luSolve", { A, b }, ({ exlu }, own) => {
      const factors = exlu(matrix(own.A, n, n));
      return { run: () => factors.solve(own.b), read: copy };
    });
    const { columns, pivots, right, x } = placeForLu(n, A, 1, b);
    blas.lu?.[0].run(n, columns, pivots);
    const others = (blas.luSolve ?? []).map(({ name, run }) => ({ name, run: () => run(n, columns, pivots, right, x), read: copy }));
    return {
      rivals: [...ours.rivals, ...others, peer(mlMatrix.luSolve, mlMatrix.lu.run(mlMatrix.matrix(n, A)), mlMatrix.column(b))],
      free: ours.free,
    };
  }

  /** A x = b from the start. */
  function solve(n, A, b) {
    const ours = oursFor("solve", { A, b }, ({ exlu }, own) => {
      const M = matrix(own.A, n, n);
      return { run: () => exlu(M).solve(own.b), read: copy };
    });
    const { columns, factors, pivots, right, x } = placeForLu(n, A, 1, b);
    const others = (blas.lu ?? []).map(({ name, run }, i) => ({
      name: `${name} and dgetrs`,
      run: () => {
        factors.set(columns);
        run(n, factors, pivots);
        return blas.luSolve[i].run(n, factors, pivots, right, x);
      },
      read: copy,
    }));
    const peers = [mlMatrix, numpy].filter(({ missing }) => !missing).map((one) => peer(one.solve, one.matrix(n, A), one.column(b)));
    return { rivals: [...ours.rivals, ...others, ...peers], free: ours.free };
  }

  function placeForLu(n, A, count, b = new Float64Array(n)) {
    return space.place({
      rows: A,
      columns: transposed(A, n),
      factors: new Float64Array(count * n * n),
      pivots: new Int32Array(n),
      right: b,
      x: new Float64Array(n),
    });
  }
}

function peer({ name, run, read }, ...args) {
  return { name, run: () => run(...args), read };
}
