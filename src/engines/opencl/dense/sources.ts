// The OpenCL C of the dense routines, with the constants that it shares with the host in front of it.

import { COFACTOR, INVERSE, MAX_BITS, OFFSET, PIECE_BITS, RECIPROCAL, RECORD, WEIGHTS } from "../../moduli.ts";
import { defineText } from "../device/defines.ts";
import { CANDIDATE, INFO, KT, MOVES, PIVOTS, STRIP, STUCK, TINY_SEEN, UPPER_LANES } from "./luLayout.ts";
import * as generated from "./sources.generated.ts";
import { FAILED, SINGULAR, TICKET } from "./trsvState.ts";

export {
  entries,
  gemm,
  gemmResidues,
  gemv,
  lu,
  luBatch,
  luFinite,
  luUnblocked,
  trsv,
  trsvBy,
  trsvResidual,
  trsvRows,
  trsvSteps,
} from "./sources.generated.ts";

export const int8Product = defineText({ RECORD, RECIPROCAL, OFFSET }) + generated.int8Product;
export const residues = defineText({ WEIGHTS, INVERSE, COFACTOR, PIECE_BITS }) + generated.residues;
export const luBlocked = defineText({ INFO, TINY_SEEN, MOVES, STUCK, PIVOTS }) + generated.luBlocked;
export const luColumn = defineText({ CANDIDATE, UPPER_LANES }) + generated.luColumn;
export const luProduct = defineText({ KT }) + generated.luProduct;
export const luResidues = defineText({ STRIP, MAX_BITS }) + generated.luResidues;
export const luRow = defineText({ STRIP }) + generated.luRow;
export const trsvState = defineText({ TICKET, FAILED, SINGULAR }) + generated.trsvState;
