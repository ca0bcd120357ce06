// cuSPARSE: triangular solves and products of the generic interface (SpSV, SpMV), and the incomplete factors of the legacy one (csrilu02).
// Matrices are stored by rows in binary64, with indices of 32 bits.
import { bindAll, output } from "./libraries.mjs";

const P = "void *";
const INDEX_32I = 2;
const R_64F = 1; // cudaDataType
const FILL_MODE = 0;
const DIAG_TYPE = 1;
const USE_LEVELS = 1; // CUSPARSE_SOLVE_POLICY_USE_LEVEL
const SPSV = `${P}, int32, ${P}, ${P}, ${P}, ${P}, int32, int32, ${P}`;
const SPMV = `${P}, int32, ${P}, ${P}, ${P}, ${P}, ${P}, int32, int32, ${P}`;
const ILU0 = `${P}, int32, int32, ${P}, ${P}, ${P}, ${P}, ${P}`; // handle, rows, entries, descriptor, values, pointers, indices, info

/** The algorithms of products with matrices by rows, cusparseSpMVAlg_t. */
export const ALGORITHMS = { default: 0, CSR_ALG1: 2, CSR_ALG2: 3 };

export function cusparse(library, runtime) {
  const sparse = bindAll(library, {
    cusparseCreate: P,
    cusparseGetVersion: `${P}, ${P}`,
    cusparseCreateCsr: `${P}, int64, int64, int64, ${P}, ${P}, ${P}, int32, int32, int32, int32`,
    cusparseDestroySpMat: P,
    cusparseSpMatSetAttribute: `${P}, int32, ${P}, size_t`,
    cusparseCreateDnVec: `${P}, int64, ${P}, int32`,
    cusparseDestroyDnVec: P,
    cusparseSpSV_createDescr: P,
    cusparseSpSV_destroyDescr: P,
    cusparseSpSV_bufferSize: `${SPSV}, ${P}`,
    cusparseSpSV_analysis: `${SPSV}, ${P}`,
    cusparseSpSV_solve: SPSV,
    cusparseSpMV_bufferSize: SPMV,
    cusparseSpMV: SPMV,
  });
  // Not in every version: the preparation of products came late, and the incomplete factors are to be removed.
  const { cusparseSpMV_preprocess: preprocess } = bindSome(library, { cusparseSpMV_preprocess: SPMV });
  const incomplete = bindSome(library, {
    cusparseCreateMatDescr: P,
    cusparseDestroyMatDescr: P,
    cusparseCreateCsrilu02Info: P,
    cusparseDestroyCsrilu02Info: P,
    cusparseDcsrilu02_bufferSize: `${ILU0}, ${P}`,
    cusparseDcsrilu02_analysis: `${ILU0}, int32, ${P}`,
    cusparseDcsrilu02: `${ILU0}, int32, ${P}`,
    cusparseXcsrilu02_zeroPivot: `${P}, ${P}, ${P}`,
  });
  const handle = output((to) => sparse.cusparseCreate(to));
  const [one, zero] = [1, 0].map((value) => Float64Array.of(value)); // on the host, which is the library's default
  const descriptorOf = ({ n, entries, arrays }) =>
    output((to) => sparse.cusparseCreateCsr(to, n, n, entries, ...arrays, INDEX_32I, INDEX_32I, 0, R_64F));
  const vectorsOf = (n, memories) => memories.map((memory) => output((to) => sparse.cusparseCreateDnVec(to, n, memory, R_64F)));
  return {
    version: String(output((to) => sparse.cusparseGetVersion(handle, to), Int32Array)),
    /** A square matrix { rows, pointers, indices, values } on the device, for the routines below. */
    upload({ rows: n, pointers, indices, values }) {
      const arrays = [pointers, indices, values].map(runtime.upload);
      return { n, entries: values.length, arrays, free: () => runtime.free(...arrays) };
    },
    /**
     * A triangle of an uploaded matrix; b and x are on the device. `analyse` makes a new plan each time it is called, in the same
     * memory; `solve` uses the last.
     */
    triangle(matrix, { upper, unit = false }, b, x) {
      const A = descriptorOf(matrix);
      sparse.cusparseSpMatSetAttribute(A, FILL_MODE, Int32Array.of(Number(upper)), 4);
      sparse.cusparseSpMatSetAttribute(A, DIAG_TYPE, Int32Array.of(Number(unit)), 4);
      const [right, left] = vectorsOf(matrix.n, [b, x]);
      let plan = output((to) => sparse.cusparseSpSV_createDescr(to));
      const call = (routine, ...more) => routine(handle, 0, one, A, right, left, R_64F, 0, plan, ...more);
      const bytes = Number(output((to) => call(sparse.cusparseSpSV_bufferSize, to)));
      const buffer = runtime.allocate(bytes);
      return {
        bytes,
        analyse() {
          sparse.cusparseSpSV_destroyDescr(plan);
          plan = output((to) => sparse.cusparseSpSV_createDescr(to));
          call(sparse.cusparseSpSV_analysis, buffer);
        },
        solve: () => call(sparse.cusparseSpSV_solve),
        free() {
          sparse.cusparseSpSV_destroyDescr(plan);
          sparse.cusparseDestroySpMat(A);
          for (const vector of [right, left]) sparse.cusparseDestroyDnVec(vector);
          runtime.free(buffer);
        },
      };
    },
    /** y := A x by one of ALGORITHMS, prepared where the library can; x and y are on the device. */
    product(matrix, algorithm, x, y) {
      const A = descriptorOf(matrix);
      const [from, to] = vectorsOf(matrix.n, [x, y]);
      const call = (routine, last) => routine(handle, 0, one, A, from, zero, to, R_64F, ALGORITHMS[algorithm], last);
      const bytes = Number(output((size) => call(sparse.cusparseSpMV_bufferSize, size)));
      const buffer = runtime.allocate(bytes);
      if (preprocess) call(preprocess, buffer);
      return {
        bytes,
        run: () => call(sparse.cusparseSpMV, buffer),
        free() {
          sparse.cusparseDestroySpMat(A);
          for (const vector of [from, to]) sparse.cusparseDestroyDnVec(vector);
          runtime.free(buffer);
        },
      };
    },
    /** Overwrite the values of an uploaded matrix with its incomplete factors; undefined where the library has no such routine. */
    ilu0:
      incomplete.cusparseDcsrilu02 &&
      (({ n, entries, arrays: [pointers, indices, values] }) => {
        const descriptor = output((to) => incomplete.cusparseCreateMatDescr(to)); // general, indices from 0
        const info = output((to) => incomplete.cusparseCreateCsrilu02Info(to));
        const call = (routine, ...more) => routine(handle, n, entries, descriptor, values, pointers, indices, info, ...more);
        const bytes = output((to) => call(incomplete.cusparseDcsrilu02_bufferSize, to), Int32Array);
        const buffer = runtime.allocate(bytes);
        call(incomplete.cusparseDcsrilu02_analysis, USE_LEVELS, buffer);
        call(incomplete.cusparseDcsrilu02, USE_LEVELS, buffer);
        output((to) => incomplete.cusparseXcsrilu02_zeroPivot(handle, info, to), Int32Array); // it throws if a pivot is zero
        incomplete.cusparseDestroyCsrilu02Info(info);
        incomplete.cusparseDestroyMatDescr(descriptor);
        runtime.free(buffer);
      }),
  };
}

// Those of these functions that the library has; none if one is missing.
function bindSome(library, signatures) {
  try {
    return bindAll(library, signatures);
  } catch {
    return {};
  }
}
