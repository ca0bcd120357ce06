// cuSPARSE's triangular solve, SpSV of the generic interface, with matrices stored by rows in binary64.
import { bindAll, output } from "./libraries.mjs";

const P = "void *";
const INDEX_32I = 2;
const R_64F = 1; // cudaDataType
const FILL_MODE = 0;
const DIAG_TYPE = 1;
const SPSV = `${P}, int32, ${P}, ${P}, ${P}, ${P}, int32, int32, ${P}`;

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
  });
  const handle = output((to) => sparse.cusparseCreate(to));
  const one = Float64Array.of(1);
  return {
    version: String(output((to) => sparse.cusparseGetVersion(handle, to), Int32Array)),
    /**
     * A triangle of a matrix { rows, pointers, indices, values } whose arrays are uploaded here; b and x are on the device.
     * `analyse` makes a new plan each time it is called, in the same memory; `solve` uses the last.
     */
    triangle({ rows: n, pointers, indices, values }, upper, b, x) {
      const arrays = [pointers, indices, values].map(runtime.upload);
      const A = output((to) => sparse.cusparseCreateCsr(to, n, n, values.length, ...arrays, INDEX_32I, INDEX_32I, 0, R_64F));
      sparse.cusparseSpMatSetAttribute(A, FILL_MODE, Int32Array.of(Number(upper)), 4);
      sparse.cusparseSpMatSetAttribute(A, DIAG_TYPE, Int32Array.of(0), 4);
      const [right, left] = [b, x].map((memory) => output((to) => sparse.cusparseCreateDnVec(to, n, memory, R_64F)));
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
          runtime.free(buffer, ...arrays);
        },
      };
    },
  };
}
