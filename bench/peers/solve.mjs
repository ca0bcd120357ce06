// Peers of solve(): OpenBLAS and npm packages. Each is { name, system, run, read }: `system` converts { n, A, b }, with A stored by
// rows, to what the peer takes, untimed; `run` solves and leaves its input intact; `read` extracts { x, iterations } from its result.
import { lusolve } from "mathjs";
import { transposed } from "../harness/data.mjs";
import { race } from "../harness/race.mjs";
import { mlMatrix } from "./dense.mjs";

export const PACKAGES = ["ml-matrix", "mathjs", "numpy-ts", "koffi", "assemblyscript"];

/** The solvers of a loaded OpenBLAS, with Fortran's conventions: all arguments by address, matrices stored by columns. */
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
    // It solves in place: the copies take a hundredth of its time.
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
    // It overwrites A if binary32 is not accurate enough, which does not happen here.
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

/** Nanoseconds of a dgesv of order 1: koffi's share of a call. Undefined without OpenBLAS. */
export async function shortestSolve(blas, pace) {
  if (blas.missing) return undefined;
  const [{ system, run }] = blas.double;
  const own = system({ n: 1, A: Float64Array.of(1), b: Float64Array.of(1) });
  const [call] = await race([{ name: "call of order 1", run: () => run(own) }], pace);
  return call.median;
}

export const ML_MATRIX = "ml-matrix solve";
export const MATH_JS = "math.js lusolve";

/** JavaScript and WebAssembly from npm; numpy-ts where it is installed. */
export function packagePeers(numpy) {
  const ofMatrices = ({ matrix, column, solve }) => ({
    name: solve.name,
    system: ({ n, A, b }) => [matrix(n, A), column(b)],
    run: ([A, b]) => solve.run(A, b),
    read: (x) => ({ x: Float64Array.from(solve.read(x)) }),
  });
  return [...(numpy.missing ? [] : [ofMatrices(numpy)]), ofMatrices(mlMatrix), mathJs];
}

// It takes rows as arrays, and more than a minute at n = 2000.
const mathJs = {
  name: MATH_JS,
  once: true,
  system: ({ n, A, b }) => [Array.from({ length: n }, (_, i) => [...A.subarray(i * n, (i + 1) * n)]), [...b]],
  run: ([A, b]) => lusolve(A, b),
  read: (x) => ({ x: Float64Array.from(x, ([v]) => v) }),
};
