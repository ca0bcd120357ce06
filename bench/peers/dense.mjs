// Peers of the dense routines: OpenBLAS, ml-matrix and numpy-ts. Matrices have order n; default: stored by rows.
import { LuDecomposition, Matrix, solve } from "ml-matrix";

export const PACKAGES = ["ml-matrix", "numpy-ts", "koffi", "assemblyscript"];

const ROW = 101; // CblasRowMajor and so on
const COLUMN = 102;
const PLAIN = 111;
const TRANSPOSED = 112;
const UPPER = 121;
const LOWER = 122;
const NON_UNIT = 131;

/**
 * The dense routines of a loaded OpenBLAS, with the arguments of the plain kernels. LAPACK has Fortran's conventions: all
 * arguments by address, matrices stored by columns.
 */
export function blasDense(library, core) {
  const dgemv = library.func(
    "void cblas_dgemv(int order, int trans, int m, int n, double alpha, const double *a, int lda, const double *x, int incx, double beta, double *y, int incy)",
  );
  const dtrsv = library.func(
    "void cblas_dtrsv(int order, int uplo, int trans, int diag, int n, const double *a, int lda, double *x, int incx)",
  );
  const dgemm = library.func(
    "void cblas_dgemm(int order, int transA, int transB, int m, int n, int k, double alpha, const double *a, int lda, const double *b, int ldb, double beta, double *c, int ldc)",
  );
  const dgetrf = library.func("void dgetrf_(const int *m, const int *n, double *a, const int *lda, int *pivots, int *info)");
  const dgetrs = library.func(
    "void dgetrs_(const char *trans, const int *n, const int *nrhs, const double *a, const int *lda, const int *pivots, double *b, const int *ldb, int *info)",
  );
  const one = Int32Array.of(1);
  const info = Int32Array.of(0);
  const orders = new Map(); // n as arrays, to pass by address
  const orderOf = (n) => orders.get(n) ?? orders.set(n, Int32Array.of(n)).get(n);
  return {
    gemv: {
      name: `OpenBLAS dgemv, ${core}`,
      run: (n, A, x, y, { trans = false } = {}) => {
        dgemv(ROW, trans ? TRANSPOSED : PLAIN, n, n, 1, A, n, x, 1, 0, y, 1);
        return y;
      },
    },
    trsv: {
      name: `OpenBLAS dtrsv, ${core}`,
      run: (n, T, b, x, { order, uplo, trans } = {}) => {
        x.set(b);
        dtrsv(order === "column" ? COLUMN : ROW, uplo === "upper" ? UPPER : LOWER, trans ? TRANSPOSED : PLAIN, NON_UNIT, n, T, n, x, 1);
        return x;
      },
    },
    gemm: {
      name: `OpenBLAS dgemm, ${core}`,
      run: (n, A, B, C) => {
        dgemm(ROW, PLAIN, PLAIN, n, n, n, 1, A, n, B, n, 0, C, n);
        return C;
      },
    },
    lu: {
      name: `OpenBLAS dgetrf, ${core}`,
      run: (n, A, pivots) => {
        const order = orderOf(n);
        dgetrf(order, order, A, order, pivots, info);
      },
    },
    luSolve: {
      name: `OpenBLAS dgetrs, ${core}`,
      run: (n, lu, pivots, b, x) => {
        const order = orderOf(n);
        x.set(b);
        dgetrs("N", order, one, lu, order, pivots, x, order, info);
        return x;
      },
    },
  };
}

/** ml-matrix: plain JavaScript. */
export const mlMatrix = {
  matrix: (n, data) => Matrix.from1DArray(n, n, data),
  column: (b) => Matrix.columnVector(b),
  lu: { name: "ml-matrix LuDecomposition", run: (A) => new LuDecomposition(A), read: (factors) => factors.LU.to1DArray() },
  luSolve: { name: "ml-matrix LuDecomposition.solve", run: (factors, b) => factors.solve(b), read: (x) => x.to1DArray() },
  solve: { name: "ml-matrix solve", run: (A, b) => solve(A, b), read: (x) => x.to1DArray() },
};

/** numpy-ts, or { missing } with the reason. */
export async function openNumpy() {
  try {
    const { array, linalg } = await import("numpy-ts");
    return {
      matrix: (n, data) => array(data).reshape(n, n),
      column: (b) => array(b),
      solve: { name: "numpy-ts linalg.solve", run: (A, b) => linalg.solve(A, b), read: (x) => Float64Array.from(x.data) },
    };
  } catch (error) {
    return { missing: `numpy-ts is not measured: ${error.message.split("\n")[0]}` };
  }
}
