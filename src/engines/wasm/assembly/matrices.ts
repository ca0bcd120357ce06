// The entry point of the module for matrices, sparse systems and multithreaded reductions. The host and its workers call work() with
// a job record (layout.ts); the other exports give workspace sizes and serve the analysis of sparse patterns.
import { COMBINE, GEMM, GEMV_COLUMNS, GEMV_ROWS, ILU0, JOB_FROM_SINGLE, JOB_KIND, JOB_SINGLE, KAHN, LU, LU_BATCH, MAGNITUDES, INVERT, APPROXIMATE_LU, APPROXIMATE_RESIDUAL, APPROXIMATE_SOLVE, REDUCE, SPMV_COLUMNS, SPMV_LONG_ROWS, SPMV_ROWS, SPTRSV, SUBTRACT_MODULO, TRSM, TRSV_COLUMNS, TRSV_ROWS, WEIGH } from "./layout";
import { clear } from "./exact/ladder";
import { gemm } from "./dense/gemm";
import { gemvByColumns, gemvByRows } from "./dense/gemv";
import { i32At } from "./team";
import { kahn } from "./sparse/analysis";
import { combine } from "./level1/combine";
import { spmvByColumns } from "./sparse/spmvColumns";
import { spmvByRows, spmvLongRows } from "./sparse/spmv";
import { ilu0 } from "./sparse/ilu0";
import { sptrsv } from "./sparse/sptrsv";
import { lu, luBatch } from "./dense/lu";
import { invert } from "./solve/inverse";
import { magnitudes } from "./solve/magnitudes";
import { subtractModulo } from "./solve/modular";
import { approximateLu, approximateSolve } from "./solve/jobs";
import { reduce } from "./level1/reduce";
import { residual } from "./solve/residual";
import { weigh } from "./solve/weigh";
import { trsm } from "./dense/trsm";
import { trsvByColumns, trsvByRows } from "./dense/trsv";
export { setFrame } from "./frame";
export { luWork } from "./dense/lu";
export { trsmWork } from "./dense/trsm";
export {
  luRanksBegin, luRanksCanShare, luRanksCounts, luRanksFailed, luRanksGroup, luRanksMessage, luRanksMessages, luRanksOwnPart, luRanksPack,
  luRanksPanel, luRanksParts, luRanksPivot, luRanksPivots, luRanksPlace, luRanksPlan, luRanksPropose, luRanksRows, luRanksScratch,
  luRanksShare, luRanksSolve, luRanksStore, luRanksSums, luRanksUnpack,
} from "./dense/luRanks";
export { modularWork } from "./solve/modular";
export { solveVector, solveWork } from "./solve/jobs";
export { inverseWork } from "./solve/inverse";
export { setSpins } from "./team";
export { firstZero, neighbours } from "./sparse/analysis";

// Run this worker's part of a job. The digits in the frame are zero before and after, because this module may share a frame with
// that of vectors.ts, which has globals of its own.
export function work(job: usize, worker: i32): void {
  const single = i32At(job, JOB_SINGLE) != 0;
  switch (i32At(job, JOB_KIND)) {
    case GEMV_ROWS: if (single) gemvByRows<f32>(job); else gemvByRows<f64>(job); break;
    case GEMV_COLUMNS: if (single) gemvByColumns<f32>(job); else gemvByColumns<f64>(job); break;
    case GEMM: if (single) gemm<f32>(job); else gemm<f64>(job); break;
    case TRSV_ROWS: if (single) trsvByRows<f32>(job, worker); else trsvByRows<f64>(job, worker); break;
    case TRSV_COLUMNS: if (single) trsvByColumns<f32>(job, worker); else trsvByColumns<f64>(job, worker); break;
    case TRSM: if (single) trsm<f32>(job, worker); else trsm<f64>(job, worker); break;
    case LU: lu(job, worker); break;
    case LU_BATCH: luBatch(job, worker); break;
    case REDUCE: if (single) reduce<f32>(job, worker); else reduce<f64>(job, worker); break;
    case SPTRSV: if (single) sptrsv<f32>(job, worker); else sptrsv<f64>(job, worker); break;
    case SPMV_ROWS: if (single) spmvByRows<f32>(job); else spmvByRows<f64>(job); break;
    case SPMV_LONG_ROWS: if (single) spmvLongRows<f32>(job); else spmvLongRows<f64>(job); break;
    case SPMV_COLUMNS: if (single) spmvByColumns<f32>(job, worker); else spmvByColumns<f64>(job, worker); break;
    case COMBINE: combine(job); break;
    case KAHN: kahn(job, worker); break;
    case APPROXIMATE_LU: if (single) approximateLu<f32>(job, worker); else approximateLu<f64>(job, worker); break;
    case APPROXIMATE_SOLVE: if (single) approximateSolve<f32>(job); else approximateSolve<f64>(job); break;
    case APPROXIMATE_RESIDUAL: if (i32At(job, JOB_FROM_SINGLE) != 0) residual<f32>(job, worker); else residual<f64>(job, worker); break;
    case MAGNITUDES: if (i32At(job, JOB_FROM_SINGLE) != 0) magnitudes<f32>(job); else magnitudes<f64>(job); break;
    case INVERT: invert(job, worker); break;
    case WEIGH: weigh(job); break;
    case SUBTRACT_MODULO: subtractModulo(job, worker); break;
    case ILU0: if (single) ilu0<f32>(job, worker); else ilu0<f64>(job, worker); break;
  }
  clear();
}
