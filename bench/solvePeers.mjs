// The rivals of solve() from elsewhere. Each is { name, system, run, read }: `system` makes of { n, A, b }, A row by row, what
// it takes, outside the timing; `run` solves and leaves that as it was; `read` makes { x, iterations } of what it returns.
import { lusolve } from "mathjs";
import { transposed } from "./denseData.mjs";
import { mlMatrix } from "./densePeers.mjs";

export const PACKAGES = ["ml-matrix", "mathjs", "numpy-ts", "koffi", "assemblyscript"];

/** The solvers of a loaded OpenBLAS. LAPACK's are Fortran's: all arguments by address, matrices column by column. */
export function blasSolve(library, core) {
  const dgesv = library.func(
    "void dgesv_(const int *n, const int *nrhs, double *a, const int *lda, int *pivots, double *b, const int *ldb, int *info)",
  );
  const dsgesv = library.func(
    "void dsgesv_(const int *n, const int *nrhs, double *a, const int *lda, int *pivots, const double *b, const int *ldb, double *x, const int *ldx, double *work, float *swork, int *iter, int *info)",
  );
  const one = Int32Array.of(1);
  const system = ({ n, A, b }) => ({
    order: Int32Array.of(n),
    b,
    columns: transposed(A, n),
    factors: new Float64Array(n * n),
    pivots: new Int32Array(n),
    x: new Float64Array(n),
    residual: new Float64Array(n),
    single: new Float32Array(n * (n + 1)),
    iterations: Int32Array.of(0),
    info: Int32Array.of(0),
  });
  const read = ({ x, iterations: [iterations], info: [info] }) => {
    if (info !== 0) throw new Error(`OpenBLAS: info is ${info}, expected 0`);
    return { x: x.slice(), iterations };
  };
  return {
    // It solves in place: the copies are a hundredth of its time.
    double: {
      name: `OpenBLAS dgesv, ${core}`,
      system,
      run: (s) => {
        s.factors.set(s.columns);
        s.x.set(s.b);
        dgesv(s.order, one, s.factors, s.order, s.pivots, s.x, s.order, s.info);
        return s;
      },
      read: (s) => ({ ...read(s), iterations: undefined }),
    },
    // A is overwritten where binary32 does not do, which is not so here.
    mixed: {
      name: `OpenBLAS dsgesv, ${core}`,
      system,
      run: (s) => {
        dsgesv(s.order, one, s.columns, s.order, s.pivots, s.b, s.order, s.x, s.order, s.residual, s.single, s.iterations, s.info);
        return s;
      },
      read,
    },
  };
}

export const ML_MATRIX = "ml-matrix solve";
export const MATH_JS = "math.js lusolve";

/** Plain JavaScript and WebAssembly from npm; numpy-ts where it is. */
export function packagePeers(numpy) {
  const ofMatrices = ({ matrix, column, solve }) => ({
    name: solve.name,
    system: ({ n, A, b }) => [matrix(n, A), column(b)],
    run: ([A, b]) => solve.run(A, b),
    read: (x) => ({ x: Float64Array.from(solve.read(x)) }),
  });
  return [...(numpy.missing ? [] : [ofMatrices(numpy)]), ofMatrices(mlMatrix), mathJs];
}

// Rows as arrays. It takes more than a minute at n = 2000.
const mathJs = {
  name: MATH_JS,
  once: true,
  system: ({ n, A, b }) => [Array.from({ length: n }, (_, i) => [...A.subarray(i * n, (i + 1) * n)]), [...b]],
  run: ([A, b]) => lusolve(A, b),
  read: (x) => ({ x: Float64Array.from(x, ([v]) => v) }),
};
