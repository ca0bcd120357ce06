// LAPACK's expert driver through koffi, from OpenBLAS: the peer that real matrices are compared with.
import { type Matrix, matrix } from "../../src/index.ts";

/** dgesvx with equilibration and iterative refinement: x, its estimate of 1 / condition, and its bound on the normwise error of x. */
export type Dgesvx = (A: Matrix, b: Float64Array) => { readonly x: Float64Array; readonly rcond: number; readonly errorBound: number };

/** The driver, or the reason why there is none. */
export async function loadDgesvx(): Promise<Dgesvx | string> {
  try {
    const { default: koffi } = await import("koffi");
    const library = koffi.load("libopenblas.so.0");
    library.func("void openblas_set_num_threads(int)")(1);
    const pointers = new Array(22).fill("void *").join(", ");
    // The lengths of its three strings come last, as Fortran compilers pass them.
    const dgesvx = library.func(`void dgesvx_(${pointers}, size_t, size_t, size_t)`);
    return (A, b) => {
      const n = A.rows;
      const [letter, int] = [(c: string) => Uint8Array.of(c.charCodeAt(0)), (v: number) => Int32Array.of(v)];
      const { data } = columnByColumn(A);
      const [x, rcond, errorBound, info] = [new Float64Array(n), new Float64Array(1), new Float64Array(1), int(0)];
      const doubles = (length: number): Float64Array => new Float64Array(Math.max(1, length));
      const equed = letter("N");
      dgesvx(
        ...[letter("E"), letter("N"), int(n), int(1), data, int(n), doubles(n * n), int(n), new Int32Array(n), equed],
        ...[doubles(n), doubles(n), b.slice(), int(n), x, int(n), rcond, errorBound, doubles(1), doubles(4 * n), new Int32Array(n), info],
        ...[1, 1, 1],
      );
      const code = info[0] as number;
      // n + 1: rcond is below the machine's precision, x is there all the same.
      if (code < 0 || (code > 0 && code <= n)) throw new Error(`dgesvx: info is ${code}`);
      return { x, rcond: rcond[0] as number, errorBound: errorBound[0] as number };
    };
  } catch (error) {
    return `no OpenBLAS: ${(error as Error).message.split("\n")[0]}`;
  }
}

function columnByColumn({ rows: n, data, order, ld, offset }: Matrix): Matrix {
  const [rowStride, colStride] = order === "row" ? [ld, 1] : [1, ld];
  const copy = Float64Array.from({ length: n * n }, (_, k) => data[offset + (k % n) * rowStride + Math.floor(k / n) * colStride] as number);
  return matrix(copy, n, n, { order: "column" });
}
