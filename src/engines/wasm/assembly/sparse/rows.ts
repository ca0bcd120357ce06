// Rows of a sparse triangular system: x_k from b_k, the entries of its row and the unknowns they refer to. This file has the plain
// arithmetic of the sparse paper (Section 3); exactRows.ts has the exact one. The schedules of sptrsv.ts, which call it, decide which
// worker solves which rows, and when.
import { put } from "../exact/certificate";
import { FIRST, JOB_BEGINS, JOB_DIAGONAL, JOB_DIAGONAL_AT, JOB_ENDS, JOB_EXACT, JOB_INDICES, JOB_N, JOB_ORDER, JOB_SHAPES, JOB_SHAPE_STARTS, JOB_VALUES, JOB_X, JOB_Y, LAST } from "../layout";
import { exactColumns } from "./exactColumns";
import { exactRows } from "./exactRows";
import { diagonalOf, integer, lineOf, stepOf } from "./triangle";
import { addressAt, i32At } from "../team";

// Solve rows [from, to), in order, for one right-hand side or, if JOB_N is set, for that many columns. y has the right-hand side on entry and
// the solution on return, indexed by unknowns. If the rows have an order of their own (JOB_ORDER), x has the solution in that order.
export function solveRows<T>(job: usize, from: i32, to: i32): void {
  if (i32At(job, JOB_N) != 0) {
    exactColumns<T>(job, from, to);
    return;
  }
  const exact = i32At(job, JOB_EXACT) != 0;
  if (addressAt(job, JOB_SHAPES) != 0) rowsByShapes<T>(job, from, to, exact);
  else rowsByIndices<T>(job, from, to, exact);
}
// Two copies of the same code, each without what only the other needs: with both in one function they are 5 to 10 % slower.
function rowsByIndices<T>(job: usize, from: i32, to: i32, exact: bool): void {
  if (exact) exactRows<T>(job, from, to, false);
  else plainRows<T>(job, from, to, false);
}
function rowsByShapes<T>(job: usize, from: i32, to: i32, exact: bool): void {
  if (exact) exactRows<T>(job, from, to, true);
  else plainRows<T>(job, from, to, true);
}

@inline function plainRows<T>(job: usize, from: i32, to: i32, shaped: bool): void {
  const begins = addressAt(job, JOB_BEGINS), ends = addressAt(job, JOB_ENDS), values = addressAt(job, JOB_VALUES);
  const diagonal = addressAt(job, JOB_DIAGONAL), order = addressAt(job, JOB_ORDER), x = addressAt(job, JOB_X), y = addressAt(job, JOB_Y), step = stepOf(job);
  const indices = addressAt(job, JOB_INDICES), shapes = addressAt(job, JOB_SHAPES), starts = addressAt(job, JOB_SHAPE_STARTS);
  const diagonalAt = i32At(job, JOB_DIAGONAL_AT), front = <i32>(diagonalAt == FIRST), back = <i32>(diagonalAt == LAST);
  for (let k = from, line = lineOf(job, from); k < to; ++k, line += step) {
    const at = y + <usize>(order != 0 ? integer(order, k) : line) * sizeof<T>(), first = integer(begins, line) + front, end = integer(ends, line) - back;
    const origin = shaped ? x + <usize>line * sizeof<T>() : x;
    let s = load<T>(at), index = indices + (<usize>(shaped ? integer(starts, load<u8>(shapes + line)) + front : first) << 2), value = values + <usize>first * sizeof<T>();
    for (const last = index + (<usize>(end - first) << 2); index != last; value += sizeof<T>(), index += 4)
      s = <T>(s - <T>(load<T>(value) * load<T>(origin + <usize>i32.load(index) * sizeof<T>())));
    if (diagonal != 0) s = <T>(s / load<T>(diagonal + <usize>diagonalOf(diagonalAt, line, first, end) * sizeof<T>()));
    put<T>(at, <f64>s);
    if (order != 0) put<T>(x + <usize>k * sizeof<T>(), <f64>s);
  }
}
