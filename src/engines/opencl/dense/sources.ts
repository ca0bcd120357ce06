// The OpenCL C of the dense routines, with the constants that it shares with the host in front of it.
import { defineText } from "../device/defines.ts";
import { ARRIVED, INFO, KT, MOVES, PIVOTS, STRIP, STUCK, TINY_SEEN } from "./luLayout.ts";
import * as generated from "./sources.generated.ts";
import { FAILED, SINGULAR, TICKET } from "./trsvState.ts";

export {
  entries,
  gemm,
  gemv,
  lu,
  luBatch,
  luColumn,
  luFinite,
  luUnblocked,
  trsv,
  trsvBy,
  trsvResidual,
  trsvRows,
  trsvSteps,
} from "./sources.generated.ts";

export const luBlocked = defineText({ INFO, TINY_SEEN, MOVES, ARRIVED, STUCK, PIVOTS }) + generated.luBlocked;
export const luProduct = defineText({ KT }) + generated.luProduct;
export const luRow = defineText({ STRIP }) + generated.luRow;
export const trsvState = defineText({ TICKET, FAILED, SINGULAR }) + generated.trsvState;
